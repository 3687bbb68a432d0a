//go:build unix

package desk

import (
	"io/fs"
	"syscall"
)

// namesOf counts the names of a file, its hard links.
func namesOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
