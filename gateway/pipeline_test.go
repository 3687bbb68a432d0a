package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap/zapcore"

	"frontdesk/auth"
)

// TestOrderOfChecks: of all that is wrong with a request, it is the first check of
// the contract's order that answers.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const few, spent = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	narrow := []Grant{{"POST", "/order"}, {"PUT", "/order"}}
	limited := keyOf(spent, "spent", narrow...)
	limited.Bounds.PerDay = 1
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(few, "few", narrow...), limited)
	usesUp := visitor{h, h.session(spent, "demo")}
	require.Equal(t, 400, usesUp.ask("POST", "/order", "").status)

	nobody, has := visitor{h: h}, visitor{h, h.session(few, "demo")}
	for _, c := range []struct {
		who                  visitor
		method, target, body string
		want                 fault
	}{
		{nobody, "POST", "/nowhere?a=1&a=2", "", fault{400, "Invalid endpoint: /nowhere", "endpoint_unknown", ""}},
		{nobody, "PATCH", "/order?a=1&a=2", "", fault{400, "Method: PATCH not supported for endpoint: /order", "method_unsupported", ""}},
		{nobody, "HEAD", "/order/1", "", fault{400, "Method: HEAD not supported for endpoint: /order/1", "method_unsupported", ""}},
		{nobody, "POST", "/order?a=1&a=2", "", fault{401, "Not authorized", "not_logged_in", ""}},
		{visitor{h, "no token"}, "POST", "/order?a=1&a=2", "", fault{401, "Not authorized", "token_invalid", ""}},
		{visitor{h, "99999999-9999-4999-8999-999999999999"}, "POST", "/order?a=1&a=2", "", fault{401, "Not authorized", "token_invalid", ""}},
		{has, "DELETE", "/order/1?a=1&a=2", "", fault{400, "Method: DELETE not supported for endpoint: /order/1", "method_unsupported", ""}},
		{has, "POST", "/vehicle?a=1&a=2", "", fault{400, "Invalid endpoint: /vehicle", "endpoint_unknown", ""}},
		{usesUp, "POST", "/vehicle?a=1&a=2", "", fault{400, "Invalid endpoint: /vehicle", "endpoint_unknown", ""}},
		{usesUp, "POST", "/order?a=1&a=2", "", fault{429, "Too many requests", "too_many_requests", ""}},
		{has, "POST", "/order?a=1&a=2", "", fault{400, "Invalid request, query parameter is provided more than once: a", "query_parameter_repeated", ""}},
		{has, "POST", "/order?a=1", "", fault{400, "Invalid request, query parameter is not supported: a", "query_parameter_unsupported", ""}},
		{has, "PUT", "/order/x", "", fault{400, "Primary ID is not an valid ID", "primary_id_invalid", ""}},
		{has, "PUT", "/order/1", " \n", fault{400, "Empty body", "empty_body", ""}},
		{has, "PUT", "/order/99", `{"colour":1}`, fault{403, "Field: colour not found in model", "field_not_in_model", "colour"}},
		{has, "PUT", "/order/99", `{"contact_id":999999}`, fault{404, "Field: id value: 99 not found", "record_not_found", "id"}},
		{has, "PUT", "/order/1", `{"contact_id":999999}`, fault{404, "Field: contact_id value: 999999 ID not found", "related_id_not_found", "contact_id"}},
	} {
		refused(t, c.who.ask(c.method, c.target, c.body), c.want)
	}
}

// TestEveryViolationIsTold: one round trip is enough, in the order of the
// operation's table and then of the model.
func TestEveryViolationIsTold(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	refused(t, demo.ask("POST", "/order", `{"mileage":"1","id":7,"kind":"lease","colour":true,"number":"x","order_date":"today"}`),
		fault{403, "Field: colour not found in model", "field_not_in_model", "colour"},
		fault{403, "Field: number is readonly do not supply in request", "field_readonly", "number"},
		fault{403, "Field: contact_id is required and not supplied in request", "field_required", "contact_id"},
		fault{403, "Field: order_status is required and not supplied in request", "field_required", "order_status"},
		fault{403, "Field: id is primary ID do not supply in request", "primary_id_supplied", "id"},
		fault{403, "Field: order_date has an invalid value: today for datatype: timestamp(ISO 8601)", "timestamp_invalid", "order_date"},
		fault{403, "Field: mileage has an invalid value: 1 for datatype: int4", "int4_invalid", "mileage"})
	refused(t, demo.ask("GET", "/order?x=1&y=2&x=3&y=4", ""),
		fault{400, "Invalid request, query parameter is provided more than once: x", "query_parameter_repeated", ""},
		fault{400, "Invalid request, query parameter is provided more than once: y", "query_parameter_repeated", ""})
	refused(t, demo.ask("GET", "/order?x=1&page=0&y=4", ""),
		fault{400, "Invalid request, query parameter is not supported: x", "query_parameter_unsupported", ""},
		fault{400, "Invalid request, query parameter is not supported: y", "query_parameter_unsupported", ""})
}

func TestBodyIsNoJSON(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	for body, at := range map[string][2]int{
		"nope": {1, 1}, `[]`: {1, 1}, `"text"`: {1, 1}, `{"kind":"lease"`: {1, 16}, `{"kind":1,"kind":2}`: {1, 11}, "{}\n {}": {2, 2}, "{\n\"kind\":\"é\xff\"}": {2, 10},
	} {
		for method, target := range map[string]string{"POST": "/order", "PUT": "/order/1"} {
			refusedAt(t, demo.ask(method, target, body), at[0], at[1])
		}
	}
}

// TestEveryAnswerCarries the id of its request, and is not to be kept.
func TestEveryAnswerCarries(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for given, kept := range map[string]bool{
		"a": true, "AZaz09._:-": true, strings.Repeat("x", 128): true,
		"": false, "a b": false, "a/b": false, "é": false, strings.Repeat("x", 129): false,
	} {
		var req fasthttp.Request
		var resp fasthttp.Response
		req.SetRequestURI("/webservice_v2/nowhere")
		req.Header.Set("X-Request-Id", given)
		h.Serve(context.Background(), &req, &resp, Peer{})
		id := string(resp.Header.Peek("X-Request-Id"))
		if kept {
			require.Equal(t, given, id)
		} else {
			require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		}
		require.Contains(t, string(resp.Body()), `"request_id":"`+id+`"`)
		require.Equal(t, "no-store", string(resp.Header.Peek("Cache-Control")))
	}
}

// TestProblemJSON tells the same as RFC 9457 has it.
func TestProblemJSON(t *testing.T) {
	t.Parallel()
	a := visitor{h: newFixture(t)}.ask("GET", "/nowhere", "", "Accept", "text/html, application/problem+json;q=0.9")
	require.Equal(t, 400, a.status)
	require.Equal(t, "application/problem+json", a.head("Content-Type"))
	require.JSONEq(t, `{"type":"https://api.example.nl/webservice_v2/errors#endpoint_unknown","title":"Bad Request","status":400,
		"detail":"Invalid endpoint: /nowhere","errorCode":400,"message":"Invalid endpoint: /nowhere","reason":"endpoint_unknown","request_id":"asked"}`, a.body)
}

// brokenSessions fail, or panic where they are told to.
type brokenSessions struct {
	auth.Sessions
	panics bool
}

func (b brokenSessions) Get(context.Context, auth.TokenHash) (*auth.Session, error) {
	if b.panics {
		panic("out of order")
	}
	return nil, errors.New("out of order")
}

// TestFailureIsNotTold: the client gets the id, and the log the cause.
func TestFailureIsNotTold(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		h := newFixture(t, func(_ *fixture, o *Options) { o.Sessions = brokenSessions{o.Sessions, panics} })
		refused(t, h.as("demo").ask("GET", "/order", ""), fault{500, "Internal server error", "internal_error", ""})
		failed := h.lines.FilterLevelExact(zapcore.ErrorLevel).All()
		require.Len(t, failed, 1)
		fields := failed[0].ContextMap()
		require.Equal(t, askedID, fields["request_id"])
		require.Equal(t, "/order", fields["endpoint"])
		require.Contains(t, fields["error"], "out of order")
	}
}

// TestKeyOfALiveToken: what the configuration says now decides, not what it said
// when the token was issued.
func TestKeyOfALiveToken(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, unauthorized := h.as("demo"), fault{401, "Not authorized", "token_invalid", ""}
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/vehicle"}))
	refused(t, demo.ask("GET", "/order/1", ""), fault{400, "Invalid endpoint: /order/1", "endpoint_unknown", ""})
	expired := keyOf(keyAll, "all", h.Grants()...)
	expired.Expires = h.clock.Now()
	h.setKeys(expired)
	refused(t, demo.ask("GET", "/order/1", ""), unauthorized)
	h.setKeys(keyOf("another", "another"))
	refused(t, demo.ask("GET", "/order/1", ""), unauthorized)
}

// TestTokenEndsAfterHalfAnHour, to the moment.
func TestTokenEndsAfterHalfAnHour(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	h.clock.Advance(30*time.Minute - 1)
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	h.clock.Advance(1)
	refused(t, demo.ask("GET", "/order/1", ""), fault{401, "Not authorized", "token_invalid", ""})
}

// TestLimitsOfAKey are told with every answer that counted, and a request that was
// answered takes none of those under way at once.
func TestLimitsOfAKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	bounded := keyOf(keyAll, "bounded", Grant{"GET", "/order"})
	bounded.Bounds = auth.Bounds{Concurrent: 1, PerDay: 3}
	h.setKeys(bounded)
	demo := h.as("demo")
	for left := 2; left >= 0; left-- {
		a := demo.ask("GET", "/order/1", "")
		require.Equal(t, 200, a.status)
		require.Contains(t, a.header.String(), "\r\nRateLimit-Policy: \"per_day\";q=3;w=86400, \"concurrent\";q=1;qu=\"concurrent-requests\"\r\n")
		require.Contains(t, a.header.String(), fmt.Sprintf("\r\nRateLimit: \"per_day\";r=%d;", left))
	}
	a := demo.ask("GET", "/order/1", "")
	refused(t, a, fault{429, "Too many requests", "too_many_requests", ""})
	require.Regexp(t, `^[1-9][0-9]*$`, a.head("Retry-After"))
	lines := h.lines.FilterMessage("request").All()
	require.Equal(t, "per_day", lines[len(lines)-1].ContextMap()["cause"])
	refused(t, demo.ask("DELETE", "/order/1", ""), fault{400, "Method: DELETE not supported for endpoint: /order/1", "method_unsupported", ""})
}
