package config

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when anything of a file last changed: its contents, its owner, its times.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
