//go:build unix

package desk

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// accessible reports whether this process may write a file, or into a folder, as opening it
// would: by its effective user and what it is capable of.
func accessible(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// descriptors is how many files and connections the process may have open; 0 where
// that cannot be known.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // of another type on some systems
}
