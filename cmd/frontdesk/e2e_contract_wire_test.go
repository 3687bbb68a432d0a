package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractRequestID keeps what a client sends, where it is harmless.
func contractRequestID(t *testing.T, p *practice) {
	made := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for id, kept := range map[string]bool{
		"a": true, "AZaz09._:-": true, letters(128): true,
		"": false, letters(129): false, "a b": false, "a/b": false, "a\tb": false, "é": false, `a"b`: false, "a,b": false, "a_%0a": false,
	} {
		for path, status := range map[string]int{"/contact/1": 200, "/contact/999999": 404, "/nothing": 400} {
			a := p.call("GET", path, p.token, "", "X-Request-Id", id)
			require.Equal(t, status, a.Status)
			if got := a.Header.Get("X-Request-Id"); kept {
				require.Equal(t, id, got)
			} else {
				require.Regexp(t, made, got, id)
			}
		}
	}
}

// contractProblem is the other form of errors, with the same facts.
func contractProblem(t *testing.T, p *practice) {
	type problem struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		errorBody
	}
	read := func(a answer) (got problem) {
		require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
		decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&got), "%s", a.Body)
		return got
	}
	const accept = "application/json, application/problem+json;q=0.9"
	a := p.call("PUT", "/contact/1", p.token, `{"colour":1,"number":"x"}`, "Accept", accept, "X-Request-Id", "mine")
	first := errorEntry{Message: "Field: colour not found in model", Reason: "field_not_in_model", Field: "colour"}
	require.Equal(t, problem{
		Type: p.base + "/errors#field_not_in_model", Title: "Forbidden", Status: 403, Detail: first.Message,
		errorBody: errorBody{ErrorCode: 403, Message: first.Message, Reason: first.Reason, Field: first.Field, RequestID: "mine", Errors: []errorEntry{
			first, {Message: "Field: number is readonly do not supply in request", Reason: "field_readonly", Field: "number"}}},
	}, read(a))
	require.Equal(t, 400, read(p.call("GET", "/nothing", "", "", "Accept", "application/problem+json")).Status)
	a = p.call("GET", "/contact/1", p.token, "", "Accept", "application/problem+json")
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
}

// contractPlaceholders wants values repeated as they were sent.
func contractPlaceholders(t *testing.T, p *practice) {
	long := strings.Repeat("é", 101)
	cut := strings.Repeat("é", 100) + "…"
	const date = `Field: birth_date has an invalid value: %s for datatype: timestamp(ISO 8601)`
	say := func(value string) string { return fmt.Sprintf(date, value) }
	p.holds(t, []wire{
		{ask: `PUT /contact/1 {"birth_date":"  a \"b\" \u00e9 "}`, status: 403, message: say(`  a "b" é `)},
		{ask: `PUT /contact/1 {"birth_date":1.50}`, status: 403, message: say(`1.50`)},
		{ask: `PUT /contact/1 {"birth_date":1E+2}`, status: 403, message: say(`1E+2`)},
		{ask: `PUT /contact/1 {"birth_date":true}`, status: 403, message: say(`true`)},
		{ask: `PUT /contact/1 {"birth_date":[1, {"a" : null}]}`, status: 403, message: say(`[1,{"a":null}]`)},
		{ask: `PUT /contact/1 {"birth_date":{ }}`, status: 403, message: say(`{}`)},
		{ask: `PUT /contact/1 {"birth_date":""}`, status: 403, message: say(``)},
		{what: "101 characters", ask: `PUT /contact/1 {"birth_date":"` + long + `"}`, status: 403, message: say(cut)},
		{what: "100 characters", ask: `PUT /contact/1 {"birth_date":"` + long[2:] + `"}`, status: 403, message: say(long[2:])},
		{what: "a long name", ask: `PUT /contact/1 {"` + long + `":1}`, status: 403, message: `Field: ` + cut + ` not found in model`},
		{what: "a long array", ask: `PUT /contact/1 {"birth_date":[` + strings.Repeat("1, ", 60) + `1]}`, status: 403, message: say("[" + strings.Repeat("1,", 49) + "1…")},
		{ask: `PUT /employee/1 {"hourly_rate":1e400}`, status: 403, message: `Field: hourly_rate has an invalid value: 1e400 for datatype: float8`},
		{ask: `PUT /contact/1 {"payment_days":"1"}`, status: 403, message: `Field: payment_days has an invalid value: 1 for datatype: int4`},
		{ask: `PUT /contact/1 {"payment_days":1.0}`, status: 403, message: `Field: payment_days has an invalid value: 1.0 for datatype: int4`},
		{ask: `PUT /contact/1 {"payment_days":-2147483649}`, status: 403, message: `Field: payment_days has an invalid value: -2147483649 for datatype: int4`},
		{ask: `PUT /contact/1 {"is_customer":2}`, status: 403, message: `Field: is_customer has an invalid value: 2 for validation: 0|1`},
		{ask: `PUT /contact/1 {"is_blocked":-1}`, status: 403, message: `Field: is_blocked has an invalid value: -1 for validation: 0|1`},
		{ask: `PUT /contact/1 {"name":"a\u0000b"}`, status: 403, message: "Field: name has an invalid value: a\x00b for datatype: varchar"},
		{ask: `PUT /employee/1 {"email":"no address"}`, status: 403, message: `Field: email has an invalid value: no address for validation: email`},
		{ask: `GET /contact?payment_days=1.0`, status: 403, message: `Field: payment_days has an invalid value: 1.0 for datatype: int4`},
		{ask: `GET /contact?birth_date=a+b%2Bc%zz`, status: 403, message: say(`a b+c%zz`)},
		{ask: `GET /contact?name=a%00b`, status: 403, message: "Field: name has an invalid value: a\x00b for datatype: varchar"},
		{ask: `GET /contact?name=a%FFb`, status: 403, message: "Field: name has an invalid value: a\ufffdb for datatype: varchar"},
		{ask: `GET /contact?a%00%FF=1`, status: 400, message: "Invalid request, query parameter is not supported: a\x00\ufffd"},
		{ask: `GET /model/no-such.model_1~`, status: 404, message: `Field: name value: no-such.model_1~ not found`},
		{ask: `GET /contact?id=%00`, status: 403, message: `Primary ID is invalid`},
		{ask: `GET /empoyee/email?username=%00`, status: 403, message: "Field: username has an invalid value: \x00 for datatype: varchar"},
		{ask: `GET /empoyee/email?username=%FF`, status: 403, message: "Field: username has an invalid value: \ufffd for datatype: varchar"},
	})
}

// contractETag is about what a client may know of a record already.
func contractETag(t *testing.T, p *practice) {
	id := p.contact()
	path := fmt.Sprintf("/contact/%d", id)
	a := p.call("GET", path, p.token, "")
	etag := a.Header.Get("ETag")
	require.Regexp(t, `^"[^"]+"$`, etag)
	require.Equal(t, "private, no-cache", a.Header.Get("Cache-Control"))
	for _, list := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		a := p.call("GET", path, p.token, "", "If-None-Match", list)
		require.Equal(t, 304, a.Status, list)
		require.Empty(t, a.Body)
		require.Equal(t, etag, a.Header.Get("ETag"))
		require.Equal(t, "private, no-cache", a.Header.Get("Cache-Control"))
	}
	for _, list := range []string{`"x"`, etag[1 : len(etag)-1]} {
		require.Equal(t, 200, p.call("GET", path, p.token, "", "If-None-Match", list).Status, list)
	}
	unchanged := p.call("PUT", path, p.token, `{}`, "If-Match", etag)
	require.Equal(t, 200, unchanged.Status)
	require.Equal(t, etag, unchanged.Header.Get("ETag"))
	require.Equal(t, string(a.Body), string(unchanged.Body))
	changed := p.call("PUT", path, p.token, `{"name":"B"}`, "If-Match", `"x", `+etag)
	require.Equal(t, 200, changed.Status)
	next := changed.Header.Get("ETag")
	require.NotEqual(t, etag, next)
	require.Equal(t, next, p.call("GET", path, p.token, "").Header.Get("ETag"))
	require.Equal(t, 200, p.call("GET", path, p.token, "", "If-None-Match", etag).Status)
	for _, stale := range []string{etag, "W/" + next, `"x"`} {
		for _, ask := range []string{"PUT " + path + ` {"name":"C"}`, "PUT " + path + " {}", "DELETE " + path} {
			p.answers(wire{ask: ask, headers: []string{"If-Match", stale}, status: 412, message: `Record has been changed`})
		}
	}
	require.Equal(t, "B", p.get(path)["name"])
	p.answers(wire{ask: "PUT " + path + ` {"name":"C"}`, headers: []string{"If-Match", "*"}, status: 200})
	p.answers(wire{ask: "DELETE /contact/999999", headers: []string{"If-Match", "*"}, status: 404})
	p.answers(wire{ask: "DELETE " + path, headers: []string{"If-Match", p.call("GET", path, p.token, "").Header.Get("ETag")}, status: 200, body: `{"successCode":200}`})

	list := p.call("GET", "/contact", p.token, "")
	require.Equal(t, "no-store", list.Header.Get("Cache-Control"))
	require.Empty(t, list.Header.Get("ETag"))
}

// contractETagOfOrder changes an order by way of its lines.
func contractETagOfOrder(t *testing.T, p *practice) {
	order := p.order("open")
	path := fmt.Sprintf("/order/%d", order)
	seen := map[string]bool{}
	differs := func() {
		etag := p.call("GET", path, p.token, "").Header.Get("ETag")
		require.False(t, seen[etag], "the same ETag again")
		seen[etag] = true
	}
	differs()
	line := p.line(order)
	differs()
	p.put(fmt.Sprintf("/orderline/%d", line), `{"quantity":2}`)
	differs()
	require.Equal(t, 200, p.call("DELETE", fmt.Sprintf("/orderline/%d", line), p.token, "").Status)
	differs()
}
