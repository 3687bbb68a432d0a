package gateway

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMistakesAreCured sends what integrators get wrong, as they were found to, and looks for
// what cures it: in the answer alone, which is its body and the titles of its links.
func TestMistakesAreCured(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	demo := h.as("demo")
	const order = `"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"`
	for _, m := range []struct {
		what, method, target, body string
		cure                       string
		headers                    []string
	}{
		{"an integer as a text", "POST", "/order", `{` + strings.Replace(order, `:1,`, `:"1",`, 1) + `}`, `not "1"`, nil},
		{"a comma in a number", "POST", "/article", `{"price":"1,5"}`, `without quotation marks`, nil},
		{"a Dutch date", "POST", "/order", `{"order_date":"01-07-2026"}`, "2026-07-01", nil},
		{"a time without a zone", "POST", "/order", `{"order_date":"2026-07-01T10:00:00"}`, "with a zone", nil},
		{"a date of SQL", "POST", "/order", `{"order_date":"2026-07-01 10:00:00"}`, "2026-07-01T10:00:00Z", nil},
		{"seconds since 1970", "POST", "/order", `{"order_date":1782892800}`, "as a JSON string", nil},
		{"true for a flag", "POST", "/flatrateline", `{"flatrate_id":1,"is_manual_input":true}`, "0 or 1, not true or false", nil},
		{"an offset in a query", "GET", "/order?modified_since=2026-07-01T12:00:00+02:00", "", "%2B", nil},
		{"PATCH", "PATCH", "/order/5", `{}`, "PATCH are never supported", nil},
		{"POST to a record", "POST", "/order/5", `{}`, "POST goes to /order, never to /order/5", nil},
		{"POST to log in", "POST", "/authenticate", `{}`, "not supported for endpoint: /authenticate", nil},
		{"a slash at the end", "GET", "/order/", "", "a slash at the end", nil},
		{"the plural", "GET", "/orders", "", "Compare the path with the OpenAPI description", nil},
		{"capitals", "GET", "/Order", "", "case", nil},
		{"a comma too many", "POST", "/order", `{"kind":"workshop",}`, `"position":{"line":1,"column":19}`, nil},
		{"a form", "POST", "/order", `kind=workshop`, "not as a form", []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"several records", "POST", "/order", `[{` + order + `}]`, "/bulk", nil},
		{"within data", "POST", "/order", `{"data":{` + order + `}}`, "Field: data not found in model", nil},
		{"an unknown field", "POST", "/order", `{` + order + `,"colour":"red"}`, "colour not found in model", nil},
		{"a readonly field", "POST", "/order", `{` + order + `,"created_at":"2026-07-01"}`, "created_at is readonly do not supply in request", nil},
		{"an id of one's own", "POST", "/order", `{` + order + `,"id":5}`, "id is primary ID do not supply in request", nil},
		{"a wrong choice", "POST", "/order", `{` + strings.Replace(order, "workshop", "repair", 1) + `}`, "workshop|sales|parts|lease", nil},
		{"no body", "POST", "/order", ``, "Empty body", nil},
		{"an unknown id", "GET", "/order/99999", "", "id value: 99999 not found", nil},
		{"a number for an id", "GET", "/order/O000042", "", "whole number", nil},
		{"an unknown related id", "POST", "/order", `{` + strings.Replace(order, `:1,`, `:99999,`, 1) + `}`, "contact_id value: 99999 ID not found", nil},
		{"page 0", "GET", "/order?page=0", "", "must be greater than 0", nil},
		{"a page too large", "GET", "/order?page_size=5000", "", "from 1 to 1000", nil},
		{"after with page", "GET", "/order?after=5&page=1", "", "after cannot be combined with page", nil},
		{"after with sort", "GET", "/order?after=5&sort=-id", "", "after cannot be combined with sort", nil},
		{"an unknown filter", "GET", "/order?colour=red", "", "not supported: colour", nil},
		{"a value that cannot be", "GET", "/order?order_status=opened", "", "concept|open|in_progress", nil},
		{"a parameter twice", "GET", "/order?fields=id&fields=number", "", "more than once: fields", nil},
		{"sorted by an array", "GET", "/order?sort=orderlines", "", "sort takes no arrays", nil},
		{"lines of no order", "GET", "/orderline", "", "order_id are required", nil},
		{"a line that lacks something", "POST", "/order", `{` + order + `,"orderlines":[{}]}`, "orderlines[0].", nil},
		{"a plate", "POST", "/vehicle", `{"license_plate":"123","brand":"x","model":"x"}`, "GT-123-B", nil},
		{"a port", "POST", "/backup/owner", `{"webhook_url":"https://example.nl:8443/x"}`, "its port is 443", nil},
		{"no token", "GET", "/order", "", "send what it answers in the header token", []string{"token", ""}},
		{"a bearer token", "GET", "/order", "", "a header Authorization is not read", []string{"token", "", "Authorization", "Bearer x"}},
		{"the api_key for a token", "GET", "/order", "", "Call GET /authenticate again", []string{"token", keyAll}},
	} {
		who := demo
		if len(m.headers) > 0 && m.headers[0] == "token" {
			who = visitor{h: h.fixture, token: m.headers[1]}
			m.headers = m.headers[2:]
		}
		a := who.ask(m.method, m.target, m.body, m.headers...)
		require.GreaterOrEqual(t, a.status, 400, "%s: %s", m.what, a.body)
		told := strings.ReplaceAll(a.head("Link"), `\"`, `"`)
		assert.Contains(t, a.body+told, m.cure, m.what)
	}
}

// TestHelpIsLinked tells of several errors what to do about the first of each reason, in a
// header that a program can read.
func TestHelpIsLinked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, e := range h.catalogue.Entries() {
		require.Regexp(t, `^[ -~]+$`, e.Cure, e.Reason)
	}
	demo := h.as("demo")
	a := demo.ask("POST", "/order", `{"colour":"red","size":1,"order_date":"soon","kind":"repair"}`)
	var linked []string
	for _, link := range regexp.MustCompile(`errors#(\w+)>`).FindAllStringSubmatch(a.head("Link"), -1) {
		linked = append(linked, link[1])
	}
	require.Equal(t, []string{"field_not_in_model", "field_required", "timestamp_invalid"}, linked)
	require.Contains(t, a.head("Link"), `<https://api.example.nl/webservice_v2/errors#timestamp_invalid>; rel="help"; title="Send 2026-07-01T10:00:00Z`)
	require.Less(t, len(a.head("Link")), 3<<10)
	require.Empty(t, demo.ask("GET", "/order/1", "").head("Link"))
}
