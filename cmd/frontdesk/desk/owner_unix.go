//go:build unix

package desk

import (
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
)

// namesOf counts the names of a file, its hard links.
func namesOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

// ownerOf names who a file belongs to: name(uid).
func ownerOf(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username + "(" + id + ")"
	}
	return "(" + id + ")"
}
