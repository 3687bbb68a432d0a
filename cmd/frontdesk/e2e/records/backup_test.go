package records

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestBackupAndRestore backs up beside a running server, restores into another
// database and serves that. A record is then changed in two ways from the same backup: a
// client that knows the one that is lost must not be taken for one that knows the other.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	for i, e := range rig.Engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			dsn, empty := e.DSN(t), rig.Engines[1-i].Empty(t)
			d := rig.Start(t, rig.Options{DSN: dsn})
			token, file := d.Login(rig.FullKey, "demo"), filepath.Join(t.TempDir(), "demo.zip")
			path := fmt.Sprintf("/contact/%d", d.Create(token, "contact", rig.NewContact))
			run := func(want int, dsn string, args ...string) (out, errs string) {
				t.Helper()
				code, out, errs := rig.CommandLine(t, dsn, args...)
				require.Equal(t, want, code, errs)
				return out, errs
			}
			out, errs := run(0, dsn, "backup", "--client", "Demo Garage", "--out", file)
			require.Regexp(t, `demo\.zip holds \d+ records of client Demo Garage as of 20\S+Z \(`, out)
			require.Regexp(t, `^\{[^\n]*"what":"backup"[^\n]*\}\n$`, errs, "progress is for terminals")
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode())
			orders := d.Call("GET", "/order?page_size=1000", token, "")
			lost := d.Call("PUT", path, token, `{"name":"Lost"}`).Header.Get("ETag")

			run(0, empty, "migrate")
			out, _ = run(0, empty, "restore", "--client", "Demo Garage", file)
			require.Contains(t, out, "client Demo Garage has ")
			_, errs = run(1, empty, "restore", "--client", "Demo Garage", file)
			require.Contains(t, errs, "the client has records already, nothing was changed: Demo Garage")
			store := must.Have(rig.OpenAdministration(empty))(t)
			_, err = store.AddUser(t.Context(), reference.NewUser{Username: "demo-two", Password: "demo-two", Email: "demo@example.nl", Client: "Demo Garage"})
			require.NoError(t, err)
			require.NoError(t, store.Close())
			again := rig.Start(t, rig.Options{DSN: empty})
			token = again.Login(rig.FullKey, "demo-two")
			require.JSONEq(t, string(orders.Body), string(again.Call("GET", "/order?page_size=1000", token, "").Body))
			now := again.Call("PUT", path, token, `{"name":"Kept"}`).Header.Get("ETag")
			require.NotEqual(t, lost, now)
			again.Call("PUT", path, token, `{"name":"Overwritten"}`, "If-Match", lost).Refused(t, 412, "Record has been changed", "of the lost state")
			for _, fields := range []string{"", "?fields=id,name", "?fields=modified_at"} {
				a := again.Call("GET", path+fields, token, "")
				require.Equal(t, now, a.Header.Get("ETag"), "whatever fields are asked for")
				_, shown := a.Data(t)["modified_at"]
				require.Equal(t, !strings.Contains(fields, "name"), shown)
			}
		})
	}
}
