//go:build !linux

package config

import (
	"io/fs"
	"time"
)

// changeTime returns the modification time.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }
