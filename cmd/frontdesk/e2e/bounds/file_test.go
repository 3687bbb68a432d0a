package bounds

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestDatabaseFileIsMoved: nothing is written into a file that nobody would find, and the next
// start does not begin with an empty administration by itself.
func TestDatabaseFileIsMoved(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(t *testing.T, file string) error{
		"moved":   func(_ *testing.T, file string) error { return os.Rename(file, file+".moved") },
		"deleted": func(_ *testing.T, file string) error { return os.Remove(file) },
		"replaced": func(t *testing.T, file string) error {
			require.NoError(t, os.WriteFile(file+".new", []byte(rig.Read(t, file)), 0o600))
			return os.Rename(file+".new", file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := rig.Engines[0].DSN(t)
			file := strings.TrimPrefix(dsn, "sqlite:")
			d := rig.Start(t, rig.Options{DSN: dsn})
			token := d.Login(rig.FullKey, "demo")
			require.NoError(t, move(t, file))
			a := d.Call("POST", "/contact", token, rig.NewContact)
			a.Refused(t, 500, "Internal server error", "a write into a file that is gone")
			require.Contains(t, string(a.Body), "backend_unavailable")
			ready := d.AskOps("/readyz")
			require.Equal(t, 503, ready.Status)
			require.Contains(t, string(ready.Body), "the file "+file+" is not the one that is open: it was moved, deleted or replaced; restart frontdesk")
			d.Shutdown()
			if name == "replaced" {
				return
			}
			code, _, errs := d.Run("serve")
			require.Equal(t, 2, code)
			require.Contains(t, errs, "frontdesk migrate makes a new one")
			require.NoFileExists(t, file)
			code, _, errs = d.Run("migrate")
			require.Zero(t, code, errs)
			require.FileExists(t, file)
		})
	}
}
