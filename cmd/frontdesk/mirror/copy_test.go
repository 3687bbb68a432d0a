package mirror

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
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
		s, err := openStore(file, "Garage Jansen", nobody)
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
