package copies

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestMirrorBehindASheet keeps a copy of a vendor's database that nobody tells of changes: it is
// read and compared. What others write and delete there arrives in the copy, and what somebody
// changed in the copy is mended.
func TestMirrorBehindASheet(t *testing.T) {
	d, database := behindASheet(t, "\nresources:\n", "\nchanges: {by: scan, every: 10ms, pause: 1ms}\nresources:\n")
	token := d.LoginAs(rig.FullKey, "sanne.bos", "Welkom01")

	c := &copying{service: &service{t: t}, file: filepath.Join(t.TempDir(), "copy.db"), names: []string{"contact", "vehicle"}}
	mirror := mirroring(t, d, c)
	source := func() records {
		all := records{}
		for _, name := range c.names {
			all[name] = map[int]map[string]any{}
			var page struct{ Data []map[string]any }
			require.NoError(t, json.Unmarshal(d.Call("GET", "/"+name+"?page_size=1000", token, "").Body, &page))
			for _, one := range page.Data {
				all[name][int(one["id"].(float64))] = one
			}
			require.NotEmpty(t, all[name])
		}
		return all
	}
	code, out, errs := mirror()
	require.Zero(t, code, "%s%s", out, errs)
	require.True(t, equal(source(), c.records()), "the first read")

	made := d.Create(token, "contact", `{"kind":"person","name":"Jansen"}`)
	behind := &rig.Practice{Desk: d, T: t, DSN: database}
	behind.Alter("UPDATE REL SET NAAM = 'De Vries', MUTNR = MUTNR + 1 WHERE RELNR = %d", made)
	gone := d.Create(token, "contact", `{"kind":"person","name":"Gone"}`)
	behind.Alter("DELETE FROM REL WHERE RELNR = %d", gone)
	require.Eventually(t, func() bool {
		code, out, errs := mirror()
		require.Zero(t, code, "%s%s", out, errs)
		return equal(source(), c.records())
	}, 4*rig.Patience, 10*time.Millisecond)
	require.Equal(t, "De Vries", c.records()["contact"][made]["name"])
	require.NotContains(t, c.records()["contact"], gone)

	rigged(t, c.file, `DELETE FROM contact WHERE id = (SELECT min(id) FROM contact); UPDATE vehicle SET modified_at = '2020-01-01T00:00:00.000Z' WHERE id = (SELECT max(id) FROM vehicle)`)
	code, out, errs = mirror("--verify")
	require.Equal(t, 3, code, "%s%s", out, errs)
	require.True(t, equal(source(), c.records()), "mended: %s", out)
	code, out, errs = mirror("--verify")
	require.Zero(t, code, "%s%s", out, errs)
}

// behindASheet starts the program before a vendor's database, by a sheet in which something is
// replaced.
func behindASheet(t *testing.T, old, replaced string) (d *rig.Desk, database string) {
	t.Helper()
	files, err := legacytest.Files()
	require.NoError(t, err)
	database = legacytest.SQLite(t)
	sheet := strings.Replace(rig.Read(t, filepath.Join(files, "sqlite.yaml")), old, replaced, 1)
	require.Contains(t, sheet, replaced)
	o, _ := rig.BySheet(t, "legacy", sheet, "${DEALERPAK_DSN}", database)
	return rig.Start(t, o), database
}

// mirroring runs the command for a copy.
func mirroring(t *testing.T, d *rig.Desk, c *copying) func(more ...string) (code int, out, errs string) {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("Welkom01\n"), 0o600))
	return func(more ...string) (code int, out, errs string) {
		return rig.Command(t, "", append([]string{"mirror", d.Base, "--to", "sqlite:" + c.file, "--api-key", rig.FullKey, "--username", "sanne.bos", "--password-file", password,
			"--resource", strings.Join(c.names, ",")}, more...)...)
	}
}

// TestVerifyWithoutDeletions has a record deleted where deletions are not told: the digest still
// counts it, and a copy without it is whole all the same.
func TestVerifyWithoutDeletions(t *testing.T) {
	d, database := behindASheet(t, "\n  contact:\n", "\n  contact:\n    changes: {by: version, every: 10ms, pause: 1ms}\n")
	token := d.LoginAs(rig.FullKey, "sanne.bos", "Welkom01")
	c := &copying{service: &service{t: t}, file: filepath.Join(t.TempDir(), "copy.db"), names: []string{"contact"}}
	code, out, errs := mirroring(t, d, c)()
	require.Zero(t, code, "%s%s", out, errs)
	gone := d.Create(token, "contact", `{"kind":"person","name":"Gone"}`)
	(&rig.Practice{Desk: d, T: t, DSN: database}).Alter("DELETE FROM REL WHERE RELNR = %d", gone)

	c.file = filepath.Join(t.TempDir(), "new.db")
	mirror := mirroring(t, d, c)
	for range 2 {
		code, out, errs = mirror("--verify")
		require.Zero(t, code, "%s%s", out, errs)
	}
	require.NotContains(t, c.records()["contact"], gone)
}
