package archive

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeftByAnother: what is left of a backup of root that was killed keeps the user of the service
// from none, and is named. Root's next one removes it.
func TestLeftByAnother(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it takes root to be two users")
	}
	i, kept := newInstallation(t), t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(kept), 0o755))
	const service = 65533
	for _, root := range []string{filepath.Dir(i.folder), kept} {
		require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, service, service)
		}))
	}
	left := filepath.Join(kept, workFolder+"-1")
	require.NoError(t, os.Mkdir(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "copy"), []byte("of one that was killed"), 0o600))
	for _, name := range []string{workFolder + "s", workFolder + "-old", workFolder + "-"} { // which somebody keeps his own archives in
		require.NoError(t, os.Mkdir(filepath.Join(kept, name), 0o755))
	}

	m := Manifest{Config: i.path("frontdesk.yaml")}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, syscall.Setfsuid(service))
	written, err := Write(t.Context(), filepath.Join(kept, "night.zip"), m, i.files, func(int64) {})
	require.NoError(t, syscall.Setfsuid(0))
	require.NoError(t, err)
	require.Equal(t, []string{left}, written.remains)
	others := []string{workFolder + "s", workFolder + "-old", workFolder + "-", workLock}
	requireFiles(t, kept, append(others, "night.zip", filepath.Base(left))...)

	written, err = Write(t.Context(), filepath.Join(kept, "day.zip"), m, i.files, func(int64) {})
	require.NoError(t, err)
	require.Empty(t, written.remains)
	requireFiles(t, kept, append(others, "night.zip", "day.zip")...)
}
