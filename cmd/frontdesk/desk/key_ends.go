package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"frontdesk/auth"
	"frontdesk/auth/redis"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// keyEnds are the ends of api_keys that were brought forward at any gateway of the service: they
// hold for all, whatever the files of each say. The shared database keeps them, which every gateway
// reads each BlockedEvery; a shared store of sessions ends what is open, and lets nobody in, before that.
//
// Only changes are told. What a gateway finds ended when it starts may simply have run out, and
// another one may have files that prolong it. An end by expires is final once it has come: files that
// are older, cut short or away for a moment undo nothing, and who revoked by mistake hands out another
// api_key. The end of a hash that is gone from the files is undone when they have it again.
type keyEnds struct {
	ring     auth.KeyEnds       // that snapshots look at
	tables   *neighbours.Tables // nil where there is one gateway
	sessions auth.KeyEnder      // nil where each gateway has its own

	removed map[[32]byte]bool // hashes that reloads removed; the reloader's own
	told    chan struct{}     // something is to be told

	mu    sync.Mutex
	queue map[[32]byte]neighbours.KeyEnd // what the others have to hear
	known []neighbours.KeyEnd
}

func newKeyEnds(s *ownStore, sessions auth.Sessions) *keyEnds {
	k := &keyEnds{removed: map[[32]byte]bool{}, told: make(chan struct{}, 1), queue: map[[32]byte]neighbours.KeyEnd{}}
	if s.file == "" {
		k.tables = s.neighbours
		k.sessions, _ = sessions.(auth.KeyEnder)
	}
	return k
}

// hashEnds are the ends of all hashes of some keys; zero for none.
func hashEnds(keys []config.Key) map[[32]byte]neighbours.KeyEnd {
	all := map[[32]byte]neighbours.KeyEnd{}
	for i := range keys {
		for _, h := range keys[i].Hashes {
			all[h.Hash] = neighbours.KeyEnd{Hash: h.Hash, Key: keys[i].Name, Ends: keys[i].EndOf(h).Time}
		}
	}
	return all
}

// sooner tells whether an end is before another; zero is never.
func sooner(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

// keyChanges are the ends that are others in one configuration than in the one before, zero where they are
// later. removed are hashes that earlier ones had.
func keyChanges(before, after []config.Key, removed map[[32]byte]bool, now time.Time) (changed []neighbours.KeyEnd) {
	were, are := hashEnds(before), hashEnds(after)
	for hash, is := range are {
		if _, there := were[hash]; !there && removed[hash] {
			were[hash] = neighbours.KeyEnd{Hash: hash, Key: is.Key, Ends: now}
		}
		delete(removed, hash)
	}
	for hash, was := range were {
		is, there := are[hash]
		if is.Final = there; !there {
			is, removed[hash] = was, true
			is.Ends = now
		}
		passed := func(end time.Time) bool { return !end.IsZero() && !end.After(now) }
		switch {
		case is.Ends.Equal(was.Ends), passed(is.Ends) && passed(was.Ends):
			continue
		case !sooner(is.Ends, was.Ends):
			is.Ends, is.Final = time.Time{}, false
		}
		changed = append(changed, is)
	}
	return changed
}

// changed has the other gateways told what a reload has changed.
func (k *keyEnds) changed(before, after []config.Key) {
	if k.tables == nil {
		return
	}
	now := time.Now()
	k.mu.Lock()
	for _, end := range keyChanges(before, after, k.removed, now) {
		if untold := k.queue[end.Hash]; !untold.Final || untold.Ends.After(now) { // else it is final, also before the others have heard it
			k.queue[end.Hash] = end
		}
	}
	k.know()
	k.mu.Unlock()
	select {
	case k.told <- struct{}{}:
	default:
	}
}

// exchange tells what is to be told, and reads what others told.
func (k *keyEnds) exchange(ctx context.Context) error {
	if k.tables == nil {
		return nil
	}
	k.mu.Lock()
	changed := slices.Collect(maps.Values(k.queue))
	k.mu.Unlock()
	untold := tellKeyEnds(ctx, changed, k.tables, k.sessions)
	known, err := k.tables.KeyEnds(ctx)
	if err != nil {
		return errors.Join(untold, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = known
	for _, end := range changed {
		if untold == nil && k.queue[end.Hash] == end {
			delete(k.queue, end.Hash)
		}
	}
	k.know()
	return untold
}

// know has snapshots go by what is known, and by the ends by expires that are still to be told.
func (k *keyEnds) know() {
	ring := make(map[[32]byte]time.Time, len(k.known))
	for _, end := range k.known {
		ring[end.Hash] = end.Ends
	}
	for hash, end := range k.queue {
		if is, known := ring[hash]; end.Final && !end.Ends.IsZero() && (!known || end.Ends.Before(is)) {
			ring[hash] = end.Ends
		}
	}
	k.ring.Know(ring)
}

// tellKeyEnds tells all gateways of changes. Where one of the two ways hangs, the other works.
func tellKeyEnds(ctx context.Context, changed []neighbours.KeyEnd, tables *neighbours.Tables, sessions auth.KeyEnder) error {
	if len(changed) == 0 {
		return nil
	}
	var kept, ended error
	var lifted [][32]byte
	var telling sync.WaitGroup
	telling.Go(func() { lifted, kept = tables.TellKeyEnds(ctx, hostName(), changed) })
	for _, end := range changed {
		if sessions != nil && !end.Ends.IsZero() && !end.Ends.After(time.Now()) {
			ended = errors.Join(ended, sessions.EndKey(ctx, end.Hash))
		}
	}
	telling.Wait()
	for _, hash := range lifted {
		if sessions != nil {
			ended = errors.Join(ended, sessions.ReviveKey(ctx, hash))
		}
	}
	return errors.Join(kept, ended)
}

// ended asks the store of sessions whether a hash has just been ended elsewhere. While that does not
// answer, what is known is all there is.
func (k *keyEnds) ended(ctx context.Context, hash [32]byte) bool {
	if k.sessions == nil {
		return false
	}
	ended, err := k.sessions.KeyEnded(ctx, hash)
	return err == nil && ended
}

// letIn are the api_keys that these files would still let in, each with who ended it.
func (h *Desk) letIn() (all []string) {
	k := h.keyEnds
	k.mu.Lock()
	known := k.known
	k.mu.Unlock()
	if len(known) == 0 {
		return nil
	}
	here := hashEnds(h.keys())
	for _, end := range known {
		is, there := here[end.Hash]
		if !there || !sooner(end.Ends, is.Ends) {
			continue
		}
		until := "without an end"
		if !is.Ends.IsZero() {
			until = "until " + is.Ends.UTC().Format(time.RFC3339)
		}
		all = append(all, fmt.Sprintf("the api_key %s ends at %s, which %s told all gateways at %s; the files here have it %s: bring them up to date",
			is.Key, end.Ends.UTC().Format(time.RFC3339), end.By, end.Told.UTC().Format(time.RFC3339), until))
	}
	return all
}

// TellKeyChange tells all gateways of a service, by the database and the store of sessions in a
// configuration, that a key has changed. It returns which gateways these are; none where there is one.
// known tells whether the configuration, with its mapping sheet, says which database that is.
func TellKeyChange(p Program, c *config.Config, before, after config.Key) (gateways []string, known bool, err error) {
	if database, err := DatabaseOf(c); err != nil || database.file() != "" {
		return nil, false, err
	}
	changed := keyChanges([]config.Key{before}, []config.Key{after}, map[[32]byte]bool{}, time.Now())
	err = AskNeighbours(p, c, func(ctx context.Context, t *neighbours.Tables) (err error) {
		if gateways, err = gatewaysOf(ctx, t); err != nil || len(changed) == 0 {
			return err
		}
		shared, release, err := sharedSessions(c)
		if err != nil {
			return err
		}
		defer release()
		return tellKeyEnds(ctx, changed, t, shared)
	})
	if len(changed) == 0 { // nobody has to be told
		err = nil
	}
	return gateways, true, err
}

// sharedSessions opens the store of sessions that the gateways of a configuration share; nil where
// each has its own.
func sharedSessions(c *config.Config) (_ *redis.Sessions, release func(), err error) {
	if c.Sessions.Store == config.MemoryStore {
		return nil, func() {}, nil
	}
	client, err := redis.Open(redis.Options{URL: string(c.Sessions.Store), CAFile: c.Sessions.CAFile})
	if err != nil {
		return nil, nil, fmt.Errorf("sessions.store: %w", err)
	}
	return redis.NewSessions(client, time.Now), client.Close, nil
}

// EndSessionsOf ends the open sessions of a user in the store that gateways share. It tells whether
// there is one.
func EndSessionsOf(p Program, c *config.Config, username string, why auth.Cause) (shared bool, err error) {
	sessions, release, err := sharedSessions(c)
	if err != nil || sessions == nil {
		return false, err
	}
	defer release()
	return true, sessions.EndUser(p.Ctx, username, why)
}
