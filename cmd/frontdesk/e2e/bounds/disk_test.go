package bounds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// fullDesk is a desk whose database and results are on a disk of their own, which has spare
// room.
func fullDesk(t *testing.T) (d *rig.Desk, options rig.Options, folder string) {
	t.Helper()
	folder = t.TempDir()
	rig.TinyDisk(t, folder, "12m")
	options.OnDisk(t, folder)
	d = rig.Start(t, options)
	require.Eventually(t, func() bool { return hasSpare(folder) }, rig.Patience, 10*time.Millisecond)
	return d, options, folder
}

func hasSpare(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "frontdesk.db-spare"))
	return err == nil
}

// configOf is the configuration of a desk.
func configOf(d *rig.Desk) string { return filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml") }

// TestFullDisk: a disk that runs full leaves what needs no room, is named, and lets a user
// be blocked.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d, _, folder := fullDesk(t)
	require.Contains(t, d.OpsText("/readyz"), `"status":"ok"`)
	token, intruder := d.Login(rig.FullKey, "demo"), d.Login(rig.FullKey, "other")
	empty := rig.FillDisk(t, folder)

	a := d.Call("POST", "/contact", token, rig.NewContact)
	for n := 0; a.Status == 201; n++ { // in what is left within the files
		require.Less(t, n, 5000)
		a = d.Call("POST", "/contact", token, rig.NewContact)
	}
	a.Refused(t, 500, "Internal server error", "a write")
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status, "reading needs no room")
	require.Equal(t, 200, d.Call("GET", "/order?page_size=10&total=1", token, "").Status)
	d.Login(rig.FullKey, "demo")
	a = d.Call("POST", "/backup/owner", token, `{"webhook_url":"https://hooks.example.com/"}`)
	a.Refused(t, 503, "Server is busy", "no room for a result")

	ready := d.OpsText("/readyz")
	require.Contains(t, ready, `"status":"degraded"`)
	require.Contains(t, ready, "the disk of database, results has 0 bytes left of 12.0 MiB")
	require.Contains(t, d.OpsText("/"), "It serves, but look at this: the disk of database, results has 0 bytes left")
	require.Contains(t, d.OpsText("/metrics"), "frontdesk_disk_free_bytes{holds=\"database\"} 0\n")
	require.Eventually(t, func() bool { return strings.Contains(d.Log.String(), "a disk is nearly full") }, rig.Patience, 10*time.Millisecond)

	for _, command := range [][]string{{"user", "list"}, {"callbacks", "list"}, {"user", "block", "other"}} {
		code, _, problems := rig.Command(t, "", append(command, "--config", configOf(d))...)
		require.Zero(t, code, "%v: %s", command, problems)
	}
	require.Eventually(t, func() bool { return d.Call("GET", "/contact/1", intruder, "").Status == 401 }, rig.Patience, 10*time.Millisecond)

	empty()
	require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status, "it heals by itself")
	require.Contains(t, d.OpsText("/readyz"), `"status":"ok"`)
	require.Eventually(t, func() bool { return hasSpare(folder) }, rig.Patience, 10*time.Millisecond)
}

// TestStartOnAFullDisk: what was stopped starts again, and reads; where not even the spare
// room is left it says what to do.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, options, folder := fullDesk(t)
	d.Shutdown()
	rig.FillDisk(t, folder)
	d = rig.Start(t, options)
	token := d.Login(rig.FullKey, "demo")
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	require.False(t, hasSpare(folder))
	rig.FillDisk(t, folder)
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	require.Contains(t, d.OpsText("/readyz"), `"status":"degraded"`)
	d.Shutdown()

	rig.FillDisk(t, folder)
	code, _, problems := rig.Command(t, "", "serve", "--config", configOf(d))
	require.Equal(t, 1, code)
	require.Contains(t, problems, "the disk is full; free some of it, and do it again")
}

// TestRevokeOnAFullDisk: a key is revoked in a file on the disk of the database, or the
// file stays as it was and the command says why.
func TestRevokeOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, _, folder := fullDesk(t)
	config := filepath.Join(folder, "frontdesk.yaml")
	text, err := os.ReadFile(configOf(d))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, text, 0o600))
	rig.FillDisk(t, folder)
	code, out, problems := rig.Command(t, "", "key", "revoke", "orders", "--config", config)
	require.Zero(t, code, problems)
	require.Contains(t, out, "frontdesk.yaml changed")
	rig.FillDisk(t, folder)
	before, err := os.ReadFile(config)
	require.NoError(t, err)
	code, _, problems = rig.Command(t, "", "key", "revoke", "full", "--config", config)
	require.NotZero(t, code)
	require.Contains(t, problems, "the disk is full; free some of it, and do it again; nothing was changed")
	after, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}
