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
	client int64      // its owner; 0 for records of all clients
	raw    sheet.JSON // as the service has it
	// elements are the records within it, also those that cannot be shown. They have its client.
	elements []*taken
	// absent are the positions of the fields that the record lacks.
	absent []int
	hidden bool  // the sheet does not show it
	gone   bool  // the service says that it was deleted; rec then has only the ID
	err    error // why it cannot be shown, the first of faults; rec then has only the ID
	faults []Fault
}

// clone is a record whose values can be changed.
func (t taken) clone() taken {
	t.rec.Values, t.rec.Children = slices.Clone(t.rec.Values), maps.Clone(t.rec.Children)
	return t
}

// ownerOf returns the clients of records that others belong to, by ID. Records that are not known are
// left out.
type ownerOf func(ctx context.Context, client auth.Client, r *mapping.Resource, ids []int32) (map[int32]int64, error)

// A connector calls a service as its sheet says. It walks, gets and writes records, and stores
// none. Its methods are safe for concurrent use:
//
//	walk(ctx, r, client, since, page) (next, err)
//	  calls page for the records of each page, as they came. client is the zero Client unless
//	  r.Service.PerClient. since is nil for a walk over all, else what walk.since asks for: the
//	  cursor, or the moment as the interface writes it. next is the next value of since ("" if the
//	  service has no cursor). An inconsistent walk fails with backend.ErrChanged: a full page and
//	  never a next one, fewer records than the total, a page twice, no list at Result.
//	get(ctx, r, client, key) (row, err)
//	  fails with backend.ErrNotFound if the service says that there is none. key is as KeyRef has
//	  it, or the ID if keys are not kept.
//	create(ctx, a, r, client, rec) (taken, err), update(ctx, a, r, client, before, patch) (taken, err),
//	delete(ctx, a, r, client, before) (err)
//	  send one write, once; a, unless nil, notes its progress. before is the record as get and take returned it.
//	take(ctx, r, client, rows) ([]taken, err)
//	  converts rows. err comes from the id store or from ownerOf, or is backend.ErrChanged for rows
//	  without their key; other faults of a row are in its taken.
//	verify(ctx, credentials), find(ctx, username)
//	  look up users.
type connector struct {
	*core
	source *sheet.Service
	wire   *wire
	base   string
	owners ownerOf
	logOn  *loggingOn // nil if the sheet has no log-on
	// calls are all calls of the sheet.
	calls   map[*sheet.ServiceCall]*call
	clients sync.Map // kept clients: texts by number, numbers by text
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
	add := func(of *sheet.Resource, op mapping.Scope, spec *sheet.ServiceCall) *call {
		if spec == nil {
			return nil
		}
		c.calls[spec] = newCall(source, of, op, spec)
		return c.calls[spec]
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
	for _, spec := range []*sheet.ServiceCall{source.Verify, source.WhoAmI} {
		if on := add(nil, mapping.OpGet, spec); on != nil {
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
	if c.logOn != nil { // a valid token does not show that the service works
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

// keyed is the client in the KeyRef of a record: that of the walk that found it, and 0 if one walk finds
// the records of all clients.
func keyed(r *sheet.Resource, client auth.Client) int64 {
	if r.Service.PerClient {
		return client.ID
	}
	return 0
}

// changed is the error of an answer that does not have the shape in the sheet.
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

// isShape reports whether an error says that an answer did not have the shape in the sheet, or could
// not be read: what follows on its connection may be wrong as well.
func isShape(err error) bool {
	return errors.Is(err, backend.ErrUnexpected) || errors.Is(err, backend.ErrChanged)
}
