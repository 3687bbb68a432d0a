package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Driver is an administration behind an HTTP service: records one by one, and all writes, go
// through to the service; lists and changes come from the copy. It is safe for concurrent use.
type Driver struct {
	auth.Elsewhere // its users change their passwords there
	*core
	conn *connector
	copy *copied
}

var (
	_ backend.Driver       = (*Driver)(nil)
	_ backend.Pinger       = (*Driver)(nil)
	_ backend.Supporter    = (*Driver)(nil)
	_ backend.ChangeTeller = (*Driver)(nil)
	_ backend.Changing     = (*Driver)(nil)
	_ backend.Copier       = (*Driver)(nil)
	_ backend.StaleReader  = (*Driver)(nil)
	_ auth.Accounts        = (*Driver)(nil)
)

// keepChanges is how long cursors of changes are good where nothing is said.
const keepChanges = 90 * 24 * time.Hour

// atOnce is how many walks there are at the same time.
const atOnce = 2

// OpenDriver opens the service of a sheet, which may be down, and its copy in o.DB, whose tables it
// makes or migrates. It begins to walk. The caller closes the Driver, and then the database.
func OpenDriver(ctx context.Context, o Options) (*Driver, error) {
	if o.Sheet.Source.Service == nil {
		return nil, errNoService
	}
	c := &core{Options: o.withDefaults(), catalogue: mapping.NewCatalogue()}
	if err := sqlrecord.MigrateCopy(ctx, o.DB, o.Model); err != nil {
		return nil, fmt.Errorf("copy of records: %w", err)
	}
	if err := sqlrecord.MigrateWith(ctx, o.DB, copyMigration(o.DB.Dialect())); err != nil {
		return nil, fmt.Errorf("copy of records: %w", err)
	}
	shared := func(r *mapping.Resource) bool {
		of := o.Sheet.Resources[r]
		return of != nil && (of.IsShared() || of.SystemClient != "")
	}
	records := sqlrecord.NewShared(o.DB, o.Sheet.Model, c.Now, shared).DatedBy(c.Now)
	changes, err := sqlrecord.OpenChanges(ctx, records, cmp.Or(o.KeepChanges, keepChanges))
	if err != nil {
		return nil, err
	}
	holder, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	d := &Driver{Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, core: c, copy: &copied{
		core: c, db: sqlrecord.Reserved(o.DB), records: records, changes: changes, holder: holder.String(),
		sources: newSources(o.Sheet), walking: make(chan struct{}, atOnce), leftOut: map[backend.Place]int64{},
	}}
	if d.conn, err = newConnector(c, d.copy.owners); err != nil {
		return nil, err
	}
	d.copy.conn = d.conn
	d.copy.start(ctx)
	return d, nil
}

// start begins to walk.
func (c *copied) start(ctx context.Context) {
	c.done, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.running.Go(func() { c.tend(c.done) })
	for _, s := range c.sources {
		if !s.r.Service.PerClient {
			s.of(c, auth.Client{})
		}
	}
}

// Close ends all work and waits for it.
func (d *Driver) Close() error {
	d.copy.stop()
	d.copy.running.Wait()
	d.conn.close()
	return nil
}

// ownersAtOnce bounds the records that are read one by one since others of a page belong to them.
const ownersAtOnce = 20

// owners tells whose the records are that others belong to. Those that the copy does not have may be
// new: the service is asked for them.
func (c *copied) owners(ctx context.Context, client auth.Client, m *mapping.Resource, ids []int32) (map[int32]int64, error) {
	all := make(map[int32]int64, len(ids))
	missing, err := c.addOwners(ctx, m, ids, all)
	s := c.sources[m]
	if err != nil || len(missing) == 0 || s == nil || s.r.Resource != m {
		return all, err
	}
	if s.r.Service.Walk.Since != nil {
		if err = c.joined(ctx, s.of(c, client), true); err == nil {
			missing, err = c.addOwners(ctx, m, missing, all)
		}
	}
	for _, id := range missing[:min(len(missing), ownersAtOnce)] {
		if err != nil || s.r.Service.Get == nil {
			return all, err
		}
		var t taken
		if t, err = c.read(ctx, s.r, client, id); err == nil && !t.hidden {
			all[id] = t.client
		} else if errors.Is(err, backend.ErrNotFound) {
			err = nil
		}
	}
	return all, err
}

// addOwners adds those that the copy has, and returns the others.
func (c *copied) addOwners(ctx context.Context, m *mapping.Resource, ids []int32, all map[int32]int64) (missing []int32, err error) {
	kept, err := c.records.Kept(ctx, m, ids)
	for _, id := range ids {
		if known, has := kept[id]; has {
			all[id] = known.Client
		} else {
			missing = append(missing, id)
		}
	}
	return missing, ownFailure("copy of records", err)
}

// Capabilities implements backend.Driver.
func (d *Driver) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "remote", Store: "http", OwnRules: d.Sheet.OwnRules, Distant: true, Copied: true, Parallel: d.conn.source.Parallel}
}

// Supports implements backend.Supporter.
func (d *Driver) Supports(r *mapping.Resource, op mapping.Scope) bool { return d.Sheet.Supports(r, op) }

// Writes implements backend.Supporter.
func (d *Driver) Writes(r *mapping.Resource, f *mapping.Field) bool { return d.Sheet.Writes(r, f) }

// Ping implements backend.Pinger.
func (d *Driver) Ping(ctx context.Context) error { return d.conn.ping(ctx) }

// errChangedMember says that a record lacks what all records had.
func errChangedMember(r *sheet.Resource, f *mapping.Field) error {
	return fmt.Errorf("%w: %s: a record that had %s, as all others, has it no more", backend.ErrChanged, r.Name, f.Name)
}

// read reads a record from the service, and brings it into the copy.
func (c *copied) read(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) (taken, error) {
	rows, err := c.fetch(ctx, r, client, id)
	if errors.Is(err, backend.ErrNotFound) && !errors.Is(err, errAnothers) {
		return taken{}, errors.Join(err, c.drop(ctx, r, client, id))
	}
	if errors.Is(err, errNobody) {
		return taken{}, c.nobodys(ctx, r, client, id)
	}
	if err != nil {
		return taken{}, err
	}
	all, err := c.conn.take(ctx, r, client, rows)
	if err != nil {
		return taken{}, err
	}
	t := all[0]
	if errors.Is(t.err, errNobody) {
		return taken{}, c.nobodys(ctx, r, client, id)
	}
	if t.err != nil {
		return taken{}, unexpected(t.err)
	}
	if t.rec.ID() != id {
		return taken{}, unexpected(fmt.Errorf("%s: another record came than was asked for", r.Name))
	}
	if s := c.sources[r.Resource]; s != nil && s.r == r {
		p := s.of(c, client)
		for _, i := range t.absent {
			f := r.Fields[i].Field
			if !p.has(f) {
				continue
			}
			if had, err := c.records.AnySet(ctx, f, r.Resource, []int32{id}); err != nil || had {
				p.want(c.Now())
				return taken{}, cmp.Or(ownFailure("copy of records", err), errChangedMember(r, f))
			}
		}
	}
	return t, c.keep(ctx, r, t)
}

// nobodys is the error of a record that tells no client: it is not there for any, unless it was the
// client's.
func (c *copied) nobodys(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) error {
	kept, err := c.records.Kept(ctx, r.Resource, []int32{id})
	if err != nil {
		return ownFailure("copy of records", err)
	}
	if known, has := kept[id]; has && (client.ID == 0 || known.Client == client.ID) {
		return fmt.Errorf("%w: %s: a record of a client tells none any more", backend.ErrChanged, r.Name)
	}
	return backend.ErrNotFound
}

// fetch asks for a record by its key.
func (c *copied) fetch(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) ([]map[string]any, error) {
	if r.Service.Get == nil {
		return nil, unexpected(fmt.Errorf("%s: the sheet says no get", r.Name))
	}
	key, err := c.keyOf(ctx, r, client, id)
	if err != nil {
		return nil, err
	}
	row, err := c.conn.get(ctx, r, client, key)
	return []map[string]any{row}, err
}

// keyOf is the key of a record in the service.
func (c *copied) keyOf(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) (string, error) {
	if !r.Key.Kept {
		return strconv.Itoa(int(id)), nil
	}
	ref := sheet.IDRef{Resource: r.Name, ID: id}
	keys, err := c.IDStore.Keys(ctx, client, []sheet.IDRef{ref})
	if err != nil {
		return "", err
	}
	key, known := keys[ref]
	if !known {
		return "", backend.ErrNotFound
	}
	return key, nil
}

// Get implements backend.Reader.
func (d *Driver) Get(ctx context.Context, m *mapping.Resource, q backend.Query) (mapping.Record, error) {
	_, rec, err := d.get(ctx, m, q)
	return rec, err
}

// get reads a record that the client may see, as it was taken, and with the elements that are asked
// for.
func (d *Driver) get(ctx context.Context, m *mapping.Resource, q backend.Query) (t taken, rec mapping.Record, err error) {
	r := d.Sheet.Resources[m]
	if t, err = d.element(ctx, r, q); err != nil {
		return taken{}, rec, err
	}
	if t.hidden || t.client != q.Client.ID && t.client != 0 {
		return taken{}, rec, backend.ErrNotFound
	}
	rec, err = d.complete(ctx, r, q, t)
	return t, rec, err
}

// element reads a record; one that the service has within another is found there.
func (d *Driver) element(ctx context.Context, r *sheet.Resource, q backend.Query) (taken, error) {
	s := d.copy.sources[r.Resource]
	if r.Service.Get != nil || s == nil || s.r == r {
		return d.copy.read(ctx, r, q.Client, q.ID)
	}
	parent, err := d.copy.parentOf(ctx, s.r, r, q)
	if err != nil {
		return taken{}, err
	}
	t, err := d.copy.read(ctx, s.r, q.Client, parent)
	if err != nil {
		return taken{}, err
	}
	for _, e := range t.elements {
		if e.rec.Resource == r.Resource && e.rec.ID() == q.ID {
			e.client, e.hidden = t.client, t.hidden
			return e, nil
		}
	}
	return taken{}, backend.ErrNotFound
}

// parentOf is the record that an element stands in, as the copy has it.
func (c *copied) parentOf(ctx context.Context, parent, r *sheet.Resource, q backend.Query) (int32, error) {
	rec, err := c.records.Get(ctx, r.Resource, backend.Query{Client: q.Client, ID: q.ID})
	if err != nil {
		return 0, err
	}
	for _, f := range nested(parent) {
		if f.Target() == r.Resource {
			return int32(rec.Get(f.ArrayKey).Int()), nil
		}
	}
	return 0, backend.ErrNotFound
}

// complete gives a record its owner, the moments that the service does not say, and the elements
// that are records of their own.
func (d *Driver) complete(ctx context.Context, r *sheet.Resource, q backend.Query, t taken) (mapping.Record, error) {
	rec := t.rec
	rec.Values, rec.Children = slices.Clone(rec.Values), maps.Clone(rec.Children)
	rec.Owner = t.client
	if t.client == 0 {
		rec.Owner = mapping.OfAll
	}
	if missing := rec.Values[r.ModifiedAt].IsAbsent() || rec.Values[r.CreatedAt].IsAbsent(); missing && d.copy.sources[r.Resource] != nil {
		kept, err := d.copy.records.Kept(ctx, r.Resource, []int32{rec.ID()})
		if err != nil {
			return rec, ownFailure("copy of a record", err)
		}
		if known, has := kept[rec.ID()]; has {
			rec.Values[r.ModifiedAt], rec.Values[r.CreatedAt] = orElse(rec.Values[r.ModifiedAt], known.Modified), orElse(rec.Values[r.CreatedAt], known.Created)
		}
	}
	if slices.ContainsFunc(t.absent, func(i int) bool { return r.Fields[i].Field.Type == mapping.Array }) {
		rec.Tag = mapping.Untold // it changes with elements that the service does not tell
	}
	var apart []int // arrays whose elements are records of their own
	within := nested(r)
	for i := range r.Fields {
		f := r.Fields[i].Field
		if f.Type != mapping.Array {
			continue
		}
		isWanted := slices.Contains(q.Fields, i)
		if slices.Contains(within, f) {
			if elements := rec.Children[i]; isWanted {
				owned := make([]mapping.Record, len(elements))
				for k, e := range elements {
					e.Owner = rec.Owner
					owned[k] = e
				}
				rec.SetElements(i, owned)
			} else {
				delete(rec.Children, i)
			}
			continue
		}
		if isWanted || q.Tagged {
			apart = append(apart, i)
		}
	}
	if len(apart) == 0 {
		return rec, nil
	}
	return d.addApart(ctx, r, q, rec, apart)
}

func orElse(v, otherwise mapping.Value) mapping.Value {
	if v.IsAbsent() {
		return otherwise
	}
	return v
}

// addApart adds elements from the copy, and has the tag change with them.
func (d *Driver) addApart(ctx context.Context, r *sheet.Resource, q backend.Query, rec mapping.Record, apart []int) (mapping.Record, error) {
	sum, told := newSum(rec.Version), true
	for _, i := range apart {
		f := r.Fields[i].Field
		s := d.copy.sources[f.Target()]
		if s == nil {
			rec.SetElements(i, nil)
			continue
		}
		var old backend.Copy
		if err := d.copy.fresh(ctx, s.of(d.copy, q.Client), &old); err != nil {
			return rec, err
		}
		told = told && s.r.Service.Walk.Since != nil && old.Age == 0
		one := backend.Page{Records: []mapping.Record{rec}}
		elements := func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error) {
			all, err := d.copy.records.Elements(ctx, q, f, of)
			for _, e := range all {
				sum.add(int64(e.ID()), e.Version)
			}
			return all, err
		}
		if err := one.AddArrays(backend.Query{Client: q.Client, Fields: []int{i}, Room: q.Room}, r.Resource, elements); err != nil {
			return rec, err
		}
		if rec = one.Records[0]; !slices.Contains(q.Fields, i) {
			delete(rec.Children, i)
			rec.Values[i] = mapping.Value{}
		}
	}
	if rec.Tag = sum.tag(); !told { // they may have changed in the service since
		rec.Tag = mapping.Untold
	}
	return rec, nil
}

// Stale implements backend.StaleReader.
func (d *Driver) Stale(ctx context.Context, m *mapping.Resource, q backend.Query) (rec mapping.Record, err error) {
	s := d.copy.sources[m]
	if s == nil {
		return rec, fmt.Errorf("there is no copy of %s", m.Name)
	}
	known, err := d.copy.state(ctx, s.of(d.copy, q.Client))
	if age := known.now.Sub(known.known()); err == nil && (known.known().IsZero() || age > q.Copy.StaleIfError) {
		err = fmt.Errorf("the copy of %s is %s old", m.Name, age)
	}
	if err != nil {
		return rec, err
	}
	if rec, err = d.copy.records.Get(ctx, m, q); err != nil {
		return rec, ownUnlessAnswer(err)
	}
	q.Copy.Told, q.Copy.Stale, q.Copy.Age = true, true, known.now.Sub(known.known())
	return rec, nil
}

// List implements backend.Reader.
func (d *Driver) List(ctx context.Context, m *mapping.Resource, q backend.Query) (backend.Page, error) {
	if q.None {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	of := []*mapping.Resource{m}
	for _, i := range q.Fields {
		if f := &m.Fields[i]; f.Type == mapping.Array {
			of = append(of, f.Target())
		}
	}
	if err := d.freshAll(ctx, q.Client, q.Copy, of...); err != nil {
		return backend.Page{}, err
	}
	page, err := d.copy.records.List(ctx, m, q)
	if err != nil {
		return page, ownUnlessAnswer(err)
	}
	return page, d.contents(ctx, m, q, page.Records)
}

// freshAll makes the copies of resources as fresh as a request wants them.
func (d *Driver) freshAll(ctx context.Context, client auth.Client, wish *backend.Copy, of ...*mapping.Resource) error {
	var done []*source
	for _, m := range of {
		s := d.copy.sources[m]
		if s == nil || slices.Contains(done, s) {
			continue
		}
		done = append(done, s)
		if err := d.copy.fresh(ctx, s.of(d.copy, client), wish); err != nil {
			return err
		}
	}
	return nil
}

// contents reads those that are asked for, which the copy does not have.
func (d *Driver) contents(ctx context.Context, m *mapping.Resource, q backend.Query, records []mapping.Record) error {
	for _, i := range q.Fields {
		if m.Fields[i].Type != mapping.Bytea {
			continue
		}
		for k := range records {
			rec, err := d.Get(ctx, m, backend.Query{Client: q.Client, ID: records[k].ID()})
			if err != nil {
				return err
			}
			records[k].Values[i] = rec.Values[i]
		}
	}
	return nil
}

// ownUnlessAnswer marks an error of the gateway's own database.
func ownUnlessAnswer(err error) error {
	if _, answer := mapping.AsViolations(err); answer || errors.Is(err, backend.ErrNotFound) {
		return err
	}
	return ownFailure("copy of records", err)
}

// Tells implements backend.ChangeTeller.
func (d *Driver) Tells(m *mapping.Resource) backend.Telling { return Tells(d.Sheet)(m) }

// Tells is what a sheet says that is told of a resource.
func Tells(sh *sheet.Sheet) func(*mapping.Resource) backend.Telling {
	walked := newSources(sh)
	return func(m *mapping.Resource) backend.Telling {
		if walked[m] == nil {
			return backend.TellsNone
		}
		return backend.TellsAll
	}
}

// changesAsked is how old what is known of changes may be: many clients ask for them again and again,
// and each time for all resources.
const changesAsked = 5 * time.Second

// Changes implements backend.ChangeTeller.
func (d *Driver) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	if err := d.freshAll(ctx, q.Client, &backend.Copy{Within: changesAsked}, q.Resources...); err != nil {
		return backend.ChangesPage{}, err
	}
	page, err := d.copy.changes.Page(ctx, q)
	if err != nil {
		err = ownUnlessAnswer(err)
	}
	return page, err
}

// Digest implements backend.ChangeTeller.
func (d *Driver) Digest(ctx context.Context, m *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	if err := d.freshAll(ctx, q.Client, nil, m); err != nil {
		return backend.Digest{}, err
	}
	digest, err := d.copy.changes.Digest(ctx, m, q)
	if err != nil {
		err = ownUnlessAnswer(err)
	}
	return digest, err
}

// ChangesState tells about how many changes are kept.
func (d *Driver) ChangesState(ctx context.Context) (kept int64, lag time.Duration, err error) {
	return d.copy.changes.State(ctx)
}
