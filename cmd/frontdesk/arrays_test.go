package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
)

// The bodies that arrays are tried with.
const (
	bareOrder        = `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01"`
	lineOfOrder      = `{"description":"A","quantity":1,"price":1,"turnover_group_id":1}`
	orderWithLine    = bareOrder + `,"orderlines":[` + lineOfOrder + `]}`
	flatrateWithLine = `{"number":"%s","description":"A","flatratelines":[{"sort_order":1}]}`
)

// arrayKey is the text of an api_key for the tests of arrays.
func arrayKey(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n) }

// withAllowlists starts a desk with an api_key for each allowlist, and logs in
// with each.
func withAllowlists(t testing.TB, o deskOptions, lists ...string) (d *desk, tokens []string) {
	t.Helper()
	for i, list := range lists {
		o.keys += keyConfig(fmt.Sprintf("arrays%d", i), arrayKey(i), "    allow: ["+list+"]\n")
	}
	d = onSQLite(t, o)
	for i := range lists {
		tokens = append(tokens, d.login(arrayKey(i), "demo"))
	}
	return d, tokens
}

// refuses asks, and holds the answer to a refusal.
func (d *desk) refuses(token, method, path, body string, status int, message string) {
	d.t.Helper()
	a := d.call(method, path, token, body)
	require.Equal(d.t, status, a.Status, "%s %s: %s", method, path, a.Body)
	require.Equal(d.t, message, a.failure(d.t).Message, "%s %s", method, path)
}

// fieldsOf are the fields that GET /model/<name> tells of, with whether they are
// readonly.
func (d *desk) fieldsOf(token, name string) map[string]bool {
	d.t.Helper()
	a := d.call("GET", "/model/"+name, token, "")
	require.Equal(d.t, 200, a.Status, "%s", a.Body)
	var model struct {
		Data struct {
			Fields []struct {
				Name     string
				Readonly bool
			}
		}
	}
	require.NoError(d.t, json.Unmarshal(a.Body, &model))
	fields := map[string]bool{}
	for _, f := range model.Data.Fields {
		fields[f.Name] = f.Readonly
	}
	return fields
}

const noOrderlines = "Field: orderlines not found in model"

// TestArraysNeedTheChild: what an api_key may not GET of order lines it does not
// see in an order either, and what it may not POST it cannot send with one.
func TestArraysNeedTheChild(t *testing.T) {
	d, tokens := withAllowlists(t, deskOptions{}, `"* /order", "* /flatrate", "GET /model/*"`, `"* /order", "* /flatrate", "GET /orderline", "GET /model/*"`,
		`"* /order", "POST /orderline", "POST /flatrateline", "* /flatrate", "GET /model/*"`, `"* /order", "PUT /orderline", "DELETE /orderline"`)
	none, reads, sends, others := tokens[0], tokens[1], tokens[2], tokens[3]
	full := d.login(fullKey, "demo")
	id := d.create(full, "order", orderWithLine)
	at := fmt.Sprintf("/order/%d", id)

	for _, token := range []string{none, sends, others} {
		d.refuses(token, "GET", at+"?fields=orderlines", "", 403, noOrderlines)
		d.refuses(token, "GET", fmt.Sprintf("/order?id=%d&fields=id,orderlines", id), "", 403, noOrderlines)
	}
	require.Len(t, d.call("GET", at+"?fields=orderlines", reads, "").data(t)["orderlines"], 1)
	for _, token := range []string{none, reads, others} {
		d.refuses(token, "POST", "/order", orderWithLine, 403, noOrderlines)
		d.refuses(token, "POST", "/order", bareOrder+`,"orderlines":[]}`, 403, noOrderlines)
		d.refuses(token, "POST", "/order", bareOrder+`,"orderlines":[{"colour":"x"},7]}`, 403, noOrderlines)
		d.refuses(token, "POST", "/order", bareOrder+`,"orderlines":[`+strings.Repeat("{},", 1000)+`{}]}`, 403, noOrderlines)
		d.create(token, "order", bareOrder+"}")
	}
	require.NotContains(t, d.call("POST", "/order", sends, orderWithLine).data(t), "orderlines")
	d.refuses(sends, "POST", "/order", bareOrder+`,"orderlines":[]}`, 403, "Field: orderlines minimum 1 element is required in array")

	const line = `{"orderlines":[` + lineOfOrder + `]}`
	for _, token := range []string{none, others} {
		d.refuses(token, "PUT", at, line, 403, noOrderlines)
		d.refuses(token, "PUT", at, `{"orderlines":[]}`, 403, noOrderlines)
		d.refuses(token, "PUT", at, `{"orderlines":null}`, 403, noOrderlines)
	}
	for _, token := range []string{reads, sends, full} { // who meets the field may hear that it cannot be updated
		d.refuses(token, "PUT", at, line, 409, "Cannot update orderlines")
		require.NotContains(t, d.call("PUT", at, token, `{"reference":"x"}`).data(t), "orderlines")
	}
	for _, token := range append(tokens, full) {
		d.refuses(token, "GET", "/order?fields=orderlines", "", 403, noOrderlines)
	}

	d.refuses(none, "POST", "/flatrate", fmt.Sprintf(flatrateWithLine, "N"), 403, "Field: flatratelines not found in model")
	rate := d.create(sends, "flatrate", fmt.Sprintf(flatrateWithLine, "S"))
	d.refuses(sends, "GET", fmt.Sprintf("/flatrate/%d?fields=flatratelines", rate), "", 403, "Field: flatratelines not found in model")
	require.Len(t, d.call("GET", fmt.Sprintf("/flatrate/%d?fields=flatratelines", rate), full, "").data(t)["flatratelines"], 1)

	require.NotContains(t, d.fieldsOf(none, "order"), "orderlines")
	require.NotContains(t, d.fieldsOf(none, "flatrate"), "flatratelines")
	require.Equal(t, []bool{true, false, false}, []bool{d.fieldsOf(reads, "order")["orderlines"], d.fieldsOf(sends, "order")["orderlines"], d.fieldsOf(full, "order")["orderlines"]}, "readonly where it can only be read")
	require.Contains(t, d.fieldsOf(d.login(ordersKey, "demo"), "order"), "orderlines")
}

// TestArraysOfTheDescription: a description has an array where the api_key may use
// it, and nowhere else names it.
func TestArraysOfTheDescription(t *testing.T) {
	d, _ := withAllowlists(t, deskOptions{}, `"* /order", "* /flatrate", "* /vehicle", "GET /model/*"`, `"* /order", "GET /orderline"`, `"* /order", "POST /orderline"`)
	described := func(key string) string {
		a, err := d.try("GET", "/openapi.json?api_key="+key, "", "")
		require.NoError(t, err)
		require.Equal(t, 200, a.Status)
		return string(a.Body)
	}
	none := described(arrayKey(0))
	require.NotContains(t, none, "orderlines")
	require.NotContains(t, none, "flatratelines")
	require.NotContains(t, none, "minimum 1 element is required in array")
	require.NotContains(t, none, "OrderCreateOrderline")
	require.NotContains(t, none, "#/components/examples/flatrate", "what only a line is refused for")

	reads := described(arrayKey(1))
	require.Contains(t, reads, `"orderlines"`)
	require.NotContains(t, reads, "OrderCreateOrderline")
	require.NotContains(t, reads, "with_orderlines")
	sends := described(arrayKey(2))
	require.Contains(t, sends, "OrderCreateOrderline")
	require.Contains(t, sends, "with_orderlines")
	require.NotContains(t, sends, "Answered only where `fields` names it")

	code, out, problems := command(t, "", "openapi", "--demo", "--key", "demo-orders")
	require.Zero(t, code, problems)
	require.Contains(t, out, `"orderlines"`)
}

// TestArraysOfSessions: what else a session tells of what it may read.
func TestArraysOfSessions(t *testing.T) {
	d, tokens := withAllowlists(t, deskOptions{}, `"GET /order"`, `"GET /order", "GET /orderline"`)
	modules := func(token string) string {
		return string(d.call("GET", "/authenticate/modules", token, "").Body)
	}
	require.JSONEq(t, `{"data":[{"name":"sales","resources":["order"]}]}`, modules(tokens[0]))
	require.JSONEq(t, `{"data":[{"name":"sales","resources":["order","orderline"]}]}`, modules(tokens[1]))

	plain, whole := d.call("GET", "/order/1", tokens[0], ""), d.call("GET", "/order/1?fields=orderlines", tokens[1], "")
	require.Equal(t, plain.Header.Get("ETag"), whole.Header.Get("ETag"), "an order has one tag, whatever is seen of it")
	require.Equal(t, 304, d.call("GET", "/order/1", tokens[0], "", "If-None-Match", whole.Header.Get("ETag")).Status)
}

// TestArraysOfCallbacks: what is done in the background is refused before it is
// promised, and answers no more than at once.
func TestArraysOfCallbacks(t *testing.T) {
	h, o := newHooks(t, nil)
	o.extra += "callbacks: [\"GET /order\", \"POST /order\"]\n"
	d, tokens := withAllowlists(t, o, `"* /order", "GET /webhook"`, `"* /order", "GET /webhook", "* /orderline"`)
	withHook := fmt.Sprintf(`{"webhook_url":%q,`, h.address()) + orderWithLine[1:]
	d.refuses(tokens[0], "POST", "/order", withHook, 403, noOrderlines)
	ask := "/order/1?fields=orderlines&webhook_url=" + strings.NewReplacer(":", "%3A", "?", "%3F", "&", "%26", "%", "%25").Replace(h.address())
	d.refuses(tokens[0], "GET", ask, "", 403, noOrderlines)

	result := func(id string) answer {
		<-h.calls
		return d.download(d.collect(tokens[1], id))
	}
	made := result(d.call("POST", "/order", tokens[1], withHook).promise(t))
	require.NotContains(t, made.data(t), "orderlines")
	lines := result(d.call("GET", strings.Replace(ask, "/order/1", fmt.Sprintf("/order/%d", made.id(t)), 1), tokens[1], "").promise(t))
	require.Len(t, lines.data(t)["orderlines"], 1)
}

// TestArraysOfReplays: a request that was done once is judged by the allowlist of
// now when it comes again, and its kept answer has no arrays.
func TestArraysOfReplays(t *testing.T) {
	allow := func(list string) string {
		return keyConfig("changing", arrayKey(0), "    allow: ["+list+"]\n")
	}
	dsn := engines[0].dsn(t)
	config := keptConfig(t, dsn, "", "KEYS")
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), strings.Replace(config, "KEYS", allow(`"* /order", "* /orderline"`), 1), true)
	token := k.login(arrayKey(0), "demo")
	first := k.call("POST", "/order", token, orderWithLine, "Idempotency-Key", "lines")
	require.Equal(t, 201, first.Status, "%s", first.Body)
	print := k.call("GET", "/authenticate/fingerprint", token, "").data(t)["fingerprint"]

	k.write(strings.Replace(config, "KEYS", allow(`"* /order"`), 1))
	k.hangUp()
	refused := k.call("POST", "/order", token, orderWithLine, "Idempotency-Key", "lines")
	require.Equal(t, 403, refused.Status, "%s", refused.Body)
	require.Equal(t, noOrderlines, refused.failure(t).Message)
	require.Empty(t, refused.Header.Get("Idempotent-Replayed"))
	require.NotEqual(t, print, k.call("GET", "/authenticate/fingerprint", token, "").data(t)["fingerprint"], "another model for this key")

	k.write(strings.Replace(config, "KEYS", allow(`"* /order", "POST /orderline"`), 1))
	k.hangUp()
	again := k.call("POST", "/order", token, orderWithLine, "Idempotency-Key", "lines")
	require.Equal(t, 201, again.Status, "%s", again.Body)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Body), string(again.Body))
	require.NotContains(t, again.data(t), "orderlines")
}

// TestArraysOfVendors: arrays that only this vendor has, and arrays in arrays.
func TestArraysOfVendors(t *testing.T) {
	dir := t.TempDir()
	for name, fields := range map[string]string{
		"fleet": "  - {name: cars, type: array(car), array_key: fleet_id, description: Its cars.}\n",
		"car":   "  - {name: fleet_id, type: int4, required: true, immutable: true, reference: fleet, description: Its fleet.}\n  - {name: extras, type: array(extra), array_key: car_id, description: Its extras.}\n",
		"extra": "  - {name: car_id, type: int4, required: true, immutable: true, reference: car, description: Its car.}\n",
	} {
		text := "name: " + name + "\ndescription: One of the vendor's own.\nmodule: fleets\nsince: 2\nfields:\n  - {name: note, type: varchar(20), description: A note.}\n" + fields
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	d, tokens := withAllowlists(t, deskOptions{extra: fmt.Sprintf("model: {dir: %q}\n", dir)},
		`"* /fleet", "GET /model/*"`, `"* /fleet", "* /car"`, `"* /fleet", "* /car", "POST /extra"`)
	const noCars = "Field: cars not found in model"
	d.refuses(tokens[0], "POST", "/fleet", `{"cars":[{"note":"A"}]}`, 403, noCars)
	d.refuses(tokens[0], "GET", "/fleet/1?fields=cars", "", 403, noCars)
	require.NotContains(t, d.fieldsOf(tokens[0], "fleet"), "cars")
	require.NotContains(t, d.fieldsOf(tokens[0], "car"), "extras")
	id := d.create(tokens[1], "fleet", `{"cars":[{"note":"A"}]}`)
	require.Len(t, d.call("GET", fmt.Sprintf("/fleet/%d?fields=cars", id), tokens[1], "").data(t)["cars"], 1)
	d.refuses(tokens[1], "POST", "/fleet", `{"cars":[{"note":"A","extras":[{"note":"B"}]}]}`, 403, "Field: cars[0].extras not found in model")
	a := d.call("POST", "/fleet", tokens[2], `{"cars":[{"note":"A","extras":[{"nothing":"B"}]}]}`)
	require.Equal(t, "Field: cars[0].extras[0].nothing not found in model", a.failure(t).Message)
}

// TestArraysOfAnOwnModel: what the administration says of a resource itself goes to
// those only who may use all of it.
func TestArraysOfAnOwnModel(t *testing.T) {
	f := new(faults)
	d, tokens := withAllowlists(t, deskOptions{wrap: f.wrap}, `"GET /order", "GET /model/*"`, `"GET /model/*", "* /orderline"`)
	f.describes(`{"name":"its own"}`)
	require.NotContains(t, d.fieldsOf(tokens[0], "order"), "orderlines")
	require.JSONEq(t, `{"data":{"name":"its own"}}`, string(d.call("GET", "/model/order", tokens[1], "").Body))
	f.describes("no JSON")
	d.refuses(tokens[0], "GET", "/model/order", "", 400, "Body is not valid JSON")
}

// TestArraysInConformance: the suite asks of arrays what the api_key may do with them.
func TestArraysInConformance(t *testing.T) {
	const parents = `"* /contact", "* /order", "* /flatrate", "* /turnovergroup", "GET /model/*"`
	for list, passes := range map[string]bool{
		"": false, `, "GET /orderline", "GET /flatrateline"`: false, `, "POST /orderline", "POST /flatrateline"`: false,
		`, "* /orderline", "* /flatrateline"`: true,
	} {
		d, _ := withAllowlists(t, deskOptions{}, parents+list)
		o := conformOptions(d.base)
		o.APIKey = arrayKey(0)
		for _, o.Only = range []string{"p*.array_needs_element", "order.children"} {
			report := conform(t, o)
			require.Empty(t, ended(report, backendtest.Failed), "%s: %s", list, failures(report))
			if o.Only == "order.children" {
				require.Equal(t, passes, len(ended(report, backendtest.Passed)) > 0, "%s: %v", list, needs(report))
			}
		}
	}
}
