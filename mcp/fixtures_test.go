//lint:file-ignore SA1019 earlier revisions of the protocol have what the SDK calls deprecated

package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixtures is a server with the tools, resources and prompts that the protocol's
// own suite looks for. It says nothing of kb: what stands before it does.
func fixtures() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixtures", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	fixedTools(s)
	talkingTools(s)
	changingTools(s)
	askingTools(s)
	fixedResources(s)
	fixedPrompts(s)
	return s
}

type answer func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)

func tool(s *sdk.Server, name, schema string, do answer) {
	if schema == "" {
		schema = `{"type":"object"}`
	}
	s.AddTool(&sdk.Tool{Name: name, Description: "a fixture", InputSchema: json.RawMessage(schema)}, sdk.ToolHandler(do))
}

func says(content ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: content} }

func said(format string, args ...any) sdk.Content {
	return &sdk.TextContent{Text: fmt.Sprintf(format, args...)}
}

func bytesOf(encoded string) []byte {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	return b
}

// The smallest picture and the smallest sound.
var (
	picture = &sdk.ImageContent{MIMEType: "image/png", Data: bytesOf("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")}
	sound   = &sdk.AudioContent{MIMEType: "audio/wav", Data: bytesOf("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")}
)

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

// schemaOf2020 uses what JSON Schema 2020-12 has and drafts before had not.
const schemaOf2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": false}`

// fixedTools answer always the same.
func fixedTools(s *sdk.Server) {
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {said("a simple text")},
		"test_image_content":          {picture},
		"test_audio_content":          {sound},
		"test_embedded_resource":      {embedded("test://embedded-resource")},
		"test_multiple_content_types": {said("a text"), picture, embedded("test://embedded-in-multiple")},
		"test_streaming_elicitation":  {said("no request stands in this stream")},
	} {
		tool(s, name, "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return says(content...), nil })
	}
	tool(s, "test_error_handling", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{said("this tool fails")}}, nil
	})
	echo := func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return says(said("called with %s", req.Params.Arguments)), nil
	}
	tool(s, "json_schema_2020_12_tool", schemaOf2020, echo)
	tool(s, "test_x_mcp_header", `{"type": "object", "properties": {
		"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}}`, echo)
	tool(s, "test_missing_capability", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
			return says(said("the client can sample")), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
	})
}

// talkingTools send something while they run.
func talkingTools(s *sdk.Server) {
	logs := func(times int) answer {
		return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for i := range times {
				_ = req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: fmt.Sprint("step ", i)})
			}
			return says(said("logged")), nil
		}
	}
	tool(s, "test_tool_with_logging", "", logs(3))
	tool(s, "test_logging_tool", "", logs(1))
	tool(s, "test_tool_with_progress", "", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100})
		}
		return says(said("%v", token)), nil
	})
	tool(s, "test_reconnection", "", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		return says(said("the client came back")), nil
	})
}

// changingTools change what the server offers.
func changingTools(s *sdk.Server) {
	tool(s, "test_trigger_tool_change", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		tool(s, "test_transient", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return says(), nil })
		return says(said("a tool was added")), nil
	})
	tool(s, "test_trigger_prompt_change", "", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fixedPrompt(s, "test_transient", nil)
		return says(said("a prompt was added")), nil
	})
}

func fixedResources(s *sdk.Server) {
	add := func(uri, mime string, contents sdk.ResourceContents) {
		s.AddResource(&sdk.Resource{Name: uri, URI: uri, MIMEType: mime}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			contents.URI, contents.MIMEType = uri, mime
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&contents}}, nil
		})
	}
	add("test://static-text", "text/plain", sdk.ResourceContents{Text: "a text"})
	add("test://static-binary", "image/png", sdk.ResourceContents{Blob: picture.Data})
	add("test://watched-resource", "text/plain", sdk.ResourceContents{Text: "watched"})
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			body := fmt.Sprintf(`{"id": %q, "templateTest": true, "data": "Data for ID: %s"}`, id, id)
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: body}}}, nil
		})
}

// fixedPrompt offers a prompt of one message for each content.
func fixedPrompt(s *sdk.Server, name string, args []string, content ...func(args map[string]string) sdk.Content) {
	p := &sdk.Prompt{Name: name, Description: "a fixture"}
	for _, a := range args {
		p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
	}
	s.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		r := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{}}
		for _, c := range content {
			r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c(req.Params.Arguments)})
		}
		return r, nil
	})
}

func fixedPrompts(s *sdk.Server) {
	always := func(c sdk.Content) func(map[string]string) sdk.Content {
		return func(map[string]string) sdk.Content { return c }
	}
	fixedPrompt(s, "test_simple_prompt", nil, always(said("a simple prompt")))
	fixedPrompt(s, "test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) sdk.Content {
		return said("arg1='%s', arg2='%s'", a["arg1"], a["arg2"])
	})
	fixedPrompt(s, "test_prompt_with_embedded_resource", []string{"resourceUri"},
		func(a map[string]string) sdk.Content { return embedded(a["resourceUri"]) }, always(said("read it")))
	fixedPrompt(s, "test_prompt_with_image", nil, always(picture), always(said("look at it")))
}
