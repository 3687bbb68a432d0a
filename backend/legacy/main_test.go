package legacy

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(legacytest.Run(m)) }

// patience is how long a test waits for what has to happen, on whatever machine.
const patience = time.Minute

// clock is a time that tests set.
type clock struct{ *authtest.Clock }

func newClock() *clock {
	return &clock{authtest.ClockAt(time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC))}
}

func (c *clock) advance(d time.Duration) { c.Advance(d) }

// fixture is DEALERPAK behind the driver and the rules.
type fixture struct {
	*Store
	drivertest.Single
	t      testing.TB
	engine string
	dsn    string
	clock  *clock
	model  *mapping.Model
	front  *backend.Client
}

// one and two are branches of DEALERPAK.
var (
	one = auth.Client{ID: 1, Name: "one"}
	two = auth.Client{ID: 2, Name: "two"}
)

// engines are those with a server here, by the name of their sheets.
var engines = map[string]func(testing.TB) string{
	"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres, "sqlite": legacytest.SQLite,
}

// onEngines runs f against each engine.
func onEngines(t *testing.T, f func(t *testing.T, x *fixture)) {
	eachEngine(t, func(t *testing.T, engine string) { f(t, open(t, engine)) })
}

// eachEngine runs f for each engine.
func eachEngine(t *testing.T, f func(t *testing.T, engine string)) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

// onServers runs f against those that have triggers and procedures.
func onServers(t *testing.T, f func(t *testing.T, x *fixture)) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) { f(t, open(t, engine)) })
	}
}

// loadSheet loads DEALERPAK's sheet for an engine.
func loadSheet(t testing.TB, engine, dsn string, now func() time.Time) *sheet.Sheet {
	t.Helper()
	dir, err := legacytest.Files()
	require.NoError(t, err)
	return loadSheetFile(t, filepath.Join(dir, engine+".yaml"), dsn, now)
}

// dealerpakText is DEALERPAK's sheet for an engine.
func dealerpakText(t testing.TB, engine string) string {
	t.Helper()
	dir, err := legacytest.Files()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, engine+".yaml"))
	require.NoError(t, err)
	return string(text)
}

// loadText loads a sheet that a test has written.
func loadText(t testing.TB, dsn, text string, now func() time.Time) *sheet.Sheet {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return loadSheetFile(t, file, dsn, now)
}

func loadSheetFile(t testing.TB, file, dsn string, now func() time.Time) *sheet.Sheet {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(file, model, sheet.Options{
		Env: func(name string) (string, bool) { return dsn, name == "DEALERPAK_DSN" },
		RuleFields: func(rule string) []string {
			fields, _ := backend.RuleFields(rule)
			return fields
		},
		Now: now,
	})
	require.NoError(t, err)
	return s
}

// open opens DEALERPAK, and closes it with the test.
func open(t testing.TB, engine string) *fixture {
	t.Helper()
	dsn := engines[engine](t)
	leaks := goleak.IgnoreCurrent() // the server is everyone's
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	x := openOn(t, engine, dsn)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func openOn(t testing.TB, engine, dsn string) *fixture {
	t.Helper()
	c := newClock()
	return openSheet(t, engine, dsn, loadSheet(t, engine, dsn, c.Now), c)
}

func openSheet(t testing.TB, engine, dsn string, s *sheet.Sheet, c *clock) *fixture {
	t.Helper()
	x := &fixture{t: t, engine: engine, dsn: dsn, clock: c, model: s.Model}
	var err error
	x.Store, err = Open(t.Context(), Options{Sheet: s, IDStore: openIDStore(t, x.clock.Now, s.KeysWithoutCase()...), Now: x.clock.Now, Random: rand.Reader, Hasher: auth.NewHasher()})
	require.NoError(t, err)
	x.Single = drivertest.Single{Driver: x.Store}
	x.front, err = backend.NewClient(x.Store, s.Model, backend.Options{Timeout: 30 * time.Second, Now: x.clock.Now})
	require.NoError(t, err)
	return x
}

// openText opens a database with a sheet that a test has written, and closes it with the test.
func openText(t testing.TB, engine, dsn, text string) *fixture {
	t.Helper()
	c := newClock()
	x := openSheet(t, engine, dsn, loadText(t, dsn, text, c.Now), c)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func openIDStore(t testing.TB, now func() time.Time, ignoreCase ...string) *idstore.Store {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(t.Context(), db, idstore.Options{Now: now, IgnoreCase: ignoreCase})
	require.NoError(t, err)
	return k
}

// record makes a record of field, value pairs. Numbers are parsed as the field
// is, so that decimals are exact.
func (x *fixture) record(resource string, pairs ...string) mapping.Record {
	x.t.Helper()
	rec := mapping.NewRecord(x.model.Resource(resource))
	for i := 0; i < len(pairs); i += 2 {
		f := rec.Resource.Field(pairs[i])
		require.NotNil(x.t, f, pairs[i])
		if pairs[i+1] == "null" {
			rec.Set(pairs[i], mapping.NullValue())
			continue
		}
		v, err := f.Parse(pairs[i+1], time.UTC)
		if err != nil {
			x.t.Fatal(pairs[i], err)
		}
		rec.Set(pairs[i], v)
	}
	return rec
}

func (x *fixture) tryCreate(client auth.Client, rec mapping.Record) (mapping.Record, error) {
	return x.front.Create(x.t.Context(), client, mapping.BodyOf(rec), backend.Write{})
}

// create stores a record through the rules.
func (x *fixture) create(client auth.Client, rec mapping.Record) mapping.Record {
	x.t.Helper()
	stored, err := x.tryCreate(client, rec)
	require.NoError(x.t, err)
	return stored
}

func (x *fixture) tryUpdate(client auth.Client, id int32, patch mapping.Record) (mapping.Record, error) {
	return x.front.Update(x.t.Context(), client, id, mapping.BodyOf(patch), backend.Write{})
}

func (x *fixture) update(client auth.Client, id int32, patch mapping.Record) mapping.Record {
	x.t.Helper()
	stored, err := x.tryUpdate(client, id, patch)
	require.NoError(x.t, err)
	return stored
}

func (x *fixture) tryGet(client auth.Client, resource string, id int32) (mapping.Record, error) {
	return x.front.Get(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, ID: id})
}

func (x *fixture) get(client auth.Client, resource string, id int32) mapping.Record {
	x.t.Helper()
	rec, err := x.tryGet(client, resource, id)
	require.NoError(x.t, err)
	return rec
}

func (x *fixture) tryDelete(client auth.Client, resource string, id int32) error {
	return x.front.Delete(x.t.Context(), client, x.model.Resource(resource), id, backend.Write{})
}

func (x *fixture) list(q backend.Query, resource string) backend.Page {
	x.t.Helper()
	page, err := x.front.List(x.t.Context(), x.model.Resource(resource), q)
	require.NoError(x.t, err)
	return page
}

// all lists every record of a resource that the client sees, by ID.
func (x *fixture) all(client auth.Client, resource string) []mapping.Record {
	x.t.Helper()
	return x.list(backend.Query{Client: client}, resource).Records
}

// shown is a record as clients see it.
func shown(rec mapping.Record) string {
	return string(rec.AppendJSON(nil, rec.Resource.RecordFields()))
}
