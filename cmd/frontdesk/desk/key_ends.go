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

// keyEnds are the ends of api_keys that were brought forward at any gateway of the service. They hold for
// all gateways, whatever the files of each say. The shared database keeps them, and every gateway reads
// them each BlockedEvery; sooner than that, a shared store of sessions ends open sessions and refuses logins.
// keyFact has the rules for one hash.
type keyEnds struct {
	ring     auth.KeyEnds       // the ends as snapshots look them up
	tables   *neighbours.Tables // the stored ends, which outlive a restart
	sessions auth.KeyEnder      // nil where each gateway has its own sessions
	wake     chan struct{}      // wakes watchEnded to publish changes

	mu    sync.Mutex
	facts keyFacts
}

// keyFacts holds a fact for each hash of which anything is known.
type keyFacts map[[32]byte]keyFact

func (all keyFacts) set(hash [32]byte, f keyFact) {
	if all[hash] = f; f == (keyFact{}) {
		delete(all, hash)
	}
}

func newKeyEnds(s *ownStore, sessions auth.Sessions) *keyEnds {
	k := &keyEnds{tables: s.neighbours, wake: make(chan struct{}, 1), facts: keyFacts{}}
	if s.file == "" {
		k.sessions, _ = sessions.(auth.KeyEnder)
	}
	return k
}

// hashEnds returns the ends of all hashes of some keys; a zero time for none.
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

// filed applies a change of the files to the facts of each hash.
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

// pending returns the changes that are still to be published.
func (all keyFacts) pending() (changed []neighbours.KeyEnd) {
	for _, f := range all {
		if f.pending.Key != "" {
			changed = append(changed, f.pending)
		}
	}
	return changed
}

// changed takes in what a reload has changed, and has it published.
func (k *keyEnds) changed(before, after []config.Key) {
	k.mu.Lock()
	k.facts.filed(before, after, time.Now())
	k.know()
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// exchange publishes pending changes, and reads what all gateways published.
func (k *keyEnds) exchange(ctx context.Context) error {
	k.mu.Lock()
	sent := maps.Clone(k.facts)
	k.mu.Unlock()
	fault := publishKeyEnds(ctx, sent.pending(), k.tables, k.sessions)
	all, err := k.tables.KeyEnds(ctx)
	if err != nil {
		return errors.Join(fault, err)
	}
	if fault != nil {
		sent = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := map[[32]byte]bool{}
	for _, end := range all {
		known[end.Hash] = true
		k.facts.set(end.Hash, k.facts[end.Hash].published(sent[end.Hash].changes, end))
	}
	for hash, f := range k.facts {
		if !known[hash] {
			k.facts.set(hash, f.published(sent[hash].changes, neighbours.KeyEnd{}))
		}
	}
	k.know()
	return fault
}

// know updates the ends that snapshots look up.
func (k *keyEnds) know() {
	ring := make(map[[32]byte]time.Time, len(k.facts))
	for hash, f := range k.facts {
		if end := f.ends(); !end.IsZero() {
			ring[hash] = end
		}
	}
	k.ring.Know(ring)
}

// publishKeyEnds publishes changes in the database and in the store of sessions, at the same time: if one of
// them hangs, the other still works.
func publishKeyEnds(ctx context.Context, changed []neighbours.KeyEnd, tables *neighbours.Tables, sessions auth.KeyEnder) error {
	if len(changed) == 0 {
		return nil
	}
	var kept, ended error
	var lifted [][32]byte
	var storing sync.WaitGroup
	storing.Go(func() { lifted, kept = tables.PublishKeyEnds(ctx, hostName(), changed) })
	for _, end := range changed {
		if sessions != nil && !end.Ends.IsZero() && !end.Ends.After(time.Now()) {
			ended = errors.Join(ended, sessions.EndKey(ctx, end.Hash))
		}
	}
	storing.Wait()
	for _, hash := range lifted {
		if sessions != nil {
			ended = errors.Join(ended, sessions.ReviveKey(ctx, hash))
		}
	}
	return errors.Join(kept, ended)
}

// ended asks the store of sessions whether a hash has just been ended elsewhere. It returns false while the
// store does not answer: the known ends hold then.
func (k *keyEnds) ended(ctx context.Context, hash [32]byte) bool {
	if k.sessions == nil {
		return false
	}
	ended, err := k.sessions.KeyEnded(ctx, hash)
	return err == nil && ended
}

// letIn describes the api_keys that ended elsewhere but are still valid in this gateway's files.
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
			is.Key, end.Ends.UTC().Format(time.RFC3339), end.By, end.Published.UTC().Format(time.RFC3339), until))
	}
	slices.Sort(all)
	return all
}

// PublishKeyChange publishes the change of a key to all gateways of a service, through the database and the
// store of sessions of a configuration. It returns the names of these gateways; none where there is only
// one. known reports whether the configuration, with its mapping sheet, says which database that is.
func PublishKeyChange(p Program, c *config.Config, before, after config.Key) (gateways []string, known bool, err error) {
	if database, err := DatabaseOf(c); err != nil || database.file() != "" {
		return nil, false, err
	}
	facts := keyFacts{}
	facts.filed([]config.Key{before}, []config.Key{after}, time.Now())
	changed := facts.pending()
	err = AskNeighbours(p, c, func(ctx context.Context, t *neighbours.Tables) (err error) {
		if gateways, err = gatewaysOf(ctx, t); err != nil || len(changed) == 0 {
			return err
		}
		shared, release, err := sharedSessions(c)
		if err != nil {
			return err
		}
		defer release()
		return publishKeyEnds(ctx, changed, t, shared)
	})
	if len(changed) == 0 { // nothing had to be published
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
