package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

const markdown = "text/markdown"

// addResources offers the notes at a commit by their citations, and a digest.
func (s *Server) addResources() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name:        "note",
		Title:       "Note at a commit",
		Description: "The Markdown of a note, or of one heading, exactly as cited.",
		URITemplate: "kb://{collection}@{commit}/{+path}",
		MIMEType:    markdown,
	}, s.readNote)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name:        "note-now",
		Title:       "Note as it is now",
		Description: "The Markdown of a note, or of one heading, in the vault's default view.",
		URITemplate: "kb://{collection}/{+path}",
		MIMEType:    markdown,
	}, s.readNote)
	s.sdk.AddResource(&sdk.Resource{
		Name:        "digest",
		Title:       "Digest of the vault",
		Description: "Collections, sections, topics and recent changes.",
		URI:         "kb://digest",
		MIMEType:    markdown,
	}, s.readDigest)
}

func (s *Server) readNote(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	r, err := s.read(ctx, req, "get_document", map[string]any{"path": req.Params.URI, "max_tokens": 1 << 30})
	if err != nil {
		return nil, s.resourceError(req.Params.URI, err)
	}
	return contents(req.Params.URI, r.(*vault.Document).Content), nil
}

func (s *Server) readDigest(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	r, err := s.read(ctx, req, "kb_digest", nil)
	if err != nil {
		return nil, s.resourceError(req.Params.URI, err)
	}
	var text strings.Builder
	r.(*vault.Digest).Text(vault.NewText(&text))
	return contents(req.Params.URI, text.String()), nil
}

// read runs an operation for who made the request.
func (s *Server) read(ctx context.Context, req sdk.Request, name string, args map[string]any) (any, error) {
	op, _ := vault.FindOp(name)
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return s.observed(ctx, identityOf(req.GetExtra()), s.caller(req), op, raw, nil)
}

func contents(uri, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: text}}}
}

func (s *Server) resourceError(uri string, err error) error {
	if e := vault.AsError(err); e.Code == vault.NotFound {
		return sdk.ResourceNotFoundError(uri)
	}
	return errors.New(s.scrub.clean(err.Error()))
}

// complete offers values for the variables of the templates: collections, the
// commit that is current, and the paths that hold what was typed.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	values := []string{}
	var err error
	switch req.Params.Argument.Name {
	case "collection":
		for _, c := range s.svc.Config().Collections {
			if strings.HasPrefix(c.Name, req.Params.Argument.Value) {
				values = append(values, c.Name)
			}
		}
	case "commit":
		values, err = s.completeCommit(ctx, req, req.Params.Argument.Value)
	case "path":
		values, err = s.completePath(ctx, req)
	}
	if err != nil {
		return nil, errors.New(s.scrub.clean(err.Error()))
	}
	const most = 100 // the protocol's own limit
	total := len(values)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: values[:min(most, total)], Total: total, HasMore: total > most,
	}}, nil
}

func (s *Server) completeCommit(ctx context.Context, req sdk.Request, typed string) ([]string, error) {
	r, err := s.read(ctx, req, "list_sections", nil)
	if err != nil {
		return nil, err
	}
	values := []string{}
	if commit := r.(*vault.Sections).Commit; commit != "" && strings.HasPrefix(commit, typed) {
		values = append(values, commit)
	}
	return values, nil
}

func (s *Server) completePath(ctx context.Context, req *sdk.CompleteRequest) ([]string, error) {
	args := map[string]any{"where": []string{"path~" + req.Params.Argument.Value}, "max_results": 200, "max_tokens": 1 << 20}
	if c := req.Params.Context; c != nil {
		for name, key := range map[string]string{"collection": "collection", "commit": "at"} {
			if v := c.Arguments[name]; v != "" {
				args[key] = v
			}
		}
	}
	r, err := s.read(ctx, req, "kb_query", args)
	if err != nil {
		return nil, err
	}
	values := []string{}
	for _, d := range r.(*vault.QueryResult).Documents {
		values = append(values, (&url.URL{Path: d.Path}).EscapedPath())
	}
	return values, nil
}
