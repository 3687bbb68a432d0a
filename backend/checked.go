package backend

import (
	"context"
	"fmt"
	"strconv"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// checked is a Driver whose answers are judged before anyone believes them. All
// that a Client and its rules know of records they have from one.
type checked struct{ Driver }

// optional finds what a driver can do beyond Driver.
func optional[T any](d Driver) (T, bool) {
	if c, ok := d.(checked); ok {
		d = c.Driver
	}
	t, ok := d.(T)
	return t, ok
}

// Believe tells whether a record is what was asked for: it has an ID, which is id
// unless that is 0, and belongs to the client or to all; and so do the elements in
// it. It fails with ErrUnexpected. A Client asks it of all that
// its driver answers. A driver that can close the connection that a foreign
// record came over asks it first.
func Believe(r *mapping.Resource, rec mapping.Record, client auth.Client, id int32) error {
	if rec.Resource != r || rec.ID() < 1 || id != 0 && rec.ID() != id || rec.Owner != client.ID && rec.Owner != mapping.OfAll {
		return foreign(r, rec, client, id)
	}
	for i, elements := range rec.Children {
		f := &r.Fields[i]
		for _, e := range elements {
			if err := Believe(f.Target(), e, client, 0); err != nil {
				return fmt.Errorf("%s of %s %d: %w", f.Name, r.Name, rec.ID(), err)
			}
		}
	}
	return nil
}

// foreign words what was asked and what came, and nothing else of it.
func foreign(r *mapping.Resource, rec mapping.Record, client auth.Client, id int32) error {
	asked, came := r.Name, "something else"
	if id != 0 {
		asked += " " + strconv.Itoa(int(id))
	}
	if rec.Resource == r {
		if came = r.Name + " without id"; rec.ID() != 0 {
			came = r.Name + " " + strconv.Itoa(int(rec.ID()))
		}
		switch rec.Owner {
		case client.ID, mapping.OfAll:
		case 0:
			came += " of nobody knows which client"
		default:
			came += " of client " + strconv.FormatInt(rec.Owner, 10)
		}
	}
	return fmt.Errorf("%w: %s of client %d was asked for, %s came", ErrUnexpected, asked, client.ID, came)
}

// Get implements Driver.
func (c checked) Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error) {
	rec, err := c.Driver.Get(ctx, r, q)
	return believed(r, rec, q.Client, q.ID, err)
}

func believed(r *mapping.Resource, rec mapping.Record, client auth.Client, id int32, err error) (mapping.Record, error) {
	if err == nil {
		err = Believe(r, rec, client, id)
	}
	if err != nil {
		return mapping.Record{}, err
	}
	return rec, nil
}

// List implements Driver.
func (c checked) List(ctx context.Context, r *mapping.Resource, q Query) (Page, error) {
	page, err := c.Driver.List(ctx, r, q)
	if err != nil {
		return Page{}, err
	}
	for i := range page.Records {
		if err := Believe(r, page.Records[i], q.Client, 0); err != nil {
			return Page{}, err
		}
	}
	return page, nil
}

// Create implements Driver.
func (c checked) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	stored, err := c.Driver.Create(ctx, client, rec)
	return believed(rec.Resource, stored, client, 0, err)
}

// Update implements Driver.
func (c checked) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	stored, err := c.Driver.Update(ctx, client, before, patch)
	return believed(before.Resource, stored, client, before.ID(), err)
}
