package rig

import (
	"time"

	"frontdesk/cmd/frontdesk/desk"
)

// Circuit has circuits open after so many failures, for so long; 0 leaves what there is.
func Circuit(failures int, pause time.Duration) func(*desk.Bounds) {
	return func(b *desk.Bounds) {
		if failures > 0 {
			b.CircuitFailures = failures
		}
		if pause > 0 {
			b.CircuitPause = pause
		}
	}
}
