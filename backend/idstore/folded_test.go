package idstore_test

import (
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping/sheet"
)

// TestKeysWithoutCase: keys that differ in case alone have one ID, and the spelling
// that was met first; also those that had one each before the sheet said so.
func TestKeysWithoutCase(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (sqlrecord.DB, error){
		"sqlite": func(t *testing.T) (sqlrecord.DB, error) {
			return sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
		},
		"postgres": func(t *testing.T) (sqlrecord.DB, error) {
			return sqlrecord.OpenPostgres(t.Context(), sqltest.Postgres(t), sqlrecord.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := open(t)
			require.NoError(t, err)
			defer db.Close()
			core, told := observer.New(zap.InfoLevel)
			start := func(ignoreCase ...string) *idstore.Store {
				s, err := idstore.Open(t.Context(), db, idstore.Options{Now: clock, IgnoreCase: ignoreCase, Log: zap.New(core)})
				require.NoError(t, err)
				return s
			}
			allOf := give
			give := func(s *idstore.Store, resource string, client int64, key string) int32 {
				return give(t, s, resource, client, key)[0]
			}
			keyOf := func(s *idstore.Store, n int32) string { return keysOf(t, s, 1, "group", n)[0] }
			before := start()
			upper, lower := give(before, "group", 1, "AB01"), give(before, "group", 1, "ab01")
			alone, theirs := give(before, "group", 1, "Éé|7"), give(before, "group", 2, "AB01")
			require.NotEqual(t, upper, lower)
			many := func(k string) (keys []string) { // folded in several steps
				for i := range 2100 {
					keys = append(keys, k+string(rune(0x4e00+i)))
				}
				return keys
			}
			big := allOf(t, before, "big", 1, many("K")...)

			s := start("group", "big")
			for _, spelling := range []string{"ab01", "Ab01", "AB01", "aB01"} {
				require.Equal(t, upper, give(s, "group", 1, spelling), spelling)
			}
			require.Equal(t, "AB01", keyOf(s, upper))
			require.Equal(t, "none", keyOf(s, lower), "it would be the same record under another ID")
			require.Equal(t, alone, give(s, "group", 1, "éÉ|7"))
			require.Equal(t, theirs, give(s, "group", 2, "ab01"), "of another client")
			require.Equal(t, big, allOf(t, s, "big", 1, many("k")...))
			warned := told.TakeAll()
			require.Len(t, warned, 1)
			require.Equal(t, map[string]any{"resource": "group", "count": int64(1), "ids": []any{int64(lower)}}, warned[0].ContextMap())

			fresh := give(s, "group", 1, "Xy")
			require.Equal(t, fresh, give(s, "group", 1, "xY"))
			require.Equal(t, "Xy", keyOf(s, fresh))
			require.Equal(t, "Xy", keyOf(start("group"), fresh))
			other := give(before, "group", 1, "QQ") // by a gateway that does not know yet
			require.Equal(t, other, give(s, "group", 1, "QQ"))
			require.Equal(t, other, give(s, "group", 1, "qq"))
			require.NotEqual(t, give(s, "group", 1, "e"), give(s, "group", 1, "é"))
			require.NotEqual(t, give(s, "order", 1, "A"), give(s, "order", 1, "a"), "where case counts")

			require.Equal(t, lower, give(start(), "group", 1, "ab01"), "nothing is lost where the sheet takes it back")
		})
	}
}

// TestKeysFoldedAtOnce: another gateway gives out or folds a key while this one does.
func TestKeysFoldedAtOnce(t *testing.T) {
	dsn := sqltest.Postgres(t)
	db, err := sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{})
	require.NoError(t, err)
	defer db.Close()
	start := func(ignoreCase ...string) (*idstore.Store, error) {
		return idstore.Open(t.Context(), db, idstore.Options{Now: clock, IgnoreCase: ignoreCase})
	}
	before, err := start()
	require.NoError(t, err)
	folding, err := start("group", "area")
	require.NoError(t, err)
	group, area := give(t, before, "group", 1, "AB01")[0], give(t, before, "area", 1, "AB01")[0] // as of a sheet by which case counts
	other, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer other.Close(t.Context())
	watch, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer watch.Close(t.Context())
	// meanwhile runs f while the other gateway is in a transaction, which ends once f waits for it.
	meanwhile := func(statement string, args []any, f func() error) {
		t.Helper()
		tx, err := other.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), statement, args...)
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- f() }()
		await.True(t, func() bool {
			waits := false
			err := watch.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waits)
			return err == nil && waits
		})
		require.NoError(t, tx.Commit(t.Context()))
		require.NoError(t, <-done)
	}

	meanwhile("UPDATE kept_id SET folded = $1 WHERE resource = 'area'", []any{sheet.FoldKey("AB01")}, func() error {
		ids, err := folding.IDs(t.Context(), []sheet.KeyRef{ref("area", 1, "ab01")})
		assert.Equal(t, sheet.IDs{ref("area", 1, "ab01"): area}, ids)
		return err
	})

	meanwhile("INSERT INTO kept_id (resource, client_id, key, id, folded) VALUES ('group', 1, 'ab01', 7, $1)", []any{sheet.FoldKey("ab01")}, func() error {
		_, err := start("group")
		return err
	})
	require.Equal(t, []string{"ab01", "none"}, keysOf(t, folding, 1, "group", 7, group), "the first stays, the other is found no more")
}
