package owner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path of a socket: macOS has 104 bytes for it,
// one of them NUL.
const maxSocketPath = 103

// listen opens a socket that only this user can reach, on the first place of
// socketPaths that works. Where there are no Unix sockets it listens on the
// loopback interface, and the beacon's secret is what keeps others out.
func listen(dir, id string) (net.Listener, error) {
	var errs []error
	for _, path := range socketPaths(dir, id) {
		l, err := listenUnix(path)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	return l, nil
}

// socketPaths lists where a socket may be, best first: the user's runtime
// directory, dir itself, a directory with a short name. Callers find it
// by the beacon, so it does not matter that their environment may differ.
func socketPaths(dir, id string) []string {
	name := id + ".sock"
	paths := []string{
		filepath.Join(dir, socketName),
		filepath.Join(os.TempDir(), fmt.Sprintf("kb-%d", os.Getuid()), name),
	}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) && isDir(run) {
		paths = append([]string{filepath.Join(run, "kb", name)}, paths...)
	}
	short := paths[:0]
	for _, p := range paths {
		if len(p) <= maxSocketPath {
			short = append(short, p)
		}
	}
	return short
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// listenUnix listens on path, whose caller holds the lock that the socket
// belongs to, so what is there already is stale.
func listenUnix(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeFile(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return sameUser{l}, nil
}

// sameUser is a listener that hangs up on other users.
type sameUser struct{ net.Listener }

func (l sameUser) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || isSameUser(c) {
			return c, err
		}
		c.Close()
	}
}
