package legacy

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
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"zombiezen.com/go/sqlite"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// engines are those with a server here, each with an empty database.
var engines = map[string]func(testing.TB) string{
	"sqlite": emptySQLite, "postgres": func(t testing.TB) string { return sqltest.Postgres(t) },
	"mariadb": func(t testing.TB) string { return legacytest.EmptyMariaDB(t, "latin1") },
}

// eachEngine runs f for each engine.
func eachEngine(t *testing.T, f func(t *testing.T, engine string)) {
	for engine := range engines {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

func emptySQLite(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "theirs.db")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenWAL)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	return path
}

// run runs statements on a database.
func run(t testing.TB, engine, dsn string, statements ...string) {
	t.Helper()
	db, err := sqlrecord.OpenForeign(t.Context(), sqlrecord.ForeignOptions{Engine: engine, DSN: dsn, Connections: 2, LockWait: DefaultLockWait})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, text := range statements {
		_, err := sqlrecord.Change(t.Context(), db, text)
		require.NoError(t, err, text)
	}
}

// tables is a fixture on tables of its own, on a clock that tests set. calls are what became of
// calls of the backend, as the circuit breaker is told.
type tables struct {
	*fixture
	sheet  *sheet.Sheet
	clock  *authtest.Clock
	ids    IDStore
	calls  *outcomes
	logged *observer.ObservedLogs // warnings and worse
}

// outcomes are what became of calls.
type outcomes struct {
	mu  sync.Mutex
	all []backend.Outcome
}

func (o *outcomes) add(_ context.Context, call backend.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, call.Outcome)
}

// onTables makes tables, and opens them with a sheet that a test has written.
func onTables(t *testing.T, engine, text string, statements ...string) *tables {
	t.Helper()
	return onMade(t, engine, engines[engine](t), text, statements...)
}

// onMade is onTables in a database that is there.
func onMade(t *testing.T, engine, dsn, text string, statements ...string) *tables {
	t.Helper()
	run(t, engine, dsn, statements...)
	leaks := goleak.IgnoreCurrent() // the server is everyone's
	t.Cleanup(func() { await.Goroutines(leaks) })
	x, err := tryMade(t, engine, dsn, text)
	require.NoError(t, err)
	return x
}

// tryMade is onMade for what cannot be opened. Sheets that do not say it have no users, and their
// source is the database.
func tryMade(t *testing.T, engine, dsn, text string) (*tables, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	for _, line := range []string{"accounts: {users: []}\n", "source: {sql: {engine: ENGINE, dsn: \"${DSN}\"}}\n", "format: 2\n"} {
		if name, _, _ := strings.Cut(line, " "); !strings.Contains("\n"+text, "\n"+name) {
			text = line + text
		}
	}
	text = strings.ReplaceAll(text, "ENGINE", engine)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	x := &tables{clock: authtest.ClockAt(time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)), sheet: load(t, file, dsn), calls: &outcomes{}}
	core, logged := observer.New(zap.WarnLevel)
	x.logged = logged
	x.ids = openIDStore(t, x.clock.Now, x.sheet.KeysWithoutCase()...)
	s, err := Open(t.Context(), Options{Sheet: x.sheet, IDStore: x.ids, Now: x.clock.Now, Hasher: auth.NewHasher(), Log: zap.New(core)})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	x.fixture = &fixture{Store: s, Single: drivertest.Single{Driver: s}, t: t, engine: engine, dsn: dsn, model: x.sheet.Model}
	x.front, err = backend.NewClient(s, x.model, backend.Options{Timeout: time.Hour, Now: x.clock.Now, Observe: x.calls.add})
	require.NoError(t, err)
	return x, nil
}

// exec changes the database behind the gateway's back.
func (x *tables) exec(text string) {
	x.t.Helper()
	_, err := sqlrecord.Change(x.t.Context(), x.db, text)
	require.NoError(x.t, err, text)
}

// one is what a query answers, as a text.
func (x *tables) one(query string) (text string) {
	x.t.Helper()
	require.NoError(x.t, x.db.Read(x.t.Context(), func(c sqlrecord.Conn) error {
		row, err := sqlrecord.One(x.t.Context(), c, query, []sqlrecord.Column{foreignText})
		text = row[0].Text()
		return err
	}))
	return text
}

func (x *tables) record(resource string, pairs ...string) mapping.Record {
	x.t.Helper()
	return drivertest.Record(x.t, x.model.Resource(resource), pairs...)
}

func (x *tables) tryCreate(client auth.Client, rec mapping.Record) (mapping.Record, error) {
	return x.front.Create(x.t.Context(), client, mapping.BodyOf(rec), backend.Write{})
}

func (x *tables) create(client auth.Client, rec mapping.Record) mapping.Record {
	x.t.Helper()
	stored, err := x.tryCreate(client, rec)
	require.NoError(x.t, err)
	return stored
}

func (x *tables) tryUpdate(client auth.Client, id int32, patch mapping.Record) (mapping.Record, error) {
	return x.front.Update(x.t.Context(), client, id, mapping.BodyOf(patch), backend.Write{})
}

func (x *tables) update(client auth.Client, id int32, patch mapping.Record) {
	x.t.Helper()
	_, err := x.tryUpdate(client, id, patch)
	require.NoError(x.t, err)
}

func (x *tables) tryDelete(client auth.Client, resource string, id int32) error {
	return x.front.Delete(x.t.Context(), client, x.model.Resource(resource), id, backend.Write{})
}

func (x *tables) get(client auth.Client, resource string, id int32) mapping.Record {
	x.t.Helper()
	rec, err := x.front.Get(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, ID: id})
	require.NoError(x.t, err)
	return rec
}

func (x *tables) list(client auth.Client, resource string, filters ...backend.Filter) []mapping.Record {
	x.t.Helper()
	page, err := x.front.List(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, Filters: filters})
	require.NoError(x.t, err)
	return page.Records
}

func TestMain(m *testing.M) { os.Exit(legacytest.Run(m)) }

// fixture is a system behind the driver and the rules.
type fixture struct {
	*Store
	drivertest.Single
	t      testing.TB
	engine string
	dsn    string
	model  *mapping.Model
	front  *backend.Client
}

// one and two are clients of the systems.
var (
	one = auth.Client{ID: 1, Name: "one"}
	two = auth.Client{ID: 2, Name: "two"}
)

func openIDStore(t testing.TB, now func() time.Time, ignoreCase ...string) *idstore.Store {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(t.Context(), db, idstore.Options{Now: now, IgnoreCase: ignoreCase})
	require.NoError(t, err)
	return k
}

func load(t testing.TB, file, dsn string) *sheet.Sheet {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	of, err := sheet.Load(file, model, sheet.Options{
		Env: func(string) (string, bool) { return dsn, true },
		RuleFields: func(rule string) []string {
			fields, _ := backend.RuleFields(rule)
			return fields
		},
	})
	require.NoError(t, err)
	return of
}
