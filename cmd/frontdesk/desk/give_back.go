package desk

import (
	"context"
	"runtime/debug"
	"time"
)

// giveBackAfter is how long after large memory was used it is given back to the system: what comes
// meanwhile uses it again.
const giveBackAfter = 3 * time.Second

// giveBack gives memory back to the system until ctx ends: what starting took, and that of
// passwords and of large bodies and answers. The runtime alone would keep it for minutes when
// nothing else happens.
func (h *Desk) giveBack(ctx context.Context) {
	for {
		select {
		case <-h.after(giveBackAfter):
			debug.FreeOSMemory()
		case <-ctx.Done():
			return
		}
		select {
		case <-h.hasher.Spent():
		case <-h.server.Spent():
		case <-ctx.Done():
			return
		}
	}
}
