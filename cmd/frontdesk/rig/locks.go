package rig

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Lock has somebody else hold what a statement locks, until it is released or the test ends. In
// a file of SQLite that is the right to write, whatever the statement.
func Lock(t testing.TB, dsn, statement string) (release func()) {
	t.Helper()
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
		return func() { require.NoError(t, conn.Close()) }
	}
	conn := Beside(t, dsn)
	for _, text := range []string{"BEGIN", statement} {
		_, err := conn.Exec(t.Context(), text)
		require.NoError(t, err)
	}
	return func() { require.NoError(t, conn.Close(context.Background())) }
}

// Locked is how many connections to a PostgreSQL wait for locks.
func Locked(t testing.TB, dsn string) (n int) {
	t.Helper()
	conn := Beside(t, dsn)
	text := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	require.NoError(t, conn.QueryRow(t.Context(), text).Scan(&n))
	require.NoError(t, conn.Close(t.Context()))
	return n
}

// Beside connects by a DSN that may be for a pool, until the test ends.
func Beside(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	dsn, _, _ = strings.Cut(dsn, "&pool_max_conns")
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
