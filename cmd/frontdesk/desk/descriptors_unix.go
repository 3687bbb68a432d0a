//go:build unix

package desk

import (
	"math"
	"syscall"
)

// descriptors is how many files and connections the process may have open; 0 where
// that cannot be known.
func descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) // of another type on some systems
}
