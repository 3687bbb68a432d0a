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
	// recent is what the copy has of the records that were read last, so that a read of a record that is as
	// it was asks no database. What another gateway has put into a shared copy meanwhile it does not know: a
	// record is brought into the copy only where the copy has what is remembered.
	recent *lru.Cache[recordKey, held]

	stop    context.CancelFunc
	done    context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	leftOut map[backend.Place]int64 // by the last look
}

// keptRecent is of how many records it is remembered what the copy has of them.
const keptRecent = 16 << 10

type recordKey struct {
	r  *mapping.Resource
	id int32
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
	quietly []int32 // left out, but not gone
}

// apply brings a page into the copy, and returns which of its records were read or written one by
// one after mark, or told as changed: those stay as they are, since either may be the older one. A walk
// does so as long as it has its lease.
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
		// What was told as changed, a walk that is under way has not seen, or as it was; what a walk removes,
		// a read that is under way may have found.
		told := slices.DeleteFunc(slices.Clone(page), func(t taken) bool { return l.isWalk && !t.gone })
		if err := touchChanged(ctx, tx, l.p.r.Resource, told); err != nil {
			return nil, err
		}
		return l.c.merge(ctx, tx, l.p.r, page)
	})
	return passed, err
}

// touchChanged notes those of some records that the copy has not as they are.
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

// ids are those of the records that it changes.
func (d *delta) ids() []int32 {
	all := slices.Concat(d.removed, d.quietly)
	for _, records := range d.put {
		for _, rec := range records {
			all = append(all, rec.ID())
		}
	}
	return all
}

// held is what the copy had of a record before the service was asked for it. touched is, of one that was
// not there, the number of the last touch of all; of what there is now, that of the record's own last.
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

// keep brings one record into the copy that was read or written by itself. It fails with errPassed
// where the copy no longer has what it had before: then either may be the older one.
func (c *copied) keep(ctx context.Context, r *sheet.Resource, before held, t taken) error {
	if c.sources[r.Resource] == nil || before.isLike(t) {
		return nil
	}
	id := t.rec.ID()
	defer c.recent.Remove(recordKey{r.Resource, id})
	return c.write(ctx, func(tx *sqlrecord.Store) ([]delta, error) {
		touched, err := lastTouch(ctx, tx.Conn(), r.Resource, id) // others who touch it wait from here on
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

// brings reports whether a record that was read or written by itself changes the copy, which has it as it
// is now. It fails with errPassed where that is not as it was before, when the service was asked.
func (before held) brings(now held, t taken) (bool, error) {
	switch {
	case now.isLike(t):
		return false, nil
	case !now.there && !before.there && now.touched > before.touched: // it was there meanwhile
		return false, errPassed
	case now.there != before.there, now.Version != before.Version, now.Client != before.Client:
		return false, errPassed
	default:
		return true, nil
	}
}

// isLike reports whether the copy would be the same with a record. Its version changes with all that
// clients see of it, also where the sheet shows something else of the same version of the service's record.
func (h held) isLike(t taken) bool {
	if !h.there || t.gone || t.hidden {
		return !h.there && (t.gone || t.hidden)
	}
	return t.err == nil && h.Version == t.rec.Version && h.Client == t.client
}

// drop removes a record that is no more for a client, if it was that client's: another's may be
// there, and not for this one.
func (c *copied) drop(ctx context.Context, r *sheet.Resource, client auth.Client, id int32, before held) error {
	if !before.there || before.Client != client.ID && before.Client != 0 {
		return nil
	}
	return c.keep(ctx, r, before, goneOf(r, id))
}

// goneOf is a record that is no more.
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

// merge writes what a page has changed. Records that cannot be converted are left out, without
// being told as deleted.
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
	if has && known.Client != client { // it is told to both
		d.removed = append(d.removed, rec.ID())
	}
	d.put[client] = append(d.put[client], c.stamped(rec, known))
	return true
}

// elements adds those of an array of the records that have changed, and removes those that are no more.
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

// stamped fills in the moments that the service does not say, and leaves out contents, which are
// always read from it.
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
