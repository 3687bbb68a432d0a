package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// ErrSampleData says that sample data cannot be made in this database: it holds
// records already, or other sample data.
var ErrSampleData = errors.New("cannot make sample data here")

// The clients of the sample data, and how many orders the second one has.
const (
	DemoClient  = "Demo Garage"
	OtherClient = "Other Garage"
	otherOrders = 25
	// DefaultOrders is how many orders the demo client has by default.
	DefaultOrders = 250
)

// sampleVersion must change whenever the same number of orders would make different records.
const sampleVersion = 2

// sampleBatch is how many records, with what belongs to them, are made in one
// transaction.
const sampleBatch = 1000

// SeedOptions say how much sample data to make.
type SeedOptions struct {
	// Records is the number of orders of the demo client. Their IDs are 1 to
	// Records. All else is scaled by it. With 0 existing sample data
	// stays, and if there is none, DefaultOrders are made.
	Records int
	// Progress, if not nil, is called after every transaction with how many of all
	// records are made.
	Progress func(done, total int)
}

// Seed makes the sample data: the clients Demo Garage and Other Garage, their
// users, whose passwords are their names, and their records. The same number of
// orders makes the same records, except for password hashes. A database that has
// them stays as it is, one where making them was interrupted gets the rest, and any
// other that is not empty is refused with ErrSampleData.
func Seed(ctx context.Context, s *Store, o SeedOptions) error {
	if o.Records < 0 {
		return fmt.Errorf("%w: the number of orders must be at least 1, not %d", ErrSampleData, o.Records)
	}
	orders, begun, done, err := s.sampleState(ctx, o.Records)
	if err != nil {
		return err
	}
	demo, err := newWorld(s.model, orders, false, map[string]int32{})
	if err != nil {
		return err
	}
	other, err := newWorld(s.model, otherOrders, true, demo.counts())
	if err != nil {
		return err
	}
	clients, err := s.sampleUsers(ctx, orders, begun)
	if err != nil {
		return err
	}
	if err := s.plant(ctx, append(demo.batches(clients[0]), other.batches(clients[1])...), done, o.Progress); err != nil {
		return err
	}
	return s.analyze(ctx)
}

// plant makes the batches from number done on, one transaction each. The records
// are dated by the sample data, not by the clock.
func (s *Store) plant(ctx context.Context, all []batch, done int, progress func(done, total int)) error {
	made, total := 0, 0
	for i, b := range all {
		total += b.to - b.from
		if i < done {
			made += b.to - b.from
		}
	}
	var at time.Time
	dated := s.datedBy(func() time.Time { return at })
	for i, b := range all[done:] {
		err := dated.inTx(ctx, func(t *txn) error {
			if err := t.alignIDs(ctx); err != nil {
				return err
			}
			if err := t.Quietly(ctx, func() error { return b.make(ctx, t, &at) }); err != nil {
				return err
			}
			_, err := t.conn.Exec(ctx, `UPDATE sample_data SET done = ?1`, mapping.IntValue(int64(done+i+1)))
			return err
		})
		if err != nil {
			return fmt.Errorf("make sample data: %w", err)
		}
		if made += b.to - b.from; progress != nil {
			progress(made, total)
		}
	}
	return nil
}

// sampleState returns how many orders the sample data has or will have, whether it was begun, and how
// many of its batches are made. wanted is 0 if any number of orders will do.
func (s *Store) sampleState(ctx context.Context, wanted int) (orders int, begun bool, done int, err error) {
	orders = cmp.Or(wanted, DefaultOrders)
	err = s.db.Read(ctx, func(conn sqlrecord.Conn) error {
		h := s.internalTables(conn)
		var state []int64
		err := h.conn.Query(ctx, `SELECT version, orders, done FROM sample_data`, []sqlrecord.Column{number, number, number}, nil, func(row []mapping.Value) error {
			state = []int64{row[0].Int(), row[1].Int(), row[2].Int()}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for sample data: %w", err)
		}
		if state == nil {
			return h.mustBeEmpty(ctx, s.model)
		}
		if wanted == 0 {
			orders = int(state[1])
		}
		if state[0] != sampleVersion || state[1] != int64(orders) {
			return fmt.Errorf("%w: the database holds the sample data of %d orders (version %d), not of %d (version %d)",
				ErrSampleData, state[1], state[0], orders, sampleVersion)
		}
		begun, done = true, int(state[2])
		return nil
	})
	return orders, begun, done, err
}

// mustBeEmpty refuses a database that holds anything but system records.
func (h internalTables) mustBeEmpty(ctx context.Context, model *mapping.Model) error {
	tables := []string{`SELECT 1 FROM client LIMIT 1`}
	for _, r := range model.Resources {
		tables = append(tables, `SELECT 1 FROM `+h.dialect.Quote(r.Name)+` WHERE client_id <> 0 LIMIT 1`)
	}
	for _, sql := range tables {
		_, found, err := h.one(ctx, sql)
		if err != nil {
			return fmt.Errorf("look for records: %w", err)
		}
		if found {
			return fmt.Errorf("%w: the database holds records already", ErrSampleData)
		}
	}
	return nil
}

// sampleUsers adds the clients and their users, unless that was done when the
// sample data was begun, and returns the two clients.
func (s *Store) sampleUsers(ctx context.Context, orders int, begun bool) (clients [2]auth.Client, err error) {
	users := []NewUser{
		{Username: "demo", Email: "demo@example.nl", Client: DemoClient},
		{Username: "external", Email: "external@example.nl", Client: DemoClient, External: true},
		{Username: "noemail", Client: DemoClient},
		{Username: "bademail", Email: "bademail at example", Client: DemoClient},
		{Username: "other", Email: "other@example.nl", Client: OtherClient},
	}
	hashes := make([]string, len(users))
	for i, u := range users {
		if begun {
			break
		}
		if hashes[i], err = s.hasher.Hash(ctx, u.Username); err != nil {
			return clients, fmt.Errorf("make sample data: %w", err)
		}
	}
	err = s.inTx(ctx, func(t *txn) error {
		for i, name := range []string{DemoClient, OtherClient} {
			if clients[i], err = t.addClient(ctx, name); err != nil {
				return err
			}
		}
		if begun {
			return nil
		}
		for i, u := range users {
			if _, err := t.addUser(ctx, u, hashes[i]); err != nil {
				return err
			}
		}
		_, err := t.conn.Exec(ctx, `INSERT INTO sample_data (id, version, orders, done) VALUES (1, ?1, ?2, 0)`,
			mapping.IntValue(sampleVersion), mapping.IntValue(int64(orders)))
		return err
	})
	return clients, err
}

// batch is a run of records of one resource that are made in one transaction, each with the
// records that belong to it.
type batch struct {
	world    *world
	client   auth.Client
	resource string
	from, to int
}

// batches cuts a world into transactions.
func (w *world) batches(client auth.Client) (all []batch) {
	for _, name := range w.names {
		for from := 0; from < w.size(name); from += sampleBatch {
			all = append(all, batch{w, client, name, from, min(from+sampleBatch, w.size(name))})
		}
	}
	return all
}

// make stores the batch. at becomes the moment at which each record was made.
func (b batch) make(ctx context.Context, t *txn, at *time.Time) error {
	for n := b.from; n < b.to; n++ {
		s := b.world.nth(b.resource, n)
		*at = s.at
		for i, rec := range append([]mapping.Record{s.Record}, s.with...) {
			rec.FillDefaults()
			backend.Derive(mapping.Record{}, rec, t.now(), nil)
			stored, err := t.Create(ctx, b.client, rec)
			if err == nil && i == 0 && stored.ID() != b.world.id(b.resource, n) {
				err = fmt.Errorf("%w: it got the ID %d", ErrSampleData, stored.ID())
			}
			if err != nil {
				return fmt.Errorf("%s %d: %s: %w", b.resource, b.world.id(b.resource, n), rec.Resource.Name, err)
			}
		}
	}
	return nil
}

// alignIDs makes PostgreSQL issue the next IDs without a gap, even if a failed
// transaction has used some.
func (t *txn) alignIDs(ctx context.Context) error {
	if !t.postgres() {
		return nil
	}
	for _, name := range sampleResources {
		table := t.dialect.Quote(name)
		_, _, err := t.one(ctx, `SELECT setval(pg_get_serial_sequence('`+table+`', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM `+table+`), false)::int`)
		if err != nil {
			return fmt.Errorf("align the IDs of %s: %w", name, err)
		}
	}
	return nil
}
