package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"kb/internal/diskfull"
)

// RemoteError is an error of a [Handler]. A handler returns one to say what
// code and hint its caller gets; from any other error it is made with the
// code "internal". Where caller and handler share a process it wraps the
// handler's own error.
type RemoteError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	err error
}

func (e *RemoteError) Error() string { return e.Message }

// Unwrap returns what the handler returned, in the handler's own process.
func (e *RemoteError) Unwrap() error { return e.err }

// remoteError returns what err is to a caller.
func remoteError(err error) *RemoteError {
	var e *RemoteError
	if errors.As(err, &e) {
		return &RemoteError{e.Code, e.Message, e.Hint, err}
	}
	return &RemoteError{Code: "internal", Message: err.Error(), err: err}
}

// readOnly makes ErrReadOnly of an error that says as much: writing is not allowed,
// or there is no room.
func readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || diskfull.Is(err) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}
