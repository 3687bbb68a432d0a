package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// meter keeps what it is told.
type meter struct {
	mu   sync.Mutex
	told []string
}

func (m *meter) tell(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, fmt.Sprintf(format, args...))
}

func (m *meter) Answered(a Answer) {
	m.tell("%s %s %d in %g, %g of it behind", a.Method, a.Endpoint, a.Status, a.Took.Seconds(), a.Backend.Seconds())
	if a.Hash != nil {
		m.tell("used %s", a.Hash.Short())
	}
	if a.Reason != "" {
		m.tell("refused %s %s", a.Key, a.Reason)
	}
	for _, use := range a.Deprecated {
		m.tell("deprecated %s %s %t", a.Key, use.What, use.Named)
	}
}

func (m *meter) Wrote(method, endpoint string, status, records int) {
	m.tell("wrote %s %s %d %d", method, endpoint, status, records)
}

// slowStore takes half a second for each call.
type slowStore struct{ *reference.Store }

func (s slowStore) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	time.Sleep(500 * time.Millisecond)
	return s.Store.Get(ctx, r, q)
}

func (s slowStore) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	time.Sleep(500 * time.Millisecond)
	return s.Store.List(ctx, r, q)
}

func (s slowStore) Write(ctx context.Context, do func(backend.Tx) error) error {
	time.Sleep(500 * time.Millisecond)
	return s.Store.Write(ctx, do)
}

func (s slowStore) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	time.Sleep(500 * time.Millisecond)
	return s.Store.Verify(ctx, c)
}

// TestWhatIsCounted has names of the configuration and of the endpoint table, never
// what a client made up; and of the time, the administration's part, of this request's calls alone.
func TestWhatIsCounted(t *testing.T) {
	inBubble(t, countedByTheClock)
}

func countedByTheClock(t *testing.T) {
	m := new(meter)
	h := newFixture(t, func(h *fixture, o *Options) {
		slow := slowStore{h.store}
		client, err := backend.NewClient(slow, o.Offer.Model, backend.Options{Timeout: time.Hour, Observe: func(ctx context.Context, c backend.Call) { NoteBackend(ctx, c.Took) }})
		require.NoError(t, err)
		o.Meter, o.Clock, o.Backend = m, time.Now, client
		h.openAccounts(o, slow)
	})
	h.setKeys(keyOf(keyAll, "shop", Grant{"GET", "/order"}, Grant{"POST", "/contact"}))
	demo := visitor{h, h.sessionUntil(keyAll, "demo", time.Now().Add(time.Hour))}
	const login = "/authenticate?organization_name=&username=nobody&password=x&api_key="
	used := fmt.Sprintf("used %x", sha256.Sum256([]byte(keyAll)))[:len("used ")+8]
	for _, c := range []struct {
		method, target, body string
		want                 []string
	}{
		{"GET", "/order/1", "", []string{"GET /order/{id} 200 in 0.5, 0.5 of it behind", used}},
		{"GET", "/order/99", "", []string{"GET /order/{id} 404 in 0.5, 0.5 of it behind", used, "refused shop record_not_found"}},
		{"GET", "/order", "", []string{"GET /order 200 in 0.5, 0.5 of it behind", used}},
		{"GET", "/order?page=0", "", []string{"GET /order 400 in 0, 0 of it behind", used, "refused shop page_invalid"}},
		{"POST", "/contact", `{"name":"Smit","kind":"company"}`, []string{"POST /contact 201 in 0.5, 0.5 of it behind", used}},
		{"GET", "/vehicle/1", "", []string{"GET /vehicle/{id} 400 in 0, 0 of it behind", used, "refused shop endpoint_unknown"}},
		{"GET", "/authenticate/acces", "", []string{"GET /authenticate/acces 200 in 0, 0 of it behind", used}},
		{"GET", login + keyAll, "", []string{"GET /authenticate 401 in 0.5, 0.5 of it behind", used, "refused shop credentials_invalid"}},
		{"GET", login + "22222222-2222-4222-8222-222222222222", "", []string{"GET /authenticate 401 in 0.5, 0.5 of it behind", "refused  credentials_invalid"}},
		{"GET", testpageAsset(t, ".js"), "", []string{"GET /testpage/{asset} 200 in 0, 0 of it behind"}},
		{"GET", testpageAsset(t, ".css"), "", []string{"GET /testpage/{asset} 200 in 0, 0 of it behind"}},
		{"MADEUP", "/madeup", "", []string{"OTHER  400 in 0, 0 of it behind", "refused shop endpoint_unknown"}},
		{"MADEUP", "/order", "", []string{"OTHER  400 in 0, 0 of it behind", "refused shop method_unsupported"}},
	} {
		m.told = nil
		demo.ask(c.method, c.target, c.body)
		require.Equal(t, c.want, m.told, c.target)
	}
}

// testpageAsset is the path of one of the test page's files.
func testpageAsset(t *testing.T, ending string) string {
	t.Helper()
	pages := testpage.Pages(testpage.Options{})
	i := slices.IndexFunc(pages, func(p *testpage.Page) bool { return strings.HasSuffix(p.Path, ending) })
	require.Positive(t, i)
	return pages[i].Path
}

// TestAccessLine names what was asked for, and repeats nothing of it.
func TestAccessLine(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	a := h.as("demo").ask("GET", "/order?kind=s3cret&page=1&s3cret=1", "")
	h.as("demo").ask("S3CRET", "/s3cret", "")
	lines := h.lines.FilterMessage("request").All()
	require.Len(t, lines, 2)
	require.Equal(t, map[string]any{
		"request_id": askedID, "key": "all", "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(keyAll)))[:8], "client": "Demo Garage", "user": "demo", "method": "GET", "endpoint": "/order", "query": []any{"kind", "page"},
		"status": int64(400), "reason": "query_parameter_unsupported", "duration": time.Duration(0), "backend": time.Duration(0), "bytes": int64(len(a.body)), "address": "192.0.2.1",
		"config": "c0ffee", "needs": []any{}, "cause": "", "trace": "",
	}, lines[0].ContextMap())
	require.Equal(t, "OTHER", lines[1].ContextMap()["method"])
	for _, line := range lines {
		require.NotContains(t, strings.ToLower(fmt.Sprint(line.ContextMap())), "s3cret")
	}
	h.handler = h.Handler(&Policy{Keys: h.policy.Keys})
	h.as("demo").ask("GET", "/order/1", "")
	require.Len(t, h.lines.FilterMessage("request").All(), 2, "the configuration wants no lines")
}

// breaking is a meter that breaks off.
type breaking struct{ *meter }

func (breaking) Answered(Answer) { panic("no meter") }

// TestPanicOutsideTheStages is answered like one within, and ends the connection.
func TestPanicOutsideTheStages(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *fixture, o *Options) { o.Meter = breaking{new(meter)} })
	a := h.as("demo").ask("POST", "/contact", "{}")
	require.Equal(t, []any{500, "close"}, []any{a.status, a.head("Connection")})
	require.Contains(t, a.body, `"message":"Internal server error"`)
	require.Contains(t, fmt.Sprint(h.lines.FilterMessage("request failed").All()[0].ContextMap()), "panic: no meter")
}

// TestAnsweredLeavesStreams: a result is not brought into memory for the sake of a
// line in the log.
func TestAnsweredLeavesStreams(t *testing.T) {
	x := &Exchange{response: new(fasthttp.Response)}
	x.response.SetBodyStream(strings.NewReader("a result"), 8)
	require.Equal(t, 8, x.answered())
	require.True(t, x.response.IsBodyStream())
	x.response.SetBodyString("an answer")
	require.Equal(t, 9, x.answered())
}

// refusals are those that a visitor is told of.
func (v visitor) refusals(t *testing.T) (all []refusedRequest, text string) {
	t.Helper()
	a := v.ask("GET", "/testpage/requests", "")
	require.Equal(t, 200, a.status, a.body)
	answer := must.JSON[struct{ Data []refusedRequest }](t, a.body)
	require.NotNil(t, answer.Data)
	return answer.Data, a.body
}

// TestRefusalsAreTold to whom they were given: with cause and cure, names, and no values.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, other := h.as("demo"), h.as("other")
	all, _ := demo.refusals(t)
	require.Empty(t, all)

	demo.ask("POST", "/order", `{"kind":"very-secret","colour":"very-secret"}`)
	demo.ask("GET", "/order?page=very-secret&kind=sales", "")
	demo.ask("GET", "/nowhere", "")
	demo.ask("GET", "/order", "")
	all, text := demo.refusals(t)
	require.NotContains(t, text, "very-secret")
	require.Len(t, all, 3, "what was answered well is none")
	require.Equal(t, []any{"", 400, "endpoint_unknown", "Invalid endpoint: <x>"}, []any{all[0].Endpoint, all[0].Status, all[0].Reason, all[0].Message}, "the last one first")
	require.Equal(t, []any{"GET", "/order", "page_invalid", []string{"page", "kind"}}, []any{all[1].Method, all[1].Endpoint, all[1].Reason, all[1].Parameters})
	require.Equal(t, []any{"POST", "/order", 403, "field_not_in_model"}, []any{all[2].Method, all[2].Endpoint, all[2].Status, all[2].Reason})
	require.Subset(t, all[2].Fields, []string{"colour", "kind", "contact_id"})
	for _, one := range all {
		require.NotEmpty(t, one.RequestID)
		require.NotEmpty(t, one.Cause)
		require.NotEmpty(t, one.Cure)
		require.Regexp(t, answeredTimestamp, one.At)
	}
	all, _ = other.refusals(t)
	require.Empty(t, all, "another client's")
	require.Equal(t, 401, visitor{h: h}.ask("GET", "/testpage/requests", "").status)

	for range keptRefusals + 5 {
		demo.ask("DELETE", "/order/0", "")
	}
	all, _ = demo.refusals(t)
	require.Len(t, all, keptRefusals)
	require.Equal(t, "DELETE", all[keptRefusals-1].Method)
}

// TestRefusalsOfWhatIsNotGranted: before, an endpoint that the api_key may not use was told by
// its name here, where its answer is that of one that there is not.
func TestRefusalsOfWhatIsNotGranted(t *testing.T) {
	t.Parallel()
	const few = "22222222-2222-4222-8222-222222222222"
	h := newFixture(t)
	h.setKeys(keyOf(few, "few", Grant{"GET", "/order"}))
	v := visitor{h, h.session(few, "demo")}
	last := func(method, target string) refusedRequest {
		v.ask(method, target, "")
		all, _ := v.refusals(t)
		all[0].RequestID, all[0].At = "", ""
		return all[0]
	}
	for _, ask := range [][2]string{{"GET", "/vehicle?color=red"}, {"GET", "/vehicle/1"}, {"DELETE", "/vehicle/1"}, {"PUT", "/vehicle/publishstart?id=1"}, {"POST", "/vehicle"}} {
		require.Equal(t, last(ask[0], "/nowhere"), last(ask[0], ask[1]), ask)
	}
	for _, method := range []string{"POST", "DELETE"} {
		was := last("PATCH", "/order")
		was.Method = method
		require.Equal(t, was, last(method, "/order"), method)
	}
}

// TestRefusalsAreBounded whoever is refused: the caller that was refused the longest ago makes
// room.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for i := range keptCallers + 10 {
		r.note(refusedCaller{"key", int64(i)}, refusedRequest{At: fmt.Sprintf("%06d", i)})
	}
	require.Equal(t, keptCallers, r.of.Len())
	require.Empty(t, r.last(refusedCaller{"key", 9}))
	require.Len(t, r.last(refusedCaller{"key", 10}), 1)
}
