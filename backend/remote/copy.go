package remote

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// copied is the copy of a service's records, in the tables of the built-in administration. It
// answers lists and changes. It is filled by walks, by the changes that the service reports, and by
// each record that is read or written.
type copied struct {
	*core
	conn    *connector
	db      sqlrecord.DB
	records *sqlrecord.Store
	changes *sqlrecord.Changes
	holder  string // of leases
	// sources are the walks that find each resource's records: its own, or that of the resource
	// that they are within.
	sources map[*mapping.Resource]*source
	walking chan struct{} // a slot for each walk at the same time
	// recent caches what the copy has of recently read records, so that reading an unchanged record needs no
	// database. Another gateway may have changed a shared copy meanwhile, so a record is stored only if the
	// copy still has what recent says.
	recent *lru.Cache[recordKey, held]

	stop    context.CancelFunc
	done    context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	leftOut map[backend.Place]int64 // by the last look
}

// keptRecent is the size of copied.recent.
const keptRecent = 16 << 10

type recordKey struct {
	r  *mapping.Resource
	id int32
}

// source is a resource that is walked.
type source struct {
	r *sheet.Resource

	mu  sync.Mutex
	all map[int64]*walked // by client; only 0 if one walk finds all
}

// newSources finds the source of each resource.
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

// arrayOf is the array whose elements are the records of a resource, within those of another one.
func arrayOf(parent, r *sheet.Resource) *mapping.Field {
	all := nested(parent)
	return all[slices.IndexFunc(all, func(f *mapping.Field) bool { return f.Target() == r.Resource })]
}

// delta is what a transaction changes of the copy of a resource.
type delta struct {
	r       *mapping.Resource
	put     map[int64][]mapping.Record // new or changed, by client
	removed []int32
	quietly []int32 // removed from the copy, but not reported as deleted
}

// apply stores a page in the copy. It skips and returns the records that were read or written singly, or
// reported as changed, after mark, because it is not known which state is older. A walk needs its lease.
func (l *look) apply(ctx context.Context, mark int64, page []taken) (passed []int32, err error) {
	if len(page) == 0 {
		return nil, nil
	}
	err = l.c.write(ctx, func(tx *sqlrecord.Store) ([]delta, error) {
		if l.isWalk {
			if err := l.c.renew(ctx, tx.Conn(), l.p, l.walked); err != nil {
				return nil, err
			}
		}
		touched, err := touchedSince(ctx, tx.Conn(), l.p.r.Resource, mark)
		if err != nil {
			return nil, err
		}
		passed = nil
		page := slices.DeleteFunc(slices.Clone(page), func(t taken) bool {
			if touched[t.rec.ID()] {
				passed = append(passed, t.rec.ID())
			}
			return touched[t.rec.ID()]
		})
		// A walk under way may not have seen what is reported as changed, or only its older state; a read under
		// way may have found what this walk removes.
		changes := slices.DeleteFunc(slices.Clone(page), func(t taken) bool { return l.isWalk && !t.gone })
		if err := touchChanged(ctx, tx, l.p.r.Resource, changes); err != nil {
			return nil, err
		}
		return l.c.merge(ctx, tx, l.p.r, page)
	})
	return passed, err
}

// touchChanged touches the records that differ from the copy.
func touchChanged(ctx context.Context, tx *sqlrecord.Store, r *mapping.Resource, page []taken) error {
	if len(page) == 0 {
		return nil
	}
	ids := make([]int32, len(page))
	for i, t := range page {
		ids[i] = t.rec.ID()
	}
	kept, err := tx.Kept(ctx, r, ids)
	if err != nil {
		return err
	}
	page = slices.DeleteFunc(page, func(t taken) bool {
		known, there := kept[t.rec.ID()]
		return held{Kept: known, there: there}.isLike(t)
	})
	for i, t := range page {
		ids[i] = t.rec.ID()
	}
	return touch(ctx, tx.Conn(), r, ids[:len(page)]...)
}

// ids are the IDs of the records that the delta changes.
func (d *delta) ids() []int32 {
	all := slices.Concat(d.removed, d.quietly)
	for _, records := range d.put {
		for _, rec := range records {
			all = append(all, rec.ID())
		}
	}
	return all
}

// held is what the copy had of a record before the service was asked for it. touched is the number of
// the last touch: of any record if this one was not there; in the present state, of this record.
type held struct {
	sqlrecord.Kept
	there   bool
	touched int64
}

// held reads what the copy has of a record.
func (c *copied) held(ctx context.Context, r *sheet.Resource, id int32) (held, error) {
	if c.sources[r.Resource] == nil {
		return held{}, nil
	}
	if h, is := c.recent.Get(recordKey{r.Resource, id}); is {
		return h, nil
	}
	mark, err := c.mark(ctx)
	if err != nil {
		return held{}, err
	}
	kept, err := c.records.Kept(ctx, r.Resource, []int32{id})
	if err != nil {
		return held{}, ownFailure("copy of a record", err)
	}
	known, there := kept[id]
	h := held{known, there, mark}
	c.recent.Add(recordKey{r.Resource, id}, h)
	return h, nil
}

// errPassed says that the copy of a record changed while the service was asked for the record.
var errPassed = errors.New("the copy of the record has changed meanwhile")

// keep stores a record in the copy that was read or written by itself. It fails with errPassed if the
// copy changed meanwhile: then it is not known which state is older.
func (c *copied) keep(ctx context.Context, r *sheet.Resource, before held, t taken) error {
	if c.sources[r.Resource] == nil || before.isLike(t) {
		return nil
	}
	id := t.rec.ID()
	defer c.recent.Remove(recordKey{r.Resource, id})
	return c.write(ctx, func(tx *sqlrecord.Store) ([]delta, error) {
		touched, err := lastTouch(ctx, tx.Conn(), r.Resource, id) // locks the record against other touches
		if err == nil {
			err = touch(ctx, tx.Conn(), r.Resource, id)
		}
		if err != nil {
			return nil, err
		}
		kept, err := tx.Kept(ctx, r.Resource, []int32{id})
		if err != nil {
			return nil, err
		}
		known, there := kept[id]
		brings, err := before.brings(held{known, there, touched}, t)
		if err != nil || !brings {
			return nil, err
		}
		return c.merge(ctx, tx, r, []taken{t})
	})
}

// brings reports whether a record that was read or written by itself changes the copy, whose state is
// now. It fails with errPassed if that differs from the state before the service was asked.
func (before held) brings(now held, t taken) (bool, error) {
	switch {
	case now.isLike(t):
		return false, nil
	case !now.there && !before.there && now.touched > before.touched: // the record was there meanwhile
		return false, errPassed
	case now.there != before.there, now.Version != before.Version, now.Client != before.Client:
		return false, errPassed
	default:
		return true, nil
	}
}

// isLike reports whether the copy has a record as it is. The record's version changes with all that clients
// see of it, even if only the sheet has changed and not the service's record.
func (h held) isLike(t taken) bool {
	if !h.there || t.gone || t.hidden {
		return !h.there && (t.gone || t.hidden)
	}
	return t.err == nil && h.Version == t.rec.Version && h.Client == t.client
}

// drop removes a record that the service no longer has for a client, if it was that client's. Another
// client's record may exist and only be hidden from this one.
func (c *copied) drop(ctx context.Context, r *sheet.Resource, client auth.Client, id int32, before held) error {
	if !before.there || before.Client != client.ID && before.Client != 0 {
		return nil
	}
	return c.keep(ctx, r, before, goneOf(r, id))
}

// goneOf is a deleted record.
func goneOf(r *sheet.Resource, id int32) taken {
	t := taken{rec: mapping.NewRecord(r.Resource), gone: true}
	t.rec.Values[r.ID] = mapping.IntValue(int64(id))
	return t
}

// write is a transaction of the copy. f returns what it changed.
func (c *copied) write(ctx context.Context, f func(*sqlrecord.Store) ([]delta, error)) error {
	var all []delta
	once := func() error {
		return c.records.Write(ctx, func(tx *sqlrecord.Store) (err error) {
			all, err = f(tx)
			return err
		})
	}
	err := backend.RunAgain(ctx, once, func(err error) bool { return errors.Is(err, backend.ErrStale) })
	for _, d := range all {
		for _, id := range d.ids() {
			c.recent.Remove(recordKey{d.r, id})
		}
	}
	return ownFailure("copy of records", err)
}

// merge writes what a page has changed. Records that cannot be converted are left out of the copy,
// but not reported as deleted.
func (c *copied) merge(ctx context.Context, tx *sqlrecord.Store, r *sheet.Resource, page []taken) ([]delta, error) {
	ids := make([]int32, len(page))
	for i, t := range page {
		ids[i] = t.rec.ID()
	}
	kept, err := tx.Kept(ctx, r.Resource, ids)
	if err != nil {
		return nil, err
	}
	own := delta{r: r.Resource, put: map[int64][]mapping.Record{}}
	var changed []taken
	for _, t := range page {
		_, has := kept[t.rec.ID()]
		switch {
		case t.err != nil && has:
			own.quietly = append(own.quietly, t.rec.ID())
		case t.err != nil:
		case (t.gone || t.hidden) && has:
			own.removed = append(own.removed, t.rec.ID())
		case !t.gone && !t.hidden && own.add(c, t.client, t.rec, kept):
			changed = append(changed, t)
		}
	}
	all := []delta{own}
	for _, f := range nested(r) {
		d := delta{r: f.Target(), put: map[int64][]mapping.Record{}}
		if err := d.elements(ctx, tx, c, f, &own, changed); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for _, d := range all {
		if err := d.write(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add adds a record of a client, unless the copy has it as it is.
func (d *delta) add(c *copied, client int64, rec mapping.Record, kept map[int32]sqlrecord.Kept) bool {
	known, has := kept[rec.ID()]
	if has && known.Version == rec.Version && known.Client == client {
		return false
	}
	if has && known.Client != client { // both clients get a change
		d.removed = append(d.removed, rec.ID())
	}
	d.put[client] = append(d.put[client], c.stamped(rec, known))
	return true
}

// elements adds the elements of an array of changed records, and removes those that no longer exist.
func (d *delta) elements(ctx context.Context, tx *sqlrecord.Store, c *copied, f *mapping.Field, of *delta, changed []taken) error {
	parents, now := slices.Clone(of.removed), map[int32]bool{}
	for _, t := range changed {
		parents = append(parents, t.rec.ID())
		for _, e := range t.rec.Children[f.Index] {
			now[e.ID()] = true
		}
	}
	kept, err := tx.Kept(ctx, d.r, slices.Collect(maps.Keys(now)))
	if err != nil {
		return err
	}
	for _, t := range changed {
		for _, e := range t.rec.Children[f.Index] {
			d.add(c, t.client, e, kept)
		}
	}
	key := d.r.Field(f.ArrayKey)
	before, err := tx.ElementIDs(ctx, key, d.r, parents...)
	if err != nil {
		return err
	}
	quietly, err := tx.ElementIDs(ctx, key, d.r, of.quietly...)
	isThere := func(id int32) bool { return now[id] }
	d.removed, d.quietly = append(d.removed, slices.DeleteFunc(before, isThere)...), slices.DeleteFunc(quietly, isThere)
	return err
}

// stamped fills in the moments that the service does not have, and leaves out contents, which are
// always read from the service.
func (c *copied) stamped(rec mapping.Record, known sqlrecord.Kept) mapping.Record {
	r := rec.Resource
	rec.Values = slices.Clone(rec.Values)
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

func (d *delta) write(ctx context.Context, tx *sqlrecord.Store) error {
	if len(d.quietly) > 0 {
		if err := tx.Quietly(ctx, func() error { return tx.Remove(ctx, d.r, d.quietly...) }); err != nil {
			return err
		}
	}
	if err := tx.Remove(ctx, d.r, d.removed...); err != nil {
		return err
	}
	for client, records := range d.put {
		if err := tx.Replace(ctx, auth.Client{ID: client}, records); err != nil {
			return err
		}
	}
	return nil
}
