package rows

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractRequestID keeps what a client sends, where it is harmless.
func contractRequestID(t *testing.T, p *rig.Practice) {
	made := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for id, kept := range map[string]bool{
		"a": true, "AZaz09._:-": true, letters(128): true,
		"": false, letters(129): false, "a b": false, "a/b": false, "a\tb": false, "é": false, `a"b`: false, "a,b": false, "a_%0a": false,
	} {
		for path, status := range map[string]int{"/contact/1": 200, "/contact/999999": 404, "/nothing": 400} {
			a := p.Call("GET", path, p.Token, "", "X-Request-Id", id)
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
func contractProblem(t *testing.T, p *rig.Practice) {
	type problem struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		rig.ErrorBody
	}
	read := func(a rig.Answer) (got problem) {
		require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
		decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&got), "%s", a.Body)
		return got
	}
	const accept = "application/json, application/problem+json;q=0.9"
	a := p.Call("PUT", "/contact/1", p.Token, `{"colour":1,"number":"x"}`, "Accept", accept, "X-Request-Id", "mine")
	first := rig.ErrorEntry{Message: "Field: colour not found in model", Reason: "field_not_in_model", Field: "colour"}
	require.Equal(t, problem{
		Type: p.Base + "/errors#field_not_in_model", Title: "Forbidden", Status: 403, Detail: first.Message,
		ErrorBody: rig.ErrorBody{ErrorCode: 403, Message: first.Message, Reason: first.Reason, Field: first.Field, RequestID: "mine", Errors: []rig.ErrorEntry{
			first, {Message: "Field: number is readonly do not supply in request", Reason: "field_readonly", Field: "number"}}},
	}, read(a))
	require.Equal(t, 400, read(p.Call("GET", "/nothing", "", "", "Accept", "application/problem+json")).Status)
	require.Equal(t, 400, read(p.Call("GET", "/nothing", "", "", "Accept", "text/html, APPLICATION/Problem+JSON")).Status)
	for _, other := range []string{"application/problem+json;q=0, application/json", "application/problem+jsonx", "*/*"} {
		require.Equal(t, "application/json", p.Call("GET", "/nothing", "", "", "Accept", other).Header.Get("Content-Type"), other)
	}
	a = p.Call("GET", "/contact/1", p.Token, "", "Accept", "application/problem+json")
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
}

// contractPlaceholders wants values repeated as they were sent.
func contractPlaceholders(t *testing.T, p *rig.Practice) {
	long := strings.Repeat("é", 101)
	cut := strings.Repeat("é", 100) + "…"
	const date = `Field: birth_date has an invalid value: %s for datatype: timestamp(ISO 8601)`
	say := func(value string) string { return fmt.Sprintf(date, value) }
	p.Holds(t, []rig.Wire{
		{Ask: `PUT /contact/1 {"birth_date":"  a \"b\" \u00e9 "}`, Status: 403, Message: say(`  a "b" é `)},
		{Ask: `PUT /contact/1 {"birth_date":1.50}`, Status: 403, Message: say(`1.50`)},
		{Ask: `PUT /contact/1 {"birth_date":1E+2}`, Status: 403, Message: say(`1E+2`)},
		{Ask: `PUT /contact/1 {"birth_date":true}`, Status: 403, Message: say(`true`)},
		{Ask: `PUT /contact/1 {"birth_date":[1, {"a" : null}]}`, Status: 403, Message: say(`[1,{"a":null}]`)},
		{Ask: `PUT /contact/1 {"birth_date":{ }}`, Status: 403, Message: say(`{}`)},
		{Ask: `PUT /contact/1 {"birth_date":""}`, Status: 403, Message: say(``)},
		{What: "101 characters", Ask: `PUT /contact/1 {"birth_date":"` + long + `"}`, Status: 403, Message: say(cut)},
		{What: "100 characters", Ask: `PUT /contact/1 {"birth_date":"` + long[2:] + `"}`, Status: 403, Message: say(long[2:])},
		{What: "a long name", Ask: `PUT /contact/1 {"` + long + `":1}`, Status: 403, Message: `Field: ` + cut + ` not found in model`},
		{What: "a long array", Ask: `PUT /contact/1 {"birth_date":[` + strings.Repeat("1, ", 60) + `1]}`, Status: 403, Message: say("[" + strings.Repeat("1,", 49) + "1…")},
		{Ask: `PUT /employee/1 {"hourly_rate":1e400}`, Status: 403, Message: `Field: hourly_rate has an invalid value: 1e400 for datatype: float8`},
		{Ask: `PUT /contact/1 {"payment_days":"1"}`, Status: 403, Message: `Field: payment_days has an invalid value: 1 for datatype: int4`},
		{Ask: `PUT /contact/1 {"payment_days":1.0}`, Status: 403, Message: `Field: payment_days has an invalid value: 1.0 for datatype: int4`},
		{Ask: `PUT /contact/1 {"payment_days":-2147483649}`, Status: 403, Message: `Field: payment_days has an invalid value: -2147483649 for datatype: int4`},
		{Ask: `PUT /contact/1 {"is_customer":2}`, Status: 403, Message: `Field: is_customer has an invalid value: 2 for validation: 0|1`},
		{Ask: `PUT /contact/1 {"is_blocked":-1}`, Status: 403, Message: `Field: is_blocked has an invalid value: -1 for validation: 0|1`},
		{Ask: `PUT /contact/1 {"name":"a\u0000b"}`, Status: 403, Message: "Field: name has an invalid value: a\x00b for datatype: varchar"},
		{Ask: `PUT /employee/1 {"email":"no address"}`, Status: 403, Message: `Field: email has an invalid value: no address for validation: email`},
		{Ask: `GET /contact?payment_days=1.0`, Status: 403, Message: `Field: payment_days has an invalid value: 1.0 for datatype: int4`},
		{Ask: `GET /contact?birth_date=a+b%2Bc%zz`, Status: 403, Message: say(`a b+c%zz`)},
		{Ask: `GET /contact?name=a%00b`, Status: 403, Message: "Field: name has an invalid value: a\x00b for datatype: varchar"},
		{Ask: `GET /contact?name=a%FFb`, Status: 403, Message: "Field: name has an invalid value: a\ufffdb for datatype: varchar"},
		{Ask: `GET /contact?a%00%FF=1`, Status: 400, Message: "Invalid request, query parameter is not supported: a\x00\ufffd"},
		{Ask: `GET /model/no-such.model_1~`, Status: 404, Message: `Field: name value: no-such.model_1~ not found`},
		{Ask: `GET /contact?id=%00`, Status: 403, Message: `Primary ID is invalid`},
		{Ask: `GET /empoyee/email?username=%00`, Status: 403, Message: "Field: username has an invalid value: \x00 for datatype: varchar"},
		{Ask: `GET /empoyee/email?username=%FF`, Status: 403, Message: "Field: username has an invalid value: \ufffd for datatype: varchar"},
	})
}

// contractEncodings is how a body is encoded.
func contractEncodings(t *testing.T, p *rig.Practice) {
	const body = `{"name":"A","kind":"person"}`
	for _, coding := range []string{"gzip", "deflate", "identity, gzip", ""} {
		a := p.Answers(rig.Wire{Ask: "POST /contact " + body, Headers: []string{"Content-Encoding", coding}, Status: 415, Message: "Content-Encoding: " + coding + " not supported"})
		require.Equal(t, "identity", a.Header.Get("Accept-Encoding"))
	}
	require.Equal(t, 201, p.Call("POST", "/contact", p.Token, body, "Content-Encoding", "Identity").Status)
	const mark = "\ufeff"
	require.Equal(t, 201, p.Call("POST", "/contact", p.Token, mark+body).Status)
	require.Equal(t, 200, p.Call("POST", "/contact/bulk", p.Token, mark+`{"records":[`+body+`]}`).Status)
	p.Holds(t, []rig.Wire{
		{What: "nothing else", Ask: "POST /contact " + mark, Status: 400, Message: "Empty body"},
		{What: "two of them", Ask: "POST /contact " + mark + mark + body, Status: 400, Message: "Body is not valid JSON"},
	})
}

// contractETag is about what a client may know of a record already.
func contractETag(t *testing.T, p *rig.Practice) {
	id := p.Contact()
	path := fmt.Sprintf("/contact/%d", id)
	a := p.Call("GET", path, p.Token, "")
	etag := a.Header.Get("ETag")
	require.Regexp(t, `^"[^"]+"$`, etag)
	require.Equal(t, "private, no-cache", a.Header.Get("Cache-Control"))
	for _, list := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		a := p.Call("GET", path, p.Token, "", "If-None-Match", list)
		require.Equal(t, 304, a.Status, list)
		require.Empty(t, a.Body)
		require.Equal(t, etag, a.Header.Get("ETag"))
		require.Equal(t, "private, no-cache", a.Header.Get("Cache-Control"))
	}
	for _, list := range []string{`"x"`, etag[1 : len(etag)-1]} {
		require.Equal(t, 200, p.Call("GET", path, p.Token, "", "If-None-Match", list).Status, list)
	}
	unchanged := p.Call("PUT", path, p.Token, `{}`, "If-Match", etag)
	require.Equal(t, 200, unchanged.Status)
	require.Equal(t, etag, unchanged.Header.Get("ETag"))
	require.Equal(t, string(a.Body), string(unchanged.Body))
	changed := p.Call("PUT", path, p.Token, `{"name":"B"}`, "If-Match", `"x", `+etag)
	require.Equal(t, 200, changed.Status)
	next := changed.Header.Get("ETag")
	require.NotEqual(t, etag, next)
	require.Equal(t, next, p.Call("GET", path, p.Token, "").Header.Get("ETag"))
	require.Equal(t, 200, p.Call("GET", path, p.Token, "", "If-None-Match", etag).Status)
	for _, stale := range []string{etag, "W/" + next, `"x"`, "", " ", ","} {
		for _, ask := range []string{"PUT " + path + ` {"name":"C"}`, "PUT " + path + " {}", "DELETE " + path} {
			p.Answers(rig.Wire{Ask: ask, Headers: []string{"If-Match", stale}, Status: 412, Message: `Record has been changed`})
		}
	}
	require.Equal(t, "B", p.Get(path)["name"])
	for _, lines := range [][]string{{`"x"`, next}, {"", next}} { // several lines are one list
		p.Answers(rig.Wire{Ask: "PUT " + path + ` {}`, Headers: []string{"If-Match", lines[0], "If-Match", lines[1]}, Status: 200})
	}
	p.Answers(rig.Wire{Ask: "PUT " + path + ` {}`, Headers: []string{"If-Match", "", "If-Match", `"x"`}, Status: 412})
	several := fmt.Sprintf(`PUT /contact/bulk {"records":[{"id":%d,"name":"B"}]}`, id)
	for _, none := range []string{`"x"`, next, ""} { // no tag is that of several records
		p.Answers(rig.Wire{Ask: several, Headers: []string{"If-Match", none}, Status: 412, Message: `Record has been changed`})
	}
	p.Answers(rig.Wire{Ask: several, Headers: []string{"If-Match", "*"}, Status: 200})
	p.Answers(rig.Wire{Ask: "PUT " + path + ` {"name":"C"}`, Headers: []string{"If-Match", "*"}, Status: 200})
	p.Answers(rig.Wire{Ask: "DELETE /contact/999999", Headers: []string{"If-Match", "*"}, Status: 404})
	p.Answers(rig.Wire{Ask: "DELETE " + path, Headers: []string{"If-Match", p.Call("GET", path, p.Token, "").Header.Get("ETag")}, Status: 200, Body: `{"successCode":200}`})

	list := p.Call("GET", "/contact", p.Token, "")
	require.Equal(t, "no-store", list.Header.Get("Cache-Control"))
	require.Empty(t, list.Header.Get("ETag"))
}

// contractETagOfOrder changes an order by way of its lines.
func contractETagOfOrder(t *testing.T, p *rig.Practice) {
	order := p.Order("open")
	path := fmt.Sprintf("/order/%d", order)
	seen := map[string]bool{}
	differs := func() {
		etag := p.Call("GET", path, p.Token, "").Header.Get("ETag")
		require.False(t, seen[etag], "the same ETag again")
		seen[etag] = true
	}
	differs()
	line := p.Line(order)
	differs()
	p.Put(fmt.Sprintf("/orderline/%d", line), `{"quantity":2}`)
	differs()
	require.Equal(t, 200, p.Call("DELETE", fmt.Sprintf("/orderline/%d", line), p.Token, "").Status)
	differs()
}
