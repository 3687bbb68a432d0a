package desk

import (
	"os"
	"syscall"
)

// diskOf tells of the file system of a folder: which it is, and what is left for whoever is
// not root.
func diskOf(folder string) (device uint64, d Disk, err error) {
	info, err := os.Stat(folder)
	if err != nil {
		return 0, d, err
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, d, err
	}
	return info.Sys().(*syscall.Stat_t).Dev, Disk{Free: int64(s.Bavail) * s.Frsize, Size: int64(s.Blocks) * s.Frsize}, nil
}
