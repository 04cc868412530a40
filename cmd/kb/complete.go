package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"kb/internal/models"
	"kb/vault"
)

// completeCmd prints what may stand where the last of its words is, one
// candidate a line.
type completeCmd struct {
	Words []string `arg:"" optional:""`
}

func (s completeCmd) Run(c *cli) error {
	words := s.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	candidates := c.candidates(words[:len(words)-1], last)
	slices.Sort(candidates)
	for _, candidate := range slices.Compact(candidates) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(c.out, candidate)
		}
	}
	return nil
}

// candidates are the words that may follow before; those that do not begin
// with last are left out later.
func (c *cli) candidates(before []string, last string) []string {
	root := c.parser.Model.Node
	node := root
	for _, w := range before {
		if n := child(node, w); n != nil {
			node = n
		}
	}
	flags := node
	if node.DefaultCmd != nil { // which runs when no other is named
		flags = node.DefaultCmd
	}
	if len(before) > 0 && strings.HasPrefix(before[len(before)-1], "--") {
		if f := flagOf(flags, before[len(before)-1]); f != nil && !f.IsBool() {
			return c.values(commandPath(node), f.Name)
		}
	}
	switch {
	case strings.HasPrefix(last, "-"):
		return flagNames(flags)
	case node.Name == "help":
		return commandNames(root)
	case len(node.Children) > 0:
		return commandNames(node)
	case commandPath(node) == "model verify" || commandPath(node) == "model rm":
		return c.models(func(m models.Entry) bool { return m.Installed })
	case commandPath(node) == "model pull":
		return c.models(func(m models.Entry) bool { return !m.Installed })
	case node.Name == "completion":
		return slices.Collect(maps.Keys(scripts))
	case node.Name == "get-document" || node.Name == "context":
		return c.paths(last)
	case node.Parent != nil && node.Parent.Name == "review":
		return c.drafts()
	}
	return nil
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func flagOf(n *kong.Node, name string) *kong.Flag {
	for _, group := range n.AllFlags(false) {
		for _, f := range group {
			if "--"+f.Name == name {
				return f
			}
		}
	}
	return nil
}

func flagNames(n *kong.Node) (names []string) {
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		}
	}
	return names
}

func commandNames(root *kong.Node) (names []string) {
	for _, n := range root.Children {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	return names
}

// values are what a flag accepts, as far as it is known.
func (c *cli) values(command, flag string) []string {
	switch {
	case flag == "print-config":
		return clientNames()
	case flag == "collection":
		return c.collections()
	case c.ops[command] == nil:
		return nil
	}
	for _, p := range c.ops[command].params {
		if flagName(p) == flag {
			return p.Enum
		}
	}
	return nil
}

func (c *cli) collections() (names []string) {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return nil // completion is silent
	}
	for _, col := range cfg.Collections {
		names = append(names, col.Name)
	}
	return names
}

// drafts are the names of those that can be reviewed.
func (c *cli) drafts() (names []string) {
	s, err := c.service(vault.Person)
	if err != nil {
		return nil
	}
	defer s.Close()
	op, _ := vault.FindOp("kb_drafts")
	r, err := s.Do(c.ctx, op, json.RawMessage(`{"max_tokens": 100000}`), nil)
	if err != nil {
		return nil
	}
	for _, d := range r.(*vault.DraftsResult).Drafts {
		names = append(names, d.Name)
	}
	return names
}

// models are the names of some models.
func (c *cli) models(some func(models.Entry) bool) (names []string) {
	s, configured, err := c.modelStore()
	if err != nil {
		return nil
	}
	all, err := s.Catalog(configured)
	if err != nil {
		return nil
	}
	for _, m := range all {
		if some(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// paths are notes whose path has the word in it.
func (c *cli) paths(word string) (paths []string) {
	s, err := c.service(vault.Person)
	if err != nil {
		return nil
	}
	defer s.Close()
	args, err := json.Marshal(map[string]any{"where": []string{"path~" + word}, "max_results": 500, "max_tokens": 1 << 20})
	if err != nil {
		return nil
	}
	op, _ := vault.FindOp("kb_query")
	r, err := s.Do(c.ctx, op, args, nil)
	if err != nil {
		return nil
	}
	for _, d := range r.(*vault.QueryResult).Documents {
		paths = append(paths, d.Path)
	}
	return paths
}
