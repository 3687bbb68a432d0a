package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestCopyIsPrivate: a copy has all records of a client, and is for its owner alone from the first
// moment. One that is there keeps the mode that its owner gave it.
func TestCopyIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	nobody := func(string) (bool, error) { return false, nil }
	for _, mode := range []os.FileMode{0o600, 0o640} {
		s, err := openStore(t.Context(), file, "Garage Jansen", nobody)
		require.NoError(t, err)
		for _, name := range []string{file, file + "-wal", file + "-shm"} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), name)
		}
		require.NoError(t, s.close())
		require.NoError(t, os.Chmod(file, 0o640))
	}
}

// TestOneRunTakesANewCopy: of several that begin it at once, the last goes on.
func TestOneRunTakesANewCopy(t *testing.T) {
	nobody := func(string) (bool, error) { return false, nil }
	for round := range 20 {
		file := filepath.Join(t.TempDir(), "copy.db")
		stores, errs := make([]*store, 4), make([]error, 4)
		var opening sync.WaitGroup
		for i := range stores {
			opening.Go(func() { stores[i], errs[i] = openStore(t.Context(), file, "Garage Jansen", nobody) })
		}
		opening.Wait()
		require.NoError(t, errors.Join(errs...), "round %d", round)
		goOn := 0
		for _, s := range stores {
			if err := s.begin("c1_x"); err == nil {
				goOn++
			} else {
				require.ErrorIs(t, err, ErrTakenOver)
			}
			require.NoError(t, s.close())
		}
		require.Equal(t, 1, goOn, "round %d", round)
	}
}

// TestCopyOfARenamedClient: a client may be called otherwise than before, with a name or without
// one. Its cursor tells that it is the same.
func TestCopyOfARenamedClient(t *testing.T) {
	for _, row := range []struct {
		before, now string
		owns, taken bool
	}{
		{"Garage Jansen", "Garage Janssen", true, true},
		{"Garage Jansen", "Garage Bakker", false, false},
		{"Garage Jansen", nameless + "sanne", true, true},
		{nameless + "sanne", nameless + "kees", true, true},
		{nameless + "sanne", nameless + "kees", false, false},
	} {
		file := filepath.Join(t.TempDir(), "copy.db")
		s, err := openStore(t.Context(), file, row.before, nil)
		require.NoError(t, err)
		require.NoError(t, s.begin("c1_x"))
		require.NoError(t, s.close())
		s, err = openStore(t.Context(), file, row.now, func(cursor string) (bool, error) {
			require.Equal(t, "c1_x", cursor)
			return row.owns, nil
		})
		if !row.taken {
			require.EqualError(t, err, fmt.Sprintf("%s: the copy has the records of %s, and this user belongs to %s: name another file", file, row.before, row.now))
			continue
		}
		require.NoError(t, err)
		require.NoError(t, s.close())
		s, err = openStore(t.Context(), file, row.now, nil) // nothing is asked: it is known by its new name
		require.NoError(t, err)
		require.NoError(t, s.close())
	}
}

// TestStopHidesNoCopyLeftOpen: to be stopped is how --follow ends, and no error. That the copy cannot be closed
// then is one.
func TestStopHidesNoCopyLeftOpen(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "copy.db"), "Garage Jansen", nil)
	require.NoError(t, err)
	_, _, err = s.conn.PrepareTransient("SELECT 1") // SQLite closes nothing that has a statement left
	require.NoError(t, err)
	err = withClose(ctx, fmt.Errorf("GET /changes: %w", ctx.Err()), s.close())
	require.NotErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "sqlite: close: database is locked")

	require.ErrorIs(t, withClose(ctx, ctx.Err(), nil), context.Canceled)
	failed, open := errors.New("failed"), errors.New("left open")
	require.EqualError(t, withClose(ctx, failed, open), "failed\nleft open")
	require.EqualError(t, withClose(t.Context(), nil, open), "left open")
}

// TestStoppedWhileTheCopyIsLocked: a run that is stopped does not wait for another one that turns the copy to
// WAL.
func TestStoppedWhileTheCopyIsLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "copy.db")
	other, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	require.NoError(t, sqlitex.ExecuteTransient(other, "BEGIN EXCLUSIVE", nil))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = openStore(ctx, file, "Garage Jansen", nil)
	require.ErrorIs(t, err, context.Canceled)
}

// TestRenamedCopyIsTakenAsItIs: while it is asked whether a copy is this client's, other runs go on with it.
// What they have made of it by then is taken, if it is still of the client that was asked about.
func TestRenamedCopyIsTakenAsItIs(t *testing.T) {
	for _, row := range []struct {
		called string // by then
		asked  []string
		taken  bool
	}{
		{"Garage Jansen", []string{"c1_x"}, true},
		{"Garage Janssen", []string{"c1_x"}, true},
		{"Garage Bakker", []string{"c1_x", "c2_x"}, false},
	} {
		file := filepath.Join(t.TempDir(), "copy.db")
		other, err := openStore(t.Context(), file, "Garage Jansen", nil)
		require.NoError(t, err)
		require.NoError(t, other.begin("c1_x"))
		var asked []string
		s, err := openStore(t.Context(), file, "Garage Janssen", func(cursor string) (bool, error) {
			if asked = append(asked, cursor); len(asked) == 1 {
				require.NoError(t, other.begin("c2_x"))
				require.NoError(t, other.do("UPDATE _mirror SET client = ?", row.called))
			}
			return cursor == "c1_x", nil
		})
		require.Equal(t, row.asked, asked)
		if !row.taken {
			require.ErrorContains(t, err, "the copy has the records of Garage Bakker")
			require.NoError(t, other.begin("c3_x"), "it stays who writes it")
			require.NoError(t, other.close())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "c2_x", s.cursor)
		require.ErrorIs(t, other.begin("c3_x"), ErrTakenOver)
		require.NoError(t, s.close())
		require.NoError(t, other.close())
	}
}
