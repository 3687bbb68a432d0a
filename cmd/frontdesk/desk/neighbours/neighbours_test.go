package neighbours_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk/neighbours"
)

func TestMain(m *testing.M) { os.Exit(sqltest.Run(m)) }

func open(t *testing.T, db sqlrecord.DB, err error) (*neighbours.Tables, sqlrecord.DB) {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	l, err := neighbours.Open(t.Context(), db)
	require.NoError(t, err)
	return l, db
}

func onPostgres(t *testing.T) (*neighbours.Tables, sqlrecord.DB) {
	db, err := sqlrecord.OpenPostgres(t.Context(), sqltest.Postgres(t), sqlrecord.Options{})
	return open(t, db, err)
}

func onSQLite(t *testing.T) (*neighbours.Tables, sqlrecord.DB) {
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "own.db"), sqlrecord.Options{})
	return open(t, db, err)
}

// TestKeyUses: the latest use stays, whoever notes it and in whatever order.
func TestKeyUses(t *testing.T) {
	for name, on := range map[string]func(*testing.T) (*neighbours.Tables, sqlrecord.DB){"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			l, db := on(t)
			now := time.UnixMilli(1_800_000_000_000)
			note := func(uses neighbours.KeyUses) { t.Helper(); require.NoError(t, l.NoteKeyUses(t.Context(), uses)) }
			shop, old := neighbours.HashOfKey{Key: "webshop", SHA256: "11111111"}, neighbours.HashOfKey{Key: "webshop", SHA256: "22222222"}
			note(neighbours.KeyUses{})
			note(neighbours.KeyUses{shop: now, old: now})
			note(neighbours.KeyUses{shop: now.Add(time.Second), old: now.Add(-time.Second)})
			known, err := neighbours.Of(db).KeyUses(t.Context())
			require.NoError(t, err)
			require.Equal(t, neighbours.KeyUses{shop: now.Add(time.Second), old: now}, known)

			many := neighbours.KeyUses{}
			for n := range 250 {
				many[neighbours.HashOfKey{Key: fmt.Sprint("many", n), SHA256: "33333333"}] = now
			}
			note(many)
			require.NoError(t, l.ForgetKeyUses(t.Context(), neighbours.KeyUses{shop: now}))
			known, err = l.KeyUses(t.Context())
			require.NoError(t, err)
			require.Len(t, known, 251)
			require.NotContains(t, known, shop)
		})
	}
}

// TestKeyEnds: of each hash the earliest end stays, until it has none any more.
func TestKeyEnds(t *testing.T) {
	for name, on := range map[string]func(*testing.T) (*neighbours.Tables, sqlrecord.DB){"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			l, _ := on(t)
			now := time.UnixMilli(1_800_000_000_000)
			tell := func(by string, ends time.Time, final bool) (lifted bool) {
				t.Helper()
				hashes, err := l.PublishKeyEnds(t.Context(), by, []neighbours.KeyEnd{{Hash: [32]byte{1}, Key: "webshop", Ends: ends, Final: final}})
				require.NoError(t, err)
				return len(hashes) > 0
			}
			end := func(by string, ends time.Time) { t.Helper(); tell(by, ends, false) }
			known := func() (all []neighbours.KeyEnd) {
				t.Helper()
				all, err := l.KeyEnds(t.Context())
				require.NoError(t, err)
				for i := range all {
					require.NotZero(t, all[i].Published)
					all[i].Published = time.Time{}
				}
				return all
			}
			require.Empty(t, known())
			end("a", now)
			end("b", now.Add(time.Second))
			require.Equal(t, []neighbours.KeyEnd{{Hash: [32]byte{1}, Key: "webshop", Ends: now, By: "a"}}, known())
			end("b", now.Add(-time.Second))
			require.Equal(t, "b", known()[0].By)
			require.True(t, tell("a", time.Time{}, false), "a hash is there again")
			require.Empty(t, known())

			tell("a", time.Now().Add(time.Hour), true)
			require.True(t, tell("b", time.Time{}, false), "an end that has not come is undone")
			gone := time.Now().Add(-time.Hour)
			end("a", gone)
			tell("b", gone.Add(time.Minute), true)
			require.False(t, tell("a", time.Time{}, false), "a revoke is final, also of a hash that was gone before")
			require.Equal(t, gone.UnixMilli(), known()[0].Ends.UnixMilli())
		})
	}
}

// TestMeet: gateways hear of each other until they take leave, or have said nothing for too long
// by the clock of the database.
func TestMeet(t *testing.T) {
	l, db := onPostgres(t)
	var quiet time.Duration
	meet := func(id, document string) (others []string) {
		t.Helper()
		found, err := l.Meet(t.Context(), id, document)
		require.NoError(t, err)
		for _, other := range found {
			quiet = other.Quiet
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
			_, err := c.Exec(context.Background(), fmt.Sprintf("UPDATE neighbour_gateway SET seen_at = seen_at - %d WHERE id = 'a'", by.Milliseconds()))
			return err
		}))
	}
	age(neighbours.GatewayLife + time.Millisecond)
	require.Len(t, meet("b", "2"), 1)
	require.GreaterOrEqual(t, quiet, neighbours.GatewayLife)
	documents, err := l.Documents(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"2"}, documents)
	age(neighbours.GatewayForgotten)
	require.Empty(t, meet("b", "2"))
}
