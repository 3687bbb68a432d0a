package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// taken is a record that a service answered, as clients see it.
type taken struct {
	// rec has its ID, a Version that changes with what clients see of it, and the elements that
	// stand within it. Its Owner is not set.
	rec    mapping.Record
	client int64      // whose it is; 0 of records of all clients
	raw    sheet.JSON // as the service has it
	// elements are those that stand within it, also those that cannot be shown. Their client is its.
	elements []*taken
	// absent are the positions of the fields whose place the record does not have.
	absent []int
	hidden bool  // the sheet does not show it
	gone   bool  // the service says that it is no more; nothing but the ID is known then
	err    error // why it cannot be shown, the first of faults; of rec only the ID is known then
	faults []Fault
}

// clone is a record whose values can be changed.
func (t taken) clone() taken {
	t.rec.Values, t.rec.Children = slices.Clone(t.rec.Values), maps.Clone(t.rec.Children)
	return t
}

// ownerOf returns the clients of records that others belong to, by ID. Those that are not known
// are left out.
type ownerOf func(ctx context.Context, client auth.Client, r *mapping.Resource, ids []int32) (map[int32]int64, error)

// A connector speaks to a service as its sheet says. It walks, gets and writes records, and keeps
// none. Its methods are safe for concurrent use:
//
//	walk(ctx, r, client, since, page) (next, err)
//	  calls page for the records of each page, as they came. client is the zero Client unless
//	  r.Service.PerClient. since is nil for a walk over all, else what walk.since asks for: the
//	  cursor, or the moment as the interface writes it. next is the next value of since ("" where it
//	  has no cursor). What does not add up fails with
//	  backend.ErrChanged: a full page and never a next one, fewer than the total, a page twice, no
//	  list at Result.
//	get(ctx, r, client, key) (row, err)
//	  fails with backend.ErrNotFound where the service says that there is none. key is as KeyRef has
//	  it, or the ID where keys are not kept.
//	create(ctx, a, r, client, rec) (taken, err), update(ctx, a, r, client, before, patch) (taken, err),
//	delete(ctx, a, r, client, before) (err)
//	  send one write, once, which a tells of; it may be nil. before is the record as get and take gave it.
//	take(ctx, r, client, rows) ([]taken, err)
//	  converts rows. err is of the id store or of the owners, or backend.ErrChanged for rows without
//	  their key; what else is wrong with a row stands in it.
//	verify(ctx, credentials), find(ctx, username)
//	  are of users.
type connector struct {
	*core
	source *sheet.Service
	wire   *wire
	base   string
	owners ownerOf
	logOn  *loggingOn // nil where there is none
	// calls are all that the sheet has.
	calls   map[*sheet.ServiceCall]*call
	clients sync.Map // of clients that are kept: texts by number, numbers by text
}

func newConnector(o *core, owners ownerOf) (*connector, error) {
	source := o.Sheet.Source.Service
	w, base, err := newWire(o, source)
	if err != nil {
		return nil, err
	}
	c := &connector{
		core: o, source: source, wire: w, base: base, owners: owners,
		calls: map[*sheet.ServiceCall]*call{},
	}
	if source.LogOn != nil {
		c.logOn = newLoggingOn(c)
	}
	add := func(of *sheet.Resource, op mapping.Scope, said *sheet.ServiceCall) *call {
		if said == nil {
			return nil
		}
		c.calls[said] = newCall(source, of, op, said)
		return c.calls[said]
	}
	for _, r := range o.Sheet.Resources {
		s := r.Service
		if s.Walk != nil {
			add(r, mapping.OpList, &s.Walk.ServiceCall)
			if s.Walk.Since != nil {
				add(r, mapping.OpList, &s.Walk.Since.ServiceCall)
			}
		}
		add(r, mapping.OpGet, s.Get)
		add(r, mapping.OpCreate, s.Create)
		add(r, mapping.OpUpdate, s.Update)
		add(r, mapping.OpDelete, s.Delete)
	}
	add(nil, mapping.OpGet, source.Find)
	for _, said := range []*sheet.ServiceCall{source.Verify, source.WhoAmI} {
		if on := add(nil, mapping.OpGet, said); on != nil {
			on.secret = true
		}
	}
	return c, nil
}

// close ends all connections, also those in use.
func (c *connector) close() { c.wire.pool.close() }

// ping sends a request that changes nothing. Any answer will do, except one that says that the
// service does not work.
func (c *connector) ping(ctx context.Context) error {
	if c.logOn != nil { // a token that is still good says nothing of the service
		if _, err := c.logOn.get(ctx, auth.Client{}); err != nil {
			return err
		}
	}
	a, err := c.wire.do(ctx, &request{method: "GET", target: c.base + "/", page: true, timeout: c.source.Timeout})
	if err != nil {
		return err
	}
	defer c.wire.release(a)
	if isOverloaded(a.status) {
		return fmt.Errorf("the service answered %d", a.status)
	}
	return nil
}

// keyed is the client of the KeyRef of a record: that of the walk which it was found by. Where one
// walk finds the records of all clients their keys are those of all.
func keyed(r *sheet.Resource, client auth.Client) int64 {
	if r.Service.PerClient {
		return client.ID
	}
	return 0
}

// changed is the error of an answer that has not the shape that the sheet says.
func changed(r *sheet.Resource, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", backend.ErrChanged, r.Name, fmt.Errorf(format, args...))
}

// partsOf are the parts of the key of a record, and whether all are there. A part is a text, a
// number or a bool.
func partsOf(ctx context.Context, r *sheet.Resource, row sheet.JSON) ([]any, error) {
	parts := make([]any, len(r.Service.Key))
	for i, at := range r.Service.Key {
		v, _, err := at.Of(ctx, row)
		if err != nil {
			return nil, changed(r, "the key at %s: %w", at, err)
		}
		if text, ok := sheet.ScalarText(v); !ok || isBlank(text) {
			return nil, changed(r, "a record without its key at %s", at)
		}
		parts[i] = v
	}
	return parts, nil
}

// isShape reports whether an answer had not the shape that the sheet says, or could not be read at
// all: what follows on its connection may be wrong as well.
func isShape(err error) bool {
	return errors.Is(err, backend.ErrUnexpected) || errors.Is(err, backend.ErrChanged)
}
