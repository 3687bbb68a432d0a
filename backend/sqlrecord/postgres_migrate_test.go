package sqlrecord

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

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
	other, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	l.other = other
	t.Cleanup(func() { require.NoError(t, l.other.Close(context.Background())) })
	for _, text := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", statement} {
		_, err := l.other.Exec(t.Context(), text)
		require.NoError(t, err)
	}
	return l
}

// write writes to the table during the migration, as an older version of the program does.
func (l *live) write(code string) {
	l.t.Helper()
	country := l.create(l.t, alice, "country", "code", code, "name", code)
	_, err := l.Update(l.t.Context(), alice, l.get(l.t, alice, country), l.record("country", "name", "changed"))
	require.NoError(l.t, err)
}

// release ends the other transaction.
func (l *live) release() {
	l.t.Helper()
	_, err := l.other.Exec(l.t.Context(), "ROLLBACK")
	require.NoError(l.t, err)
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

// comesTo returns when the database answers with n.
func (l *live) comesTo(n int64, text string) {
	l.t.Helper()
	await.True(l.t, func() bool { return l.truth(text) == n }, text)
}

// building returns when the index is all but done, and waits for the other transaction.
func (l *live) building() {
	l.t.Helper()
	l.comesTo(1, `SELECT count(*) FROM pg_stat_progress_create_index
		WHERE datname = current_database() AND phase = 'waiting for old snapshots'`)
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
	l.comesTo(0, `SELECT count(*) FROM pg_stat_progress_create_index WHERE datname = current_database()`)
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
	dead, err := pgx.ConnectConfig(l.t.Context(), l.other.Config())
	require.NoError(l.t, err)
	l.t.Cleanup(func() { require.NoError(l.t, dead.Close(context.Background())) })
	for conn, texts := range map[*pgx.Conn][]string{
		dead:    {"DROP INDEX " + lateIndex, "DELETE FROM frontdesk_records_version WHERE version_id = 7"},
		l.other: {"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1"},
	} {
		for _, text := range texts {
			_, err := conn.Exec(l.t.Context(), text)
			require.NoError(l.t, err)
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
	l.comesTo(1, `SELECT count(*) FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND NOT granted
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
	l.comesTo(1, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
	ended := l.migrate(t.Context())
	l.comesTo(1, `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%= i.xmax%' AND pid <> pg_backend_pid()`)
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
