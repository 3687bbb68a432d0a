package rig

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// TinyDisk mounts a disk of its own on a folder until the test ends; size is as mount
// has it. Where that is not allowed the test is skipped.
func TinyDisk(t testing.TB, folder, size string) {
	t.Helper()
	Mount(t, folder, "-t", "tmpfs", "-o", "size="+size, "tmpfs")
}

// Mount mounts on a folder what mount is told to, until it is unmounted or the test ends.
// Where that is not allowed the test is skipped.
func Mount(t testing.TB, folder string, what ...string) (unmount func()) {
	t.Helper()
	mount, umount := sqltest.Tool(t, "mount", "mount"), sqltest.Tool(t, "mount", "umount")
	out, err := exec.Command(mount, append(what, folder)...).CombinedOutput()
	if err != nil && !sqltest.Required("mount") {
		t.Skipf("a disk of its own cannot be mounted here: %v: %s", err, bytes.TrimSpace(out))
	}
	require.NoError(t, err, "%s", out)
	unmount = sync.OnceFunc(func() {
		out, err := exec.Command(umount, folder).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	t.Cleanup(unmount)
	return unmount
}

// FillDisk writes to a disk until nothing more goes onto it, and returns what makes room
// again.
func FillDisk(t testing.TB, folder string) (empty func()) {
	t.Helper()
	file, err := os.CreateTemp(folder, "filler-")
	require.NoError(t, err)
	for size := 1 << 20; size >= 1; size /= 16 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	}
	require.NoError(t, file.Close())
	return func() { require.NoError(t, os.Remove(file.Name())) }
}

// OnDisk has a desk keep its database and results in a folder.
func (o *Options) OnDisk(t testing.TB, folder string) {
	t.Helper()
	data, err := SampleFile()
	require.NoError(t, err)
	file := filepath.Join(folder, "frontdesk.db")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	o.DSN = "sqlite:" + file
	o.Extra += "\nwebhooks: {folder: \"" + filepath.Join(folder, "results") + "\"}"
}
