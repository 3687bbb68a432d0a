package remote

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// owners finds the clients of records that do not name theirs (client: {through: FIELD}), by
// reading each parent record once.
type owners struct {
	s      *service
	client auth.Client
	known  map[ownerRef]owner
	about  ownerRef    // the record that a write changes; none for a read
	row    []sheet.Raw // its row

	unversioned bool // the query has no use for versions
}

// ownerRef names a record.
type ownerRef struct {
	resource *mapping.Resource
	id       int64
}

// owner says whose a record is, as seen by the client that asks.
type owner uint8

const (
	nobody owner = iota // another client's, or gone
	itself
	everybody
)

// mostOwners bounds how many parent records are read for one list.
const mostOwners = 500

func (s *service) owners(client auth.Client) *owners {
	return &owners{s: s, client: client}
}

// of tells whose the records of r are that refer to v.
func (o *owners) of(ctx context.Context, r *resource, v mapping.Value) (owner, error) {
	if r.Through == nil {
		return itself, nil
	}
	if v.Kind() != mapping.KindInt {
		return nobody, nil
	}
	ref := ownerRef{r.Through.Field.Target(), v.Int()}
	if found, ok := o.known[ref]; ok {
		return found, nil
	}
	if len(o.known) >= mostOwners {
		return nobody, unexpected(fmt.Errorf("a list of %s belongs to more than %d records of %s: have it ask for %s (list_requires)", r.Name, mostOwners, ref.resource.Name, r.Through.Name))
	}
	o.note(ref, nobody)
	rec, err := o.s.find(ctx, ref.resource, backend.Query{Client: o.client, ID: int32(v.Int())}, o)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return nobody, nil
	case err != nil:
		delete(o.known, ref)
		return nobody, fmt.Errorf("find the client of a %s: %w", r.Name, err)
	}
	return o.found(rec), nil
}

// found remembers whose a record is that the client was shown.
func (o *owners) found(rec mapping.Record) owner {
	whose := itself
	if rec.Flag(rec.Resource.IsSystem) {
		whose = everybody
	}
	o.note(ownerRef{rec.Resource, int64(rec.ID())}, whose)
	return whose
}

func (o *owners) note(ref ownerRef, whose owner) {
	if o.known == nil {
		o.known = map[ownerRef]owner{}
	}
	o.known[ref] = whose
}

// shows tells whether the client sees a record. A record that belongs to all clients is marked
// as such.
func (o *owners) shows(ctx context.Context, r *resource, rec mapping.Record) (bool, error) {
	if r.Through == nil {
		return true, nil
	}
	whose, err := o.of(ctx, r, rec.Values[r.Through.Index])
	if whose == everybody {
		rec.Values[r.IsSystem] = mapping.IntValue(1)
	}
	return whose != nobody, err
}

// takes refuses a record whose parent is not the client's own.
func (o *owners) takes(ctx context.Context, r *resource, rec mapping.Record) error {
	if r.Through == nil {
		return nil
	}
	v := rec.Values[r.Through.Index]
	whose, err := o.of(ctx, r, v)
	if err == nil && whose != itself {
		err = mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(r.Through.Name), v.String())
	}
	return err
}
