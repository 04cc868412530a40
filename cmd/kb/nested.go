package main

import (
	"fmt"
	"reflect"
)

// parent is a command that has commands of its own: the operations under its
// name and, after them, those of a struct of ours.
type parent struct {
	name, help, group string
	own               reflect.Type
}

// parents are the commands with commands of their own.
var parents = []parent{
	{"review", "Review drafts: read, check, merge or reject what agents propose; without a command, on a screen.", "write", reflect.TypeFor[reviewCommands]()},
	{"recipe", "Bring in again and again what a recipe of the vault says.", "write", reflect.TypeFor[recipeCommands]()},
}

// value is a pointer to the struct that kong reads: a field for each command.
// Each operation's parameters are then read from its field.
func (p parent) value(ops []*opCommand) reflect.Value {
	var fields []reflect.StructField
	for _, cmd := range ops {
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, cmd.op.Leaf(), cmd.op.Summary+".")
		fields = append(fields, reflect.StructField{Name: "C_" + cmd.op.Name, Type: cmd.value.Type().Elem(), Tag: reflect.StructTag(tag)})
	}
	for i := range p.own.NumField() {
		fields = append(fields, p.own.Field(i))
	}
	v := reflect.New(reflect.StructOf(fields))
	for i, cmd := range ops {
		cmd.value = v.Elem().Field(i).Addr()
	}
	return v
}
