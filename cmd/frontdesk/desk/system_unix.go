//go:build unix

package desk

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// accessible reports whether this process may write a file, or into a folder, by its effective
// user and its capabilities.
func accessible(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// descriptors returns how many files and connections the process may have open; 0 if
// that is not known.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // Cur has another type on some systems
}
