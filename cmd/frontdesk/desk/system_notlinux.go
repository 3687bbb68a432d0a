//go:build !linux

package desk

import (
	"errors"
	"time"
)

// diskOf is LookAtDisk of this system, which does not support it.
func diskOf(string) (device uint64, d Disk, err error) { return 0, d, errors.ErrUnsupported }

// monotonic is for systemd, which this system does not have.
func monotonic() time.Duration { return 0 }
