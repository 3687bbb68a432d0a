package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// errChangedMember says that a record lacks what all records had.
func errChangedMember(r *sheet.Resource, f *mapping.Field) error {
	return fmt.Errorf("%w: %s: a record that had %s, as all others, has it no more", backend.ErrChanged, r.Name, f.Name)
}

// readAgain is how often a record is read at most while others change its copy.
const readAgain = 3

// read reads a record from the service, and stores it in the copy. If somebody else changes the copy
// meanwhile, read repeats, because either may have got the older state.
func (c *copied) read(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) (t taken, err error) {
	for range readAgain {
		var before held
		if before, err = c.held(ctx, r, id); err != nil {
			return taken{}, err
		}
		if t, err = c.readOnce(ctx, r, client, id, before); !errors.Is(err, errPassed) {
			return t, err
		}
	}
	if errors.Is(err, backend.ErrNotFound) {
		return taken{}, backend.ErrNotFound
	}
	return t, nil // whoever changed the copy has stored what they read
}

func (c *copied) readOnce(ctx context.Context, r *sheet.Resource, client auth.Client, id int32, before held) (taken, error) {
	t, err := c.fetch(ctx, r, client, id)
	if err == nil {
		err = t.err
	}
	switch {
	case errors.Is(err, backend.ErrNotFound) && !errors.Is(err, errAnothers):
		return taken{}, errors.Join(err, c.drop(ctx, r, client, id, before))
	case errors.Is(err, ErrNobody):
		return taken{}, nobodys(r, client, before)
	case err != nil:
		return taken{}, err
	}
	if t.rec.ID() != id {
		return taken{}, unexpected(fmt.Errorf("%s: another record came than was asked for", r.Name))
	}
	err = c.lost(r, client, t, func(f *mapping.Field) (bool, error) {
		set, _, err := c.records.CountSet(ctx, f, r.Resource, []int32{id})
		return set > 0, err
	})
	if err != nil {
		return taken{}, err
	}
	return t, c.keep(ctx, r, before, t)
}

// lost fails if a record lacks what all records had at the last walk, and what it should have itself.
// Then the service has changed, and a walk finds out how.
func (c *copied) lost(r *sheet.Resource, client auth.Client, t taken, should func(*mapping.Field) (bool, error)) error {
	s := c.sources[r.Resource]
	if s == nil || s.r != r {
		return nil
	}
	p := s.of(c, client)
	for _, i := range t.absent {
		f := r.Fields[i].Field
		if !p.has(f) {
			continue
		}
		if set, err := should(f); err != nil || set {
			c.fly(&p.walks)
			return cmp.Or(ownFailure("copy of a record", err), errChangedMember(r, f))
		}
	}
	return nil
}

// nobodys is the error of a record without a client: not found, unless it belonged to the client
// before.
func nobodys(r *sheet.Resource, client auth.Client, before held) error {
	if before.there && (client.ID == 0 || before.Client == client.ID) {
		return fmt.Errorf("%w: %s: a record of a client tells none any more", backend.ErrChanged, r.Name)
	}
	return backend.ErrNotFound
}

// fetch requests a record by its key.
func (c *copied) fetch(ctx context.Context, r *sheet.Resource, client auth.Client, id int32) (taken, error) {
	if r.Service.Get == nil {
		return taken{}, unexpected(fmt.Errorf("%s: the sheet says no get", r.Name))
	}
	key, err := c.keyOf(ctx, r, client, id)
	if err != nil {
		return taken{}, err
	}
	row, err := c.conn.get(ctx, r, client, key)
	if err != nil {
		return taken{}, err
	}
	all, err := c.conn.take(ctx, r, client, []sheet.JSON{row})
	if err != nil {
		return taken{}, err
	}
	return all[0], nil
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
	r := d.Sheet.Resources[m]
	t, err := d.seen(ctx, r, q)
	if err != nil {
		return mapping.Record{}, err
	}
	return d.complete(ctx, r, q, &t)
}

// seen reads a record that the client may see.
func (d *Driver) seen(ctx context.Context, r *sheet.Resource, q backend.Query) (taken, error) {
	t, err := d.element(ctx, r, q)
	if err == nil && (t.hidden || t.client != q.Client.ID && t.client != 0) {
		return taken{}, backend.ErrNotFound
	}
	return t, err
}

// element reads a record; an element within another record is read with that.
func (d *Driver) element(ctx context.Context, r *sheet.Resource, q backend.Query) (taken, error) {
	s := d.copy.sources[r.Resource]
	if r.Service.Get != nil || s == nil || s.r == r {
		return d.copy.read(ctx, r, q.Client, q.ID)
	}
	copied, err := d.copy.records.Get(ctx, r.Resource, backend.Query{Client: q.Client, ID: q.ID})
	if err != nil {
		return taken{}, err
	}
	t, err := d.copy.read(ctx, s.r, q.Client, int32(copied.Get(arrayOf(s.r, r).ArrayKey).Int()))
	if err != nil {
		return taken{}, err
	}
	for _, e := range t.elements {
		if e.rec.Resource == r.Resource && e.rec.ID() == q.ID && e.err == nil && !e.hidden {
			e.client, e.hidden = t.client, t.hidden
			return *e, nil
		}
	}
	return taken{}, backend.ErrNotFound
}

// complete makes the answered record from t, and may change t: it adds the owner, the moments that
// the service does not have, and the elements that are records of their own.
func (d *Driver) complete(ctx context.Context, r *sheet.Resource, q backend.Query, t *taken) (mapping.Record, error) {
	rec := t.rec
	rec.Owner = t.client
	if t.client == 0 {
		rec.Owner = mapping.OfAll
	}
	if missing := rec.Values[r.ModifiedAt].IsAbsent() || rec.Values[r.CreatedAt].IsAbsent(); missing && d.copy.sources[r.Resource] != nil {
		known, err := d.copy.held(ctx, r, rec.ID())
		if err != nil {
			return rec, err
		}
		if known.there {
			rec.Values[r.ModifiedAt], rec.Values[r.CreatedAt] = orElse(rec.Values[r.ModifiedAt], known.Modified), orElse(rec.Values[r.CreatedAt], known.Created)
		}
	}
	if !d.conn.source.XML && slices.ContainsFunc(t.absent, func(i int) bool { return r.Fields[i].Field.Type == mapping.Array }) {
		rec.Tag = mapping.NoTag // the elements are not known: the service left the list out, which XML does if it is empty
	}
	var apart []int // arrays whose elements are records of their own
	for i := range r.Fields {
		if r.Fields[i].Field.Type != mapping.Array {
			continue
		}
		isWanted := slices.Contains(q.Fields, i)
		switch {
		case r.Service.Fields[i].Elements.IsZero():
			if isWanted || q.Tagged {
				apart = append(apart, i)
			}
		case isWanted:
			owned := slices.Clone(rec.Children[i])
			for k := range owned {
				owned[k].Owner = rec.Owner
			}
			rec.SetElements(i, owned)
		default:
			delete(rec.Children, i)
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

// addApart adds elements from the copy, and includes them in the tag.
func (d *Driver) addApart(ctx context.Context, r *sheet.Resource, q backend.Query, rec mapping.Record, apart []int) (mapping.Record, error) {
	var tagged []mapping.Record
	current := true
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
		current = current && s.r.Service.Walk.Since != nil && old.Age == 0
		one := backend.Page{Records: []mapping.Record{rec}}
		elements := func(f *mapping.Field, of []mapping.Record) ([]mapping.Record, error) {
			all, err := d.copy.records.Elements(ctx, q, f, of)
			tagged = append(tagged, all...)
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
	if rec.Tag = sheet.Tag(rec, tagged); !current { // the elements may have changed in the service since
		rec.Tag = mapping.NoTag
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
	q.Copy.Used, q.Copy.Stale, q.Copy.Age = true, true, known.now.Sub(known.known())
	return rec, nil
}
