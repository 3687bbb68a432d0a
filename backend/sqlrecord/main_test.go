package sqlrecord

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(legacytest.Run(m))) }

// engines are what the whole suite runs on.
var engines = []struct {
	name string
	open func(t testing.TB) DB
}{
	{"sqlite", openSQLite},
	{"postgres", openPostgres},
}

func openSQLite(t testing.TB) DB {
	t.Helper()
	return openSQLiteAt(t, filepath.Join(t.TempDir(), "records.db"), Options{})
}

// openSQLiteAt opens a file for as long as the test runs.
func openSQLiteAt(t testing.TB, path string, o Options) DB {
	t.Helper()
	db := must.Have(OpenSQLite(path, o))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openPostgres(t testing.TB) DB {
	t.Helper()
	return openPostgresAt(t, sqltest.Postgres(t), Options{Readers: 8})
}

// openPostgresAt opens a database for as long as the test runs.
func openPostgresAt(t testing.TB, dsn string, o Options) DB {
	t.Helper()
	db := must.Have(OpenPostgres(t.Context(), dsn, o))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// change runs a statement in a transaction of its own.
func change(t testing.TB, db DB, text string, args ...mapping.Value) {
	t.Helper()
	_, err := Change(t.Context(), db, text, args...)
	require.NoError(t, err, text)
}

// ask is the first value that a query answers, as a text.
func ask(t testing.TB, db DB, query string, args ...mapping.Value) (text string) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(c Conn) error {
		row, err := One(t.Context(), c, query, []Column{{Type: mapping.Text, Foreign: true}}, args...)
		if err == nil {
			text = row[0].Text()
		}
		return err
	}), query)
	return text
}

// onEngines runs a test on an empty database of each engine, beside others.
func onEngines(t *testing.T, f func(t *testing.T, db DB)) {
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { f(t, e.open(t)) })
	}
}

// clock is a clock that stands still.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

// fixture is a store of the embedded model.
type fixture struct {
	*Store
	model *mapping.Model
	clock *clock
}

// inTx runs f with the store bound to one transaction.
func (s *fixture) inTx(ctx context.Context, f func(tx *Store) error) error {
	return s.Write(ctx, f)
}

// limited is a context whose time is over when a test says so, and not by the clock of the machine.
type limited struct {
	context.Context
	over chan struct{}
}

func newLimited(t *testing.T) limited { return limited{t.Context(), make(chan struct{})} }

// overdue is a context whose time is over.
func overdue(t *testing.T) limited {
	c := newLimited(t)
	close(c.over)
	return c
}

func (c limited) Done() <-chan struct{} { return c.over }

func (c limited) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// held has a connection, or the turn to write, until release is called.
func held(t *testing.T, run func(context.Context, func(Conn) error) error) (release func()) {
	t.Helper()
	has, enough, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- run(t.Context(), func(Conn) error { close(has); <-enough; return nil }) }()
	<-has
	return sync.OnceFunc(func() {
		close(enough)
		require.NoError(t, <-ended)
	})
}

func newFixture(t testing.TB, db DB) *fixture {
	t.Helper()
	model := must.Have(mapping.LoadModel(""))(t)
	require.NoError(t, Migrate(t.Context(), db, model))
	c := newClock()
	return &fixture{New(db, model, c.now), model, c}
}

// onStores runs a test on an empty store of each engine.
func onStores(t *testing.T, f func(t *testing.T, s *fixture)) {
	onEngines(t, func(t *testing.T, db DB) { f(t, newFixture(t, db)) })
}

var (
	alice = auth.Client{ID: 1, Name: "alice"}
	bob   = auth.Client{ID: 2, Name: "bob"}
)

// record makes a record from name, value pairs; ints, strings and values.
func (s *fixture) record(resource string, pairs ...any) mapping.Record {
	rec := mapping.NewRecord(s.model.Resource(resource))
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case int:
			rec.Set(name, mapping.IntValue(int64(v)))
		case int32:
			rec.Set(name, mapping.IntValue(int64(v)))
		case string:
			rec.Set(name, mapping.TextValue(v))
		case mapping.Value:
			rec.Set(name, v)
		default:
			panic(fmt.Sprintf("no value: %T", v))
		}
	}
	return rec
}

func (s *fixture) create(t testing.TB, client auth.Client, resource string, pairs ...any) mapping.Record {
	t.Helper()
	return must.Have(s.Create(t.Context(), client, s.record(resource, pairs...)))(t)
}

func (s *fixture) get(t testing.TB, client auth.Client, like mapping.Record) mapping.Record {
	t.Helper()
	return must.Have(s.Get(t.Context(), like.Resource, backend.Query{Client: client, ID: like.ID()}))(t)
}

func (s *fixture) list(t testing.TB, resource string, q backend.Query) backend.Page {
	t.Helper()
	if q.Client.ID == 0 {
		q.Client = alice
	}
	return must.Have(s.List(t.Context(), s.model.Resource(resource), q))(t)
}

func ids(page backend.Page) []int32 {
	all := []int32{}
	for _, rec := range page.Records {
		all = append(all, rec.ID())
	}
	return all
}

// newOrder makes a contact and an order with lines.
func (s *fixture) newOrder(t testing.TB, client auth.Client, lines int) mapping.Record {
	t.Helper()
	contact := s.create(t, client, "contact", "kind", "person", "name", "Jansen")
	group := s.create(t, client, "turnovergroup", "code", fmt.Sprint("g", contact.ID()), "description", "Parts", "vat_kind", "high", "ledger_account", "8000")
	order := s.record("order", "contact_id", contact.ID(), "kind", "parts", "order_status", "open",
		"order_date", mapping.TimeValue(s.clock.now()), "total_excl", mapping.DecimalValue(12345, 2))
	at := order.Resource.Field("orderlines").Index
	for n := range lines {
		order.Children = map[int][]mapping.Record{at: append(order.Children[at], s.record("orderline",
			"description", fmt.Sprint("line ", n), "quantity", mapping.DecimalValue(15000, 4), "price", mapping.DecimalValue(-123456, 4),
			"turnover_group_id", group.ID(), "sort_order", lines-n))}
		order.Values[at] = mapping.RecordsValue()
	}
	return must.Have(s.Create(context.Background(), client, order))(t)
}
