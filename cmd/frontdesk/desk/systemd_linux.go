package desk

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that systemd compares a reload with.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // which systemd takes for a reload that began long ago
	}
	return time.Duration(now.Nano())
}
