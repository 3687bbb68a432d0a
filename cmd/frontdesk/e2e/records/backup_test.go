package records

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// TestBackupAndRestore backs up beside a running server, restores into another
// database and serves that.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	for i, e := range rig.Engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			dsn, empty := e.DSN(t), rig.Engines[1-i].Empty(t)
			d := rig.Start(t, rig.Options{DSN: dsn})
			orders := d.Call("GET", "/order?page_size=1000", d.Login(rig.FullKey, "demo"), "")
			file := filepath.Join(t.TempDir(), "demo.zip")

			code, out, errs := rig.CommandLine(t, dsn, "backup", "--client", "Demo Garage", "--out", file)
			require.Zero(t, code, errs)
			require.Regexp(t, `demo\.zip holds \d+ records of client Demo Garage as of 20\S+Z \(`, out)
			require.Regexp(t, `^\{[^\n]*"what":"backup"[^\n]*\}\n$`, errs, "progress is for terminals")
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode())

			code, _, errs = rig.CommandLine(t, empty, "migrate")
			require.Zero(t, code, errs)
			code, out, errs = rig.CommandLine(t, empty, "restore", "--client", "Demo Garage", file)
			require.Zero(t, code, errs)
			require.Contains(t, out, "client Demo Garage has ")
			code, _, errs = rig.CommandLine(t, empty, "restore", "--client", "Demo Garage", file)
			require.Equal(t, 1, code)
			require.Contains(t, errs, "the client has records already, nothing was changed: Demo Garage")

			store, err := rig.OpenAdministration(empty)
			require.NoError(t, err)
			_, err = store.AddUser(t.Context(), reference.NewUser{Username: "demo-two", Password: "demo-two", Email: "demo@example.nl", Client: "Demo Garage"})
			require.NoError(t, err)
			require.NoError(t, store.Close())
			again := rig.Start(t, rig.Options{DSN: empty})
			require.JSONEq(t, string(orders.Body), string(again.Call("GET", "/order?page_size=1000", again.Login(rig.FullKey, "demo-two"), "").Body))
		})
	}
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	dsn := "sqlite:" + filepath.Join(t.TempDir(), desk.DatabaseFile)
	require.NoError(t, rig.SeedDatabase(dsn, 10))
	dir := t.TempDir()
	file := filepath.Join(dir, "demo.zip")
	require.NoError(t, os.WriteFile(file, []byte("yesterday's"), 0o600))
	refuses := func(why string, args ...string) {
		t.Helper()
		code, _, errs := rig.CommandLine(t, dsn, args...)
		require.Equal(t, 1, code)
		require.Contains(t, errs, why)
	}
	refuses(`there is no client "Nobody" in `+strings.TrimPrefix(dsn, "sqlite:")+`; frontdesk user list shows`, "backup", "--client", "Nobody", "--out", file)
	refuses("demo.zip: the backup is refused, nothing was changed: it is no ZIP file", "restore", "--client", "New", file)
	require.Equal(t, "yesterday's", rig.Read(t, file))

	code, _, errs := rig.CommandLine(t, dsn, "backup", "--client", "Demo Garage", "--out", file)
	require.Zero(t, code, errs)
	refuses(`it was made of client "Demo Garage", not of "New"; --rename restores it all the same`, "restore", "--client", "New", file)
	refuses("is taken here by a record of another client", "restore", "--client", "New", "--rename", file)
	refuses("no such file or directory", "backup", "--client", "Demo Garage", "--out", filepath.Join(dir, "nowhere", "demo.zip"))

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "what was half written is gone")
}
