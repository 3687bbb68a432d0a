package sqlrecord

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadersUsedLastAreUsedFirst: each open one keeps a cache of its own.
func TestReadersUsedLastAreUsedFirst(t *testing.T) {
	t.Parallel()
	opened, err := OpenSQLite(filepath.Join(t.TempDir(), "records.db"), Options{Readers: 4})
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	db := opened.(*sqliteDB)
	nothing := func(Conn) error { return nil }
	for range 10 {
		require.NoError(t, db.Read(t.Context(), nothing))
	}
	require.Len(t, db.watcher.conns, 2, "one, and the writer")
	within := func(Conn) error { return db.Read(t.Context(), nothing) }
	for range 10 {
		require.NoError(t, db.Read(t.Context(), within))
	}
	require.Len(t, db.watcher.conns, 3)
	require.Len(t, db.readers.idle, 2)
	last := db.readers.idle[1]
	require.NoError(t, db.Read(t.Context(), func(c Conn) error { require.Same(t, last, c); return nil }))
	require.Zero(t, db.Pool().InUse)
}
