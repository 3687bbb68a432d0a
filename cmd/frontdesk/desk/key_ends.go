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
// What that means for a hash, keyFact says.
type keyEnds struct {
	ring     auth.KeyEnds       // that snapshots look at
	tables   *neighbours.Tables // which keep them over a restart, too
	sessions auth.KeyEnder      // nil where each gateway has its own
	told     chan struct{}      // something is to be told

	mu    sync.Mutex
	facts keyFacts
}

// keyFacts are those of hashes of which anything is known.
type keyFacts map[[32]byte]keyFact

func (all keyFacts) set(hash [32]byte, f keyFact) {
	if all[hash] = f; f == (keyFact{}) {
		delete(all, hash)
	}
}

func newKeyEnds(s *ownStore, sessions auth.Sessions) *keyEnds {
	k := &keyEnds{tables: s.neighbours, told: make(chan struct{}, 1), facts: keyFacts{}}
	if s.file == "" {
		k.sessions, _ = sessions.(auth.KeyEnder)
	}
	return k
}

// hashEnds are the ends of all hashes of some keys; a zero time for none.
func hashEnds(keys []config.Key) map[[32]byte]neighbours.KeyEnd {
	all := map[[32]byte]neighbours.KeyEnd{}
	for i := range keys {
		for _, h := range keys[i].Hashes {
			all[h.Hash] = neighbours.KeyEnd{Hash: h.Hash, Key: keys[i].Name, Ends: keys[i].EndOf(h).Time}
		}
	}
	return all
}

// sooner reports whether an end is before another; zero is never.
func sooner(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

// filed brings a change of the files into what is known of each hash.
func (all keyFacts) filed(before, after []config.Key, now time.Time) {
	were, are := hashEnds(before), hashEnds(after)
	for hash, was := range were {
		all.set(hash, all[hash].filed(was, are[hash], now))
	}
	for hash, is := range are {
		if were[hash].Key == "" {
			all.set(hash, all[hash].filed(neighbours.KeyEnd{}, is, now))
		}
	}
}

// untold are the changes that the others have to hear.
func (all keyFacts) untold() (changed []neighbours.KeyEnd) {
	for _, f := range all {
		if f.untold.Key != "" {
			changed = append(changed, f.untold)
		}
	}
	return changed
}

// changed has the other gateways told what a reload has changed.
func (k *keyEnds) changed(before, after []config.Key) {
	k.mu.Lock()
	k.facts.filed(before, after, time.Now())
	k.know()
	k.mu.Unlock()
	select {
	case k.told <- struct{}{}:
	default:
	}
}

// exchange tells what is to be told, and reads what others told.
func (k *keyEnds) exchange(ctx context.Context) error {
	k.mu.Lock()
	told := maps.Clone(k.facts)
	k.mu.Unlock()
	fault := tellKeyEnds(ctx, told.untold(), k.tables, k.sessions)
	all, err := k.tables.KeyEnds(ctx)
	if err != nil {
		return errors.Join(fault, err)
	}
	if fault != nil {
		told = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := map[[32]byte]bool{}
	for _, end := range all {
		known[end.Hash] = true
		k.facts.set(end.Hash, k.facts[end.Hash].heard(told[end.Hash].changes, end))
	}
	for hash, f := range k.facts {
		if !known[hash] {
			k.facts.set(hash, f.heard(told[hash].changes, neighbours.KeyEnd{}))
		}
	}
	k.know()
	return fault
}

// know has snapshots go by what is known.
func (k *keyEnds) know() {
	ring := make(map[[32]byte]time.Time, len(k.facts))
	for hash, f := range k.facts {
		if end := f.ends(); !end.IsZero() {
			ring[hash] = end
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
	defer k.mu.Unlock()
	if len(k.facts) == 0 {
		return nil
	}
	here := hashEnds(h.keys())
	for _, f := range k.facts {
		end := f.known
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
	slices.Sort(all)
	return all
}

// TellKeyChange tells all gateways of a service, by the database and the store of sessions in a
// configuration, that a key has changed. It returns which gateways these are; none where there is one.
// known reports whether the configuration, with its mapping sheet, says which database that is.
func TellKeyChange(p Program, c *config.Config, before, after config.Key) (gateways []string, known bool, err error) {
	if database, err := DatabaseOf(c); err != nil || database.file() != "" {
		return nil, false, err
	}
	facts := keyFacts{}
	facts.filed([]config.Key{before}, []config.Key{after}, time.Now())
	changed := facts.untold()
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

// EndSessionsOf ends the open sessions of a user in the store that gateways share. It reports whether
// there is one.
func EndSessionsOf(p Program, c *config.Config, username string, why auth.Cause) (shared bool, err error) {
	sessions, release, err := sharedSessions(c)
	if err != nil || sessions == nil {
		return false, err
	}
	defer release()
	return true, sessions.EndUser(p.Ctx, username, why)
}
