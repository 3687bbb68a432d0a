package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// agingModel is the built-in model with what the test says of order, orderline and
// vehicleroleline.
func agingModel(t *testing.T) *mapping.Model {
	t.Helper()
	dir := t.TempDir()
	edit := func(name, old, now string) {
		edited := filepath.Join(dir, name+".yaml")
		text, err := os.ReadFile(edited)
		if err != nil {
			text, err = os.ReadFile(filepath.Join("..", "mapping", "resources", name+".yaml"))
		}
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(text), old), "%s: %s", name, old)
		require.NoError(t, os.WriteFile(edited, []byte(strings.Replace(string(text), old, now, 1)), 0o600))
	}
	edit("order", "name: order\n", "name: order\noperations: {delete: {deprecated: {since: 2026-10-01}}}\n")
	edit("order", "  - name: reference\n", "  - name: reference\n    deprecated: {since: 2026-12-01, until: 2027-06-30}\n")
	edit("orderline", "  - name: description\n", "  - name: description\n    deprecated: {since: 2026-11-01, until: 2027-09-30}\n")
	edit("vehicleroleline", "name: vehicleroleline\n", "name: vehicleroleline\ndeprecated: {since: 2026-12-01}\n")
	model, err := mapping.LoadModel(dir)
	require.NoError(t, err)
	return model
}

// newAgingFixture is a fixture whose model is the agingModel.
func newAgingFixture(t *testing.T, m *meter) *fixture {
	t.Helper()
	return fixtureOf(t, agingModel(t), func(_ *fixture, o *Options) { o.Meter = m })
}

// TestDeprecated holds answers, the log and the counters to what the model marks.
func TestDeprecated(t *testing.T) {
	t.Parallel()
	m := new(meter)
	h := newAgingFixture(t, m)
	demo := h.as("demo")
	for _, c := range []struct {
		method, target, body string
		deprecation, sunset  string
		named                string // in the log
		counted              string // beside
	}{
		{"GET", "/contact/1", "", "", "", "", ""},
		{"GET", "/order?fields=id", "", "", "", "", ""},
		{"PUT", "/order/1", `{}`, "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "", "order.reference"},
		{"GET", "/order/1", "", "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "", "order.reference"},
		{"GET", "/order?fields=id,reference", "", "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "order.reference", ""},
		{"GET", "/order?fields=id&sort=-reference", "", "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "order.reference", ""},
		{"GET", "/order?fields=id&reference[null]=1", "", "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "order.reference", ""},
		{"GET", "/order/1?fields=id,orderlines", "", "@1793491200", "Thu, 30 Sep 2027 00:00:00 GMT", "orderline.description", ""},
		{"POST", "/order", `{"reference":5}`, "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "order.reference", ""},
		{"POST", "/order", `{"orderlines":[{"description":"x"}]}`, "@1793491200", "Thu, 30 Sep 2027 00:00:00 GMT", "orderline.description", ""},
		{"PUT", "/order/bulk", `{"records":[{"id":1,"reference":"A"},{"id":1,"reference":"B"}]}`, "@1796083200", "Wed, 30 Jun 2027 00:00:00 GMT", "order.reference", ""},
		{"DELETE", "/order/1", "", "@1790812800", "", "DELETE /order/{id}", ""},
		{"DELETE", "/order/99", "", "@1790812800", "", "DELETE /order/{id}", ""},
		{"GET", "/vehicleroleline?vehicle_id=1", "", "@1796083200", "", "GET /vehicleroleline", ""},
		{"GET", "/changes?resource=vehicleroleline", "", "@1796083200", "", "vehicleroleline", ""},
		{"GET", "/changes?resource=order", "", "", "", "", ""},
	} {
		m.told = nil
		before := h.lines.FilterMessage("request").Len()
		a := demo.ask(c.method, c.target, c.body)
		what := c.method + " " + c.target + " " + a.body
		require.Equal(t, c.deprecation, a.head("Deprecation"), what)
		require.Equal(t, c.sunset, a.head("Sunset"), what)
		logged := h.lines.FilterMessage("request").All()[before].ContextMap()["deprecated"]
		var counted []string
		for _, one := range m.told {
			if text, ok := strings.CutPrefix(one, "deprecated all "); ok {
				counted = append(counted, text)
			}
		}
		switch {
		case c.named != "":
			require.Equal(t, []any{c.named}, logged, what)
			require.Equal(t, []string{c.named + " true"}, counted, what)
		case c.counted != "":
			require.Nil(t, logged, what)
			require.Equal(t, []string{c.counted + " false"}, counted, what)
		default:
			require.Nil(t, logged, what)
			require.Nil(t, counted, what)
		}
	}
}

// TestDeprecatedIsDescribed in the model and in the description, and hidden from a key that may not
// use it. An operation's refusals are described with the headers that tell it if its answers are,
// and only then, whoever else refuses for the same reasons.
func TestDeprecatedIsDescribed(t *testing.T) {
	t.Parallel()
	h := newAgingFixture(t, new(meter))
	demo, d := h.as("demo"), h.description(t, keyAll)
	model := func(name string) string { return demo.ask("GET", "/model/"+name, "").body }
	require.Contains(t, model("order"), `"deprecated_operations":[{"operation":"DELETE /order/{id}","deprecated":{"since":"2026-10-01"}}]`)
	require.Contains(t, model("order"), `"deprecated":{"since":"2026-12-01","until":"2027-06-30"}`)
	require.Contains(t, model("vehicleroleline"), `"deprecated":{"since":"2026-12-01"}`)
	require.NotContains(t, model("contact"), "deprecated")

	deprecated, aging := map[string]bool{}, map[bool]int{}
	for _, op := range d.operations() {
		method, path, _ := strings.Cut(op, " ")
		o, told := d.at("paths", path, strings.ToLower(method)), map[bool][]string{}
		deprecated[op], _ = o["deprecated"].(bool)
		for status, answer := range o["responses"].(map[string]any) {
			headers, _ := d.resolve(answer)["headers"].(map[string]any)
			told[headers["Deprecation"] != nil] = append(told[headers["Deprecation"] != nil], status)
		}
		require.Len(t, told, 1, "%s: %v", op, told)
		aging[told[true] != nil]++
	}
	require.Len(t, aging, 2)
	require.Equal(t, []bool{true, false, true}, []bool{deprecated["DELETE /order/{id}"], deprecated["GET /order/{id}"], deprecated["POST /vehicleroleline/bulk"]})
	require.Contains(t, d.at("paths", "/order/{id}", "delete")["description"], "Deprecated since 2026-10-01.")
	require.Contains(t, d.at("paths", "/order/{id}", "delete", "responses", "200", "headers"), "Deprecation")
	require.NotContains(t, d.at("paths", "/contact/{id}", "get", "responses", "200", "headers"), "Sunset")
	for _, p := range d.at("paths", "/order", "get")["parameters"].([]any) {
		p := d.resolve(p)
		require.Equal(t, strings.HasPrefix(p["name"].(string), "reference"), p["deprecated"] == true, p["name"])
	}
	for _, name := range []string{"Order", "OrderCreate", "OrderUpdate"} {
		p := d.at("components", "schemas", name, "properties", "reference")
		require.Equal(t, true, p["deprecated"], name)
		require.Contains(t, p["description"], "Deprecated since 2026-12-01, there until 2027-06-30.")
	}

	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/order"}, Grant{"GET", "/model/*"}))
	require.Empty(t, demo.ask("DELETE", "/order/1", "").head("Deprecation"))
	require.NotContains(t, model("order"), "deprecated_operations")
}
