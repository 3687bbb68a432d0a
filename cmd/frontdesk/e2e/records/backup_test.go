package records

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/reference"
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
