package desk

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// monotonic is the clock that systemd compares a reload with.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // to systemd this means a reload that began long ago
	}
	return time.Duration(now.Nano())
}
