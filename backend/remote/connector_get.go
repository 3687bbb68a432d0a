package remote

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

func (c *connector) get(ctx context.Context, r *sheet.Resource, client auth.Client, key string) (sheet.JSON, error) {
	if r.Service.Get == nil {
		return sheet.JSON{}, unexpected(fmt.Errorf("the sheet does not say how one of %s is read", r.Name))
	}
	k, err := c.knows(ctx, client)
	if err != nil {
		return sheet.JSON{}, err
	}
	parts := sheet.KeyParts(key)
	k.key = keyOf(parts)
	return c.read(ctx, r, k, parts)
}

// read requests the record of a key.
func (c *connector) read(ctx context.Context, r *sheet.Resource, k *known, parts []any) (row sheet.JSON, err error) {
	p, err := c.send(ctx, c.calls[r.Service.Get], k)
	if errors.Is(err, errUnsendable) {
		return row, backend.ErrNotFound // no record has such a key
	}
	if err != nil {
		return row, err
	}
	defer c.wire.conclude(p.answer, &err)
	if p.isNotFound(ctx) {
		return row, backend.ErrNotFound
	}
	if !isSuccess(p.status) {
		return row, c.refused(ctx, p, sheet.Attempt{}, nil)
	}
	row, err = c.recordIn(ctx, p)
	if err == nil {
		row, err = c.isOf(ctx, r, row, k, parts)
	}
	if isShape(err) && !errors.Is(err, errOther) { // an error of the service may look like success
		err = c.refused(ctx, p, sheet.Attempt{}, err)
	}
	if err != nil {
		return sheet.JSON{}, err
	}
	return row, nil
}

// recordIn is the one record in an answer: at its place, or in a list there.
func (c *connector) recordIn(ctx context.Context, p *reply) (sheet.JSON, error) {
	v, there, err := p.result(ctx)
	if err != nil {
		return v, err
	}
	all, isList := v.List()
	switch {
	case isList && len(all) == 0, there && v.IsNull():
		return v, backend.ErrNotFound
	case isList && len(all) > 1:
		return v, unexpected(fmt.Errorf("the answer has %d records in place of one", len(all)))
	case isList:
		v = all[0]
	}
	if !v.IsObject() {
		return v, p.changed("no record at %q of the answer", p.on.Result)
	}
	return v, nil
}

// isOf returns a record with its key if it is the requested one. An answer may leave out all but one
// part of a key, since the path names them.
func (c *connector) isOf(ctx context.Context, r *sheet.Resource, row sheet.JSON, k *known, requested []any) (sheet.JSON, error) {
	if len(requested) != len(r.Service.Key) {
		return row, unexpected(fmt.Errorf("%s: a key of %d parts, expected %d", r.Name, len(requested), len(r.Service.Key)))
	}
	row = fillKey(r, row, func(_ sheet.Path, i int) (any, bool) { return requested[i], true })
	came, err := partsOf(ctx, r, row)
	if err != nil {
		return row, err
	}
	if want, have := comparedKey(r, requested), comparedKey(r, came); want != have {
		return row, unexpected(fmt.Errorf("%w: %s %.40q was asked for, %.40q came", errOther, r.Name, want, have))
	}
	return row, c.isOfClient(ctx, r, row, k)
}

// fillKey fills in the parts of the key that a record lacks; it must have at least one.
func fillKey(r *sheet.Resource, row sheet.JSON, known func(at sheet.Path, part int) (any, bool)) sheet.JSON {
	left := len(r.Service.Key) - 1
	for i, at := range r.Service.Key {
		if _, there := at.Path.Find(row); there || at.Path == nil || left == 0 {
			continue
		}
		if v, is := known(at.Path, i); is {
			row = with(row, at.Path, v)
			left--
		}
	}
	return row
}

// with is a record with a value set at a path.
func with(row sheet.JSON, at sheet.Path, v any) sheet.JSON {
	all := sheet.Merge(map[string]any{}, row.Object())
	at.Put(all, v)
	row, _ = sheet.JSONOf(all) // all of it was read from an answer
	return row
}

// comparedKey is the form in which keys of a resource are compared.
func comparedKey(r *sheet.Resource, parts []any) string {
	switch {
	case !r.Key.Kept:
		return asText(parts[0])
	case r.Key.IgnoresCase:
		return sheet.FoldKey(sheet.KeyText(parts...))
	default:
		return sheet.KeyText(parts...)
	}
}

// isOfClient fails with errAnothers unless a record belongs to the client, or to all clients.
func (c *connector) isOfClient(ctx context.Context, r *sheet.Resource, row sheet.JSON, k *known) error {
	if r.Service.Client.IsZero() || k.client.ID == 0 {
		return nil
	}
	text, err := c.whose(ctx, r, row)
	switch {
	case errors.Is(err, ErrNobody):
		return err
	case err != nil:
		return changed(r, "%w", err)
	case text != "" && text != asText(k.clientKey):
		return errAnothers
	default:
		return nil
	}
}

// errAnothers says that a record exists, but belongs to another client.
var errAnothers = fmt.Errorf("%w: it is another client's", backend.ErrNotFound)

// errOther says that an answer is about another record than the requested one.
var errOther = errors.New("the answer is about another record")
