package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"kb/vault"
)

// groups are the kinds of commands, in the order in which help lists them.
var groups = []kong.Group{
	{Key: "read", Title: "Read"},
	{Key: "write", Title: "Propose and review"},
	{Key: "serve", Title: "Serve"},
	{Key: "tend", Title: "Tend the vault"},
	{Key: "about", Title: "About"},
}

const exitStatuses = "0 done, 1 failed, 2 usage, 3 not found, 4 conflict or refused, 5 busy, 6 checks failed, 130 interrupted"

// help prints the page of a command, or of all.
func (c *cli) help(_ kong.HelpOptions, ctx *kong.Context) error {
	p := &page{width: c.helpWidth()}
	if node := ctx.Selected(); node != nil {
		p.command(node, c.ops[commandPath(node)])
		p.flags("Global flags", ctx.Model.Node.Flags)
	} else {
		p.overview(ctx.Model.Node)
	}
	_, err := io.WriteString(c.out, p.String())
	return err
}

// helpWidth is the terminal's width where it can be read well.
func (c *cli) helpWidth() int {
	if width, _, err := term.GetSize(int(c.out.Fd())); err == nil && width > 0 {
		return max(40, min(width, 100))
	}
	return 80
}

// page is a page of help being written.
type page struct {
	strings.Builder
	width int
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) overview(app *kong.Node) {
	p.printf("%s\n\nUsage: kb [global flags] COMMAND\n", wrap(app.Help, p.width, 0))
	for _, g := range groups {
		var rows [][2]string
		for _, n := range app.Children {
			if !n.Hidden && n.Group != nil && n.Group.Key == g.Key {
				rows = append(rows, [2]string{n.Name, strings.TrimSuffix(n.Help, ".")})
			}
		}
		p.rows(g.Title, rows)
	}
	p.flags("Global flags", app.Flags)
	p.printf("\n%s\n", wrap("Text on a terminal, JSON otherwise. Exit status: "+exitStatuses+".", p.width, 0))
	p.printf("\n%s\n", wrap("kb help COMMAND shows the flags of a command, and examples.", p.width, 0))
}

func (p *page) command(n *kong.Node, op *opCommand) {
	p.printf("%s\n\nUsage: kb %s\n", wrap(n.Help, p.width, 0), usage(n))
	if op != nil && op.op.Description != "" {
		p.printf("\n%s\n", wrap(op.op.Description, p.width, 0))
	}
	p.commands(n)
	var args [][2]string
	for _, a := range n.Positional {
		args = append(args, [2]string{argument(a), a.Help})
	}
	p.rows("Arguments", args)
	p.flags("Flags", n.Flags)
	if d := n.DefaultCmd; d != nil && !d.Hidden {
		p.flags("Flags of "+d.Name, d.Flags)
	}
	if op != nil {
		p.examples(op.op.Examples)
	} else {
		p.examples(examples[commandPath(n)])
	}
}

// commands lists what may follow a command that has commands of its own.
func (p *page) commands(n *kong.Node) {
	var rows [][2]string
	for _, sub := range n.Children {
		if !sub.Hidden {
			rows = append(rows, [2]string{strings.TrimPrefix(usage(sub), commandPath(n)+" "), sub.Help})
		}
	}
	p.rows("Commands", rows)
}

// usage is a command with what follows it.
func usage(n *kong.Node) string {
	words := []string{commandPath(n)}
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" {
			words = append(words, "[flags]")
			break
		}
	}
	for _, a := range n.Positional {
		words = append(words, argument(a))
	}
	switch {
	case n.DefaultCmd != nil:
		words = append(words, "[COMMAND]")
	case len(n.Children) > 0:
		words = append(words, "COMMAND")
	}
	return strings.Join(words, " ")
}

// commandPath is how a command is called: "search", "model pull".
func commandPath(n *kong.Node) string {
	if n.Parent == nil || n.Parent.Type == kong.ApplicationNode {
		return n.Name
	}
	return commandPath(n.Parent) + " " + n.Name
}

// argument names a positional parameter: PATH, PATH... when several are taken,
// [COMMAND] when it may be left out.
func argument(a *kong.Positional) string {
	name := strings.ToUpper(a.Name)
	if a.Tag.Has("many") {
		name += "..."
	}
	if !a.Required && !a.Tag.Has("needed") {
		name = "[" + name + "]"
	}
	return name
}

func (p *page) examples(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.printf("\nExamples:\n")
	for _, e := range lines {
		p.printf("  %s\n", e)
	}
}

func (p *page) flags(title string, flags []*kong.Flag) {
	var rows [][2]string
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "    --" + f.Name
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, --%s", f.Short, f.Name)
		}
		if f.PlaceHolder != "" {
			name += " " + f.PlaceHolder
		} else if !f.IsBool() {
			name += " " + strings.ToUpper(f.Name)
		}
		rows = append(rows, [2]string{name, f.Help})
	}
	p.rows(title, rows)
}

// rows writes names and what they mean in two columns.
func (p *page) rows(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	p.printf("\n%s:\n", title)
	const most = 28 // of the left column; a longer name has a line of its own
	left := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r[0]); n <= most {
			left = max(left, n)
		}
	}
	for _, r := range rows {
		indent := 2 + left + 2
		text := wrap(strings.TrimSuffix(r[1], "."), p.width, indent)
		if n := utf8.RuneCountInString(r[0]); n > left {
			p.printf("  %s\n%s%s\n", r[0], strings.Repeat(" ", indent), text)
		} else {
			p.printf("  %s%s%s\n", r[0], strings.Repeat(" ", indent-2-n), text)
		}
	}
}

// wrap breaks s at width columns; every line but the first is indented.
func wrap(s string, width, indent int) string {
	var b strings.Builder
	col := indent
	for i, w := range strings.Fields(s) {
		n := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case col+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		default:
			b.WriteString(" ")
			col++
		}
		b.WriteString(w)
		col += n
	}
	return b.String()
}

// flagHelp is the help of an operation's parameter.
func flagHelp(p vault.Param) string {
	help := sentence(p.Help)
	if !allIn(p.Help, p.Enum) {
		help += ". One of " + strings.Join(p.Enum, ", ")
	}
	if p.Default != "" {
		help += " (default " + p.Default + ")"
	}
	if p.Type.Kind().String() == "slice" && !p.Arg {
		help += "; may be repeated"
	}
	return help
}

func allIn(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func sentence(s string) string {
	if s == "" || strings.HasPrefix(s, "kb") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// placeholders name values that say more than their flag's name does.
var placeholders = map[string]string{
	"at": "REV", "diversity": "X", "collection": "NAME", "scope": "PREFIX", "where": "COND", "exclude": "URI", "lines": "A-B",
	"sort": "KEY", "set": "KEY=VALUE", "fields": "NAME=TEXT", "replace_section": "TEXT", "with": "TEXT", "append": "TEXT", "prepend": "TEXT",
	"body": "TEXT", "base": "HASH", "restore": "REV", "rename": "PATH", "draft": "NAME", "message": "TEXT", "reason": "TEXT", "source": "URL", "into": "BRANCH", "only": "PATH", "hunks": "PATH:N,N", "push": "REMOTE", "commit": "HEX", "created_after": "DATE", "created_before": "DATE", "updated_after": "DATE",
}

// placeholder names the value of a parameter in help; "" for a flag without one.
func placeholder(p vault.Param) string {
	if s := placeholders[p.Name]; s != "" {
		return s
	}
	switch p.Type.Kind().String() {
	case "int":
		return "N"
	case "float64":
		return "X"
	case "bool", "ptr":
		return ""
	}
	return strings.ToUpper(p.Name)
}
