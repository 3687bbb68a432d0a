package desk

import (
	"context"
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
	hashes, fresh, keys := map[neighbours.HashOfKey]config.Digest{}, neighbours.KeyUses{}, h.keys()
	for i := range keys {
		for _, hash := range keys[i].Hashes {
			of := useOf(&keys[i], hash)
			hashes[of] = hash.Hash
			if last := h.metrics.LastUse(hash.Hash); last.After(noted[of]) {
				fresh[of] = last
			}
		}
	}
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
			h.metrics.Used(hash, at)
		} else if time.Since(at) > useKept {
			gone[of] = at
		}
	}
	return h.store.neighbours.ForgetKeyUses(ctx, gone)
}
