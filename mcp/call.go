package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"kb/internal/access"
	"kb/vault"
)

// Call is a call of an operation, by a tool or a resource, as it went. Whoever
// keeps it sees to it that Args, which hold what people and agents write, are not.
type Call struct {
	Tool   string
	Caller *access.Identity // nil: nobody in particular
	At     string           // the view, as it was asked for; "" of a call that failed, where it may be anything
	Commit string           // that was read, or written; "" of several repositories
	Code   vault.Code       // "" when it went well
	Took   time.Duration
	Args   json.RawMessage
}

// observed runs an operation and tells the observer how that went, even of one
// that panics.
func (s *Server) observed(ctx context.Context, id *access.Identity, who vault.Caller, op *vault.Op, args json.RawMessage, report vault.Progress) (result any, err error) {
	call := Call{Tool: toolName(op), Caller: id, Code: vault.Internal, Args: args}
	start := time.Now()
	defer func() {
		call.Took = time.Since(start)
		s.observe(call)
	}()
	result, err = s.within(ctx, id, who, op, args, report)
	if call.Code = ""; err != nil {
		call.Code = vault.AsError(err).Code
		return nil, err
	}
	call.At, call.Commit = viewOf(args), commitOf(result)
	return result, nil
}

// viewOf is the view that a call which went well was of: a name that there is.
func viewOf(args json.RawMessage) string {
	var asked struct{ At string }
	if json.Unmarshal(args, &asked) != nil {
		return ""
	}
	return asked.At
}

// within runs an operation, if the caller may, in the time that a call has.
func (s *Server) within(ctx context.Context, id *access.Identity, who vault.Caller, op *vault.Op, args json.RawMessage, report vault.Progress) (any, error) {
	if id != nil && !id.Scopes.Has(scopeOf(op)) {
		return nil, &vault.Error{Code: vault.Forbidden, Message: toolName(op) + " takes a token with the scopes " + scopeOf(op).String()}
	}
	if s.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.deadline)
		defer cancel()
	}
	result, err := s.svc.DoAs(ctx, who, op, args, report)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = &vault.Error{Code: vault.Busy, Message: toolName(op) + " took longer than " + s.deadline.String(), Hint: "ask for less at a time, or again: what was derived meanwhile is kept"}
	}
	return result, err
}

// commitOf is the commit that a result names.
func commitOf(result any) string {
	v := reflect.Indirect(reflect.ValueOf(result))
	if v.Kind() != reflect.Struct {
		return ""
	}
	if f := v.FieldByName("Commit"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}
