package backend

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/mapping"
)

// ruleSteps are the business rules that a resource's file can name. Each judges
// the record as the change would leave it.
func ruleSteps() map[string]step {
	return map[string]step{
		"order_status":   orderStatus,
		"license_plate":  licensePlate,
		"published":      published,
		"one_owner":      oneOwner,
		"prefered_email": preferredEmail,
		"email_value":    emailValue,
		"postcode":       postcode,
		"flatrate_line":  flatrateLine,
	}
}

// ownRecordSteps are what of those can be judged from a record by itself.
func ownRecordSteps() map[string]step {
	return map[string]step{
		"order_status":  ownStatus,
		"license_plate": plateStays,
		"published":     published,
		"email_value":   emailValue,
	}
}

// elements are the records that a create brings along in its array fields, each
// as a change of its own.
func (c *Change) elements() []*Change {
	var all []*Change
	for i := range c.Resource.Fields {
		f := &c.Resource.Fields[i]
		lines := c.Patch.Children[i]
		for n, line := range lines {
			all = append(all, &Change{
				Op: mapping.OpCreate, Client: c.Client, Resource: line.Resource, Body: c.Body.Line(i, n),
				After: line, Patch: line, Path: fmt.Sprintf("%s[%d]", f.Name, n), Siblings: lines[:n],
			})
		}
	}
	return all
}

// hold reads the record that a field refers to, and keeps it from changing
// until the transaction ends, so that what is decided of it stays true. It is
// false where the field is empty: an element whose record is being created.
func hold(ctx context.Context, tx Reader, c *Change, field string) (mapping.Record, bool, error) {
	f := c.Resource.Field(field)
	if !c.After.Values[f.Index].IsSet() {
		return mapping.Record{}, false, nil
	}
	rec, err := related(ctx, tx, c, f, true)
	return rec, err == nil, err
}

// related reads the record that a field refers to. That it exists was judged
// before: if it went away since, the rules must look again.
func related(ctx context.Context, tx Reader, c *Change, f *mapping.Field, forUpdate bool) (mapping.Record, error) {
	q := Query{Client: c.Client, ID: int32(c.After.Values[f.Index].Int()), ForUpdate: forUpdate}
	rec, err := tx.Get(ctx, f.Target(), q)
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %s of %s went away", ErrStale, f.Name, c.Resource.Name)
	}
	return rec, err
}

// isNetherlands tells whether the country that a field refers to is NL.
func isNetherlands(ctx context.Context, tx Reader, c *Change, field string) (bool, error) {
	country, err := related(ctx, tx, c, c.Resource.Field(field), false)
	return country.Resource != nil && country.Get("code").Text() == "NL", err
}
