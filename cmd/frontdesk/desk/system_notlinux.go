//go:build !linux

package desk

import (
	"errors"
	"time"
)

// diskOf is LookAtDisk of this system, where nobody knows.
func diskOf(string) (device uint64, d Disk, err error) { return 0, d, errors.ErrUnsupported }

// monotonic is for systemd, which is not there.
func monotonic() time.Duration { return 0 }
