//lint:file-ignore SA1019 earlier revisions of the protocol have what the SDK calls deprecated

package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// object is the schema of a form with one required property.
func object(name, kind string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"type": "object", "required": []string{name}, "properties": map[string]any{name: map[string]any{"type": kind}}})
	if err != nil {
		panic(err)
	}
	return raw
}

// Forms with defaults, and with each way to choose among values.
const (
	formOfDefaults = `{"type": "object", "properties": {
		"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": true},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}}}`
	formOfEnums = `{"type": "object", "properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]}}}}`
)

// askingTools ask the client: by a request of their own, as was the way, and by
// an answer that says what is still needed.
func askingTools(s *sdk.Server) {
	elicits := func(form json.RawMessage) answer {
		return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var in struct{ Message string }
			_ = json.Unmarshal(req.Params.Arguments, &in)
			r, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: in.Message + "?", RequestedSchema: form})
			if err != nil {
				return nil, err
			}
			return says(said("action=%s, content=%v", r.Action, r.Content)), nil
		}
	}
	tool(s, "test_elicitation", string(object("message", "string")), elicits(object("username", "string")))
	tool(s, "test_elicitation_sep1034_defaults", "", elicits(json.RawMessage(formOfDefaults)))
	tool(s, "test_elicitation_sep1330_enums", "", elicits(json.RawMessage(formOfEnums)))
	tool(s, "test_sampling", string(object("prompt", "string")), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ Prompt string }
		_ = json.Unmarshal(req.Params.Arguments, &in)
		r, err := req.Session.CreateMessage(ctx, sample(in.Prompt))
		if err != nil {
			return nil, err
		}
		return says(said("LLM response: "), r.Content), nil
	})
	for name, rounds := range inRounds {
		tool(s, "test_input_required_result_"+name, "", rounds.answer)
	}
	tool(s, "test_input_required_result_capabilities", "", asksWhatItMay)
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "a fixture"}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if content := accepted(req.Params.InputResponses, "user_context"); content != nil {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: said("context: %v", content["context"])}}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": form("context", "string")}}, nil
	})
}

func sample(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: said("%s", prompt)}}}
}

func form(name, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: name + "?", RequestedSchema: object(name, kind)}
}

// accepted is what a person filled in, if they did.
func accepted(responses sdk.InputResponseMap, key string) map[string]any {
	r, ok := responses[key].(*sdk.ElicitResult)
	if !ok || r == nil || r.Action != "accept" {
		return nil
	}
	return r.Content
}

// A round asks for inputs, by their names, and knows by its state what was asked
// before.
type round struct {
	state string
	asks  sdk.InputRequestMap
}

// rounds are asked one after the other; then the tool answers.
type rounds []round

var inRounds = map[string]rounds{
	"elicitation":     {{"", sdk.InputRequestMap{"user_name": form("name", "string")}}},
	"sampling":        {{"", sdk.InputRequestMap{"capital_question": sample("What is the capital of France?")}}},
	"list_roots":      {{"", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}}},
	"request_state":   {{"asked", sdk.InputRequestMap{"confirm": form("ok", "boolean")}}},
	"tampered_state":  {{"asked", sdk.InputRequestMap{"confirm": form("ok", "boolean")}}},
	"multiple_inputs": {{"asked", sdk.InputRequestMap{"user_name": form("name", "string"), "greeting": sample("Greet"), "client_roots": &sdk.ListRootsParams{}}}},
	"multi_round": {
		{"first", sdk.InputRequestMap{"step1": form("name", "string")}},
		{"second", sdk.InputRequestMap{"step2": form("color", "string")}},
	},
}

func (r rounds) answer(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	state := req.Params.RequestState
	if state == "" && len(req.Params.InputResponses) == 0 {
		return r[0].ask(), nil
	}
	for i, asked := range r {
		switch {
		case asked.state != state:
			continue
		case !asked.answered(req.Params.InputResponses):
			return asked.ask(), nil
		case i+1 < len(r):
			return r[i+1].ask(), nil
		}
		return says(said("state-ok: %v", accepted(req.Params.InputResponses, "user_name"))), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this state is none of ours"}
}

func (r round) ask() *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: r.asks, RequestState: r.state}
}

// answered reports whether there is an answer to all that was asked.
func (r round) answered(responses sdk.InputResponseMap) bool {
	for key, asked := range r.asks {
		_, isForm := asked.(*sdk.ElicitParams)
		if responses[key] == nil || isForm && !filledIn(asked.(*sdk.ElicitParams), accepted(responses, key)) {
			return false
		}
	}
	return true
}

// filledIn reports whether a form has what it requires, of the right type.
func filledIn(asked *sdk.ElicitParams, content map[string]any) bool {
	name := strings.TrimSuffix(asked.Message, "?")
	switch v := content[name].(type) {
	case string:
		return v != ""
	case bool:
		return true
	}
	return false
}

// asksWhatItMay asks only for what the client says that it can give.
func asksWhatItMay(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	asks := sdk.InputRequestMap{}
	if c := req.ClientCapabilities(); c != nil && len(req.Params.InputResponses) == 0 {
		if c.Elicitation != nil {
			asks["user_name"] = form("name", "string")
		}
		if c.Sampling != nil {
			asks["greeting"] = sample("Greet")
		}
		if c.RootsV2 != nil {
			asks["client_roots"] = &sdk.ListRootsParams{}
		}
	}
	if len(asks) > 0 {
		return &sdk.CallToolResult{InputRequests: asks}, nil
	}
	return says(said("nothing more is needed")), nil
}
