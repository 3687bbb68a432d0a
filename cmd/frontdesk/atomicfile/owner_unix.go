//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file the owner and group of another.
func giveTo(file *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}
