package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// inFlight is one write.
type inFlight struct {
	r      *sheet.Resource
	on     *call
	k      *known
	before taken          // of an update or delete
	parts  []any          // the key, of an update or delete
	after  mapping.Record // the record as it will be
	sent   mapping.Record // the part of after that is sent
}

func (c *connector) create(ctx context.Context, a *attempt, r *sheet.Resource, client auth.Client, rec mapping.Record) (taken, error) {
	w := &inFlight{r: r, on: c.calls[r.Service.Create], after: rec, sent: rec}
	if w.on == nil {
		return taken{}, unexpected(fmt.Errorf("the sheet has no create of %s", r.Name))
	}
	var err error
	if w.k, err = c.knows(ctx, client); err != nil {
		return taken{}, err
	}
	if w.k.record, w.k.fields, w.k.attempt = make(map[string]any, len(rec.Values)), rec, a; a != nil {
		w.k.once = a.sent
	}
	if err := c.encode(ctx, r, client, rec, true, w.k.record); err != nil {
		return taken{}, err
	}
	if at := r.Service.Client.Path; at != nil { // overrides a field at the same place
		at.Put(w.k.record, w.k.clientKey)
	}
	return c.write(ctx, w)
}

func (c *connector) update(ctx context.Context, a *attempt, r *sheet.Resource, client auth.Client, before taken, patch mapping.Record) (taken, error) {
	w, err := c.writes(ctx, a, r, client, c.calls[r.Service.Update], before)
	if err != nil {
		return taken{}, err
	}
	w.sent = complete(before.rec, patch)
	if w.sent.IsBlank() {
		return before, nil
	}
	w.after = before.rec.Merge(w.sent)
	w.k.record, w.k.fields = map[string]any{}, w.sent
	if err := c.encode(ctx, r, client, w.sent, false, w.k.record); err != nil {
		return taken{}, err
	}
	if len(w.k.record) == 0 {
		return taken{}, unexpected(fmt.Errorf("none of the changed fields of a %s can be written", r.Name))
	}
	if w.on.Whole {
		w.k.record, w.k.fields = sheet.Merge(sheet.Merge(map[string]any{}, before.raw.Object()), w.k.record), w.after
	}
	return c.write(ctx, w)
}

func (c *connector) delete(ctx context.Context, a *attempt, r *sheet.Resource, client auth.Client, before taken) error {
	w, err := c.writes(ctx, a, r, client, c.calls[r.Service.Delete], before)
	if err != nil {
		return err
	}
	p, err := c.sendWrite(ctx, w)
	if err != nil {
		return err
	}
	c.wire.release(p.answer)
	return nil
}

// writes begins a write of an existing record.
func (c *connector) writes(ctx context.Context, a *attempt, r *sheet.Resource, client auth.Client, on *call, before taken) (*inFlight, error) {
	if on == nil {
		return nil, unexpected(fmt.Errorf("the sheet does not say how one of %s is written", r.Name))
	}
	w := &inFlight{r: r, on: on, before: before, after: before.rec}
	var err error
	if w.parts, err = partsOf(ctx, r, before.raw); err != nil {
		return nil, err
	}
	if w.k, err = c.knows(ctx, client); err != nil {
		return nil, err
	}
	w.k.key, w.k.attempt = keyOf(w.parts), a
	if at := r.Service.Version; !at.IsZero() {
		if w.k.version, _, err = at.Of(ctx, before.raw); err != nil {
			return nil, changed(r, "its version at %s: %w", at, err)
		}
	}
	return w, nil
}

// sendWrite sends a write, once, and returns the answer if it is a success.
func (c *connector) sendWrite(ctx context.Context, w *inFlight) (_ *reply, err error) {
	p, err := c.send(ctx, w.on, w.k)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.wire.conclude(p.answer, &err)
		}
	}()
	attempt := sheet.Attempt{Record: w.after}
	if w.parts != nil {
		attempt.ID = w.before.rec.ID()
		if p.isNotFound(ctx) {
			return nil, backend.ErrNotFound
		}
	}
	if _, isFault := p.fault(); isSuccess(p.status) && !isFault { // the sheet may know better
		if err = c.translate(ctx, p, attempt); err != nil {
			return nil, err
		}
		return p, nil
	}
	err = c.refused(ctx, p, attempt, nil)
	_, violated := mapping.AsViolations(err)
	if p.status == http.StatusPreconditionFailed && !violated && w.on.Names("version") {
		// Somebody changed the record since it was judged, so it is judged again.
		return nil, fmt.Errorf("%w: %w", backend.ErrStale, err)
	}
	return nil, err
}

// write makes a create or an update, and returns the record afterwards.
func (c *connector) write(ctx context.Context, w *inFlight) (t taken, err error) {
	p, err := c.sendWrite(ctx, w)
	if err != nil {
		return taken{}, err
	}
	defer c.wire.conclude(p.answer, &err)
	again, doubtful := w.on.Nothing || len(w.on.Key) > 0, false
	if again {
		err = c.keyAfter(ctx, w, p)
	} else {
		var row sheet.JSON
		if row, err = c.recordAfter(ctx, w, p); err == nil {
			t, err = c.takeOne(ctx, w, row)
		}
		doubtful = err == nil && w.r.Service.Get != nil && w.isDoubtful(t)
	}
	if err != nil {
		return taken{}, afterWrite{err}
	}
	if (again || doubtful) && w.r.Service.Get != nil {
		p.again = p.again && !doubtful // the true answer may still come
		c.wire.release(p.answer)
		w.k.key = keyOf(w.parts)
		row, err := c.read(ctx, w.r, w.k, w.parts)
		if err == nil {
			t, err = c.takeOne(ctx, w, row)
		}
		if err != nil {
			return taken{}, afterWrite{err}
		}
		return t, nil
	}
	if again {
		row, err := sheet.JSONOf(sheet.Merge(sheet.Merge(map[string]any{}, w.before.raw.Object()), w.k.record))
		if err == nil {
			t, err = c.takeOne(ctx, w, row)
		}
		if err != nil {
			return taken{}, afterWrite{err}
		}
	}
	for _, i := range t.absent { // the record has what was sent
		if v := w.after.Values[i]; !v.IsAbsent() {
			t.rec.Values[i] = v
		}
	}
	return t, nil
}

// isDoubtful reports whether the answer to an update may belong to the call before, or has only part of
// the record: changed fields are as before, or existing values are missing. What the answer to a create
// leaves out counts as sent.
func (w *inFlight) isDoubtful(t taken) bool {
	if w.on.op != mapping.OpUpdate {
		return false
	}
	for i, v := range w.sent.Values {
		if !v.IsAbsent() && t.rec.Values[i] == w.before.rec.Values[i] && v != t.rec.Values[i] {
			return true
		}
	}
	return slices.ContainsFunc(t.absent, func(i int) bool { return w.after.Values[i].IsSet() })
}

// keyAfter finds the key of a new record whose answer is not the record.
func (c *connector) keyAfter(ctx context.Context, w *inFlight, p *reply) error {
	if w.parts != nil {
		return nil
	}
	if len(w.on.Key) == 0 {
		row, err := sheet.JSONOf(w.k.record)
		if err == nil {
			w.parts, err = partsOf(ctx, w.r, row)
		}
		return err
	}
	body, err := p.body()
	if err != nil {
		return unexpected(err)
	}
	at := *w.r.Service
	at.Key = w.on.Key
	w.parts, err = partsOf(ctx, &sheet.Resource{Resource: w.r.Resource, Service: &at}, body)
	return err
}

// recordAfter is the record in the answer to a write: for an update it must be the same record, for a
// create one of the client's. The answer need not repeat the client.
func (c *connector) recordAfter(ctx context.Context, w *inFlight, p *reply) (sheet.JSON, error) {
	row, err := c.recordIn(ctx, p)
	if errors.Is(err, backend.ErrNotFound) {
		err = changed(w.r, "no record at %q of the answer", w.on.Result)
	}
	if err != nil {
		return row, err
	}
	if at := w.r.Service.Client.Path; at != nil {
		if _, there := at.Find(row); !there {
			row = with(row, at, w.k.clientKey)
		}
	}
	requested := w.parts
	if requested == nil {
		row = fillKey(w.r, row, func(at sheet.Path, _ int) (any, bool) { return at.Of(w.k.record) })
		if requested, err = partsOf(ctx, w.r, row); err != nil {
			return row, err
		}
	}
	row, err = c.isOf(ctx, w.r, row, w.k, requested)
	if errors.Is(err, backend.ErrNotFound) || errors.Is(err, ErrNobody) {
		err = unexpected(fmt.Errorf("%w: %s is of another client", errOther, w.r.Name))
	}
	w.parts = requested
	return row, err
}

// takeOne takes a record that the client must see.
func (c *connector) takeOne(ctx context.Context, w *inFlight, row sheet.JSON) (taken, error) {
	all, err := c.take(ctx, w.r, w.k.client, []sheet.JSON{row})
	if err != nil {
		return taken{}, err
	}
	switch t := all[0]; {
	case t.err != nil:
		return taken{}, t.err
	case t.hidden || t.gone || t.client != w.k.client.ID && t.client != 0:
		return taken{}, unexpected(errors.New("the answer has a record that the sheet hides, or of another client"))
	default:
		return t, nil
	}
}

// afterWrite is a failure after a write was done. The error that it wraps must not be taken
// for a failure of the write, so it is only shown, unless it is ErrUnexpected.
type afterWrite struct{ err error }

func (a afterWrite) Error() string { return "after the write was done: " + a.err.Error() }

func (a afterWrite) Is(target error) bool {
	return target == backend.ErrUnexpected && isShape(a.err)
}
