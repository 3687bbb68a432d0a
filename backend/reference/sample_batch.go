package reference

import (
	"context"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// batch is a run of records of one resource that are made in one transaction,
// each with the records that belong to it.
type batch struct {
	world    *world
	client   auth.Client
	resource string
	from, to int
	one      func(n int) draft
	with     func(n int) []draft // what belongs to it; nil for nothing
}

// counts are how many records of each resource there are that others refer to.
func (w *world) counts() map[string]int32 {
	counts := map[string]int32{}
	for resource, n := range w.sizes {
		counts[resource] = int32(n)
	}
	return counts
}

// plan lists what is made, in an order in which everything that is referred to
// comes first.
func (w *world) plan() []batch {
	return []batch{
		{resource: "turnovergroup", to: len(w.groups.rows), one: w.turnoverGroup},
		{resource: "employee", to: w.employees, one: w.employee},
		{resource: "contact", to: w.contacts, one: w.contact, with: func(n int) []draft {
			return append(w.communications(n), w.postalAddresses(n)...)
		}},
		{resource: "article", to: w.articles, one: w.article},
		{resource: "flatrate", to: len(w.rates.rows), one: w.flatRate},
		{resource: "vehicle", to: w.vehicles, one: w.vehicle, with: func(n int) []draft {
			return append(w.roles(n), w.advertisements(n)...)
		}},
		{resource: "order", to: w.orders, one: w.order},
		{resource: "document", to: w.documents, one: w.document},
	}
}

// batches cuts the plan into transactions.
func (w *world) batches(client auth.Client) []batch {
	var all []batch
	for _, b := range w.plan() {
		b.world, b.client = w, client
		for end := b.to; b.from < end; b.from = b.to {
			b.to = min(b.from+sampleBatch, end)
			all = append(all, b)
		}
	}
	return all
}

// make stores the batch. at becomes the moment at which each record was made.
func (b batch) make(ctx context.Context, t *txn, at *time.Time) error {
	for n := b.from; n < b.to; n++ {
		main := b.one(n)
		*at = b.world.createdAt(b.resource, n, main)
		stored, err := b.store(ctx, t, main)
		if err != nil {
			return fmt.Errorf("%s %d: %w", b.resource, n+1, err)
		}
		if want := b.world.id(b.resource, n); stored != want {
			return fmt.Errorf("%w: %s %d got the ID %d", ErrSampleData, b.resource, want, stored)
		}
		if b.with == nil {
			continue
		}
		for _, d := range b.with(n) {
			if _, err := b.store(ctx, t, d); err != nil {
				return fmt.Errorf("what belongs to %s %d: %w", b.resource, n+1, err)
			}
		}
	}
	return b.world.err
}

func (b batch) store(ctx context.Context, t *txn, d draft) (id int32, err error) {
	if b.world.err != nil {
		return 0, b.world.err
	}
	d.FillDefaults()
	backend.Derive(mapping.Record{}, d.Record, t.now(), nil)
	stored, err := t.Create(ctx, b.client, d.Record)
	if err != nil {
		return 0, err
	}
	return stored.ID(), nil
}
