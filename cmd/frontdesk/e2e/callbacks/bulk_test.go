package callbacks

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

type bulkResults struct {
	Data []struct {
		Index, Status, ID int
		Errors            []struct{ Reason string }
	}
}

// resultOf fetches what became of many records.
func resultOf(t *testing.T, d *rig.Desk, token, id string) (statuses []int, r bulkResults) {
	t.Helper()
	require.NoError(t, json.Unmarshal(d.Answered(token, id, 200).Body, &r))
	for _, one := range r.Data {
		statuses = append(statuses, one.Status)
	}
	return statuses, r
}

// TestCallbackBulk writes many records by callback, once under a key.
func TestCallbackBulk(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		options.Extra += "callbacks: [\"PUT /contact/bulk\"]\n"
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		body := fmt.Sprintf(`{"records":[%s,{"kind":"x"},%[1]s],"webhook_url":%q}`, rig.NewContact, h.Address())
		id := d.Call("POST", "/contact/bulk", token, body, "Idempotency-Key", "a").Promise(t)
		require.Equal(t, id, h.Next(t))
		statuses, first := resultOf(t, d, token, id)
		require.Equal(t, []int{201, 403, 201}, statuses)
		again := d.Call("POST", "/contact/bulk", token, body, "Idempotency-Key", "a").Promise(t)
		require.Equal(t, again, h.Next(t))
		_, second := resultOf(t, d, token, again)
		require.Equal(t, first, second)

		for _, address := range []string{`5`, `null`, `"http://a.nl"`} {
			a := d.Call("POST", "/contact/bulk", token, `{"records":[{}],"webhook_url":`+address+`}`)
			require.Equal(t, []any{403, "webhook_url"}, []any{a.Status, a.Failure(t).Field}, "%s", a.Body)
		}
		change := fmt.Sprintf(`{"records":[{"id":%d,"name":"Changed"}]`, first.Data[0].ID)
		d.Call("PUT", "/contact/bulk", token, change+"}").Refused(t, 403, "Field: webhook_url is required and not supplied in request", "as configured")
		id = d.Call("PUT", "/contact/bulk", token, change+fmt.Sprintf(`,"webhook_url":%q}`, h.Address())).Promise(t)
		require.Equal(t, id, h.Next(t))
		statuses, _ = resultOf(t, d, token, id)
		require.Equal(t, []int{200}, statuses)
		require.Equal(t, "Changed", d.Call("GET", fmt.Sprint("/contact/", first.Data[0].ID), token, "").Data(t)["name"])
	})
}
