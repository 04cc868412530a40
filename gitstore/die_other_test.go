//go:build !unix

package gitstore

import "os"

func dieNow() { os.Exit(9) }
