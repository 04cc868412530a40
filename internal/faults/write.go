//go:build linux && amd64

package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Write is a call that is about to change a file.
type Write struct {
	Call string // see calls
	Path string // what is changed; of a rename or a link, what is made
}

// call is a system call that changes files.
type call struct {
	name string
	path func(thread int, args *[6]uint64) string // "" for a call that changes none
}

// The numbers of calls that syscall does not have.
const (
	sysRenameat2     = 316
	sysCopyFileRange = 326
)

// calls are the calls that change files, as programs in Go make them.
var calls = map[uint64]call{
	syscall.SYS_WRITE:     {"write", file(0)},
	syscall.SYS_PWRITE64:  {"write", file(0)},
	syscall.SYS_WRITEV:    {"write", file(0)},
	syscall.SYS_SENDFILE:  {"write", file(0)},
	syscall.SYS_SPLICE:    {"write", file(2)},
	sysCopyFileRange:      {"write", file(2)},
	syscall.SYS_FSYNC:     {"sync", file(0)},
	syscall.SYS_FDATASYNC: {"sync", file(0)},
	syscall.SYS_MSYNC:     {"sync", mapped},
	syscall.SYS_FTRUNCATE: {"truncate", file(0)},
	syscall.SYS_FALLOCATE: {"truncate", file(0)},
	syscall.SYS_OPENAT:    {"create", created},
	syscall.SYS_RENAMEAT:  {"rename", named(2)},
	sysRenameat2:          {"rename", named(2)},
	syscall.SYS_LINKAT:    {"link", named(2)},
	syscall.SYS_SYMLINKAT: {"link", named(1)},
	syscall.SYS_UNLINKAT:  {"remove", named(0)},
	syscall.SYS_MKDIRAT:   {"mkdir", named(0)},
	syscall.SYS_BIND:      {"bind", socket},
}

// writeOf tells which file the call changes at whose beginning a thread is.
func writeOf(thread int, regs *syscall.PtraceRegs) (w Write, ok bool) {
	c, ok := calls[regs.Orig_rax]
	if !ok {
		return w, false
	}
	w = Write{c.name, c.path(thread, &[6]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9})}
	return w, filepath.IsAbs(w.Path)
}

// file is an open file, whose number is argument n.
func file(n int) func(int, *[6]uint64) string {
	return func(thread int, args *[6]uint64) string { return opened(thread, int32(args[n])) }
}

// opened is the name of an open file; of a pipe or the like it is none.
func opened(thread int, fd int32) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", thread, fd))
	if err != nil || strings.HasPrefix(name, "/dev/") {
		return ""
	}
	return strings.TrimSuffix(name, " (deleted)")
}

// named is a name below a directory: arguments n and n+1.
func named(n int) func(int, *[6]uint64) string {
	return func(thread int, args *[6]uint64) string {
		name := text(thread, args[n+1])
		if filepath.IsAbs(name) {
			return filepath.Clean(name)
		}
		const here = -100 // AT_FDCWD
		if dir := int32(args[n]); dir != here {
			return filepath.Join(opened(thread, dir), name)
		}
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", thread))
		if err != nil {
			return ""
		}
		return filepath.Join(cwd, name)
	}
}

// created is a file that opening makes.
func created(thread int, args *[6]uint64) string {
	if args[2]&syscall.O_CREAT == 0 {
		return ""
	}
	name := named(0)(thread, args)
	if _, err := os.Lstat(name); err == nil && args[2]&syscall.O_TRUNC == 0 {
		return "" // it is there
	}
	return name
}

// mapped is the file that is mapped at an address.
func mapped(thread int, args *[6]uint64) string {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", thread))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x", &from, &to); n == 2 && from <= args[0] && args[0] < to {
			if at := strings.IndexByte(line, '/'); at >= 0 {
				return strings.TrimSpace(line[at:])
			}
		}
	}
	return ""
}

// socket is the file of a socket that gets its name.
func socket(thread int, args *[6]uint64) string {
	const family = 2 // bytes before the name
	if memory(thread, args[1], 1)[0] != syscall.AF_UNIX {
		return ""
	}
	return text(thread, args[1]+family)
}

// text reads a text that a zero ends.
func text(thread int, at uint64) string {
	b, _, _ := bytes.Cut(memory(thread, at, syscall.PathMax), []byte{0})
	return string(b)
}

// memory reads n bytes, or zeros where there are none.
func memory(thread int, at uint64, n int) []byte {
	b := make([]byte, n)
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", thread))
	if err != nil {
		return b
	}
	defer f.Close()
	_, _ = f.ReadAt(b, int64(at)) // less than n at the end of what is mapped
	return b
}
