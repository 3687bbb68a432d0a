package sqlrecord

import (
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// modelWith loads the embedded model overlaid with other files.
func modelWith(t *testing.T, files map[string]string) *mapping.Model {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return must.Have(mapping.LoadModel(dir))(t)
}

const widget = `
name: widget
description: A thing.
module: things
SINCE
fields:
  - name: code
    type: varchar(10)
    unique: true
    description: Code.
  - name: country_id
    type: int4
    reference: country
    description: Where it is from.
  - name: weight
    type: float8
    description: In kilograms, however exact.
`

func extended(t *testing.T, since string) map[string]string {
	t.Helper()
	country := must.Have(os.ReadFile(filepath.Join("..", "..", "mapping", "resources", "country.yaml")))(t)
	return map[string]string{
		"widget.yaml": strings.Replace(widget, "SINCE", since, 1),
		"country.yaml": string(country) + `
  - name: capital
    type: varchar(60)
    description: Capital city.
    ` + since + `
  - name: main_contact_id
    type: int4
    reference: contact
    description: Whom to ask.
    ` + since + "\n",
	}
}

func TestMigrateToALaterModel(t *testing.T) {
	onEngines(t, func(t *testing.T, db DB) {
		s := newFixture(t, db)
		country := s.create(t, alice, "country", "code", "NL", "name", "Nederland")
		contact := s.create(t, alice, "contact", "name", "x")

		later := modelWith(t, extended(t, "since: 7"))
		require.NoError(t, Migrate(t.Context(), db, later))
		require.NoError(t, Migrate(t.Context(), db, later), "again")
		l := &fixture{New(db, later, s.clock.now), later, s.clock}
		got := must.Have(l.Get(t.Context(), later.Resource("country"), backend.Query{Client: alice, ID: country.ID()}))(t)
		require.Equal(t, mapping.NullValue(), got.Get("capital"))
		must.Have(l.Update(t.Context(), alice, got, l.record("country", "capital", "Amsterdam", "main_contact_id", contact.ID())))(t)
		c := l.changes(t) // which the new tables tell, too
		after := begin(t, c)
		w := l.create(t, alice, "widget", "code", "a", "country_id", country.ID(), "weight", mapping.FloatValue(0.1))
		c.byName["contact"] = later.Resource("widget")
		require.Equal(t, []int32{w.ID()}, contacts(t, c, after, w))
		require.Equal(t, w.Values, l.get(t, alice, w).Values)
		require.ErrorIs(t, l.Delete(t.Context(), alice, l.get(t, alice, contactIn(later, contact))), backend.ErrStale)

		require.NoError(t, Migrate(t.Context(), db, s.model), "an older program still runs")
	})
}

func contactIn(m *mapping.Model, contact mapping.Record) mapping.Record {
	rec := mapping.NewRecord(m.Resource("contact"))
	rec.Values[0] = contact.Values[0]
	return rec
}

func TestMigrateMissesWhatCameTooLate(t *testing.T) {
	onEngines(t, func(t *testing.T, db DB) {
		newFixture(t, db)
		files := extended(t, "since: 1")
		err := Migrate(t.Context(), db, modelWith(t, map[string]string{"widget.yaml": files["widget.yaml"]}))
		require.EqualError(t, err, "there is no table for resource widget: its since: 1 is older than the database; give it since: 2")
		err = Migrate(t.Context(), db, modelWith(t, map[string]string{"country.yaml": files["country.yaml"]}))
		require.EqualError(t, err, "the table of resource country lacks capital, main_contact_id: their since is older than the database; give them since: 2")
	})
}

// TestMigrateAVendorsModel: the vendor's numbers and ours form one sequence, and ours can
// grow later.
func TestMigrateAVendorsModel(t *testing.T) {
	onEngines(t, func(t *testing.T, db DB) {
		newFixture(t, db)
		own, ours := extended(t, "since: 1000"), extended(t, "since: 2")
		require.NoError(t, Migrate(t.Context(), db, modelWith(t, map[string]string{"widget.yaml": own["widget.yaml"]})))
		both := modelWith(t, map[string]string{"widget.yaml": own["widget.yaml"], "country.yaml": ours["country.yaml"]})
		require.Equal(t, 3, both.Steps())
		require.NoError(t, Migrate(t.Context(), db, both))
		require.NoError(t, Migrate(t.Context(), db, both), "again")
	})
}

func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "records.db")
	model := must.Have(mapping.LoadModel(""))(t)
	dsn := sqltest.Postgres(t)
	for name, open := range map[string]func() (DB, error){
		"sqlite":   func() (DB, error) { return OpenSQLite(file, Options{}) },
		"postgres": func() (DB, error) { return OpenPostgres(t.Context(), dsn, Options{Readers: 2}) },
	} {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				db, err := open()
				if assert.NoError(t, err, name) {
					assert.NoError(t, Migrate(t.Context(), db, model), name)
					assert.NoError(t, db.Close(), name)
				}
			})
		}
		wg.Wait()
	}
}

func TestMigrateWithOwnFiles(t *testing.T) {
	onEngines(t, func(t *testing.T, db DB) {
		m := Migrations{
			Table: "own_version",
			Files: fstest.MapFS{"migrations/" + db.Dialect().Name + "/00001_user.sql": {Data: []byte("-- +goose Up\nCREATE TABLE own_user (name text NOT NULL);\n")}},
			Go: []*goose.Migration{goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO own_user (name) VALUES ('demo')")
				return err
			}}, nil)},
		}
		require.NoError(t, MigrateWith(t.Context(), db, m))
		require.NoError(t, MigrateWith(t.Context(), db, m))
		require.Equal(t, "1", ask(t, db, "SELECT count(*) FROM own_user"))

		m.Go = append(m.Go, goose.NewGoMigration(3, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM own_user")
			require.NoError(t, err)
			_, err = tx.ExecContext(ctx, "no SQL")
			return err
		}}, nil))
		require.ErrorContains(t, MigrateWith(t.Context(), db, m), "migrate own_version: ")
		require.Equal(t, "1", ask(t, db, "SELECT count(*) FROM own_user"), "half a migration is none")
	})
}

// live is a database that is migrated to a later model while another transaction keeps the
// migration from ending.
type live struct {
	*fixture
	t     *testing.T
	later *mapping.Model
	other *pgx.Conn
	told  chan string // what the migration logs
}

// The index that the later model of these tests brings to a table that is there.
const lateIndex = "country_main_contact_id_ref_idx"

// startLive opens that transaction in the database at dsn and runs one statement in it.
func startLive(t *testing.T, dsn, statement string) *live {
	t.Helper()
	told := make(chan string, 16)
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel)
	log := zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		told <- e.Message
		return nil
	}))
	db := openPostgresAt(t, dsn, Options{Readers: 4, Log: log})
	l := &live{fixture: newFixture(t, db), t: t, later: modelWith(t, extended(t, "since: 7")), told: told}
	l.write("NL")
	other := must.Have(pgx.Connect(t.Context(), dsn))(t)
	l.other = other
	t.Cleanup(func() { require.NoError(t, l.other.Close(context.Background())) })
	for _, text := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", statement} {
		must.Have(l.other.Exec(t.Context(), text))(t)
	}
	return l
}

// write writes to the table during the migration, as an older version of the program does.
func (l *live) write(code string) {
	l.t.Helper()
	country := l.create(l.t, alice, "country", "code", code, "name", code)
	must.Have(l.Update(l.t.Context(), alice, l.get(l.t, alice, country), l.record("country", "name", "changed")))(l.t)
}

// release ends the other transaction.
func (l *live) release() {
	l.t.Helper()
	must.Have(l.other.Exec(l.t.Context(), "ROLLBACK"))(l.t)
}

// migrate starts the migration; its result arrives on the channel.
func (l *live) migrate(ctx context.Context) chan error {
	ended := make(chan error, 1)
	go func() { ended <- Migrate(ctx, l.DB(), l.later) }()
	return ended
}

// truth runs a query for one number; 0 if it has no row.
func (l *live) truth(text string) (n int64) {
	l.t.Helper()
	n, _ = strconv.ParseInt(ask(l.t, l.DB(), "SELECT coalesce(("+text+"), 0)"), 10, 64)
	return n
}

// comes returns when the database has such rows.
func (l *live) comes(from string) {
	l.t.Helper()
	await.True(l.t, func() bool { return l.truth("SELECT count(*) FROM "+from) > 0 }, from)
}

// building returns when the index is all but done, and waits for the other transaction.
func (l *live) building() {
	l.t.Helper()
	l.comes(`pg_stat_progress_create_index WHERE datname = current_database() AND phase = 'waiting for old snapshots'`)
}

func (l *live) validIndex() int64 {
	return l.truth(`SELECT indisvalid::int + 1 FROM pg_index WHERE indexrelid = to_regclass('` + lateIndex + `')`)
}

// TestPostgresBuildsAnIndexWhileOthersWrite: only the migration itself waits for the
// index.
func TestPostgresBuildsAnIndexWhileOthersWrite(t *testing.T) {
	t.Parallel()
	l := startLive(t, sqltest.Postgres(t), "SELECT 1")
	ended := l.migrate(t.Context())
	l.building()
	l.write("BE")
	require.Empty(t, ended, "it waits for the transaction that was there before")
	l.release()
	require.NoError(t, <-ended)
	require.EqualValues(t, 2, l.validIndex())
	require.EqualValues(t, 1, l.truth(`SELECT convalidated::int FROM pg_constraint WHERE conname = 'country_main_contact_id_fkey'`))
	require.Equal(t, "the migration builds an index; meanwhile requests go on", <-l.told)
	l.write("DE")
}

// TestPostgresTakesUpAnInterruptedIndex: the remains of a killed migration are removed,
// and the index is built again.
func TestPostgresTakesUpAnInterruptedIndex(t *testing.T) {
	t.Parallel()
	l := startLive(t, sqltest.Postgres(t), "SELECT 1")
	ctx, kill := context.WithCancel(t.Context())
	ended := l.migrate(ctx)
	l.building()
	kill()
	require.ErrorIs(t, <-ended, context.Canceled)
	await.True(t, func() bool {
		return l.truth(`SELECT count(*) FROM pg_stat_progress_create_index WHERE datname = current_database()`) == 0
	})
	l.release()
	require.EqualValues(t, 1, l.validIndex(), "it is there, and good for nothing")
	l.write("BE")
	require.NoError(t, Migrate(t.Context(), l.DB(), l.later))
	require.EqualValues(t, 2, l.validIndex())
	require.NoError(t, Migrate(t.Context(), l.DB(), l.model), "an older program still runs")
}

// deadBuilding makes the server build the index for a process that was killed, up to where
// it waits for the other transaction. The result of the build arrives on the channel.
func (l *live) deadBuilding() (built chan error) {
	l.t.Helper()
	l.release()
	require.NoError(l.t, Migrate(l.t.Context(), l.DB(), l.later))
	dead := must.Have(pgx.ConnectConfig(l.t.Context(), l.other.Config()))(l.t)
	l.t.Cleanup(func() { require.NoError(l.t, dead.Close(context.Background())) })
	for conn, texts := range map[*pgx.Conn][]string{
		dead:    {"DROP INDEX " + lateIndex, "DELETE FROM frontdesk_records_version WHERE version_id = 7"},
		l.other: {"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1"},
	} {
		for _, text := range texts {
			must.Have(conn.Exec(l.t.Context(), text))(l.t)
		}
	}
	built = make(chan error, 1)
	go func() {
		_, err := dead.Exec(context.Background(), "CREATE INDEX CONCURRENTLY "+lateIndex+" ON country (main_contact_id) WHERE main_contact_id IS NOT NULL")
		built <- err
	}()
	l.building()
	return built
}

const oidOfIndex = `SELECT to_regclass('` + lateIndex + `')::oid::bigint`

// TestPostgresWaitsForAnIndexOfTheDead: the server goes on building the index of a killed
// process, so the next process waits for the index and keeps it.
func TestPostgresWaitsForAnIndexOfTheDead(t *testing.T) {
	t.Parallel()
	l := startLive(t, sqltest.Postgres(t), "SELECT 1")
	built := l.deadBuilding()
	before := l.truth(oidOfIndex)
	ended := l.migrate(t.Context())
	l.comes(`pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	l.release()
	require.NoError(t, <-built)
	require.NoError(t, <-ended)
	require.EqualValues(t, 2, l.validIndex())
	require.Equal(t, before, l.truth(oidOfIndex), "the same one")
}

// TestPostgresWaitsForTheCommitOfAnIndex: the next process also keeps an index whose
// commit still waits for a standby while the table is already unlocked.
func TestPostgresWaitsForTheCommitOfAnIndex(t *testing.T) {
	t.Parallel()
	primary := sqltest.Primary(t)
	standby := primary.Standby(t, "standby")
	primary.Configure(t, "synchronous_standby_names=*")
	l := startLive(t, primary.DSN("postgres"), "SELECT 1")
	built := l.deadBuilding()
	before := l.truth(oidOfIndex)
	standby.Stop()
	l.release()
	l.comes(`pg_stat_activity WHERE wait_event = 'SyncRep'`)
	ended := l.migrate(t.Context())
	l.comes(`pg_stat_activity WHERE query LIKE 'SELECT EXISTS%= i.xmax%'`) // which this question is not like, on whichever connection
	require.Empty(t, ended)
	standby.Restart(t)
	require.NoError(t, <-built)
	require.NoError(t, <-ended)
	require.EqualValues(t, 2, l.validIndex())
	require.Equal(t, before, l.truth(oidOfIndex), "the same one")
}

// TestPostgresLetsOthersPass: a migration that waits for a long reader lets later readers
// pass, and finishes once the long reader is done.
func TestPostgresLetsOthersPass(t *testing.T) {
	t.Parallel()
	l := startLive(t, sqltest.Postgres(t), "SELECT count(*) FROM country")
	ended := l.migrate(t.Context())
	require.Equal(t, "the migration waits for a table that is in use; meanwhile requests go on", <-l.told)
	l.write("BE")
	require.Empty(t, ended)
	l.release()
	require.NoError(t, <-ended)
	require.EqualValues(t, 2, l.validIndex())
}
