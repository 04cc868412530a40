package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"kb/vault"
)

// opCommand is an operation as a command: a struct made for kong from the
// operation's parameters.
type opCommand struct {
	op     *vault.Op
	params []vault.Param
	value  reflect.Value // pointer to the struct
}

// newOpCommand makes the struct: a field for each parameter, of a type that
// tells whether it was given, and for a positional one also a hidden flag of
// its name.
func newOpCommand(op *vault.Op) *opCommand {
	c := &opCommand{op: op, params: op.Params()}
	var fields []reflect.StructField
	for _, p := range c.params {
		fields = append(fields, reflect.StructField{Name: fieldName(p, ""), Type: flagType(p), Tag: flagTag(p)})
		if p.Arg {
			tag := fmt.Sprintf(`name:%q hidden:"" sep:"none"`, flagName(p))
			fields = append(fields, reflect.StructField{Name: fieldName(p, "Flag"), Type: flagType(p), Tag: reflect.StructTag(tag)})
		}
	}
	c.value = reflect.New(reflect.StructOf(fields))
	return c
}

func fieldName(p vault.Param, suffix string) string {
	return "F_" + p.Name + suffix
}

func flagName(p vault.Param) string { return strings.ReplaceAll(p.Name, "_", "-") }

// flagType is a pointer, or a slice, which is nil when the flag is not given. A
// positional text is a list of words: `kb search two words` needs no quotes.
func flagType(p vault.Param) reflect.Type {
	switch {
	case p.Type.Kind() == reflect.Slice, p.Type.Kind() == reflect.Pointer:
		return p.Type
	case p.Type.Kind() == reflect.Map:
		return reflect.TypeFor[map[string]string]()
	case p.Arg:
		return reflect.TypeFor[[]string]()
	}
	return reflect.PointerTo(p.Type)
}

func flagTag(p vault.Param) reflect.StructTag {
	tag := fmt.Sprintf(`name:%q help:%q sep:"none" mapsep:"none"`, flagName(p), strings.ReplaceAll(flagHelp(p), "${", "$${"))
	if name := placeholder(p); name != "" {
		tag += fmt.Sprintf(` placeholder:%q`, name)
	}
	switch {
	case p.Arg:
		tag += ` arg:"" optional:""`
		if p.Required {
			tag += ` needed:""`
		}
		if p.Type.Kind() == reflect.Slice {
			tag += ` many:""`
		}
	case len(p.Also) > 0:
		tag += fmt.Sprintf(` aliases:%q`, strings.Join(p.Also, ","))
	}
	return reflect.StructTag(tag)
}

// given reports whether a parameter is on the command line, and not as false.
func (c *opCommand) given(name string) bool {
	f := c.value.Elem().FieldByName("F_" + name)
	return f.IsValid() && !f.IsNil() && (f.Kind() != reflect.Pointer || f.Elem().Kind() != reflect.Bool || f.Elem().Bool())
}

// arguments are the parameters that were given, as JSON.
func (c *opCommand) arguments() (json.RawMessage, error) {
	args := map[string]any{}
	for _, p := range c.params {
		for _, suffix := range []string{"", "Flag"} {
			f := c.value.Elem().FieldByName(fieldName(p, suffix))
			if !f.IsValid() || f.IsNil() || f.Kind() == reflect.Slice && f.Len() == 0 {
				continue
			}
			if _, twice := args[p.Name]; twice {
				return nil, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%s is given twice", flagName(p))}
			}
			var err error
			if args[p.Name], err = argumentOf(p, f.Interface()); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(args)
}

// buildParser makes the parser of all commands.
func (c *cli) buildParser(grammar any) error {
	options := []kong.Option{
		kong.Name("kb"),
		kong.Description("A knowledge base over git repositories of Markdown notes, for people and agents."),
		kong.Writers(c.out, c.err),
		kong.Help(c.help),
		kong.ExplicitGroups(groups),
		kong.WithHyphenPrefixedParameters(true), // --sort -updated
	}
	options = append(options, c.opCommands()...)
	var err error
	if c.parser, err = kong.New(grammar, options...); err != nil {
		return err
	}
	c.parser.Model.HelpFlag.Help = "Show this page, of a command with its flags"
	return nil
}

// opCommands makes the command of each operation.
func (c *cli) opCommands() (options []kong.Option) {
	c.ops = map[string]*opCommand{}
	nested := map[string][]*opCommand{}
	for _, op := range vault.Ops() {
		if slices.Contains(prepared, op.Name) {
			continue
		}
		cmd := newOpCommand(op)
		c.ops[op.Command()] = cmd
		if op.Under != "" {
			nested[op.Under] = append(nested[op.Under], cmd)
			continue
		}
		options = append(options, kong.DynamicCommand(op.Command(), op.Summary+".", groupOf(op), cmd.value.Interface()))
	}
	for _, p := range parents {
		options = append(options, kong.DynamicCommand(p.name, p.help, p.group, p.value(nested[p.name]).Interface()))
	}
	return options
}

// prepared are the operations whose commands do something before they are
// called, or after: each is a struct of its own.
var prepared = []string{"kb_eval", "kb_verify", "review_edit", "kb_site_build", "kb_add"}

// groupOf is where help lists the command of an operation.
func groupOf(op *vault.Op) string {
	switch {
	case op.People || op.Derived || op.Name == "kb_stats":
		return "tend"
	case op.Writes || op.Name == "kb_drafts":
		return "write"
	}
	return "read"
}

var shortFlag = regexp.MustCompile(`^unknown flag -[^-]`)

// usageError is what kong says, in our form.
func (c *cli) usageError(err error) error {
	var parse *kong.ParseError
	e := &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "kb help lists the commands"}
	if !errors.As(err, &parse) || parse.Context == nil || parse.Context.Selected() == nil {
		return e
	}
	name := commandPath(parse.Context.Selected())
	e.Hint = "kb help " + name
	if op := c.ops[name]; op != nil && shortFlag.MatchString(e.Message) && len(parse.Context.Selected().Positional) > 0 {
		e.Hint += " lists the flags; quote a word that begins with -, with the rest: kb " + name + " 'one -two'"
	}
	return e
}
