package rig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TinyDisk mounts a disk of its own on a folder until the test ends; size is as mount
// has it. Where that is not allowed the test is skipped.
func TinyDisk(t testing.TB, folder, size string) {
	t.Helper()
	mount(t, "tmpfs", folder, "tmpfs", 0, "size="+size)
}

// Bind has a folder show another one, until it is unmounted or the test ends. Where that
// is not allowed the test is skipped.
func Bind(t testing.TB, folder, other string) (unmount func()) {
	t.Helper()
	return mount(t, other, folder, "", unix.MS_BIND, "")
}

func mount(t testing.TB, source, folder, system string, flags uintptr, data string) (unmount func()) {
	t.Helper()
	if err := unix.Mount(source, folder, system, flags, data); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	unmount = sync.OnceFunc(func() {
		var err error
		await.True(t, func() bool { // the desk may be reading a file of it
			err = unix.Unmount(folder, 0)
			return !errors.Is(err, unix.EBUSY)
		}, "%s is in use", folder)
		require.NoError(t, err)
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

// TinyResults puts the results of callbacks on a TinyDisk, of a desk on SQLite.
func (o *Options) TinyResults(t testing.TB, size string) {
	t.Helper()
	folder := desk.ResultsFolder(strings.TrimPrefix(o.DSN, "sqlite:"))
	require.NoError(t, os.Mkdir(folder, 0o700))
	TinyDisk(t, folder, size)
}

// OnDisk has a desk keep its database and results in a folder.
func (o *Options) OnDisk(t testing.TB, folder string) {
	t.Helper()
	data, err := SampleFile()
	require.NoError(t, err)
	file := filepath.Join(folder, "frontdesk.db")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	o.DSN = "sqlite:" + file
}
