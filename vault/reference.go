package vault

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference is the manual's page of commands and tools, in Markdown, made from
// the table of operations.
func Reference() string {
	var b strings.Builder
	b.WriteString(`---
title: Commands and tools
aliases: [Reference, Tools]
tags: [reference]
---

# Commands and tools

Each operation is a command of ` + "`kb`" + ` and, unless it is for people only, a tool over MCP with the same parameters: ` +
		"`max_results`" + ` is ` + "`--max-results`" + `. ● marks what may be given without its name on the command line. The fields are those of the result's JSON.
This page is made from the program's own table.
`)
	for _, o := range Ops() {
		o.reference(&b)
	}
	return b.String()
}

func (o *Op) reference(b *strings.Builder) {
	fmt.Fprintf(b, "\n## kb %s\n\n%s.", o.Command(), o.Summary)
	switch {
	case o.Review:
		fmt.Fprintf(b, " For people, and as the tool `kb_%s` for agents who may review (see [[../guides/serving]]).\n", o.Name)
	case o.People:
		b.WriteString(" For people only.\n")
	default:
		fmt.Fprintf(b, " Tool: `%s`.\n\n%s\n", o.Name, o.Description)
	}
	if params := o.Params(); len(params) > 0 {
		b.WriteString("\n| parameter | type | |\n|---|---|---|\n")
		for _, p := range params {
			p.reference(b)
		}
	}
	fmt.Fprintf(b, "\nResult: %s\n", fieldNames(o.result))
	if len(o.Examples) > 0 {
		fmt.Fprintf(b, "\n```console\n$ %s\n```\n", strings.Join(o.Examples, "\n$ "))
	}
}

func (p Param) reference(b *strings.Builder) {
	name := "`" + p.Name + "`"
	if p.Arg {
		name = "● " + name
	}
	text := p.Help
	if len(p.Enum) > 0 {
		text += ": " + strings.Join(p.Enum, ", ")
	}
	if p.Default != "" {
		text += " (default " + p.Default + ")"
	}
	if p.Min != "" || p.Max != "" {
		text += "; " + p.bounds()
	}
	if p.Required {
		text += "; required"
	}
	if p.Hidden {
		text += "; command line only"
	}
	fmt.Fprintf(b, "| %s | %s | %s |\n", name, p.kind(), strings.ReplaceAll(text, "|", `\|`))
}

// fieldNames lists the JSON fields of a struct, lists of structs with theirs.
func fieldNames(t reflect.Type) string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		entry := "`" + name + "`"
		if e := f.Type; e.Kind() == reflect.Slice && e.Elem().Kind() == reflect.Struct {
			entry += " [" + fieldNames(e.Elem()) + "]"
		}
		names = append(names, entry)
	}
	return strings.Join(names, ", ")
}
