package remote

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// judge stands before an adapter and holds every request and answer against the
// protocol's description.
type judge struct {
	t      *testing.T
	doc    *openapi3.T
	router routers.Router
	target string
	seen   map[string]int // by operation and status
}

func newJudge(t *testing.T, target string) (*judge, string) {
	doc, err := openapi3.NewLoader().LoadFromFile("../../docs/backend-protocol.openapi.yaml")
	require.NoError(t, err)
	require.NoError(t, doc.Validate(bg()))
	j := &judge{t: t, doc: doc, target: target, seen: map[string]int{}}
	server := httptest.NewServer(j)
	t.Cleanup(server.Close)
	doc.Servers = openapi3.Servers{{URL: server.URL}}
	j.router, err = legacy.NewRouter(doc)
	require.NoError(t, err)
	return j, server.URL
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	check := func(err error, what string) {
		if err != nil {
			j.t.Errorf("%s %s: %s: %v", r.Method, r.URL, what, err)
		}
	}
	check(err, "request")
	r.URL.Scheme, r.URL.Host = "http", r.Host
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := j.router.FindRoute(r)
	check(err, "no such path")
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	check(openapi3filter.ValidateRequest(bg(), input), "request")
	onward, err := http.NewRequestWithContext(r.Context(), r.Method, j.target+r.URL.RequestURI(), bytes.NewReader(body))
	check(err, "request")
	onward.Header = r.Header.Clone()
	answer, err := http.DefaultTransport.RoundTrip(onward)
	if err != nil {
		check(err, "pass on")
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	check(err, "answer")
	check(openapi3filter.ValidateResponse(bg(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(text)),
	}), "answer")
	j.seen[fmt.Sprint(route.Operation.OperationID, " ", answer.StatusCode)]++
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text)
}

// What the driver sends and the adapter answers is what the description says.
func TestProtocolIsAsDescribed(t *testing.T) {
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	j, url := newJudge(t, startAdapter(t))
	s := open(t, Options{Sheet: adapterSheet(t, url)})
	c := front(t, s)
	require.NoError(t, s.Ping(bg()))
	turnover := create(t, c, anna, "turnovergroup", group)
	contact := create(t, c, anna, "contact", `{"kind":"person","name":"Wit","birth_date":"1980-02-29"}`)
	orders := c.Model().Resource("order")
	text := fmt.Sprintf(`{"contact_id":%d,"kind":"workshop","order_status":"open","order_date":"2026-11-20T10:00:00.123Z","orderlines":[
		{"description":"Beurt","quantity":1.5,"price":80.1255,"turnover_group_id":%d}]}`, contact.ID(), turnover.ID())
	for range 2 {
		_, _ = once(c, body(t, orders, text), "k", 1)
	}
	_, err := c.Get(bg(), orders, backend.Query{Client: anna, ID: 1, Fields: []int{orders.ID, orders.Field("orderlines").Index}})
	require.NoError(t, err)
	page, err := c.List(bg(), orders, backend.Query{
		Client: anna, Limit: 10, Offset: 1, Total: true, Fields: []int{orders.ID}, Sort: []backend.Order{{Field: orders.Field("kind"), Descending: true}},
		Filters:       []backend.Filter{{Field: orders.Field("contact_id"), Value: mapping.IntValue(1)}, {Field: orders.Field("reference"), Value: mapping.TextValue("a b&c=d")}},
		ModifiedSince: contact.Get("created_at"),
	})
	require.NoError(t, err)
	require.Empty(t, page.Records)
	_, err = c.List(bg(), orders, backend.Query{Client: anna, Limit: 10, After: 1})
	require.NoError(t, err)
	_, err = c.Update(bg(), anna, contact.ID(), patch(t, contact.Resource, `{"note":null,"payment_days":14}`), backend.Write{})
	require.NoError(t, err)
	require.Error(t, c.Delete(bg(), anna, contact.Resource, contact.ID(), backend.Write{}))
	require.NoError(t, c.Delete(bg(), anna, c.Model().Resource("orderline"), 1, backend.Write{}))
	_, err = c.Get(bg(), orders, backend.Query{Client: bert, ID: 1})
	require.Error(t, err)
	_, err = s.Verify(bg(), auth.Credentials{Username: "anna", Password: "anna"})
	require.NoError(t, err)
	_, err = s.Verify(bg(), auth.Credentials{Username: "anna", Password: "x"})
	require.Error(t, err)
	_, err = s.FindUser(bg(), "anna")
	require.NoError(t, err)
	for _, want := range []string{
		"model 200", "health 200", "create 201", "get 200", "get 404", "list 200", "update 200", "delete 204", "delete 406", "login 200", "login 401", "user 200",
	} {
		require.NotZero(t, j.seen[want], "%s: %v", want, j.seen)
	}
}
