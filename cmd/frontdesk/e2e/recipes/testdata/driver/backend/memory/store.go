// Package memory keeps records in memory: the smallest driver that serves, to begin
// another one from. What it has is gone when the program ends.
//
// It is an administration with transactions and without rules of its own: the Client
// around it keeps those of the interface. It makes no numbers and adds up no orders,
// as the built-in administration does.
package memory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// errClosed is the failure of a call that came after Close.
var errClosed = errors.New("the records in memory were closed")

var (
	_ backend.Driver = (*Store)(nil)
	_ auth.Accounts  = (*Store)(nil)
)

// Store implements backend.Driver and auth.Accounts.
type Store struct {
	users
	now     func() time.Time
	writing sync.Mutex            // one write at a time, so none collides
	state   atomic.Pointer[state] // as of the last write; nil once it is closed
}

// state is all that there is to know of the records. It never changes: a write makes
// another one, so that reads need no lock.
type state struct {
	records map[*mapping.Resource][]mapping.Record // by ID
	last    map[*mapping.Resource]int32            // IDs that were given, of deleted records too
	memos   map[memoKey]kept
}

// New makes a Store without records, and with a user demo whose password is demo.
func New(ctx context.Context, hasher *auth.Hasher, now func() time.Time) (*Store, error) {
	users, err := newUsers(ctx, hasher)
	if err != nil {
		return nil, err
	}
	s := &Store{users: users, now: now}
	s.state.Store(&state{records: map[*mapping.Resource][]mapping.Record{}, last: map[*mapping.Resource]int32{}, memos: map[memoKey]kept{}})
	return s, nil
}

// Capabilities implements backend.Driver.
func (s *Store) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "memory", Store: "memory", Version: "1", Atomic: true}
}

// Close implements backend.Driver.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.state.Store(nil)
	return nil
}

// Get implements backend.Reader.
func (s *Store) Get(_ context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if now := s.state.Load(); now != nil {
		return now.get(r, q)
	}
	return mapping.Record{}, errClosed
}

// List implements backend.Reader.
func (s *Store) List(_ context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if now := s.state.Load(); now != nil {
		return now.list(r, q)
	}
	return backend.Page{}, errClosed
}

// Write implements backend.Driver.
func (s *Store) Write(_ context.Context, f func(backend.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	before := s.state.Load()
	if before == nil {
		return errClosed
	}
	tx := &txn{now: s.now(), state: state{maps.Clone(before.records), maps.Clone(before.last), maps.Clone(before.memos)}}
	if err := f(tx); err != nil {
		return err // what it did is in its own state, and forgotten with it
	}
	s.state.Store(&tx.state)
	return nil
}

// get finds a record, with the arrays that q names.
func (s *state) get(r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	at, found := s.find(r, q.ID)
	if !found || s.records[r][at].Owner != q.Client.ID {
		return mapping.Record{}, backend.ErrNotFound
	}
	return s.answer(s.records[r][at], q), nil
}

// find tells where the record of an ID is, or would be.
func (s *state) find(r *mapping.Resource, id int32) (at int, found bool) {
	return slices.BinarySearchFunc(s.records[r], id, func(rec mapping.Record, id int32) int { return cmp.Compare(rec.ID(), id) })
}

// answer copies a record, so that nobody changes what is stored.
func (s *state) answer(stored mapping.Record, q backend.Query) mapping.Record {
	rec := stored.Clone()
	if rec.Resource.HasArrays() {
		rec.Tag = mapping.NoTag // Version does not count changes of its elements
	}
	for _, i := range q.Fields {
		f := &rec.Resource.Fields[i]
		if f.Type != mapping.Array {
			continue
		}
		var elements []mapping.Record
		for _, e := range s.records[f.Target()] {
			if e.Get(f.ArrayKey) == rec.Values[rec.Resource.ID] {
				elements = append(elements, e.Clone())
			}
		}
		if rec.Children == nil {
			rec.Children = map[int][]mapping.Record{}
		}
		rec.Children[i], rec.Values[i] = elements, mapping.RecordsValue()
	}
	return rec
}

// list finds the records of a page.
func (s *state) list(r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	all := slices.DeleteFunc(slices.Clone(s.records[r]), func(rec mapping.Record) bool { return !matches(rec, q) })
	page.Total = int64(len(all))
	slices.SortStableFunc(all, func(a, b mapping.Record) int {
		for _, o := range q.Sort {
			c := compare(a.Values[o.Field.Index], b.Values[o.Field.Index])
			if o.Descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0 // they come by ID
	})
	all = slices.DeleteFunc(all, func(rec mapping.Record) bool { return rec.ID() <= q.After })
	for _, rec := range all[min(q.Offset, len(all)):] {
		if added, err := page.Add(&q, s.answer(rec, q)); err != nil || !added {
			return page, err
		}
	}
	return page, nil
}

func matches(rec mapping.Record, q backend.Query) bool {
	if rec.Owner != q.Client.ID {
		return false
	}
	for _, f := range q.Filters {
		if !f.Matches(rec.Values[f.Field.Index]) {
			return false
		}
	}
	return !q.ModifiedSince.IsSet() || compare(rec.Values[rec.Resource.ModifiedAt], q.ModifiedSince) >= 0
}

// compare orders the values of one field; null comes first.
func compare(a, b mapping.Value) int {
	switch {
	case a.Kind() != b.Kind():
		return cmp.Compare(a.Kind(), b.Kind())
	case a.Kind() == mapping.KindDecimal:
		return a.Decimal().Cmp(b.Decimal())
	case a.Kind() == mapping.KindFloat:
		return cmp.Compare(a.Float(), b.Float())
	default:
		return cmp.Or(cmp.Compare(a.Text(), b.Text()), cmp.Compare(a.Int(), b.Int()))
	}
}
