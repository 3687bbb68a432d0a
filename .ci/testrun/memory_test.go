package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkFolder: the tests work where TMPDIR says, else in memory where that can be, and
// nothing of it is left, nor of a run that was killed.
func TestWorkFolder(t *testing.T) {
	t.Run("where TMPDIR says", func(t *testing.T) {
		own := t.TempDir()
		t.Setenv("TMPDIR", own)
		environment, remove, err := workFolder(memory, roomInMemory)
		require.NoError(t, err)
		made, err := filepath.Glob(filepath.Join(own, "frontdesk-tests-*"))
		require.NoError(t, err)
		require.Len(t, made, 1)
		require.Equal(t, []string{"TMPDIR=" + made[0], "FRONTDESK_SHARED=" + made[0], "GOTMPDIR=" + own}, environment)
		remove()
		require.NoDirExists(t, made[0])
	})
	for name, room := range map[string]uint64{"in memory": 1, "where that is too small": math.MaxUint64} {
		t.Run(name, func(t *testing.T) {
			memory := t.TempDir()
			t.Setenv("TMPDIR", "")
			environment, remove, err := workFolder(memory, room)
			require.NoError(t, err)
			defer remove()
			made, err := filepath.Glob(filepath.Join(memory, "*"))
			require.NoError(t, err)
			if room > 1 {
				require.Empty(t, made)
				return
			}
			require.Len(t, made, 1)
			require.Equal(t, []string{"TMPDIR=" + made[0], "FRONTDESK_SHARED=" + made[0], "GOTMPDIR=" + os.TempDir()}, environment)
			info, err := os.Stat(made[0])
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o755), info.Mode().Perm(), "servers of other accounts work there")
			remove()
			require.NoDirExists(t, made[0])
		})
	}
	t.Run("after a run that was killed", func(t *testing.T) {
		memory := t.TempDir()
		ended := exec.Command(os.Args[0], "-test.run=^$")
		require.NoError(t, ended.Run())
		killed := filepath.Join(memory, fmt.Sprintf("frontdesk-tests-%d-1", ended.Process.Pid))
		atWork := filepath.Join(memory, fmt.Sprintf("frontdesk-tests-%d-1", os.Getpid()))
		require.NoError(t, os.Mkdir(killed, 0o700))
		require.NoError(t, os.Mkdir(atWork, 0o700))
		sweep(memory)
		require.NoDirExists(t, killed)
		require.DirExists(t, atWork)
	})
	t.Run("where programs can be started", func(t *testing.T) {
		require.True(t, runs(t.TempDir()))
		require.False(t, runs(filepath.Join(t.TempDir(), "gone")))
	})
}
