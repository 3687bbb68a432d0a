package desk

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// UseEvery is how often the uses of api_keys are stored, so that no request has to write.
const UseEvery = time.Minute

// useKept is how long the use of a hash is kept that is in no configuration any more: one gateway
// may read its files before another.
const useKept = 24 * time.Hour

// Used implements gateway.Meter.
func (m *metrics) Used(hash [32]byte, at time.Time) { m.usedBy(hash, at).count.Add(1) }

// usedBy notes when a hash was used last, at whatever gateway.
func (m *metrics) usedBy(hash [32]byte, at time.Time) *eventCounter {
	used := m.used.of(hash, neverUsed)
	if now := at.Unix(); now > used.last.Load() {
		used.last.Store(now)
	}
	return used
}

func neverUsed() *eventCounter { return new(eventCounter) }

// lastUse is when a hash was used last, of what is known; zero for never.
func (m *metrics) lastUse(hash config.Digest) time.Time {
	used := m.used.all()[hash]
	if used == nil || used.last.Load() == 0 {
		return time.Time{}
	}
	return time.Unix(used.last.Load(), 0)
}

// useOf is the name that the use of a hash is noted under.
func useOf(k *config.Key, h config.KeyHash) neighbours.HashOfKey {
	return neighbours.HashOfKey{Key: k.Name, SHA256: h.Hash.Short()}
}

// watchKeyUse stores when api_keys were used last, until ctx ends, and once more then. Each of
// several gateways tells the latest use that any of them knows.
func (h *Desk) watchKeyUse(ctx context.Context) {
	noted, failing := neighbours.KeyUses{}, false
	note := func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout)
		defer cancel()
		err := h.noteKeyUse(bounded, noted)
		if err != nil && !failing {
			h.log.Warn("the last uses of api_keys cannot be stored", zap.Error(err))
		}
		failing = err != nil
	}
	every(ctx, h.after, UseEvery, note)
	note()
}

// noteKeyUse writes the uses that the database does not have yet, and reads those of other
// gateways.
func (h *Desk) noteKeyUse(ctx context.Context, noted neighbours.KeyUses) error {
	hashes, fresh := map[neighbours.HashOfKey]config.Digest{}, neighbours.KeyUses{}
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
	if err := h.store.neighbours.NoteKeyUses(ctx, fresh); err != nil {
		return err
	}
	known, err := h.store.neighbours.KeyUses(ctx)
	if err != nil {
		return err
	}
	clear(noted)
	gone := neighbours.KeyUses{}
	for of, at := range known {
		if hash, there := hashes[of]; there {
			noted[of] = at
			h.metrics.usedBy(hash, at)
		} else if time.Since(at) > useKept {
			gone[of] = at
		}
	}
	return h.store.neighbours.ForgetKeyUses(ctx, gone)
}
