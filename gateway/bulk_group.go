package gateway

import (
	"context"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// bulkGroup is the records of a bulkRun that share a transaction, and what is stored of
// them under the idempotency key.
type bulkGroup struct {
	*bulkRun
	several backend.Several
	places  []int              // of the items, among the records
	before  map[int]bulkResult // stored earlier, by place
}

// writeTogether does writes that share a transaction.
func (b *bulkRun) writeTogether(ctx context.Context, from, to int) error {
	t := &bulkGroup{bulkRun: b, before: map[int]bulkResult{}}
	t.several = backend.Several{
		Client: b.x.user().Client, Resource: b.x.Endpoint.Resource, Idempotency: b.part(from),
		Recalled: t.recalled, Answer: func() []byte { return stored(t.done()) },
	}
	for i := from; i < to; i++ {
		if b.read(ctx, i) {
			t.several.Items = append(t.several.Items, &backend.Item{Body: b.x.Body, ID: b.x.ID})
			t.places = append(t.places, i)
		}
	}
	if len(t.places) == 0 {
		return nil
	}
	err := b.g.o.Backend.WriteSeveral(ctx, &t.several)
	for _, r := range t.done() {
		b.note(r)
	}
	for _, item := range t.several.Items {
		b.log(item.Err)
	}
	if mapping.Is(err, mapping.IdempotencyReused) || mapping.Is(err, mapping.IdempotencyInUse) {
		return err
	}
	b.stopped = err
	return nil
}

// recalled notes what was stored earlier.
func (t *bulkGroup) recalled(answer []byte) error {
	return recalled(answer, func(r bulkResult) {
		t.before[r.Index] = r
		for k, i := range t.places {
			t.several.Items[k].Done = t.several.Items[k].Done || i == r.Index
		}
	})
}

// done are the results of the records that are done.
func (t *bulkGroup) done() (all []bulkResult) {
	told := t.errors
	for k, i := range t.places {
		item := t.several.Items[k]
		r, was := t.before[i]
		switch {
		case !item.Done:
			continue
		case was:
		case item.Err == nil:
			r = t.bulkRun.done(i, item.Written)
		default:
			r = t.refused(i, item.Err, told)
		}
		all, told = append(all, r), told+len(r.Errors)
	}
	return all
}
