package backend

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// View is a Client for an api_key that may not use all fields: it takes and returns the resources
// and records of a narrowed model. The rules are judged by the whole records, and hidden fields
// stay as they are.
type View struct {
	*Client
	of *mapping.View
}

// View returns the client with the model that the view has.
func (c *Client) View(of *mapping.View) *View { return &View{c, of} }

// Within is the offer for the model of a view. It has no backups, since these have all fields.
func (o Offer) Within(of *mapping.View) Offer {
	n := o
	n.Model, n.Exports = of.Model, false
	if o.Supports != nil {
		n.Supports = func(r *mapping.Resource, op mapping.Scope) bool { return o.Supports(of.Whole(r), op) }
	}
	n.Writes = func(r *mapping.Resource, f *mapping.Field) bool {
		return f.Withheld&mapping.InUpdates == 0 && (o.Writes == nil || o.Writes(of.Whole(r), of.WholeField(r, f)))
	}
	if o.Feeds != nil {
		n.Feeds = func(r *mapping.Resource) Feed { return o.Feeds(of.Whole(r)) }
	}
	if o.Collation != nil {
		n.Collation = func(r *mapping.Resource, f *mapping.Field) string {
			return o.Collation(of.Whole(r), of.WholeField(r, f))
		}
	}
	return n
}

// query is the query to the whole resource, with the same fields; nil Fields mean the usual ones.
func (v *View) query(r *mapping.Resource, q Query, usual []int) Query {
	if q.Fields == nil {
		q.Fields = usual
	}
	q.Fields = v.of.Places(r, q.Fields)
	q.Filters, q.Sort = slices.Clone(q.Filters), slices.Clone(q.Sort)
	for i := range q.Filters {
		q.Filters[i].Field = v.of.WholeField(r, q.Filters[i].Field)
	}
	for i := range q.Sort {
		q.Sort[i].Field = v.of.WholeField(r, q.Sort[i].Field)
	}
	return q
}

// Get is Client.Get. The tag is made of all visible fields of the record.
func (v *View) Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error) {
	whole := v.query(r, q, r.RecordFields())
	if q.Tagged {
		whole.Fields = v.of.Places(r, everyField(r))
	}
	rec, err := v.Client.Get(ctx, v.of.Whole(r), whole)
	rec = v.of.Record(rec)
	if err != nil || !q.Tagged {
		return rec, v.redact(r, err)
	}
	setTag(&rec)
	for i := range rec.Children {
		if !slices.Contains(q.Fields, i) {
			delete(rec.Children, i)
		}
	}
	return rec, nil
}

// everyField are the positions of all fields, arrays included.
func everyField(r *mapping.Resource) []int {
	all := make([]int, len(r.Fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// List is Client.List.
func (v *View) List(ctx context.Context, r *mapping.Resource, q Query) (Page, error) {
	page, err := v.Client.List(ctx, v.of.Whole(r), v.query(r, q, r.ListFields()))
	for i := range page.Records {
		page.Records[i] = v.of.Record(page.Records[i])
	}
	return page, v.redact(r, err)
}

// seen is Write.Seen: the record with its tag, which also covers its elements.
func (v *View) seen(ctx context.Context, tx Reader, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	r := v.of.Model.Resource(rec.Resource.Name)
	if r.HasArrays() {
		with, err := tx.Get(ctx, rec.Resource, Query{Client: client, ID: rec.ID(), Tagged: true, Fields: v.of.Places(r, everyField(r))})
		switch {
		case err == nil:
			rec.Children, rec.Tag = with.Children, with.Tag
		case v.Capabilities().Atomic:
			return with, err
		default: // the record may have been written
			rec.Tag = mapping.NoTag
		}
	}
	rec = v.of.Record(rec)
	setTag(&rec)
	rec.Children = nil
	return rec, nil
}

// setTag gives a record the tag of its content. The time of the last change is left out, because a
// hidden field may have changed.
func setTag(rec *mapping.Record) {
	rec.Version = 0
	if rec.Tag != mapping.NoTag {
		sum := sha256.Sum256(appendContent(nil, *rec))
		rec.Tag = cmp.Or(int64(binary.BigEndian.Uint64(sum[:])>>1), 1) // #nosec G115 -- of 63 bits
	}
}

func appendContent(dst []byte, rec mapping.Record) []byte {
	for i := range rec.Values {
		if i != rec.Resource.ModifiedAt {
			dst = append(rec.Values[i].AppendJSON(dst), ',')
		}
		for _, child := range rec.Children[i] {
			dst = appendContent(append(dst, '['), child)
		}
	}
	return append(dst, ']')
}

func (v *View) write(w Write) Write {
	w.Seen = v.seen
	return w
}

// redact replaces a violation that names a hidden field by ErrUnexpected. Only an administration with
// rules of its own raises one.
func (v *View) redact(r *mapping.Resource, err error) error {
	found, _ := mapping.AsViolations(err)
	for _, e := range found {
		if len(e.Args) == 0 {
			continue
		}
		name, _, _ := strings.Cut(e.Args[0], "[")
		if r.Field(name) == nil && v.of.Whole(r).Field(name) != nil {
			return fmt.Errorf("refused for a field that the api_key may not read: %w", ErrUnexpected)
		}
	}
	return err
}

// Create is Client.Create.
func (v *View) Create(ctx context.Context, client auth.Client, body *mapping.Body, w Write) (mapping.Record, error) {
	rec, err := v.Client.Create(ctx, client, v.of.Body(body), v.write(w))
	return rec, v.redact(body.Record.Resource, err)
}

// Update is Client.Update.
func (v *View) Update(ctx context.Context, client auth.Client, id int32, body *mapping.Body, w Write) (mapping.Record, error) {
	rec, err := v.Client.Update(ctx, client, id, v.of.Body(body), v.write(w))
	return rec, v.redact(body.Record.Resource, err)
}

// Delete is Client.Delete.
func (v *View) Delete(ctx context.Context, client auth.Client, r *mapping.Resource, id int32, w Write) error {
	return v.redact(r, v.Client.Delete(ctx, client, v.of.Whole(r), id, v.write(w)))
}

// PublishStart is Client.PublishStart.
func (v *View) PublishStart(ctx context.Context, client auth.Client, id int32, judgeOnly bool, w Write) (mapping.Record, error) {
	return v.Client.PublishStart(ctx, client, id, judgeOnly, v.write(w))
}

// PublishStop is Client.PublishStop.
func (v *View) PublishStop(ctx context.Context, client auth.Client, id int32, w Write) (mapping.Record, error) {
	return v.Client.PublishStop(ctx, client, id, v.write(w))
}

// ChangeLicensePlate is Client.ChangeLicensePlate.
func (v *View) ChangeLicensePlate(ctx context.Context, client auth.Client, id int32, plate string, w Write) (mapping.Record, error) {
	return v.Client.ChangeLicensePlate(ctx, client, id, plate, v.write(w))
}

// Together is Client.Together.
func (v *View) Together(r *mapping.Resource, op mapping.Scope, underKey bool) int {
	return v.Client.Together(v.of.Whole(r), op, underKey)
}

// WriteSeveral is Client.WriteSeveral.
func (v *View) WriteSeveral(ctx context.Context, s *Several) error {
	whole := *s
	whole.Resource = v.of.Whole(s.Resource)
	bodies := make([]*mapping.Body, len(s.Items))
	for i, item := range s.Items {
		bodies[i], item.Body = item.Body, v.of.Body(item.Body)
	}
	err := v.Client.WriteSeveral(ctx, &whole)
	for i, item := range s.Items {
		item.Body, item.Err = bodies[i], v.redact(s.Resource, item.Err)
	}
	return err
}

// Recall is Client.Recall.
func (v *View) Recall(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency) error {
	return v.Client.Recall(ctx, client, v.of.Whole(r), request)
}

// Keep is Client.Keep.
func (v *View) Keep(ctx context.Context, client auth.Client, r *mapping.Resource, request *Idempotency, answer []byte) error {
	return v.Client.Keep(ctx, client, v.of.Whole(r), request, answer)
}

// Changes is Client.Changes.
func (v *View) Changes(ctx context.Context, q ChangesQuery) (ChangesPage, error) {
	of := q.Resources
	q.Resources, q.Fields = make([]*mapping.Resource, len(of)), map[*mapping.Resource][]int{}
	for i, r := range of {
		q.Resources[i] = v.of.Whole(r)
		q.Fields[q.Resources[i]] = v.of.Places(r, r.ListFields())
	}
	page, err := v.Client.Changes(ctx, q)
	for i := range page.Changes {
		c := &page.Changes[i]
		c.Resource, c.Record = v.of.Model.Resource(c.Resource.Name), v.of.Record(c.Record)
	}
	return page, err
}

// Digest is Client.Digest.
func (v *View) Digest(ctx context.Context, r *mapping.Resource, q DigestQuery) (Digest, error) {
	return v.Client.Digest(ctx, v.of.Whole(r), q)
}

// DescribeModel returns nil: the administration's own description has all fields.
func (v *View) DescribeModel(context.Context, string) ([]byte, error) { return nil, nil }
