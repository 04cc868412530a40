package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/vault"
)

// ownPrompts adds the vault's own prompts to those that every vault has. They are
// read when they are asked for, for who asks.
func (s *Server) ownPrompts(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch req := req.(type) {
		case *sdk.ListPromptsRequest:
			r, err := next(ctx, method, req)
			if list, ok := r.(*sdk.ListPromptsResult); ok && err == nil {
				s.listOwnPrompts(ctx, req, list)
			}
			return r, err
		case *sdk.SubscriptionsListenRequest:
			if n := req.Params.Notifications; n != nil && n.PromptsListChanged {
				s.promptsWatched.listens(ctx, req)
				defer s.promptsWatched.forget(req.Session)
			}
		case *sdk.GetPromptRequest:
			if !slices.Contains(vault.BuiltinPrompts, req.Params.Name) {
				if r, err := s.getOwnPrompt(ctx, req); r != nil || err != nil {
					return r, err
				}
			}
		}
		return next(ctx, method, req)
	}
}

// readOwnPrompts reads them, which takes no index.
func (s *Server) readOwnPrompts(ctx context.Context, req sdk.Request) ([]vault.Prompt, error) {
	r, err := s.read(ctx, req, "kb_prompts", nil)
	if err != nil {
		return nil, err
	}
	return r.(*vault.Prompts).Prompts, nil
}

// listOwnPrompts adds them to the list. Where they cannot be read, the others are
// still to be had.
func (s *Server) listOwnPrompts(ctx context.Context, req *sdk.ListPromptsRequest, list *sdk.ListPromptsResult) {
	own, err := s.readOwnPrompts(ctx, req)
	if err != nil {
		s.log("the vault's own prompts: %v", err)
		return
	}
	if req.Session != nil && req.Session.InitializeParams() != nil {
		s.promptsWatched.lists(req, own)
	}
	for _, p := range own {
		var args []*sdk.PromptArgument
		for _, a := range p.Arguments {
			args = append(args, &sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		list.Prompts = append(list.Prompts, &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description, Arguments: args})
	}
	slices.SortFunc(list.Prompts, func(a, b *sdk.Prompt) int { return strings.Compare(a.Name, b.Name) })
}

// getOwnPrompt returns the prompt of a name, nil for none.
func (s *Server) getOwnPrompt(ctx context.Context, req *sdk.GetPromptRequest) (sdk.Result, error) {
	own, err := s.readOwnPrompts(ctx, req)
	if err != nil {
		return nil, errors.New(s.scrub.clean(err.Error()))
	}
	for _, p := range own {
		if p.Name != req.Params.Name {
			continue
		}
		text, err := p.Fill(req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
	}
	return nil, nil
}
