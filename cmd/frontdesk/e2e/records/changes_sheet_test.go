package records

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestChangesBehindASheet follows a vendor's database over HTTP: what the gateway writes and
// what others write in it, what is told of which resource, and what metrics say.
func TestChangesBehindASheet(t *testing.T) {
	database := legacytest.SQLite(t)
	d := rig.Start(t, rig.DealerPak(t, "sqlite", database, "\nresources:\n", "\nchanges: {by: scan, every: 10ms, pause: 1ms}\nresources:\n",
		"  employee:\n", "  employee:\n    changes: {by: none}\n", "  vehicle:\n", "  vehicle:\n    changes: {by: version}\n"))
	token := d.LoginAs(rig.FullKey, "sanne.bos", "Welkom01")

	for resource, tells := range map[string]string{"contact": "all", "vehicle": "without deletions", "employee": "none"} {
		require.Equal(t, tells, d.Call("GET", "/model/"+resource, token, "").Data(t)["changes"], resource)
	}
	d.Refuses(token, "GET", "/changes?resource=employee", "", 403, "Field: resource has an invalid value: employee for validation: resource")

	type page struct {
		Data []struct {
			Resource, Kind string
			ID             int
			Record         map[string]any
		}
		Cursor string
	}
	ask := func(query string) (p page) {
		t.Helper()
		a := d.Call("GET", "/changes?"+query, token, "")
		require.Equal(t, 200, a.Status, "%s", a.Body)
		require.NoError(t, json.Unmarshal(a.Body, &p))
		return p
	}
	after := "resource=contact&records=1&after=" + url.QueryEscape(ask("resource=contact").Cursor)
	made := d.Create(token, "contact", `{"kind":"person","name":"Jansen"}`)
	told := ask(after)
	require.Len(t, told.Data, 1, "at once")
	require.Equal(t, fmt.Sprint("created contact ", made, " Jansen"), fmt.Sprint(told.Data[0].Kind, " ", told.Data[0].Resource, " ", told.Data[0].ID, " ", told.Data[0].Record["name"]))

	behind := &rig.Practice{Desk: d, T: t, DSN: database}
	behind.Alter("UPDATE REL SET NAAM = 'De Vries', MUTNR = MUTNR + 1 WHERE RELNR = %d", made)
	await.True(t, func() bool { told = ask(after); return told.Data[0].Record["name"] == "De Vries" })
	behind.Alter("DELETE FROM REL WHERE RELNR = %d", made)
	await.True(t, func() bool { told = ask(after); return told.Data[0].Kind == "deleted" })

	gone := d.Call("GET", "/changes?resource=order&after="+url.QueryEscape(told.Cursor), token, "")
	require.Equal(t, 410, gone.Status, "nobody has followed orders since the cursor: %s", gone.Body)
	await.True(t, func() bool { // of vehicles everything is read once before their first cursor
		return d.Call("GET", "/changes?resource=vehicle", token, "").Status == 200
	})

	metrics := d.OpsText("/metrics")
	require.Contains(t, metrics, "frontdesk_changes_scan_clients{resource=\"contact\"} 1")
	require.Contains(t, metrics, "frontdesk_changes_scan_age_seconds{resource=\"contact\"} ")
	require.Contains(t, metrics, "frontdesk_changes_scan_failures_total{resource=\"contact\"} 0")
}
