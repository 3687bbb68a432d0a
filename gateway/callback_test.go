package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
	"frontdesk/mapping"
)

// longFixture is a fixture with callbacks, in which some operations are long-running.
type longFixture struct {
	*fixture
	receiver string      // whose address a request names
	called   chan string // the ids of its calls
}

func newLongFixture(t *testing.T, long ...Grant) *longFixture {
	h := &longFixture{called: make(chan string, 1)}
	authority := webhooktest.NewAuthority(t)
	server := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { h.called <- r.URL.Query().Get("id") }))
	h.receiver = server.URL + "/ready?shop=1"
	var callbacks *Callbacks
	var jobs *jobstore.Store
	h.fixture = newFixture(t, func(f *fixture, o *Options) {
		jobs = must.Have(jobstore.Open(t.Context(), f.store.Database()))(t)
		files := must.Have(webhook.OpenFiles(filepath.Join(t.TempDir(), "results")))(t)
		callbacks = &Callbacks{
			Links: webhook.NewLinks(jobs, f.clock.Now, o.Log), Results: files, Timeout: time.Minute, Long: func(g Grant) bool { return slices.Contains(long, g) },
			Rules: webhook.Rules{AllowHosts: []string{"127.0.0.1"}, Ports: []uint16{443, webhooktest.Port(t, server)}},
		}
		o.Callbacks = callbacks
	})
	callbacks.Orchestrator = webhook.Start(webhook.Config{
		Store: jobs, Results: callbacks.Results, Space: 1 << 20, Runners: h.Runners(),
		Caller:  webhook.NewCaller(webhook.CallerConfig{Rules: callbacks.Rules, Roots: authority.Roots()}),
		Secrets: func(string) []string { return nil }, Model: h.o.Offer.Model.Steps(), Workers: 1, Calls: 1, WorkLease: time.Hour, CallLease: time.Hour,
		Schedule: webhook.NewSchedule(func() float64 { return 0.5 }), Clock: h.clock.Now, Random: rand.Reader, Log: h.o.Log,
	})
	t.Cleanup(func() { require.NoError(t, callbacks.Orchestrator.Close()) })
	return h
}

// crowded has pages of changes that are all of others, before what is told.
type crowded struct {
	backend.Driver
	backend.ChangeFeed
	pages map[string]backend.ChangesPage // by the cursor before them
}

func (c crowded) Changes(_ context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	page, there := c.pages[q.After]
	if !there {
		return page, mapping.Fail(mapping.CursorGone)
	}
	return page, nil
}

// waiting has waits for changes that a backend tells in pages, by the cursor before them.
func waiting(t *testing.T, pages map[string]backend.ChangesPage) (h *longFixture, job func(after string, until time.Time) webhook.Job, run func(webhook.Job) (string, error)) {
	t.Helper()
	h = newLongFixture(t)
	onDriver(func(f *fixture) backend.Driver { return crowded{f.store, f.store, pages} })(h.fixture, &h.o)
	h.backend = h.o.Backend
	h.o.Callbacks.FindUser = h.store.FindUser
	user := must.Have(h.store.FindUser(t.Context(), "demo"))(t)
	job = func(after string, until time.Time) webhook.Job {
		data := must.Have(json.Marshal(storedWait{After: after, Until: until}))(t)
		return webhook.Job{ID: "j", Owner: webhook.Owner{Key: "all", User: user}, Work: webhook.Work{Kind: changesWork, Data: data}}
	}
	return h, job, func(j webhook.Job) (string, error) {
		var out bytes.Buffer
		_, err := h.runChanges(t.Context(), j, &out)
		return out.String(), err
	}
}

// deleted is a change.
func (f *longFixture) deleted(id int32) []backend.RecordChange {
	return []backend.RecordChange{{Resource: f.o.Offer.Model.Resource("order"), ID: id, Kind: backend.RecordDeleted, At: f.clock.Now()}}
}

// TestWaitBehindOthers: whoever waits is not called with an empty page because many changes
// of others lie before his own.
func TestWaitBehindOthers(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"begin": {Cursor: "between", More: true}, "end": {Cursor: "end"}}
	h, job, run := waiting(t, pages)
	pages["between"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	later := h.clock.Now().Add(time.Hour)
	answer, err := run(job("begin", later))
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
	_, err = run(job("end", later))
	require.True(t, errors.As(err, new(webhook.Asleep)), "%v", err)
	answer = must.Have(run(job("end", h.clock.Now())))(t)
	require.Contains(t, answer, `{"data":[],"cursor":"end","more":false`)
	answer = must.Have(run(job("gone", later)))(t)
	require.Contains(t, answer, `"reason":"cursor_gone"`)
}

// TestWaitLongerThanACursorIsGood: a wait goes on from what was looked at last, so it is answered
// also when the cursor that it began with is gone.
func TestWaitLongerThanACursorIsGood(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"old": {Cursor: "fresh"}, "fresh": {Cursor: "fresh"}}
	h, job, run := waiting(t, pages)
	j, over := job("old", h.clock.Now().Add(time.Hour)), job("old", h.clock.Now())
	require.Empty(t, h.Ready(t.Context(), []webhook.Job{j}))
	delete(pages, "old")
	answer := must.Have(run(over))(t)
	require.Contains(t, answer, `{"data":[],"cursor":"fresh","more":false`)
	pages["fresh"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	require.Len(t, h.Ready(t.Context(), []webhook.Job{j}), 1)
	answer = must.Have(run(j))(t)
	require.Contains(t, answer, `"id":7`)
}

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
	return must.Have(mapping.LoadModel(dir))(t)
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
