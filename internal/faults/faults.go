//go:build linux && amd64

// Package faults runs a program and breaks one of its writes, as a full disk does,
// a bad one, or a pulled plug: it stops the program at the system calls that
// change files and decides what becomes of each. The program needs no code for
// that, and what it links is tried as well. It knows nothing of what is written.
// For tests.
package faults

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Fault is what becomes of a write.
type Fault int

const (
	None       Fault = iota
	Failed           // it is not done, and fails
	FailedDone       // it is done, and reported as failed
	Killed           // the program dies before it
	KilledDone       // the program dies after it
)

func (f Fault) String() string {
	return [...]string{"none", "failed", "failed but done", "killed before", "killed after"}[f]
}

// ErrUnavailable says that programs cannot be watched on this machine.
var ErrUnavailable = errors.New("no program can be traced here")

// Run runs cmd to its end; choose says of each of its writes, one at a time, what
// becomes of it. Programs that cmd starts are not watched. The status is that of
// cmd, whose output is complete.
func Run(cmd *exec.Cmd, choose func(Write) Fault) (syscall.WaitStatus, error) {
	type result struct {
		status syscall.WaitStatus
		err    error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // the kernel takes orders from this thread alone; it ends with the goroutine
		status, err := run(cmd, choose)
		done <- result{status, err}
	}()
	r := <-done
	return r.status, r.err
}

func run(cmd *exec.Cmd, choose func(Write) Fault) (status syscall.WaitStatus, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			err = ErrUnavailable
		}
		return 0, fmt.Errorf("watch %s: %w", cmd.Path, err)
	}
	defer func() { _ = cmd.Wait() }() // for the output: it finds no process
	t := &tracer{main: cmd.Process.Pid, choose: choose, within: map[int]Fault{}}
	if _, err := syscall.Wait4(t.main, &status, 0, nil); err != nil {
		return 0, fmt.Errorf("watch %s: %w", cmd.Path, err)
	}
	if err := syscall.PtraceSetOptions(t.main, options); err != nil {
		_ = cmd.Process.Kill()
		return 0, fmt.Errorf("watch %s: %w: %w", cmd.Path, ErrUnavailable, err)
	}
	return t.watch()
}

const (
	exitKill = 0x100000 // PTRACE_O_EXITKILL: the program does not outlive the test
	options  = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | exitKill
	inCall   = syscall.SIGTRAP | 0x80
)

// tracer watches the threads of a program.
type tracer struct {
	main   int
	choose func(Write) Fault
	within map[int]Fault // by thread, what becomes of the call that it is in
	status syscall.WaitStatus
}

// watch lets the threads go on until there are none.
func (t *tracer) watch() (syscall.WaitStatus, error) {
	thread, signal := t.main, 0
	for {
		// A thread that was killed meanwhile is gone; so it will be said.
		if err := syscall.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, fmt.Errorf("go on: %w", err)
		}
		var status syscall.WaitStatus
		for {
			var err error
			thread, err = syscall.Wait4(-t.main, &status, syscall.WALL, nil) // its group: other programs are waited for by others
			if errors.Is(err, syscall.ECHILD) {
				return t.status, nil
			}
			if err != nil && !errors.Is(err, syscall.EINTR) {
				return 0, fmt.Errorf("wait: %w", err)
			}
			if err == nil && status.Stopped() {
				break
			}
			if err == nil && thread == t.main {
				t.status = status
			}
		}
		signal = t.stopped(thread, status.StopSignal())
	}
}

// stopped handles a stop, and returns the signal to hand to the thread.
func (t *tracer) stopped(thread int, signal syscall.Signal) int {
	switch signal {
	case inCall:
		t.call(thread)
	case syscall.SIGTRAP, syscall.SIGSTOP: // a thread was made, or begins
	default:
		return int(signal)
	}
	return 0
}

// call is at the beginning or the end of a thread's system call.
func (t *tracer) call(thread int) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(thread, &regs) != nil {
		return // killed
	}
	if fault, ok := t.within[thread]; ok {
		delete(t.within, thread)
		t.end(thread, &regs, fault)
		return
	}
	t.within[thread] = None
	w, ok := writeOf(thread, &regs)
	if !ok {
		return
	}
	switch fault := t.choose(w); fault {
	case Killed:
		t.kill()
	case Failed:
		regs.Orig_rax = ^uint64(0) // no such call
		_ = syscall.PtraceSetRegs(thread, &regs)
		fallthrough
	default:
		t.within[thread] = fault
	}
}

// end is at the end of a call.
func (t *tracer) end(thread int, regs *syscall.PtraceRegs, fault Fault) {
	switch fault {
	case Failed, FailedDone:
		regs.Rax = ^uint64(syscall.EIO - 1) // negative
		_ = syscall.PtraceSetRegs(thread, regs)
	case KilledDone:
		t.kill()
	}
}

func (t *tracer) kill() { _ = syscall.Kill(t.main, syscall.SIGKILL) }
