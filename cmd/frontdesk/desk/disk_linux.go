package desk

import (
	"os"
	"syscall"
)

// diskOf is LookAtDisk of this system.
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
