package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaceWhereNobodyReads: in a folder that may be written and not read nothing can be told to
// be on disk, so nothing is changed.
func TestReplaceWhereNobodyReads(t *testing.T) {
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "webshop.yaml")
	require.NoError(t, os.WriteFile(path, []byte("first"), 0o644))
	require.NoError(t, os.Chmod(dir, 0o300))
	uid := os.Getuid()
	if uid == 0 { // who may read all
		uid = 65533
		require.NoError(t, os.Chown(dir, uid, -1))
		require.NoError(t, os.Chown(path, uid, -1))
	}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: it ends with the thread
		_ = syscall.Setfsuid(uid)
		failed <- Replace(path, []byte("first"), []byte("second"))
	}()
	require.ErrorIs(t, <-failed, os.ErrPermission)
	require.NoError(t, os.Chmod(dir, 0o700))
	requireFile(t, path, "first", 0o644)
}
