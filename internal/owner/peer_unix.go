//go:build unix

package owner

import (
	"fmt"
	"os"
	"syscall"
)

// private fails unless dir belongs to this user and nobody else can put
// something in its place or into it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a private directory", dir)
	}
	return nil
}
