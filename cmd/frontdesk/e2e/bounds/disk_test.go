package bounds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// fullDesk is a desk whose database and results are on a disk of their own, which has spare
// room.
func fullDesk(t *testing.T, options rig.Options) (d *rig.Desk, _ rig.Options, folder string) {
	t.Helper()
	folder = t.TempDir()
	rig.TinyDisk(t, folder, "12m")
	options.OnDisk(t, folder)
	d = rig.Start(t, options)
	await.True(t, func() bool { return hasSpare(folder) })
	return d, options, folder
}

func hasSpare(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "frontdesk.db-spare"))
	return err == nil
}

// TestFullDisk: a disk that runs full leaves what needs no room, is named, and lets a user
// be blocked.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d, _, folder := fullDesk(t, rig.Options{})
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
	await.True(t, func() bool { return strings.Contains(d.Log.String(), "a disk is nearly full") })

	for _, command := range [][]string{{"user", "list"}, {"callbacks", "list"}, {"user", "block", "other"}} {
		code, _, problems := d.Run(command...)
		require.Zero(t, code, "%v: %s", command, problems)
	}
	await.True(t, func() bool { return d.Call("GET", "/contact/1", intruder, "").Status == 401 })

	empty()
	require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status, "it heals by itself")
	require.Contains(t, d.OpsText("/readyz"), `"status":"ok"`)
	await.True(t, func() bool { return hasSpare(folder) })
}

// TestStartOnAFullDisk: what was stopped starts again, and reads; where not even the spare
// room is left it says what to do.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, options, folder := fullDesk(t, rig.Options{})
	d.Shutdown()
	rig.FillDisk(t, folder)
	d = rig.Start(t, options)
	token := d.Login(rig.FullKey, "demo")
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	rig.FillDisk(t, folder)
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	require.Contains(t, d.OpsText("/readyz"), `"status":"degraded"`)
	d.Shutdown()

	require.NoError(t, os.Remove(filepath.Join(folder, "frontdesk.db-spare")))
	rig.FillDisk(t, folder)
	code, _, problems := d.Run("serve")
	require.Equal(t, 1, code)
	require.Contains(t, problems, "the disk is full; free some of it, and do it again")
}

// TestRevokeOnAFullDisk: a key is revoked in a file on the disk of the database, or the
// file stays as it was and the command says why.
func TestRevokeOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, _, folder := fullDesk(t, rig.Options{})
	config := filepath.Join(folder, "frontdesk.yaml")
	require.NoError(t, os.WriteFile(config, []byte(rig.KeysApart(t, config, rig.Read(t, d.File()))), 0o600))
	rig.FillDisk(t, folder)
	code, out, problems := rig.Command(t, "", "key", "revoke", "orders", "--config", config)
	require.Zero(t, code, problems)
	require.Contains(t, out, "orders.yaml changed")
	require.NoError(t, os.Remove(filepath.Join(folder, "frontdesk.db-spare")))
	rig.FillDisk(t, folder)
	full := filepath.Join(folder, "keys.d", "full.yaml")
	before := rig.Read(t, full)
	code, _, problems = rig.Command(t, "", "key", "revoke", "full", "--config", config)
	require.NotZero(t, code)
	require.Contains(t, problems, "the disk is full; free some of it, and do it again")
	require.Equal(t, before, rig.Read(t, full))
}

// TestSpareRoomIsOfWhoLetsGoOfIt: nobody else writes to the file between the moment in which
// a change of a user lets go of room and its end.
func TestSpareRoomIsOfWhoLetsGoOfIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rig.TinyDisk(t, folder, "12m")
	var o rig.Options
	o.OnDisk(t, folder)
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	open := func(spare func() bool) *reference.Store {
		store, err := reference.Open(t.Context(), reference.Options{DSN: o.DSN, Model: model, Hasher: auth.NewHasher(), Now: time.Now, FreeReserve: spare})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	others := open(nil)
	var empty func()
	asked := 0
	store := open(func() bool {
		asked++
		if asked == 1 {
			return true // too little
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := others.AddClient(brief, "somebody else")
		assert.ErrorIs(t, err, backend.ErrBusy)
		empty()
		return true
	})
	empty = rig.FillDisk(t, folder)
	for n := 0; err == nil; n++ { // in what is left within the files
		require.Less(t, n, 5000)
		_, err = others.AddClient(t.Context(), fmt.Sprint("client ", n))
	}
	require.NoError(t, store.SetBlocked(t.Context(), "other", true))
	require.Equal(t, 2, asked)
}
