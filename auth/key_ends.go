package auth

import (
	"sync/atomic"
	"time"
)

// KeyEnds are the ends that api_keys were given at any gateway of a service. They override this
// gateway's configuration. Safe for concurrent use; the zero value knows none.
type KeyEnds struct {
	of atomic.Pointer[map[[32]byte]time.Time]
}

// Know replaces what is known: from when on each hash is refused.
func (e *KeyEnds) Know(all map[[32]byte]time.Time) { e.of.Store(&all) }

// passed reports whether a hash has ended at now. It allocates nothing. A nil KeyEnds knows none.
func (e *KeyEnds) passed(hash [32]byte, now time.Time) bool {
	if e == nil || e.of.Load() == nil {
		return false
	}
	end, ok := (*e.of.Load())[hash]
	return ok && !now.Before(end)
}
