package desk

import (
	"context"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// UseEvery is how often the uses of api_keys are stored; no request writes its own.
const UseEvery = time.Minute

// useKept is how long the use of a hash is kept after the hash left the configuration: other gateways
// may read their files later.
const useKept = 24 * time.Hour

// useOf returns the key under which the use of a hash is stored.
func useOf(k *config.Key, h config.KeyHash) neighbours.HashOfKey {
	return neighbours.HashOfKey{Key: k.Name, SHA256: h.Hash.Short()}
}

// watchKeyUse stores when api_keys were last used, until ctx ends, and once more then. With several
// gateways, each shows the latest use that any of them knows.
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

// noteKeyUse stores the uses that the database does not have yet, and reads those of other gateways.
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
