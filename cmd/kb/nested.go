package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// parent is a command that has commands of its own: the operations under its
// name, and those of ours.
type parent struct {
	name, help, group string
	alone             reflect.Type // run when no command follows; nil for none
	own               map[string]reflect.Type
}

// value is a pointer to the struct that kong reads: a field for each command.
// Each operation's parameters are then read from its field.
func (p parent) value(ops []*opCommand) reflect.Value {
	var fields []reflect.StructField
	for _, cmd := range ops {
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, cmd.op.Leaf(), cmd.op.Summary+".")
		fields = append(fields, reflect.StructField{Name: "C_" + cmd.op.Name, Type: cmd.value.Type().Elem(), Tag: reflect.StructTag(tag)})
	}
	if p.alone != nil {
		fields = append(fields, reflect.StructField{Name: "Alone", Type: p.alone, Tag: `cmd:"" hidden:"" default:"1"`})
	}
	v := reflect.New(reflect.StructOf(fields))
	for i, cmd := range ops {
		cmd.value = v.Elem().Field(i).Addr()
	}
	return v
}

// commandName is the command of a node with the words above it: review list.
func commandName(n *kong.Node) string {
	var words []string
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}
