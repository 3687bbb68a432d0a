package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// resultsIn is the setting of the folder of results.
var resultsIn = regexp.MustCompile(`folder: "[^"]*results"\}`)

// wrecked is an installation whose files are all in one folder.
type wrecked struct {
	*testing.T
	folder, backups, file string
	hooks                 *rig.Hooks
	k                     *rig.Kept
}

func startWhole(t *testing.T) *wrecked {
	h, options := rig.NewHooks(t, nil)
	w := &wrecked{T: t, folder: t.TempDir(), backups: t.TempDir(), hooks: h}
	w.file = filepath.Join(w.folder, "frontdesk.yaml")
	data, err := rig.SampleFile()
	require.NoError(t, err)
	database := filepath.Join(w.folder, "frontdesk.db")
	require.NoError(t, os.WriteFile(database, data, 0o600))
	text := rig.KeptConfig(t, "sqlite:"+database, "", options.Keys+rig.KeptKey(`"* /*"`)[1:]+rig.KeptOrders[1:])
	text = strings.Replace(text, "webhooks:", options.Extra+"#", 1)
	text = resultsIn.ReplaceAllString(text, fmt.Sprintf("folder: %q}", filepath.Join(w.folder, "results")))
	w.k = rig.StartKept(t, w.file, rig.KeysApart(t, w.file, text), false)
	return w
}

func (w *wrecked) command(want int, args ...string) string {
	w.Helper()
	code, stdout, stderr := cli("", args...)
	require.Equal(w, want, code, "%v: %s%s", args, stdout, stderr)
	return stdout + stderr
}

// wreck stops the desk and removes all that it has.
func (w *wrecked) wreck() {
	w.Helper()
	w.k.Shutdown()
	entries, err := os.ReadDir(w.folder)
	require.NoError(w, err)
	for _, e := range entries {
		require.NoError(w, os.RemoveAll(filepath.Join(w.folder, e.Name())))
	}
}

func (w *wrecked) archives() []string {
	w.Helper()
	found, err := filepath.Glob(filepath.Join(w.backups, "*.zip"))
	require.NoError(w, err)
	return found
}

// TestBackupAll backs an installation up while it is written to, wrecks all of it, and puts it
// back: what comes up has everything that was answered before the backup, and serves.
func TestBackupAll(t *testing.T) {
	w := startWhole(t)
	full, hooked := w.k.Login(rig.FullKey, "demo"), w.k.Login(rig.HookedKey, "demo")
	job := w.k.Call("POST", "/backup/owner", hooked, w.hooks.Body()).Promise(t)
	w.hooks.Next(t)
	result := w.k.Collect(hooked, job)
	var now struct{ Cursor string }
	require.NoError(t, json.Unmarshal(w.k.Call("GET", "/changes", full, "").Body, &now))

	var ended atomic.Bool
	var writers sync.WaitGroup
	var created [2]sync.Map
	begun := make(chan struct{}, 2)
	for n := range created {
		writers.Go(func() {
			for i := 0; !ended.Load(); i++ {
				a := w.k.Call("POST", "/contact", full, fmt.Sprintf(`{"kind":"person","name":"%d of %d"}`, i, n))
				created[n].Store(a.ID(t), a.Status)
				if i == 10 {
					begun <- struct{}{}
				}
			}
		})
	}
	<-begun
	<-begun
	var before []int
	for n := range created {
		created[n].Range(func(id, _ any) bool { before = append(before, id.(int)); return true })
	}
	said := w.command(0, "backup", "--all", "--config", w.file, "--out", w.backups, "--keep", "2")
	ended.Store(true)
	writers.Wait()
	require.Contains(t, said, "holds the database "+filepath.Join(w.folder, "frontdesk.db")+", ")
	file := w.archives()[0]
	require.Contains(t, w.command(1, "restore", "--all", file), "serves from "+w.folder)
	require.Contains(t, w.command(1, "restore", "--all", "--dry-run", file), "move it aside first:\n  "+w.folder)

	w.wreck()
	require.Contains(t, w.command(0, "restore", "--all", "--dry-run", file), "nothing was written")
	require.NoFileExists(t, w.file)
	said = w.command(0, "restore", "--all", file)
	require.Contains(t, said, "Next: frontdesk check --config "+w.file)
	require.NotContains(t, said, "ENDED")
	acts := w.command(0, "acts", "list", "--config", w.file)
	require.Contains(t, acts, "all, from "+file)
	require.Regexp(t, `backup +all, to \S+ .* cut off\n`, acts)
	require.NotContains(t, acts, "under way", "when the backup was made")

	k := rig.StartKept(t, w.file, "", false)
	full = k.Login(rig.FullKey, "demo")
	k.Login(rig.HookedKey, "demo")
	for _, id := range before {
		require.Equal(t, 200, k.Status("GET", fmt.Sprintf("/contact/%d", id), full), "contact %d was answered before", id)
	}
	require.Equal(t, 200, k.Download(strings.Replace(result, w.k.Base, k.Base, 1)).Status, "the result of a job")
	require.Equal(t, 410, k.Status("GET", "/changes?after="+now.Cursor, full), "what came after the backup, and its place, are not there")
	k.Shutdown()
}

// TestBackupAllTells: an old archive says which api_keys were ended since, as a newer one knows;
// with the data alone keys are those that are there; and one kind of backup is not taken for the
// other.
func TestBackupAllTells(t *testing.T) {
	w := startWhole(t)
	backup := func() {
		t.Helper()
		w.command(0, "backup", "--all", "--config", w.file, "--out", w.backups)
	}
	backup()
	older := filepath.Join(w.backups, "frontdesk-20261101T000000Z.zip")
	require.NoError(t, os.Rename(w.archives()[0], older))
	w.command(0, "key", "revoke", "orders", "--config", w.file)
	backup()
	keys := filepath.Join(w.folder, "keys.d", "orders.yaml")
	ended := rig.Read(t, keys)
	w.k.Shutdown()

	database := filepath.Join(w.folder, "frontdesk.db")
	require.NoError(t, os.Remove(database))
	require.NoError(t, os.RemoveAll(database+"-history")) // on a slow machine the archive has an older one
	require.Contains(t, w.command(1, "restore", "--all", older), "move it aside first:")
	require.NoFileExists(t, database)
	said := w.command(0, "restore", "--all", "--data-only", older)
	require.NotContains(t, said, "api_key")
	require.FileExists(t, database)
	require.Equal(t, ended, rig.Read(t, keys))

	w.wreck()
	said = w.command(0, "restore", "--all", older)
	require.Regexp(t, `ENDED by \S+ and good again: api_key orders, hash [0-9a-f]+`, said)
	require.Equal(t, 1, strings.Count(said, "ENDED"))
	require.NotEqual(t, ended, rig.Read(t, keys))

	one := filepath.Join(w.backups, "one.zip")
	w.command(0, "backup", "--client", "Demo Garage", "--out", one, "--config", w.file)
	require.Contains(t, w.command(1, "restore", "--all", one), "no archive that frontdesk backup --all has written")
	require.Contains(t, w.command(2, "restore", "--client", "New", "--config", w.file, older), "which --all puts back")
	for _, wrong := range [][]string{
		{"backup", "--all", "--out", filepath.Join(w.backups, "none", "x.zip"), "--keep", "2"}, {"backup", "--client", "x", "--all", "--out", one}, {"backup", "--client", "x", "--keep", "2", "--out", one}, {"backup", "--out", one},
	} {
		w.command(2, append(wrong, "--config", w.file)...)
	}
	for _, wrong := range [][]string{{one}, {"--all", "--legacy", one}, {"--all", "--client", "x", one}, {"--client", "x", one}, {"--client", "x", "--data-only", "--config", w.file, one}} {
		w.command(2, append([]string{"restore"}, wrong...)...)
	}
}

// TestBackupAllOfPostgres: what an archive does not hold, it says, with the command that does and
// without the password, also while the server is away.
func TestBackupAllOfPostgres(t *testing.T) {
	w, folder := wrecked{T: t}, t.TempDir()
	file, all := filepath.Join(folder, "frontdesk.yaml"), filepath.Join(folder, "all.zip")
	t.Setenv("WHOLE_DSN", "postgres://jan:geheim@127.0.0.1:1/it%27s%20mine?connect_timeout=1")
	require.NoError(t, os.WriteFile(file, []byte("backend: {dsn: \"${WHOLE_DSN}\"}\n"), 0o600))
	said := w.command(0, "backup", "--all", "--config", file, "--out", all)
	require.Contains(t, said, "holds no database")
	require.Contains(t, said, `pg_dump --format=custom --file=frontdesk.dump --host=127.0.0.1 --port=1 --username=jan 'it'\''s mine'`)
	require.Contains(t, said, "Not in it: what the variables in "+file+" stand for")
	require.Contains(t, said, "the list of acts (frontdesk acts list) does not have")
	require.NotContains(t, said, "geheim")
	require.NoError(t, os.Remove(file))
	require.Contains(t, w.command(0, "restore", "--all", all), "Not in it: the database ")
	require.FileExists(t, file)
}
