package gateway

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
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
	model := agingModel(t)
	data, err := sampleFile()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "f.db")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return newFixture(t, func(h *fixture, o *Options) {
		store, err := reference.Open(context.Background(), reference.Options{DSN: "sqlite:" + file, Model: model, Hasher: auth.NewHasher(), Now: h.clock.Now})
		require.NoError(t, err)
		require.NoError(t, h.store.Close())
		h.store = store
		o.Backend, err = backend.NewClient(store, model, backend.Options{Timeout: time.Minute})
		require.NoError(t, err)
		o.Offer, o.Meter = o.Backend.Offer(), m
	})
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

// TestDeprecatedIsHidden from a key that may not use it.
func TestDeprecatedIsHidden(t *testing.T) {
	t.Parallel()
	h := newAgingFixture(t, new(meter))
	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/order"}, Grant{"GET", "/model/*"}))
	demo := h.as("demo")
	require.Empty(t, demo.ask("DELETE", "/order/1", "").head("Deprecation"))
	require.NotContains(t, demo.ask("GET", "/model/order", "").body, "deprecated_operations")
}

// TestDeprecatedOfRefusals: an operation's refusals are described with the headers that tell what is
// going away if its answers are, and only then, whoever else refuses for the same reasons.
func TestDeprecatedOfRefusals(t *testing.T) {
	t.Parallel()
	d := newAgingFixture(t, new(meter)).description(t, keyAll)
	aging := map[bool]int{}
	for path, methods := range d.root["paths"].(map[string]any) {
		for method, op := range methods.(map[string]any) {
			told := map[bool][]string{}
			for status, answer := range op.(map[string]any)["responses"].(map[string]any) {
				headers, _ := d.resolve(answer)["headers"].(map[string]any)
				told[headers["Deprecation"] != nil] = append(told[headers["Deprecation"] != nil], status)
			}
			require.Len(t, told, 1, "%s %s: %v", method, path, told)
			aging[told[true] != nil]++
		}
	}
	require.Len(t, aging, 2)
}

// TestDeprecatedIsDescribed in the model and in the description.
func TestDeprecatedIsDescribed(t *testing.T) {
	t.Parallel()
	h := newAgingFixture(t, new(meter))
	demo := h.as("demo")
	model := func(name string) string { return demo.ask("GET", "/model/"+name, "").body }
	require.Contains(t, model("order"), `"deprecated_operations":[{"operation":"DELETE /order/{id}","deprecated":{"since":"2026-10-01"}}]`)
	require.Contains(t, model("order"), `"deprecated":{"since":"2026-12-01","until":"2027-06-30"}`)
	require.Contains(t, model("vehicleroleline"), `"deprecated":{"since":"2026-12-01"}`)
	require.NotContains(t, model("contact"), "deprecated")

	var doc struct {
		Paths map[string]map[string]struct {
			Description string
			Deprecated  bool
			Parameters  []struct {
				Name       string
				Deprecated bool
			}
			Responses map[string]struct{ Headers map[string]any }
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Description string
					Deprecated  bool
				}
			}
		}
	}
	a := demo.ask("GET", "/openapi.json?api_key="+keyAll, "")
	require.Equal(t, 200, a.status)
	require.NoError(t, json.Unmarshal([]byte(a.body), &doc))
	gone := doc.Paths["/order/{id}"]["delete"]
	require.True(t, gone.Deprecated)
	require.Contains(t, gone.Description, "Deprecated since 2026-10-01.")
	require.Contains(t, gone.Responses["200"].Headers, "Deprecation")
	require.False(t, doc.Paths["/order/{id}"]["get"].Deprecated)
	require.True(t, doc.Paths["/vehicleroleline/bulk"]["post"].Deprecated)
	require.NotContains(t, doc.Paths["/contact/{id}"]["get"].Responses["200"].Headers, "Sunset")
	for _, p := range doc.Paths["/order"]["get"].Parameters {
		require.Equal(t, strings.HasPrefix(p.Name, "reference"), p.Deprecated, p.Name)
	}
	for _, name := range []string{"Order", "OrderCreate", "OrderUpdate"} {
		p := doc.Components.Schemas[name].Properties["reference"]
		require.True(t, p.Deprecated, name)
		require.Contains(t, p.Description, "Deprecated since 2026-12-01, there until 2027-06-30.")
	}
}
