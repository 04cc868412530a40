package vault

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type decodeParams struct {
	Name  string   `json:"name" arg:"" required:"" help:"whom to greet"`
	Count int      `json:"count,omitempty" also:"n,times" default:"3" min:"1" max:"9" help:"how often"`
	Size  float64  `json:"size,omitempty" min:"0" help:"how big"`
	Tags  []string `json:"tags,omitempty" help:"of what kind"`
	Loud  bool     `json:"loud,omitempty" help:"shout"`
	Maybe *bool    `json:"maybe,omitempty" help:"or not"`
	Tone  string   `json:"tone,omitempty" enum:"warm,cold" help:"in which tone"`

	Words map[string]string `json:"words,omitempty" help:"texts by name"`
	Props map[string]any    `json:"props,omitempty" help:"values by name"`
	inner
}

type inner struct {
	At string `json:"at,omitempty" help:"when"`
}

var decodeOp = define(Op{Name: "kb_greet"}, func(*Vault, context.Context, decodeParams) (*struct{}, error) { return nil, nil })

func TestDecode(t *testing.T) {
	yes := true
	tests := []struct {
		args string
		want decodeParams
	}{
		{`{"name":"Ada"}`, decodeParams{Name: "Ada", Count: 3}},
		{` {"name":"Ada","count":9,"size":0.5,"loud":true,"maybe":true}`, decodeParams{Name: "Ada", Count: 9, Size: 0.5, Loud: true, Maybe: &yes}},
		{`{"name":"Ada","times":2}`, decodeParams{Name: "Ada", Count: 2}},
		{`{"name":"Ada","words":{"a":"x","b":5,"c":true,"d":["y","z"]}}`, decodeParams{Name: "Ada", Count: 3, Words: map[string]string{"a": "x", "b": "5", "c": "true", "d": "- y\n- z"}}},
		{`{"name":"Ada","words":"{\"a\":\"x\"}","props":"{\"a\":5}"}`, decodeParams{Name: "Ada", Count: 3, Words: map[string]string{"a": "x"}, Props: map[string]any{"a": 5.0}}},
		{`{"name":"Ada","props":{"a":5,"b":null,"c":["x"]}}`, decodeParams{Name: "Ada", Count: 3, Props: map[string]any{"a": 5.0, "b": nil, "c": []any{"x"}}}},
		{`{"name":"Ada","n":null,"count":4,"tags":null}`, decodeParams{Name: "Ada", Count: 4}},
		{`{"name":"Ada","count":"7","size":"1.5","loud":"true"}`, decodeParams{Name: "Ada", Count: 7, Size: 1.5, Loud: true}},
		{`{"name":"Ada","tags":"one, two"}`, decodeParams{Name: "Ada", Count: 3, Tags: []string{"one, two"}}},
		{`{"name":"Ada","tags":["one","two"]}`, decodeParams{Name: "Ada", Count: 3, Tags: []string{"one", "two"}}},
		{`{"name":"Ada","tone":"WARM","at":"HEAD"}`, decodeParams{Name: "Ada", Count: 3, Tone: "warm", inner: inner{"HEAD"}}},
		{`{"name":"Ada","tone":""}`, decodeParams{Name: "Ada", Count: 3}},
	}
	for _, tt := range tests {
		got, err := decodeOp.Decode(json.RawMessage(tt.args), Person)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if !reflect.DeepEqual(*got.(*decodeParams), tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.args, got, tt.want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ args, message, hint string }{
		{``, "kb_greet: name is required", "name: whom to greet"},
		{`{"name":" "}`, "kb_greet: name is empty", "name: whom to greet"},
		{`[]`, "kb_greet: arguments are not a JSON object", ""},
		{`{"name":"Ada","cuont":1}`, `kb_greet: unknown argument "cuont"`, "did you mean count? accepted: name, count, size, tags, loud, maybe, tone, words, props, at"},
		{`{"name":"Ada","zzz":1,"aaa":1}`, `kb_greet: unknown argument "aaa"`, "accepted: name, count"},
		{`{"name":"Ada","count":1,"n":2}`, "kb_greet: count and n are the same argument: give one", ""},
		{`{"name":"Ada","count":0}`, "kb_greet: count: 0", "accepted: 1 to 9"},
		{`{"name":"Ada","count":10}`, "kb_greet: count: 10", "accepted: 1 to 9"},
		{`{"name":"Ada","size":-1}`, "kb_greet: size: -1", "accepted: 0 or more"},
		{`{"name":"Ada","count":1.5}`, "kb_greet: count: 1.5 does not fit", "count is a whole number: how often"},
		{`{"name":"Ada","count":"lots"}`, "kb_greet: count: lots does not fit", "count is a whole number"},
		{`{"name":"Ada","tags":{"a":1}}`, `kb_greet: tags: {"a":1} does not fit`, "tags is a list of texts"},
		{`{"name":7}`, "kb_greet: name: 7 does not fit", "name is a text"},
		{`{"name":"Ada","loud":"perhaps"}`, "kb_greet: loud: perhaps does not fit", "loud is true or false"},
		{`{"name":"Ada","tone":"hot"}`, `kb_greet: tone: "hot"`, "accepted: warm, cold"},
		{`{"name":"Ada","NAME":"x"}`, `kb_greet: unknown argument "NAME"`, "did you mean name?"},
		{`{"name":"` + strings.Repeat("x", 3) + `","count":"` + strings.Repeat("9", 500) + `"}`, "kb_greet: count: " + strings.Repeat("9", 60) + "… does not fit", ""},
	}
	for _, tt := range tests {
		_, err := decodeOp.Decode(json.RawMessage(tt.args), Person)
		e := AsError(err)
		if e == nil || e.Code != Usage || !strings.HasPrefix(e.Message, tt.message) || !strings.HasPrefix(e.Hint, tt.hint) {
			t.Errorf("%s:\ngot  %+v\nwant %s / %s", tt.args, e, tt.message, tt.hint)
		}
	}
}

// Whatever an agent sends is arguments or a usage error.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"query":"x"}`, `{"query":"x","max_results":"1e3"}`, `{"query":["x"],"tag":"y"}`, `{"where":[null]}`, `null`, `{"query":"x","explain":"{}"}`, `{"a`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		for _, op := range Ops() {
			p, err := op.Decode(args, Person)
			if err != nil {
				if AsError(err).Code != Usage {
					t.Errorf("%s %s: %+v", op.Name, args, err)
				}
				continue
			}
			if _, err := json.Marshal(p); err != nil {
				t.Errorf("%s %s: %v", op.Name, args, err)
			}
		}
	})
}

func TestInputSchema(t *testing.T) {
	raw, err := json.Marshal(decodeOp.InputSchema())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"at":{"type":"string","description":"when"},` +
		`"count":{"type":"integer","description":"how often","default":3,"maximum":9},` +
		`"loud":{"type":"boolean","description":"shout"},` +
		`"maybe":{"type":"boolean","description":"or not"},` +
		`"name":{"type":"string","description":"whom to greet"},` +
		`"props":{"type":"object","description":"values by name"},` +
		`"size":{"type":"number","description":"how big"},` +
		`"tags":{"type":"array","description":"of what kind","items":{"type":"string"}},` +
		`"tone":{"type":"string","description":"in which tone","enum":["warm","cold"]},` +
		`"words":{"type":"object","description":"texts by name"}},` +
		`"required":["name"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// Every operation can be told to an agent: what it is for, what its parameters
// mean, and a default that its own checks accept.
func TestOpsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, op := range Ops() {
		if names[op.Name] || names[op.Command()] {
			t.Errorf("%s: the name is taken", op.Name)
		}
		names[op.Name], names[op.Command()] = true, true
		if op.Summary == "" || strings.HasSuffix(op.Summary, ".") || !op.People && (op.Title == "" || op.Description == "") {
			t.Errorf("%s: summary %q, title %q, description %q", op.Name, op.Summary, op.Title, op.Description)
		}
		if len(op.Examples) == 0 {
			t.Errorf("%s: no example", op.Name)
		}
		seen := map[string]bool{}
		for _, p := range op.Params() {
			if p.Help == "" {
				t.Errorf("%s: %s has no help", op.Name, p.Name)
			}
			for _, name := range append([]string{p.Name}, p.Also...) {
				if seen[name] {
					t.Errorf("%s: two parameters %s", op.Name, name)
				}
				seen[name] = true
			}
			if strings.ToLower(p.Name) != p.Name || strings.Contains(p.Name, "-") {
				t.Errorf("%s: %s is not in snake case", op.Name, p.Name)
			}
		}
		if found, ok := FindOp(op.Command()); !ok || found != op {
			t.Errorf("%s: not found by its command", op.Name)
		}
	}
}
