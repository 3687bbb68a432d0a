package config

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when anything of a file was last changed: its text, its owner, its times.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
