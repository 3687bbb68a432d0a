package description

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
)

// withAllowlists starts a desk with an api_key for each allowlist, and logs in
// with each.
func withAllowlists(t testing.TB, o rig.Options, lists ...string) (d *rig.Desk, tokens []string) {
	t.Helper()
	for i, list := range lists {
		o.Keys += rig.KeyConfig(fmt.Sprintf("arrays%d", i), rig.ArrayKey(i), "    allow: ["+list+"]\n")
	}
	d = rig.OnSQLite(t, o)
	for i := range lists {
		tokens = append(tokens, d.Login(rig.ArrayKey(i), "demo"))
	}
	return d, tokens
}

// TestArraysOfCallbacks: what is done in the background is refused before it is
// promised, and answers no more than at once.
func TestArraysOfCallbacks(t *testing.T) {
	t.Parallel()
	h, o := rig.NewHooks(t, nil)
	o.Extra += "callbacks: [\"GET /order\", \"POST /order\"]\n"
	d, tokens := withAllowlists(t, o, `"* /order", "GET /webhook"`, `"* /order", "GET /webhook", "* /orderline"`)
	withHook := fmt.Sprintf(`{"webhook_url":%q,`, h.Address()) + rig.OrderWithLine[1:]
	d.Refuses(tokens[0], "POST", "/order", withHook, 403, rig.NoOrderlines)
	ask := "/order/1?fields=orderlines&webhook_url=" + strings.NewReplacer(":", "%3A", "?", "%3F", "&", "%26", "%", "%25").Replace(h.Address())
	d.Refuses(tokens[0], "GET", ask, "", 403, rig.NoOrderlines)

	result := func(id string) rig.Answer {
		<-h.Calls
		return d.Download(d.Collect(tokens[1], id))
	}
	made := result(d.Call("POST", "/order", tokens[1], withHook).Promise(t))
	require.NotContains(t, made.Data(t), "orderlines")
	lines := result(d.Call("GET", strings.Replace(ask, "/order/1", fmt.Sprintf("/order/%d", made.ID(t)), 1), tokens[1], "").Promise(t))
	require.Len(t, lines.Data(t)["orderlines"], 1)
}

// TestArraysOfReplays: a request that was done once is judged by the allowlist of
// now when it comes again, and its kept answer has no arrays.
func TestArraysOfReplays(t *testing.T) {
	t.Parallel()
	allow := func(list string) string {
		return rig.KeyConfig("changing", rig.ArrayKey(0), "    allow: ["+list+"]\n")
	}
	dsn := rig.Engines[0].DSN(t)
	config := rig.KeptConfig(t, dsn, "", "KEYS")
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), strings.Replace(config, "KEYS", allow(`"* /order", "* /orderline"`), 1), true)
	token := k.Login(rig.ArrayKey(0), "demo")
	first := k.Gets(201, "POST", "/order", token, rig.OrderWithLine, "Idempotency-Key", "lines")
	print := k.Call("GET", "/authenticate/fingerprint", token, "").Data(t)["fingerprint"]

	k.Write(strings.Replace(config, "KEYS", allow(`"* /order"`), 1))
	k.HangUp()
	refused := k.Gets(403, "POST", "/order", token, rig.OrderWithLine, "Idempotency-Key", "lines")
	require.Equal(t, rig.NoOrderlines, refused.Failure(t).Message)
	require.Empty(t, refused.Header.Get("Idempotent-Replayed"))
	require.NotEqual(t, print, k.Call("GET", "/authenticate/fingerprint", token, "").Data(t)["fingerprint"], "another model for this key")

	k.Write(strings.Replace(config, "KEYS", allow(`"* /order", "POST /orderline"`), 1))
	k.HangUp()
	again := k.Gets(201, "POST", "/order", token, rig.OrderWithLine, "Idempotency-Key", "lines")
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.NotContains(t, again.Data(t), "orderlines")
}

// TestArraysOfVendors: arrays that only this vendor has, and arrays in arrays.
func TestArraysOfVendors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, fields := range map[string]string{
		"fleet": "  - {name: cars, type: array(car), array_key: fleet_id, description: Its cars.}\n",
		"car":   "  - {name: fleet_id, type: int4, required: true, immutable: true, reference: fleet, description: Its fleet.}\n  - {name: extras, type: array(extra), array_key: car_id, description: Its extras.}\n",
		"extra": "  - {name: car_id, type: int4, required: true, immutable: true, reference: car, description: Its car.}\n",
	} {
		text := "name: " + name + "\ndescription: One of the vendor's own.\nmodule: fleets\nsince: 2\nfields:\n  - {name: note, type: varchar(20), description: A note.}\n" + fields
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	d, tokens := withAllowlists(t, rig.Options{Extra: fmt.Sprintf("model: {dir: %q}\n", dir)},
		`"* /fleet", "GET /model/*"`, `"* /fleet", "* /car"`, `"* /fleet", "* /car", "POST /extra"`)
	const noCars = "Field: cars not found in model"
	d.Refuses(tokens[0], "POST", "/fleet", `{"cars":[{"note":"A"}]}`, 403, noCars)
	d.Refuses(tokens[0], "GET", "/fleet/1?fields=cars", "", 403, noCars)
	require.NotContains(t, d.FieldsOf(tokens[0], "fleet"), "cars")
	require.NotContains(t, d.FieldsOf(tokens[0], "car"), "extras")
	id := d.Create(tokens[1], "fleet", `{"cars":[{"note":"A"}]}`)
	require.Len(t, d.Call("GET", fmt.Sprintf("/fleet/%d?fields=cars", id), tokens[1], "").Data(t)["cars"], 1)
	d.Refuses(tokens[1], "POST", "/fleet", `{"cars":[{"note":"A","extras":[{"note":"B"}]}]}`, 403, "Field: cars[0].extras not found in model")
	a := d.Call("POST", "/fleet", tokens[2], `{"cars":[{"note":"A","extras":[{"nothing":"B"}]}]}`)
	require.Equal(t, "Field: cars[0].extras[0].nothing not found in model", a.Failure(t).Message)
}

// TestArraysOfOneRecord: an order has one tag, whatever is seen of it; what the administration says of a
// resource itself goes to those only who may use all of it.
func TestArraysOfOneRecord(t *testing.T) {
	t.Parallel()
	f := new(rig.Faults)
	d, tokens := withAllowlists(t, rig.Options{Wrap: f.Wrap}, `"GET /order", "GET /model/*"`, `"GET /model/*", "GET /order", "* /orderline"`)
	plain, whole := d.Call("GET", "/order/1", tokens[0], ""), d.Call("GET", "/order/1?fields=orderlines", tokens[1], "")
	require.Equal(t, plain.Header.Get("ETag"), whole.Header.Get("ETag"))
	require.Equal(t, 304, d.Call("GET", "/order/1", tokens[0], "", "If-None-Match", whole.Header.Get("ETag")).Status)

	f.Describes(`{"name":"its own"}`)
	require.NotContains(t, d.FieldsOf(tokens[0], "order"), "orderlines")
	require.JSONEq(t, `{"data":{"name":"its own"}}`, string(d.Call("GET", "/model/order", tokens[1], "").Body))
	f.Describes("no JSON")
	d.Refuses(tokens[0], "GET", "/model/order", "", 400, "Body is not valid JSON")
}

// TestArraysInConformance: the suite asks of arrays what the api_key may do with them.
func TestArraysInConformance(t *testing.T) {
	t.Parallel()
	const parents = `"* /contact", "* /order", "* /flatrate", "* /turnovergroup", "GET /model/*"`
	passes := []bool{false, false, false, true}
	lists := []string{parents, parents + `, "GET /orderline", "GET /flatrateline"`, parents + `, "POST /orderline", "POST /flatrateline"`, parents + `, "* /orderline", "* /flatrateline"`}
	d, _ := withAllowlists(t, rig.Options{}, lists...)
	for i, list := range lists {
		o := rig.ConformOptions(d.Base)
		o.APIKey = rig.ArrayKey(i)
		for _, o.Only = range []string{"p*.array_needs_element", "order.children"} {
			report := rig.Conform(t, o)
			require.Empty(t, rig.Ended(report, backendtest.Failed), "%s: %s", list, rig.Failures(report))
			if o.Only == "order.children" {
				require.Equal(t, passes[i], len(rig.Ended(report, backendtest.Passed)) > 0, "%s: %v", list, rig.Needs(report))
			}
		}
	}
}
