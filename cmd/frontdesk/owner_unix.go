//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

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

// giveTo gives a file the owner and group of another, where they differ.
func giveTo(file *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if have, ok := info.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}
