package vault

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Op is one operation of a vault. Its command, its flags and help, its MCP tool
// with both schemas, its call to the owning process and its page in the manual
// are all derived from this entry and from the tags of its two structs.
//
// A parameter's tags: json (its name), help, arg (positional on the command
// line), required, default, enum and min/max, also (another accepted name).
type Op struct {
	Name        string   // the tool's name: "kb_brief"
	Under       string   // the command that it is a command of: "review" of review_list
	Title       string   // for a list of tools: "Brief an agent"
	Summary     string   // one line, for help
	Description string   // for an agent: what it gives and when to use it
	Examples    []string // command lines

	People  bool // a command only: no tool
	Review  bool // decides about a draft: also for agents who may review, about drafts of others
	Writes  bool // adds to the repository
	Drafts  bool // is of use to those who write only, if it does not itself
	Derived bool // changes nothing but derived data

	// Raw is set where a person at a terminal or a pipe wants the text itself
	// rather than JSON: get_document, brief, export.
	Raw bool

	// Pages is set where the text may be long: a terminal shows it page by page,
	// unless the parameter no_pager is given.
	Pages bool

	params reflect.Type
	result reflect.Type
	run    func(context.Context, *Vault, any) (any, error)
}

// define makes an Op of a method: its parameter and result types are what the
// method takes and gives.
func define[P, R any](o Op, method func(*Vault, context.Context, P) (*R, error)) *Op {
	o.params, o.result = reflect.TypeFor[P](), reflect.TypeFor[R]()
	o.run = func(ctx context.Context, v *Vault, params any) (any, error) {
		r, err := method(v, ctx, *params.(*P))
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	return &o
}

// Ops returns every operation, in the order in which help lists them.
func Ops() []*Op { return ops }

var ops = []*Op{
	searchOp,
	briefOp,
	getDocumentOp,
	contextOp,
	digestOp,
	listSectionsOp,
	queryOp,
	similarOp,
	linksOp,
	entitiesOp,
	historyOp,
	healthOp,
	exportOp,
	writeOp,
	editOp,
	draftsOp,
	addOp,
	sourcesOp,
	recipeListOp,
	recipeCheckOp,
	classifyOp,
	promptsOp,
	verifyOp,
	blameOp,
	reviewListOp,
	reviewShowOp,
	reviewDiffOp,
	reviewCheckOp,
	reviewMergeOp,
	reviewRejectOp,
	reviewReopenOp,
	reviewUndoOp,
	reviewEditOp,
	siteBuildOp,
	statsOp,
	reindexOp,
	doctorOp,
	checkOp,
	gcOp,
	evalOp,
}

// FindOp returns the operation of that tool or command name.
func FindOp(name string) (*Op, bool) {
	for _, o := range ops {
		if o.Name == name || o.Command() == name {
			return o, true
		}
	}
	return nil, false
}

// Command is the name of o as a command: kb_brief is `kb brief`. An operation
// under another word has two: review_list is `kb review list`.
func (o *Op) Command() string {
	if o.Under != "" {
		return o.Under + " " + o.Leaf()
	}
	return o.Leaf()
}

// Leaf is the last word of o's command.
func (o *Op) Leaf() string {
	name := strings.TrimPrefix(strings.TrimPrefix(o.Name, "kb_"), o.Under+"_")
	return strings.ReplaceAll(name, "_", "-")
}

// writesWith reports whether a call of o adds to the repository.
func (o *Op) writesWith(params any) bool {
	w, ok := params.(interface{ writes() bool })
	return o.Writes || ok && w.writes()
}

// Run decodes the arguments, runs o on v, and returns its result: a pointer to
// the result struct.
func (o *Op) Run(ctx context.Context, v *Vault, args json.RawMessage) (any, error) {
	p, err := o.Decode(args, v.audience)
	if err != nil {
		return nil, err
	}
	return o.run(ctx, v, p)
}

// ParseResult reads a result that crossed a process border as JSON.
func (o *Op) ParseResult(raw json.RawMessage) (any, error) {
	r := reflect.New(o.result).Interface()
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, errorf(Internal, "read the answer of %s: %w", o.Name, err)
	}
	return r, nil
}

// Params describes the parameters of o in the order of their struct.
func (o *Op) Params() []Param { return paramsOf(o.params) }

// paramsFor are the parameters that an audience may give.
func (o *Op) paramsFor(a Audience) []Param {
	params := o.Params()
	if a == Agent {
		params = slices.DeleteFunc(params, func(p Param) bool { return p.Hidden })
	}
	return params
}

// Param is one parameter of an operation, read from its struct field.
type Param struct {
	Name     string // as in JSON: max_results
	Help     string
	Arg      bool // positional
	Required bool
	Default  string
	Enum     []string
	Also     []string // other accepted names
	Min, Max string   // "" when unbounded
	Hidden   bool     // a command's flag, not for agents
	File     bool     // names a file of the caller's
	Stdin    bool     // on the command line "-" is what stands on standard input

	Type  reflect.Type
	index []int
}

func paramsOf(t reflect.Type) (params []Param) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		p := Param{
			Name:    name,
			Help:    f.Tag.Get("help"),
			Default: f.Tag.Get("default"),
			Min:     f.Tag.Get("min"),
			Max:     f.Tag.Get("max"),
			Enum:    split(f.Tag.Get("enum")),
			Also:    split(f.Tag.Get("also")),
			Type:    f.Type,
			index:   f.Index,
		}
		_, p.Arg = f.Tag.Lookup("arg")
		_, p.Required = f.Tag.Lookup("required")
		_, p.Hidden = f.Tag.Lookup("hidden")
		_, p.File = f.Tag.Lookup("file")
		_, p.Stdin = f.Tag.Lookup("stdin")
		params = append(params, p)
	}
	return params
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
