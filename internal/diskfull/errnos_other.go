//go:build !windows

package diskfull

import "syscall"

var errnos = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
