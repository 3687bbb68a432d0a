package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// noteWait bounds how long a write that is done waits until it is noted.
const noteWait = 5 * time.Second

// write runs a write of the driver and notes what it has changed. What cannot be noted, the
// next look finds.
func (f *Follower) write(ctx context.Context, do func(backend.Tx) error, write func(func(backend.Tx) error) error) error {
	var written []written
	err := write(func(tx backend.Tx) error {
		written = written[:0]
		return do(&noting{tx, &written})
	})
	if err != nil || len(written) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWait)
	defer cancel()
	if err := f.noteWritten(ctx, written); err != nil {
		f.o.Log.Warn("a change of the gateway's own could not be noted, and is told after the next look", zap.Error(err))
	}
	return nil
}

// written is a record that the gateway has written for a client.
type written struct {
	client auth.Client
	rec    mapping.Record
	kind   backend.ChangeKind
}

// noting is a Tx that remembers what is written.
type noting struct {
	backend.Tx
	written *[]written
}

func (n *noting) add(client auth.Client, rec mapping.Record, kind backend.ChangeKind) {
	*n.written = append(*n.written, written{client, rec, kind})
	for _, elements := range rec.Children {
		for _, e := range elements {
			n.add(client, e, kind)
		}
	}
}

// Create implements backend.Tx.
func (n *noting) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	stored, err := n.Tx.Create(ctx, client, rec)
	if err == nil {
		n.add(client, stored, backend.RecordCreated)
	}
	return stored, err
}

// Update implements backend.Tx.
func (n *noting) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	stored, err := n.Tx.Update(ctx, client, before, patch)
	if err == nil {
		*n.written = append(*n.written, written{client, stored, backend.RecordUpdated})
	}
	return stored, err
}

// Delete implements backend.Tx.
func (n *noting) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	err := n.Tx.Delete(ctx, client, before)
	if err == nil {
		n.add(client, before, backend.RecordDeleted)
	}
	return err
}

// shared is what a client has written that belongs to all of them.
type shared struct {
	pair
	sighting
}

// sharedAtMost is how many of them wait at most until the other clients are told.
const sharedAtMost = 1000

// noteWritten notes written records for the client that wrote, and, if a record belongs to all
// clients, has each be told later that has seen it: that takes a read for each.
func (f *Follower) noteWritten(ctx context.Context, all []written) error {
	for _, w := range all {
		r := w.rec.Resource
		if f.resources[r.Name] == nil {
			continue
		}
		s := sightingOf(w.rec, w.kind)
		s.own = true
		if err := f.note(ctx, pair{w.client, r}, nil, []sighting{s}); err != nil {
			return err
		}
		if w.rec.Owner != mapping.OfAll {
			continue
		}
		select {
		case f.shared <- shared{pair{w.client, r}, s}:
		default:
			return errBehind
		}
	}
	return nil
}

// errBehind says that more is written than other clients can be told one by one.
var errBehind = errors.New("too many records that belong to all clients wait until these are told")

// tellShared tells the other clients of what belongs to all of them, until ctx ends.
func (f *Follower) tellShared(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-f.shared:
			if err := f.noteShared(ctx, s); err != nil && ctx.Err() == nil {
				f.o.Log.Warn("other clients could not be told of a change of the gateway's own, and are told after the next look", zap.Error(err))
			}
		}
	}
}

// noteShared notes a record for each other client that has seen it. If a system tells clients
// apart by the request alone, its records look as if they belonged to all.
func (f *Follower) noteShared(ctx context.Context, s shared) error {
	others, err := f.pairs(ctx, "resource = ?1 AND client_id <> ?2", mapping.TextValue(s.resource.Name), mapping.IntValue(s.client.ID))
	for _, p := range others {
		ctx, cancel := context.WithTimeout(ctx, noteWait)
		seen, failed := f.concerns(ctx, p, s.sighting)
		if failed == nil {
			failed = f.note(ctx, p, nil, seen)
		}
		cancel()
		err = cmp.Or(err, failed) // which need not fail for the next client
	}
	return err
}

// concerns returns a record as a client sees it by now, if he has seen it before, and sees that it
// changed or has gone: by the time that he is told it may have been written again.
func (f *Follower) concerns(ctx context.Context, p pair, s sighting) (all []sighting, err error) {
	before, err := f.lastSeen(ctx, p, []int32{s.id})
	if was, seen := before[s.id]; err != nil || !seen || was.gone {
		return nil, err
	}
	rec, err := f.o.Reader.Get(ctx, p.resource, backend.Query{Client: p.client, ID: s.id, Fields: p.resource.ListFields()})
	switch gone := errors.Is(err, backend.ErrNotFound); {
	case gone && s.kind == backend.RecordDeleted:
		return []sighting{s}, nil
	case err != nil && !gone:
		return nil, fmt.Errorf("%w: %w", errDriver, err)
	case gone || s.kind == backend.RecordDeleted:
		return nil, nil // the next look finds it
	}
	now := sightingOf(rec, backend.RecordUpdated)
	now.own = true
	return []sighting{now}, nil
}
