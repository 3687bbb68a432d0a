package copies

import (
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestCopyBehindASheet keeps a copy of a vendor's database that nobody tells of changes: it is
// read and compared. What others write and delete there arrives in the copy, and what somebody
// changed in the copy is mended. Clients are told which resources have changes, and operators how they
// are found.
func TestCopyBehindASheet(t *testing.T) {
	database := legacytest.SQLite(t)
	d := rig.Start(t, rig.DealerPak(t, "sqlite", database, "\nresources:\n", "\nchanges: {by: scan, every: 10ms, pause: 1ms}\nresources:\n",
		"  employee:\n", "  employee:\n    changes: {by: none}\n", "  vehicle:\n", "  vehicle:\n    changes: {by: version, every: 10ms, pause: 1ms}\n"))
	token := d.LoginAs(rig.FullKey, "sanne.bos", "Welkom01")
	for resource, tells := range map[string]string{"contact": "all", "vehicle": "without deletions", "employee": "none"} {
		require.Equal(t, tells, d.Call("GET", "/model/"+resource, token, "").Data(t)["changes"], resource)
	}
	d.Refuses(token, "GET", "/changes?resource=employee", "", 403, "Field: resource has an invalid value: employee for validation: resource")
	changes := func(query string) (page struct {
		Data []struct {
			Kind   string
			ID     int
			Record map[string]any
		}
		Cursor string
	}) {
		t.Helper()
		a := d.Gets(200, "GET", "/changes?"+query, token, "")
		require.NoError(t, json.Unmarshal(a.Body, &page))
		return page
	}
	await.True(t, func() bool { // of vehicles everything is read once before their first cursor
		return d.Call("GET", "/changes?resource=vehicle", token, "").Status == 200
	})
	begin := url.QueryEscape(changes("resource=contact").Cursor)

	c := beside(t, d, "contact", "vehicle")
	source := func() records {
		all := records{}
		for _, name := range c.names {
			all[name] = map[int]map[string]any{}
			page := must.JSON[struct{ Data []map[string]any }](t, d.Call("GET", "/"+name+"?page_size=1000", token, "").Body)
			for _, one := range page.Data {
				all[name][int(one["id"].(float64))] = one
			}
			require.NotEmpty(t, all[name])
		}
		return all
	}
	code, said := c.run()
	require.Zero(t, code, said)
	require.True(t, equal(source(), c.records()), "the first read")

	made := d.Create(token, "contact", `{"kind":"person","name":"Jansen"}`)
	told := changes("resource=contact&records=1&after=" + begin).Data
	require.Len(t, told, 1, "at once")
	require.Equal(t, []any{"created", made, "Jansen"}, []any{told[0].Kind, told[0].ID, told[0].Record["name"]})
	require.Equal(t, 410, d.Call("GET", "/changes?resource=order&after="+begin, token, "").Status, "nobody has followed orders since the cursor")
	behind := &rig.Practice{Desk: d, T: t, DSN: database}
	behind.Alter("UPDATE REL SET NAAM = 'De Vries', MUTNR = MUTNR + 1 WHERE RELNR = %d", made)
	gone := d.Create(token, "contact", `{"kind":"person","name":"Gone"}`)
	behind.Alter("DELETE FROM REL WHERE RELNR = %d", gone)
	await.True(t, func() bool {
		code, said := c.run()
		require.Zero(t, code, said)
		return equal(source(), c.records())
	})
	require.Equal(t, "De Vries", c.records()["contact"][made]["name"])
	require.NotContains(t, c.records()["contact"], gone)
	for _, line := range []string{`clients{resource="contact"} 1`, `age_seconds{resource="contact"} `, `failures_total{resource="contact"} 0`} {
		require.Contains(t, d.OpsText("/metrics"), "frontdesk_changes_scan_"+line)
	}

	c.rigged(func(k *kept) {
		delete(k.Records["contact"], slices.Min(slices.Collect(maps.Keys(k.Records["contact"]))))
		k.Records["vehicle"][slices.Max(slices.Collect(maps.Keys(k.Records["vehicle"])))]["modified_at"] = "2020-01-01T00:00:00.000Z"
	})
	code, said = c.run("--verify")
	require.Equal(t, 3, code, said)
	require.True(t, equal(source(), c.records()), "mended: %s", said)
	code, said = c.run("--verify")
	require.Zero(t, code, said)
}

// beside is a copy of what a user of the vendor's database sees.
func beside(t *testing.T, d *rig.Desk, names ...string) *copying {
	s := &service{t: t, administration: &administration{user: login{"sanne.bos", "Welkom01"}}, gateways: []*gateway{{Child: &rig.Child{Desk: *d}}}}
	return &copying{service: s, file: filepath.Join(t.TempDir(), "copy.json"), names: names}
}

// TestVerifyWithoutDeletions has a record deleted where deletions are not told: the digest still
// counts it, and a copy without it is whole all the same.
func TestVerifyWithoutDeletions(t *testing.T) {
	database := legacytest.SQLite(t)
	d := rig.Start(t, rig.DealerPak(t, "sqlite", database, "\n  contact:\n", "\n  contact:\n    changes: {by: version, every: 10ms, pause: 1ms}\n"))
	token := d.LoginAs(rig.FullKey, "sanne.bos", "Welkom01")
	c := beside(t, d, "contact")
	code, said := c.run()
	require.Zero(t, code, said)
	gone := d.Create(token, "contact", `{"kind":"person","name":"Gone"}`)
	(&rig.Practice{Desk: d, T: t, DSN: database}).Alter("DELETE FROM REL WHERE RELNR = %d", gone)

	c.file = filepath.Join(t.TempDir(), "new.json")
	for range 2 {
		code, said = c.run("--verify")
		require.Zero(t, code, said)
	}
	require.NotContains(t, c.records()["contact"], gone)
}
