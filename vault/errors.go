package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Code classifies an error for whoever must decide what to do next. It is the
// same word in a JSON error on the command line and in an MCP tool error.
type Code string

// The codes, as a caller sees them.
const (
	Usage     Code = "usage"         // the call's own words are wrong
	NotFound  Code = "not_found"     // no such note, collection, revision, …
	ReadOnly  Code = "read_only"     // the collection does not take writes
	Protected Code = "protected"     // the path is never written by a draft
	Forbidden Code = "forbidden"     // the caller lacks the scope
	Conflict  Code = "conflict"      // somebody else changed the same thing
	Stale     Code = "stale"         // the base that was read is no longer current
	Busy      Code = "busy"          // another process has what this one needs
	Failed    Code = "checks_failed" // a check found something
	Internal  Code = "internal"      // everything else
)

// ExitStatus is what a command exits with after an error of this code. The
// statuses are part of the interface: 0 done, 1 failed, 2 usage, 3 not found,
// 4 conflict or refused, 5 busy, 6 checks failed.
func (c Code) ExitStatus() int {
	switch c {
	case Usage:
		return 2
	case NotFound:
		return 3
	case ReadOnly, Protected, Forbidden, Conflict, Stale:
		return 4
	case Busy:
		return 5
	case Failed:
		return 6
	}
	return 1
}

// Error is an error made for a person or an agent to act on: what failed, and
// what would be right. Both parts are one line, lower case, without a period.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	cause   error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns what caused e, or nil.
func (e *Error) Unwrap() error { return e.cause }

// errorf makes an Error; a %w among the arguments becomes its cause.
func errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// hint returns e with a hint.
func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// AsError returns err as an Error, whatever it was: an Error in its chain with
// the chain's message, else an internal error. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		if e.Error() == err.Error() {
			return e
		}
		return &Error{Code: e.Code, Message: err.Error(), Hint: e.Hint, cause: err}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: Internal, Message: "interrupted", cause: err}
	}
	return &Error{Code: Internal, Message: plainly(err), cause: err}
}

// plainly is an error's text without the system call that failed, which tells
// people nothing.
func plainly(err error) string {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return err.Error()
	}
	return strings.Replace(err.Error(), path.Error(), path.Path+": "+path.Err.Error(), 1)
}
