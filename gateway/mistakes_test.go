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
		{"the plural", "GET", "/orders", "", "Did you mean /order?", nil},
		{"a name that has nothing like it", "GET", "/invoices", "", "Compare the path with the OpenAPI description", nil},
		{"several IDs", "GET", "/order/1,2", "", "GET /order?id[in]=1,2", nil},
		{"the right spelling", "GET", "/employee/email?username=x", "", "spelled /empoyee/email", nil},
		{"limit", "GET", "/order?limit=5", "", "Did you mean page_size?", nil},
		{"offset", "GET", "/order?offset=5", "", "Did you mean page?", nil},
		{"since", "GET", "/order?since=2026-07-01", "", "Did you mean modified_since?", nil},
		{"a mistyped parameter", "GET", "/order?page_sise=5", "", "Did you mean page_size?", nil},
		{"ge", "GET", "/order?order_date[ge]=2026-07-01", "", "Did you mean order_date[gte]?", nil},
		{"gte as in Django", "GET", "/order?order_date__gte=2026-07-01", "", "Did you mean order_date[gte]?", nil},
		{"as in PHP", "GET", "/order?order_status[]=open", "", "Did you mean order_status[in]?", nil},
		{"a range of IDs", "GET", "/order?id[gte]=5", "", "after=5", nil},
		{"case of a parameter", "GET", "/contact/checkaddress?postcode=1234 AB", "", "Did you mean Postcode?", nil},
		{"several choices", "GET", "/order?order_status=open,ready", "", "order_status[in]=open,ready", nil},
		{"several parents", "GET", "/orderline?order_id[in]=1,2", "", "order_id must be one value: order_id=5.", nil},
		{"a part that is too short", "GET", "/contact?name[contains]=ab", "", "has 3 to 255 characters", nil},
		{"resources to follow", "GET", "/changes?resource=orders", "", "Send one of these: advertisementsite, article, contact", nil},
		{"a postcode without a blank", "GET", "/contact/checkaddress?Postcode=1234AB&Huisnummer=1&CountryId=528", "", "four digits, a blank and two letters", nil},
		{"an array to /bulk", "PUT", "/article/bulk", `[{"id":1}]`, `{"records": [...]}`, nil},
		{"too many records", "PUT", "/article/bulk", recordsOf(strings.Repeat("{},", 500) + "{}"), "at most 500 records", nil},
		{"a tag without its marks", "PUT", "/order/1", `{"reference":"x"}`, "with its quotation marks", []string{"If-Match", "abc"}},
		{"a weak tag", "PUT", "/order/1", `{"reference":"x"}`, "without W/", []string{"If-Match", `W/"abc"`}},
		{"plain http", "POST", "/backup/owner", `{"webhook_url":"http://example.nl/x"}`, "begins with https://", nil},
		{"localhost", "POST", "/backup/owner", `{"webhook_url":"https://localhost/x"}`, "reachable from the internet", nil},
		{"a blank in an address", "POST", "/backup/owner", `{"webhook_url":"https://example.nl/x "}`, "no blanks", nil},
		{"Bearer before the token", "GET", "/order", "", "without Bearer", []string{"token", "Bearer 5f0c6a52-4a51-4d1e-9c3b-0f6f6a1b2c3d"}},
		{"a mistyped field", "POST", "/order", `{` + order + `,"refrence":"x"}`, "Did you mean reference?", nil},
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
		{"a port", "POST", "/backup/owner", `{"webhook_url":"https://example.nl:8443/x"}`, "Allowed are: 443", nil},
		{"no token", "GET", "/order", "", "send what it answers in the header token", []string{"token", ""}},
		{"a bearer token", "GET", "/order", "", "A header Authorization is not read", []string{"token", "", "Authorization", "Bearer x"}},
		{"the api_key for a token", "GET", "/order", "", "not the api_key", []string{"token", keyAll}},
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
