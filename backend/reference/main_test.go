package reference

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Run(m)) }

// clock is a time that tests set.
type clock struct{ *authtest.Clock }

func newClock() *clock {
	return &clock{authtest.ClockAt(time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC))}
}

func (c *clock) advance(d time.Duration) { c.Advance(d) }

// fixture is one administration under test.
type fixture struct {
	*Store
	drivertest.Single
	t     testing.TB
	dsn   string
	clock *clock
	ticks chan time.Time
	model *mapping.Model
	front *backend.Client
	mine  auth.Client // owns what the fixture creates

	began time.Time
}

// onEngines runs f against SQLite and against PostgreSQL.
func onEngines(t *testing.T, f func(t *testing.T, x *fixture)) {
	t.Run("sqlite", func(t *testing.T) { f(t, open(t, sqliteDSN(t))) })
	t.Run("postgres", func(t *testing.T) { f(t, open(t, migrated(t))) })
}

// sampleOrders is how many orders the demo client of onSample has.
const sampleOrders = 60

// onSample runs f against both engines with sample data, which is made once for each.
func onSample(t *testing.T, f func(t *testing.T, x *fixture, demo, other auth.Client)) {
	run := func(t *testing.T, dsn string) {
		x := open(t, dsn)
		demo := must.Have(x.FindClient(bg(), DemoClient))(t)
		f(t, x, demo, must.Have(x.FindClient(bg(), OtherClient))(t))
	}
	t.Run("sqlite", func(t *testing.T) { run(t, sampleDSN(t)) })
	t.Run("postgres", func(t *testing.T) { run(t, samplePostgres(t)) })
}

func samplePostgres(t testing.TB) string {
	t.Helper()
	return sqltest.PostgresLike(t, "sample", func(dsn string) error { return prepare(dsn, sampleOrders) })
}

// prepare makes the tables in a database, and sample data if it is to have orders.
func prepare(dsn string, orders int) error {
	model, err := loadModel()
	if err != nil {
		return err
	}
	s, err := Open(bg(), Options{DSN: dsn, Model: model, Hasher: hasher, Now: newClock().Now})
	if err == nil && orders > 0 {
		err = Seed(bg(), s, SeedOptions{Records: orders})
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// sampleFile is an SQLite database with sample data.
var sampleFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "sample")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "frontdesk.db")
	if err := prepare("sqlite:"+path, sampleOrders); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func sampleDSN(t testing.TB) string {
	t.Helper()
	file := must.Have(sampleFile())(t)
	dsn := sqliteDSN(t)
	require.NoError(t, os.WriteFile(strings.TrimPrefix(dsn, "sqlite:"), file, 0o600))
	return dsn
}

// migrated is a PostgreSQL database with the tables, made once for all tests.
func migrated(t testing.TB) string {
	t.Helper()
	return sqltest.PostgresLike(t, "reference", func(dsn string) error { return prepare(dsn, 0) })
}

func sqliteDSN(t testing.TB) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "frontdesk.db")
}

// loadModel loads the model once, so that records of one fixture are records of
// another.
var loadModel = sync.OnceValues(func() (*mapping.Model, error) { return mapping.LoadModel("") })

// hasher is shared, since hashing is bounded per Hasher.
var hasher = auth.NewHasher()

// opened is how many fixtures are open.
var opened int

// open opens the administration with two clients, and closes it with the test. Once the last
// that is open has been closed, no goroutine may be left: before, another's connection may just
// have begun to read beside its writing.
func open(t testing.TB, dsn string) *fixture {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	model := must.Have(loadModel())(t)
	x := &fixture{t: t, dsn: dsn, clock: newClock(), ticks: make(chan time.Time), model: model, began: time.UnixMilli(time.Now().UnixMilli())}
	x.Store = x.reopen()
	x.Single = drivertest.Single{Driver: x.Store}
	opened++
	t.Cleanup(func() {
		require.NoError(t, x.Close())
		if opened--; opened == 0 {
			await.Goroutines(leaks)
		}
	})
	x.front = must.Have(backend.NewClient(x.Store, model, backend.Options{Timeout: time.Minute, Now: x.clock.Now}))(t)
	return x
}

// reopen opens the same database once more.
func (x *fixture) reopen() *Store {
	x.t.Helper()
	return must.Have(Open(x.t.Context(), Options{DSN: x.dsn, Model: x.model, Hasher: hasher, Now: x.clock.Now, Purge: x.ticks}))(x.t)
}

// client adds a client.
func (x *fixture) client(name string) auth.Client {
	x.t.Helper()
	return must.Have(x.AddClient(x.t.Context(), name))(x.t)
}

func (x *fixture) record(resource string, pairs ...string) mapping.Record {
	x.t.Helper()
	return drivertest.Record(x.t, x.model.Resource(resource), pairs...)
}

// create stores a record through the rules.
func (x *fixture) create(client auth.Client, rec mapping.Record) mapping.Record {
	x.t.Helper()
	return must.Have(x.front.Create(x.t.Context(), client, mapping.BodyOf(rec), backend.Write{}))(x.t)
}

func (x *fixture) update(client auth.Client, id int32, patch mapping.Record) mapping.Record {
	x.t.Helper()
	return must.Have(x.front.Update(x.t.Context(), client, id, mapping.BodyOf(patch), backend.Write{}))(x.t)
}

func (x *fixture) get(client auth.Client, resource string, id int32) mapping.Record {
	x.t.Helper()
	return must.Have(x.front.Get(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, ID: id}))(x.t)
}

// all lists every record of a resource that the client sees, by ID.
func (x *fixture) all(client auth.Client, resource string) []mapping.Record {
	x.t.Helper()
	page := must.Have(x.List(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, Fields: x.model.Resource(resource).RecordFields()}))(x.t)
	return page.Records
}

func bg() context.Context { return context.Background() }
