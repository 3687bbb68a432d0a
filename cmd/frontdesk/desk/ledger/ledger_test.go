package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// TestMeet: gateways hear of each other until they take leave, or have said nothing for too long
// by the clock of the database.
func TestMeet(t *testing.T) {
	l, db := onPostgres(t)
	meet := func(id, document string) (others []string) {
		t.Helper()
		found, err := l.Meet(t.Context(), id, document)
		require.NoError(t, err)
		for _, other := range found {
			require.NotZero(t, other.Seen)
			others = append(others, other.ID+" "+other.Document)
		}
		return others
	}
	require.Empty(t, meet("a", "1"))
	require.Equal(t, []string{"a 1"}, meet("b", "2"))
	require.Equal(t, []string{"b 2"}, meet("a", "3"))
	require.Equal(t, []string{"a 3"}, meet("b", "2"))
	require.NoError(t, l.Leave(t.Context(), "a"))
	require.Empty(t, meet("b", "2"))

	meet("a", "1")
	age := func(by time.Duration) {
		t.Helper()
		require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error {
			_, err := c.Exec(context.Background(), fmt.Sprintf("UPDATE ledger_gateway SET seen_at = seen_at - %d WHERE id = 'a'", by.Milliseconds()))
			return err
		}))
	}
	age(ledger.GatewayLife - 10*time.Second)
	require.Len(t, meet("b", "2"), 1)
	age(11 * time.Second)
	require.Empty(t, meet("b", "2"))
}

// TestActsAreBounded: many old acts go in portions, and of a kind the newest stay, whatever else
// there is much of.
func TestActsAreBounded(t *testing.T) {
	for name, on := range map[string]func(*testing.T) (*ledger.Ledger, sqlrecord.DB){"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			l, _ := on(t)
			now := time.UnixMilli(1_800_000_000_000)
			keep := func(what string, many int, at time.Time) {
				acts := make([]ledger.Act, many)
				for i := range acts {
					acts[i] = ledger.Act{What: what, At: at.Add(time.Duration(i) * time.Millisecond), Ended: now, Outcome: ledger.Done}
				}
				for some := range slices.Chunk(acts, 500) { // a gateway keeps no more at once, and has three seconds
					require.NoError(t, l.Keep(t.Context(), some...))
				}
			}
			keep("backup by callback", 10_100, now.Add(-time.Hour))
			keep("user block", 3, now)
			keep("backup by callback", 50, now)
			forget := func(most int) (more bool, left []ledger.Act) {
				t.Helper()
				more, err := l.ForgetActs(t.Context(), now, most)
				require.NoError(t, err)
				left, err = l.Acts(t.Context(), ledger.ActFilter{Limit: 20_000}, now)
				require.NoError(t, err)
				return more, left
			}
			more, left := forget(50)
			require.True(t, more)
			require.Len(t, left, 153)
			more, left = forget(50)
			require.False(t, more)
			require.Len(t, left, 53)
			_, left = forget(5)
			require.Len(t, left, 8)
			require.Equal(t, now.Add(49*time.Millisecond), left[0].At.In(now.Location()))
			require.Equal(t, "user block", left[7].What)
		})
	}
}
