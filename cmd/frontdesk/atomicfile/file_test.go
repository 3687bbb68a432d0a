package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrite: a file that could not be written whole is the one that it was.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "backup.zip")
	say := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		}
	}
	require.NoError(t, Write(path, 0o600, say("first", nil)))
	cut := errors.New("cut off")
	require.ErrorIs(t, Write(path, 0o600, say("half", cut)), cut)
	requireFile(t, path, "first", 0o600)
	require.NoError(t, Write(path, 0o644, say("second", nil)))
	requireFile(t, path, "second", 0o644)
	require.ErrorIs(t, Write(filepath.Join(dir, "none", "backup.zip"), 0o600, say("x", nil)), os.ErrNotExist)
}

// TestReplace keeps what others wrote, and the mode.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "webshop.yaml")
	require.NoError(t, Replace(path, nil, []byte("first")))
	requireFile(t, path, "first", 0o640)
	require.NoError(t, os.Chmod(path, 0o604))
	require.NoError(t, Replace(path, []byte("first"), []byte("second")))
	requireFile(t, path, "second", 0o604)
	require.ErrorContains(t, Replace(path, []byte("first"), []byte("third")), "webshop.yaml was changed by somebody else meanwhile")
	requireFile(t, path, "second", 0o604)
}

// TestReplaceAtOnce: of several that replace the same text, one does, and all others are told.
func TestReplaceAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "webshop.yaml")
	require.NoError(t, os.WriteFile(path, []byte("0"), 0o600))
	for round := range 20 {
		old, at, done := fmt.Append(nil, round), make(chan struct{}), make(chan error)
		for range 8 {
			go func() {
				<-at
				done <- Replace(path, old, fmt.Append(nil, round+1))
			}()
		}
		close(at)
		placed := 0
		for range 8 {
			if err := <-done; err == nil {
				placed++
			} else {
				require.ErrorContains(t, err, "was changed by somebody else meanwhile")
			}
		}
		require.Equal(t, 1, placed, "round %d", round)
	}
}

// requireFile requires the file to be as it is said, and nothing else to be left in its folder.
func requireFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
