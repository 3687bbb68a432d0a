package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk/ledger"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Run(m)) }

func open(t *testing.T, db sqlrecord.DB, err error) (*ledger.Ledger, sqlrecord.DB) {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	l, err := ledger.Open(t.Context(), db)
	require.NoError(t, err)
	return l, db
}

func onPostgres(t *testing.T) (*ledger.Ledger, sqlrecord.DB) {
	db, err := sqlrecord.OpenPostgres(t.Context(), sqltest.Postgres(t), sqlrecord.Options{})
	return open(t, db, err)
}

func onSQLite(t *testing.T) (*ledger.Ledger, sqlrecord.DB) {
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "own.db"), sqlrecord.Options{})
	return open(t, db, err)
}

// TestKeyUses: the latest use stays, whoever notes it and in whatever order.
func TestKeyUses(t *testing.T) {
	for name, on := range map[string]func(*testing.T) (*ledger.Ledger, sqlrecord.DB){"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			l, db := on(t)
			now := time.UnixMilli(1_800_000_000_000)
			note := func(uses ledger.KeyUses) { t.Helper(); require.NoError(t, l.NoteKeyUses(t.Context(), uses)) }
			shop, old := ledger.HashOfKey{Key: "webshop", SHA256: "11111111"}, ledger.HashOfKey{Key: "webshop", SHA256: "22222222"}
			note(ledger.KeyUses{})
			note(ledger.KeyUses{shop: now, old: now})
			note(ledger.KeyUses{shop: now.Add(time.Second), old: now.Add(-time.Second)})
			known, err := ledger.Of(db).KeyUses(t.Context())
			require.NoError(t, err)
			require.Equal(t, ledger.KeyUses{shop: now.Add(time.Second), old: now}, known)

			many := ledger.KeyUses{}
			for n := range 250 {
				many[ledger.HashOfKey{Key: fmt.Sprint("many", n), SHA256: "33333333"}] = now
			}
			note(many)
			require.NoError(t, l.ForgetKeyUses(t.Context(), ledger.KeyUses{shop: now}))
			known, err = l.KeyUses(t.Context())
			require.NoError(t, err)
			require.Len(t, known, 251)
			require.NotContains(t, known, shop)
		})
	}
}
