package gateway

import (
	"context"
	"errors"
	"slices"
	"sync"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// bulkGroup is consecutive records of a bulkRun that are written together: in one transaction, or
// in one each at the same time.
type bulkGroup struct {
	*bulkRun
	items  []*backend.Item
	places []int              // the index of each item's record
	before map[int]bulkResult // stored by an earlier run, by index
}

// group reads the records of a group, without those that it refuses.
func (b *bulkRun) group(ctx context.Context, from, to int) *bulkGroup {
	t := &bulkGroup{bulkRun: b, before: map[int]bulkResult{}}
	for i := from; i < to; i++ {
		if b.read(ctx, i) {
			t.items = append(t.items, &backend.Item{Body: b.x.Body, ID: b.x.ID})
			t.places = append(t.places, i)
		}
	}
	return t
}

// together writes the items in one transaction.
func (t *bulkGroup) together(ctx context.Context, from int) error {
	if len(t.items) == 0 {
		return nil
	}
	err := t.g.backend.WriteSeveral(ctx, &backend.Several{
		Client: t.x.user().Client, Resource: t.x.Endpoint.Resource, Items: t.items, Idempotency: t.groupKey(from),
		Recalled: t.recalled, Answer: func() []byte { return appendJSON(nil, t.outcomes()) },
	})
	for _, r := range t.outcomes() {
		t.note(r)
	}
	for _, item := range t.items {
		t.log(item.Err)
	}
	if mapping.Is(err, mapping.IdempotencyReused) || mapping.Is(err, mapping.IdempotencyInUse) {
		return err
	}
	t.stopped = err
	return nil
}

// recalled takes over the results that an earlier run stored.
func (t *bulkGroup) recalled(answer []byte) error {
	return eachRecalled(answer, func(r bulkResult) {
		t.before[r.Index] = r
		if k := slices.Index(t.places, r.Index); k >= 0 {
			t.items[k].Done = true
		}
	})
}

// outcomes returns the results of the records that are done.
func (t *bulkGroup) outcomes() (all []bulkResult) {
	reported := t.errors
	for k, i := range t.places {
		item := t.items[k]
		r, recalled := t.before[i]
		switch {
		case !item.Done:
			continue
		case recalled:
		case item.Err == nil:
			r = t.done(i, item.Written)
		default:
			r = t.refused(i, item.Err, reported)
		}
		all, reported = append(all, r), reported+len(r.Errors)
	}
	return all
}

// apart writes the items in a transaction each, at the same time. If a record occurs twice, the
// second write begins after the first has ended.
func (t *bulkGroup) apart(ctx context.Context, _ int) error {
	for from, to := 0, 0; from < len(t.items) && t.stopped == nil; from = to {
		for to < len(t.items) && !slices.ContainsFunc(t.items[from:to], func(o *backend.Item) bool { return o.ID != 0 && o.ID == t.items[to].ID }) {
			to++
		}
		var writes sync.WaitGroup
		for k := from; k < to; k++ {
			writes.Go(func() { t.write(ctx, k) })
		}
		writes.Wait()
		for k := from; k < to; k++ { // in the order of the request
			if err := t.settle(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes item k in its own transaction.
func (t *bulkGroup) write(ctx context.Context, k int) {
	item, i := t.items[k], t.places[k]
	defer func() {
		if p := recover(); p != nil {
			item.Err = panicked(p)
		}
	}()
	w := backend.Write{Idempotency: t.groupKey(i)}
	if w.Idempotency != nil {
		w.Idempotency.Answer = func(rec mapping.Record) []byte { return appendJSON(nil, []bulkResult{t.done(i, rec.ID())}) }
	}
	var rec mapping.Record
	if client := t.x.user().Client; item.ID == 0 {
		rec, item.Err = t.g.backend.Create(ctx, client, item.Body, w)
	} else {
		rec, item.Err = t.g.backend.Update(ctx, client, item.ID, item.Body, w)
	}
	if item.Err == nil {
		item.Written = rec.ID()
	}
}

// settle notes the outcome of write.
func (t *bulkGroup) settle(k int) error {
	item, i := t.items[k], t.places[k]
	replay := (*backend.Replay)(nil)
	switch {
	case item.Err == nil:
		t.note(t.done(i, item.Written))
	case errors.As(item.Err, &replay):
		return eachRecalled(replay.Answer, t.note)
	case mapping.Is(item.Err, mapping.IdempotencyReused):
		return item.Err
	case stops(item.Err):
		t.stopped = item.Err
	default:
		t.note(t.refused(i, item.Err, t.errors))
		t.log(item.Err)
	}
	return nil
}
