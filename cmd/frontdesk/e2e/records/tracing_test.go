package records

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
)

// said is an attribute of a span as text.
func saidBy(s *otlp.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			return fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return ""
}

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
	traceParent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// TestTraces follows a client's trace through the gateway, its backend, the work
// of a callback job and the call of the receiver.
func TestTraces(t *testing.T) {
	spans := rig.NewSpanReceiver(t)
	receiver, options := rig.NewHooks(t, nil)
	var f rig.Faults
	options.DSN, options.Extra, options.Wrap = rig.Engines[0].DSN(t), options.Extra+spans.Options(), f.Wrap
	d := rig.Start(t, options)
	token := d.Login(rig.HookedKey, "demo")

	a := d.Gets(200, "GET", "/order/1?fields=id", token, "", "traceparent", traceParent, "tracestate", "vendor=opaque")
	promise := d.Call("POST", "/backup/owner", token, receiver.Body(), "traceparent", traceParent, "tracestate", "vendor=opaque")
	promise.Promise(t)
	called := <-receiver.Calls
	require.Equal(t, clientTrace, strings.Split(called.Header.Get("traceparent"), "-")[1])
	require.Equal(t, "vendor=opaque", called.Header.Get("tracestate"))
	d.Call("GET", "/nowhere/"+clientSpan+"?password=x", token, "")
	d.Call("S3CRET", "/s3cret", token, "", "traceparent", traceParent)
	f.Set(func(context.Context) error { return rig.ErrBroken })
	require.Equal(t, 500, d.Call("GET", "/contact", token, "", "traceparent", traceParent).Status)
	d.Shutdown()

	traced := spans.InTrace(clientTrace)
	require.Subset(t, slices.Collect(maps.Keys(traced)), []string{"GET /order/{id}", "backend get", "HTTP", "GET /contact", "POST /backup/owner", "work backup", "callback"})
	for name, said := range map[string]map[string]string{
		"GET /order/{id}": {"http.request.method": "GET", "http.route": "/order/{id}", "http.response.status_code": "200",
			"frontdesk.key": "hooked", "frontdesk.request_id": a.Header.Get("X-Request-Id")},
		"backend get":  {"frontdesk.resource": "order"},
		"HTTP":         {"http.request.method": "_OTHER", "frontdesk.reason": "endpoint_unknown"},
		"GET /contact": {"frontdesk.reason": "backend_unavailable", "error.type": "500"},
		"callback":     {"http.response.status_code": "200"},
	} {
		for key, want := range said {
			require.Equal(t, want, saidBy(traced[name], key), "%s of %s", key, name)
		}
	}
	for child, parent := range map[string]string{"backend get": "GET /order/{id}", "work backup": "POST /backup/owner", "callback": "POST /backup/owner"} {
		require.Equal(t, traced[parent].SpanId, traced[child].ParentSpanId, child)
	}
	request, callback := traced["GET /order/{id}"], traced["callback"]
	require.Equal(t, clientSpan, fmt.Sprintf("%x", request.ParentSpanId))
	require.Equal(t, []otlp.Span_SpanKind{otlp.Span_SPAN_KIND_SERVER, otlp.Span_SPAN_KIND_CLIENT}, []otlp.Span_SpanKind{request.Kind, callback.Kind})
	require.Equal(t, otlp.Status_STATUS_CODE_UNSET, traced["HTTP"].Status.Code)
	require.Equal(t, otlp.Status_STATUS_CODE_ERROR, traced["GET /contact"].Status.Code)
	require.Equal(t, fmt.Sprintf("%x", callback.SpanId), strings.Split(called.Header.Get("traceparent"), "-")[2])

	for _, s := range spans.All() {
		for _, secret := range []string{token, "password", "fields=id", "s3cret", "S3CRET", receiver.Address()} {
			require.NotContains(t, s.String(), secret)
		}
	}
	line := regexp.MustCompile(`.*"msg":"request".*"request_id":"` + a.Header.Get("X-Request-Id") + `".*`).FindString(d.Log.String())
	require.Contains(t, line, `"trace":"`+clientTrace+`"`, "the access line names it")
}

// TestTraceReachesTheService: an HTTP service behind the gateway is told which
// trace a call belongs to, and nothing where there are no traces.
func TestTraceReachesTheService(t *testing.T) {
	for _, traced := range []bool{true, false} {
		t.Run(fmt.Sprint(traced), func(t *testing.T) {
			garage := remotetest.NewJSON(remotetest.Options{})
			var mu sync.Mutex
			told := map[string]bool{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				told[r.Header.Get("traceparent")] = true
				mu.Unlock()
				garage.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			spans := rig.NewSpanReceiver(t)
			o := rig.GarageCloud(t, server.URL, remotetest.ClientSecret)
			if traced {
				o.Extra = spans.Options()
			}
			d := rig.Start(t, o)
			token := d.Login(rig.FullKey, "demo")
			contact := d.Create(token, "contact", `{"kind":"company","name":"Traced"}`)
			mu.Lock()
			clear(told)
			mu.Unlock()
			require.Equal(t, 200, d.Call("GET", fmt.Sprintf("/contact/%d", contact), token, "", "traceparent", traceParent).Status)
			d.Shutdown()

			mu.Lock()
			defer mu.Unlock()
			if !traced {
				require.Equal(t, map[string]bool{"": true}, told)
				require.Empty(t, spans.All())
				return
			}
			call := spans.InTrace(clientTrace)["backend get"]
			require.NotNil(t, call)
			require.Contains(t, told, fmt.Sprintf("00-%s-%x-01", clientTrace, call.SpanId))
		})
	}
}

// TestTracesWithoutCollector: a collector that is away costs spans and one line
// in the log, nothing else.
func TestTracesWithoutCollector(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: fmt.Sprintf("tracing: {endpoint: \"http://%s\", ratio: 1}\n", rig.FreeAddress(t))})
	token := d.Login(rig.FullKey, "demo")
	require.Equal(t, 200, d.Call("GET", "/order/1", token, "").Status)
	d.Shutdown()
	require.Equal(t, 1, strings.Count(d.Log.String(), "spans cannot be sent"))
}
