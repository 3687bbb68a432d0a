package backend

import (
	"context"
	"fmt"
	"strconv"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// checked is a Driver, and checkedTx a Tx, that checks each answer before it returns it.
// A Client and its rules read records only through these.
type (
	checked   struct{ Driver }
	checkedTx struct {
		Tx
		wrote bool // Create or Update was called
	}
)

// optional returns an optional interface of a driver or a Tx, found by assertion.
func optional[T any](d any) (T, bool) {
	switch c := d.(type) {
	case checked:
		d = c.Driver
	case *checkedTx:
		d = c.Tx
	}
	t, ok := d.(T)
	return t, ok
}

// Believe checks that a record is the one that was requested: its ID is id (or any, if id
// is 0), and the record and its elements belong to the client or to all clients. If not,
// Believe fails with ErrUnexpected. A Client calls it for every answer of its driver. A driver
// that can close the connection on which a wrong record came calls it first.
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

// foreign is the error for a wrong record: what was requested and what came, without values of the record.
func foreign(r *mapping.Resource, rec mapping.Record, client auth.Client, id int32) error {
	requested, came := r.Name, "something else"
	if id != 0 {
		requested += " " + strconv.Itoa(int(id))
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
	return fmt.Errorf("%w: %s of client %d was asked for, %s came", ErrUnexpected, requested, client.ID, came)
}

// Write implements Driver.
func (c checked) Write(ctx context.Context, f func(Tx) error) error {
	return c.Driver.Write(ctx, func(tx Tx) error { return f(&checkedTx{Tx: tx}) })
}

// Get implements Reader.
func (c checked) Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error) {
	rec, err := c.Driver.Get(ctx, r, q)
	return believed(r, rec, q.Client, q.ID, err)
}

// Get implements Reader.
func (c *checkedTx) Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error) {
	rec, err := c.Tx.Get(ctx, r, q)
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

// List implements Reader.
func (c checked) List(ctx context.Context, r *mapping.Resource, q Query) (Page, error) {
	page, err := c.Driver.List(ctx, r, q)
	return believedPage(r, page, q.Client, err)
}

// List implements Reader.
func (c *checkedTx) List(ctx context.Context, r *mapping.Resource, q Query) (Page, error) {
	page, err := c.Tx.List(ctx, r, q)
	return believedPage(r, page, q.Client, err)
}

func believedPage(r *mapping.Resource, page Page, client auth.Client, err error) (Page, error) {
	for i := 0; err == nil && i < len(page.Records); i++ {
		err = Believe(r, page.Records[i], client, 0)
	}
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

// Create implements Tx.
func (c *checkedTx) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	c.wrote = true
	stored, err := c.Tx.Create(ctx, client, rec)
	return believed(rec.Resource, stored, client, 0, err)
}

// Update implements Tx.
func (c *checkedTx) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	c.wrote = true
	stored, err := c.Tx.Update(ctx, client, before, patch)
	return believed(before.Resource, stored, client, before.ID(), err)
}
