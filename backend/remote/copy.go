package remote

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// copied is the copy of a service's records, in the tables of the built-in administration. Lists
// and changes are told from it. It is filled by walks, by what the service says has changed, and
// by each record that is read or written.
type copied struct {
	*core
	conn    *connector
	db      sqlrecord.DB
	records *sqlrecord.Store
	changes *sqlrecord.Changes
	holder  string // of leases
	// sources are what each resource's records are found by: its own walk, or that of the
	// resource which they stand in.
	sources map[*mapping.Resource]*source
	walking chan struct{} // a slot for each walk at the same time
	recent  *recent

	stop    context.CancelFunc
	done    context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	leftOut map[backend.Place]int64 // by the last look
}

// source is a resource that is walked.
type source struct {
	r *sheet.Resource

	mu  sync.Mutex
	all map[int64]*walked // by client; 0 alone where one walk finds all
}

// newSources finds what each resource is filled by.
func newSources(sh *sheet.Sheet) map[*mapping.Resource]*source {
	all := map[*mapping.Resource]*source{}
	for m, r := range sh.Resources {
		if r.Service.Walk == nil {
			continue
		}
		s := &source{r: r, all: map[int64]*walked{}}
		all[m] = s
		for _, f := range nested(r) {
			all[f.Target()] = s
		}
	}
	return all
}

// nested are the array fields whose elements stand within the record.
func nested(r *sheet.Resource) (all []*mapping.Field) {
	for i := range r.Service.Fields {
		if !r.Service.Fields[i].Elements.IsZero() {
			all = append(all, r.Fields[i].Field)
		}
	}
	return all
}

// sorted are taken records of a page, sorted out for one transaction.
type sorted struct {
	put     map[owned][]mapping.Record // new or changed
	removed map[*mapping.Resource][]int32
	quietly map[*mapping.Resource][]int32 // left out, but not gone
}

// owned are the records of a resource that belong to a client.
type owned struct {
	r      *mapping.Resource
	client int64
}

// apply brings a page into the copy, and returns which of its records were read or written one by
// one after mark: those stay as they are, since either may be the older one.
func (c *copied) apply(ctx context.Context, r *sheet.Resource, mark int64, page []taken) (passed []int32, err error) {
	if len(page) == 0 {
		return nil, nil
	}
	err = c.write(ctx, func(tx *sqlrecord.Store) (sorted, error) {
		touched, err := touchedSince(ctx, tx.Conn(), r.Resource, mark)
		if err != nil {
			return sorted{}, err
		}
		passed = nil
		page := slices.DeleteFunc(slices.Clone(page), func(t taken) bool {
			if touched[t.rec.ID()] {
				passed = append(passed, t.rec.ID())
			}
			return touched[t.rec.ID()]
		})
		return c.merge(ctx, tx, r, page)
	})
	return passed, err
}

// held is what the copy had of a record before the service was asked for it.
type held struct {
	sqlrecord.Kept
	there bool
}

// held reads what the copy has of a record.
func (c *copied) held(ctx context.Context, r *sheet.Resource, id int32) (held, error) {
	if c.sources[r.Resource] == nil {
		return held{}, nil
	}
	of := recentKey{r.Resource, id}
	h, is, changes := c.recent.get(of)
	if is {
		return h, nil
	}
	kept, err := c.records.Kept(ctx, r.Resource, []int32{id})
	if err != nil {
		return held{}, ownFailure("copy of a record", err)
	}
	h.Kept, h.there = kept[id]
	c.recent.put(of, h, changes)
	return h, nil
}

// errPassed says that the copy of a record changed while the service was asked for the record.
var errPassed = errors.New("the copy of the record has changed meanwhile")

// keep brings one record into the copy that was read or written by itself. It fails with errPassed
// where the copy no longer has what it had before: then either may be the older one.
func (c *copied) keep(ctx context.Context, r *sheet.Resource, before held, t taken) error {
	if c.sources[r.Resource] == nil || before.isLike(t) {
		return nil
	}
	id, page := t.rec.ID(), []taken{t}
	defer c.recent.forget(recentKey{r.Resource, id})
	return c.write(ctx, func(tx *sqlrecord.Store) (sorted, error) {
		if err := touch(ctx, tx.Conn(), r.Resource, id); err != nil { // others who touch it wait from here on
			return sorted{}, err
		}
		kept, err := tx.Kept(ctx, r.Resource, []int32{id})
		if err != nil {
			return sorted{}, err
		}
		known, there := kept[id]
		switch now := (held{known, there}); {
		case now.isLike(page[0]):
			return sorted{}, nil
		case there != before.there, known.Version != before.Version, known.Client != before.Client:
			return sorted{}, errPassed
		default:
			return c.merge(ctx, tx, r, page)
		}
	})
}

// isLike tells whether the copy would be the same with a record.
func (h held) isLike(t taken) bool {
	if !h.there {
		return t.gone || t.hidden
	}
	return isSame(h.Kept, t)
}

// drop removes a record that is no more for a client, if it was that client's: another's may be
// there, and not for this one.
func (c *copied) drop(ctx context.Context, r *sheet.Resource, client auth.Client, id int32, before held) error {
	if !before.there || before.Client != client.ID && before.Client != 0 {
		return nil
	}
	t := taken{rec: mapping.NewRecord(r.Resource), gone: true}
	t.rec.Values[r.ID] = mapping.IntValue(int64(id))
	return c.keep(ctx, r, before, t)
}

// write is a transaction of the copy. f returns what it wrote.
func (c *copied) write(ctx context.Context, f func(*sqlrecord.Store) (sorted, error)) error {
	var all sorted
	once := func() error {
		return c.records.Write(ctx, func(tx *sqlrecord.Store) (err error) {
			all, err = f(tx)
			return err
		})
	}
	err := backend.RunAgain(ctx, once, func(err error) bool { return errors.Is(err, backend.ErrStale) })
	c.recent.forget(all.records()...)
	return ownFailure("copy of records", err)
}

func isSame(known sqlrecord.Kept, t taken) bool {
	return t.err == nil && !t.gone && !t.hidden && known.Version == sumOf(t.rec) && known.Client == t.client
}

// sumOf is the version of a record in the copy: it changes with all that clients see of it, also
// where the sheet shows something else of the same version of the service's record.
func sumOf(rec mapping.Record) int64 {
	var elements []mapping.Record
	for i := range rec.Resource.Fields {
		elements = append(elements, rec.Children[i]...)
	}
	return sheet.Tag(rec, elements)
}

// merge writes what a page has changed. Records that cannot be converted are left out, without
// being told as deleted.
func (c *copied) merge(ctx context.Context, tx *sqlrecord.Store, r *sheet.Resource, page []taken) (sorted, error) {
	ids := make([]int32, len(page))
	for i, t := range page {
		ids[i] = t.rec.ID()
	}
	kept, err := tx.Kept(ctx, r.Resource, ids)
	if err != nil {
		return sorted{}, err
	}
	s := sorted{put: map[owned][]mapping.Record{}, removed: map[*mapping.Resource][]int32{}, quietly: map[*mapping.Resource][]int32{}}
	var changed []mapping.Record
	for _, t := range page {
		known, has := kept[t.rec.ID()]
		switch {
		case t.err != nil:
			if has {
				s.quietly[r.Resource] = append(s.quietly[r.Resource], t.rec.ID())
			}
			continue
		case t.gone || t.hidden:
			if has {
				s.removed[r.Resource] = append(s.removed[r.Resource], t.rec.ID())
			}
			continue
		case has && isSame(known, t):
			continue
		case has && known.Client != t.client: // it is told to both
			s.removed[r.Resource] = append(s.removed[r.Resource], t.rec.ID())
		}
		rec := c.stamped(t.rec, known)
		of := owned{r.Resource, t.client}
		s.put[of], changed = append(s.put[of], rec), append(changed, rec)
		for i, elements := range rec.Children {
			s.elements(r.Fields[i].Field.Target(), t.client, elements)
		}
	}
	for _, f := range nested(r) {
		if err := s.sortElements(ctx, tx, c, r.Resource, f, changed); err != nil {
			return sorted{}, err
		}
	}
	return s, s.write(ctx, tx)
}

// elements adds those of a record that has changed.
func (s *sorted) elements(r *mapping.Resource, client int64, elements []mapping.Record) {
	of := owned{r, client}
	s.put[of] = append(s.put[of], elements...)
}

// sortElements leaves out those elements of the changed records that are as they were, and removes
// those that are no more, with those of the records that are removed.
func (s *sorted) sortElements(ctx context.Context, tx *sqlrecord.Store, c *copied, r *mapping.Resource, f *mapping.Field, changed []mapping.Record) error {
	target := f.Target()
	parents := slices.Concat(s.removed[r], s.quietly[r])
	now := map[int32]bool{}
	for _, rec := range changed {
		parents = append(parents, rec.ID())
		for _, e := range rec.Children[f.Index] {
			now[e.ID()] = true
		}
	}
	before, err := tx.ElementIDs(ctx, target.Field(f.ArrayKey), target, parents...)
	if err != nil {
		return err
	}
	kept, err := tx.Kept(ctx, target, slices.Collect(maps.Keys(now)))
	if err != nil {
		return err
	}
	for of, elements := range s.put {
		if of.r != target {
			continue
		}
		var differ []mapping.Record
		for _, e := range elements {
			known, has := kept[e.ID()]
			if !has || known.Version != sumOf(e) || known.Client != of.client {
				differ = append(differ, c.stamped(e, known))
			}
			if has && known.Client != of.client { // it is told to both
				s.removed[target] = append(s.removed[target], e.ID())
			}
		}
		s.put[of] = differ
	}
	for _, id := range before {
		if !now[id] {
			s.removed[target] = append(s.removed[target], id)
		}
	}
	return nil
}

// stamped fills in the moments that the service does not say, and leaves out contents, which are
// always read from it.
func (c *copied) stamped(rec mapping.Record, known sqlrecord.Kept) mapping.Record {
	r := rec.Resource
	rec.Version, rec.Values = sumOf(rec), slices.Clone(rec.Values)
	now := mapping.TimeValue(c.Now())
	if rec.Values[r.ModifiedAt].IsAbsent() {
		rec.Values[r.ModifiedAt] = now
	}
	if rec.Values[r.CreatedAt].IsAbsent() {
		rec.Values[r.CreatedAt] = now
		if known.Created.IsSet() {
			rec.Values[r.CreatedAt] = known.Created
		}
	}
	for i := range r.Fields {
		if r.Fields[i].Type == mapping.Bytea {
			rec.Values[i] = mapping.NullValue()
		}
	}
	return rec
}

func (s *sorted) write(ctx context.Context, tx *sqlrecord.Store) error {
	if len(s.quietly) > 0 {
		err := tx.Quietly(ctx, func() error {
			for r, ids := range s.quietly {
				if err := tx.Remove(ctx, r, ids...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for r, ids := range s.removed {
		if err := tx.Remove(ctx, r, ids...); err != nil {
			return err
		}
	}
	for of, records := range s.put {
		if err := tx.Replace(ctx, auth.Client{ID: of.client}, records); err != nil {
			return err
		}
	}
	return nil
}

// tend removes what expires, until the copy is closed.
func (c *copied) tend(ctx context.Context) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hourly.C:
		}
		if err := c.changes.Prune(ctx); err != nil && ctx.Err() == nil {
			c.Log.Error("the copy of the service's records was not tidied up", zap.Error(err))
		}
	}
}
