package desk

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/config"
)

// UseEvery is how often it is noted which api_keys were used: it costs a request no write.
const UseEvery = time.Minute

// useKept is how long it is known when hashes were used that are in no configuration any more: one
// gateway may read its files before another.
const useKept = 24 * time.Hour

// Used implements gateway.Meter.
func (m *metrics) Used(hash [32]byte, at time.Time) {
	last := m.used.of(hash, neverUsed)
	if now := at.Unix(); now > last.Load() {
		last.Store(now)
	}
}

func neverUsed() *atomic.Int64 { return new(atomic.Int64) }

// lastUse is when a hash was used last, of what is known; zero for never.
func (m *metrics) lastUse(hash config.Digest) time.Time {
	last := m.used.all()[hash]
	if last == nil || last.Load() == 0 {
		return time.Time{}
	}
	return time.Unix(last.Load(), 0)
}

// useOf is the name that the use of a hash is noted under.
func useOf(k *config.Key, h config.KeyHash) ledger.HashOfKey {
	return ledger.HashOfKey{Key: k.Name, SHA256: h.Hash.Short()}
}

// watchKeyUse notes when api_keys were used last for as long as ctx lives, and what is left of it
// then. Of several gateways each tells the latest that any of them knows.
func (h *Desk) watchKeyUse(ctx context.Context) {
	noted, failing := ledger.KeyUses{}, false
	note := func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout)
		defer cancel()
		err := h.noteKeyUse(bounded, noted)
		if err != nil && !failing {
			h.log.Warn("when api_keys were used cannot be noted", zap.Error(err))
		}
		failing = err != nil
	}
	every(ctx, h.after, UseEvery, note)
	note()
}

// noteKeyUse tells the database what it does not know, and takes from it what others noted. What
// was noted before needs no further write.
func (h *Desk) noteKeyUse(ctx context.Context, noted ledger.KeyUses) error {
	hashes, fresh := map[ledger.HashOfKey]config.Digest{}, ledger.KeyUses{}
	configured, keys := map[[32]byte]bool{}, h.keys()
	for i := range keys {
		for _, hash := range keys[i].Hashes {
			of := useOf(&keys[i], hash)
			hashes[of], configured[hash.Hash] = hash.Hash, true
			if last := h.metrics.lastUse(hash.Hash); last.After(noted[of]) {
				fresh[of] = last
			}
		}
	}
	h.metrics.used.forget(func(hash [32]byte) bool { return !configured[hash] })
	h.metrics.used.add(neverUsed, slices.Collect(maps.Keys(configured))...)
	if err := h.ledger.NoteKeyUses(ctx, fresh); err != nil {
		return err
	}
	known, err := h.ledger.KeyUses(ctx)
	if err != nil {
		return err
	}
	clear(noted)
	gone := ledger.KeyUses{}
	for of, at := range known {
		if hash, there := hashes[of]; there {
			noted[of] = at
			h.metrics.Used(hash, at)
		} else if time.Since(at) > useKept {
			gone[of] = at
		}
	}
	return h.ledger.ForgetKeyUses(ctx, gone)
}
