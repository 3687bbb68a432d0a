package sqlrecord

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// exec runs a statement in a transaction of its own.
func (s *fixture) exec(t testing.TB, text string) {
	t.Helper()
	require.NoError(t, s.db.Write(t.Context(), func(c Conn) error {
		_, err := c.Exec(t.Context(), text)
		return err
	}), text)
}

// totalled tells the total of alice's contacts.
func (s *fixture) totalled(t testing.TB) int64 {
	t.Helper()
	return s.list(t, "contact", backend.Query{Limit: 1, Total: true}).Total
}

// TestCountsOfADump reads a dump into another server, whose transactions have lower numbers.
func TestCountsOfADump(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	db, err := OpenPostgres(t.Context(), dsn, Options{})
	require.NoError(t, err)
	s := newFixture(t, db)
	s.changes(t)
	require.NoError(t, sqltest.Execute(dsn, "DO 'BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'"))
	s.create(t, alice, "contact", "name", "counted")
	require.NoError(t, s.Count(t.Context()))
	s.create(t, alice, "contact", "name", "not yet counted")
	require.NoError(t, db.Close())

	dump, err := exec.Command(sqltest.Tool(t, "postgres", "pg_dump"), "--no-owner", dsn).Output() // #nosec G204
	require.NoError(t, err)
	elsewhere := sqltest.Unrelated(t).DSN("postgres")
	read := exec.Command(sqltest.Tool(t, "postgres", "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--dbname="+elsewhere) // #nosec G204
	read.Stdin = bytes.NewReader(dump)
	said, err := read.CombinedOutput()
	require.NoError(t, err, "%s", said)

	db, err = OpenPostgres(t.Context(), elsewhere, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s = newFixture(t, db)
	s.changes(t)
	require.EqualValues(t, 2, s.totalled(t))
	for n := range int64(2) {
		s.create(t, alice, "contact", "name", "new")
		require.EqualValues(t, 3+n, s.totalled(t))
		require.NoError(t, s.Count(t.Context()))
		require.EqualValues(t, 3+n, s.totalled(t))
	}
}

// TestCountsEndWithTheChanges: the changes go when cursors are ended, and with them those that
// are not counted yet.
func TestCountsEndWithTheChanges(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	s.changes(t)
	require.NoError(t, s.Count(t.Context()))
	s.create(t, alice, "contact", "name", "not yet counted")
	require.EqualValues(t, 1, s.totalled(t))
	s.exec(t, "UPDATE "+changeLogTable+" SET secret = NULL")
	s.changes(t)
	require.EqualValues(t, 1, s.totalled(t))
}

// TestCountsBesideAQuietWriter makes the first counts while records come whose changes are not noted.
func TestCountsBesideAQuietWriter(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	ended := make(chan error, 1)
	require.NoError(t, s.db.Write(t.Context(), func(c Conn) error {
		r := s.model.Resource("contact")
		require.NoError(t, s.countAnew(t.Context(), c, mapping.TextValue(r.Name), s.counts.count[r]))
		go func() {
			ended <- s.inTx(context.WithoutCancel(t.Context()), func(tx *Store) error {
				return tx.Quietly(t.Context(), func() error {
					_, err := tx.Create(t.Context(), alice, s.record("contact", "name", "quiet"))
					return err
				})
			})
		}()
		require.Eventually(t, func() bool { // it has ended, or waits; a transaction sees pg_stat_activity as it was at its first look
			var n int64
			require.NoError(t, s.db.Read(t.Context(), func(c Conn) (err error) {
				n, err = number(t.Context(), c, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
				return err
			}))
			return n > 0 || len(ended) > 0
		}, patience, time.Millisecond)
		return nil
	}))
	require.NoError(t, <-ended)
	require.EqualValues(t, 1, s.totalled(t))
}

// TestCountsKeepTheirChanges: changes that are not counted stay, however old they are, since a
// transaction that hangs holds the counts back.
func TestCountsKeepTheirChanges(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	c := s.changes(t)
	require.NoError(t, s.Count(t.Context()))
	require.NoError(t, s.db.Write(t.Context(), func(hangs Conn) error {
		_, err := number(t.Context(), hangs, "SELECT pg_current_xact_id()::text::bigint")
		require.NoError(t, err)
		s.create(t, alice, "contact", "name", "held back")
		s.exec(t, "UPDATE "+changeTable+" SET at = 0")
		require.NoError(t, s.Count(t.Context()))
		require.NoError(t, c.Prune(t.Context()))
		require.EqualValues(t, 1, s.totalled(t))
		return nil
	}))
	require.NoError(t, c.Prune(t.Context()))
	require.EqualValues(t, 1, s.totalled(t))
	require.Eventually(t, func() bool {
		require.NoError(t, s.Count(t.Context()))
		require.NoError(t, c.Prune(t.Context()))
		require.EqualValues(t, 1, s.totalled(t))
		kept := int64(-1)
		require.NoError(t, s.db.Read(t.Context(), func(c Conn) (err error) {
			kept, err = number(t.Context(), c, "SELECT count(*) FROM "+changeTable)
			return err
		}))
		return kept == 0
	}, patience, time.Millisecond)
}

// TestCountsSayWhatFailed: of whichever resource it is, also of the last.
func TestCountsSayWhatFailed(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	s.exec(t, "ALTER TABLE contact RENAME TO gone")
	contact := s.model.Resource("contact")
	s.counts.count = map[*mapping.Resource]string{contact: s.counts.count[contact]}
	require.ErrorContains(t, s.Count(t.Context()), "count records: ")
}
