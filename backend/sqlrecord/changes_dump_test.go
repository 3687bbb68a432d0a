package sqlrecord

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// TestChangesOfADump reads a dump into another server, whose transactions have lower numbers:
// cursors from before are gone, and new changes are told.
func TestChangesOfADump(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	db, err := OpenPostgres(t.Context(), dsn, Options{})
	require.NoError(t, err)
	s := newFixture(t, db)
	before := begin(t, s.changes(t))
	require.NoError(t, sqltest.Execute(dsn, "DO 'BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'"))
	s.create(t, alice, "contact", "name", "dumped")
	require.NoError(t, db.Close())

	dump, err := exec.Command(sqltest.Tool(t, "postgres", "pg_dump"), "--no-owner", dsn).Output() // #nosec G204
	require.NoError(t, err)
	elsewhere := sqltest.Unrelated(t).DSN("postgres")
	read := exec.Command(sqltest.Tool(t, "postgres", "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--dbname="+elsewhere) // #nosec G204
	read.Stdin = bytes.NewReader(dump)
	said, err := read.CombinedOutput()
	require.NoError(t, err, "%s", said)

	db = openPostgresAt(t, elsewhere, Options{})
	s = newFixture(t, db)
	c := s.changes(t)
	_, err = c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: before, Limit: 1})
	require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	after := begin(t, c)
	fresh := s.create(t, alice, "contact", "name", "new")
	require.Equal(t, []int32{fresh.ID()}, contacts(t, c, after, fresh))
}
