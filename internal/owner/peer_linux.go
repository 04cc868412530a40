package owner

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// isSameUser reports whether the other end of a Unix socket is this user's.
func isSameUser(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	ctlErr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return ctlErr == nil && err == nil && int(cred.Uid) == os.Getuid()
}
