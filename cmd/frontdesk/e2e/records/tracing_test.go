package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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

	a := d.Call("GET", "/order/1?fields=id", token, "", "traceparent", traceParent, "tracestate", "vendor=opaque")
	require.Equal(t, 200, a.Status, "%s", a.Body)
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
	request := traced["GET /order/{id}"]
	require.NotNil(t, request, "%v", traced)
	require.Equal(t, otlp.Span_SPAN_KIND_SERVER, request.Kind)
	require.Equal(t, clientSpan, fmt.Sprintf("%x", request.ParentSpanId))
	require.Equal(t, "GET", saidBy(request, "http.request.method"))
	require.Equal(t, "/order/{id}", saidBy(request, "http.route"))
	require.Equal(t, "200", saidBy(request, "http.response.status_code"))
	require.Equal(t, "hooked", saidBy(request, "frontdesk.key"))
	require.Equal(t, a.Header.Get("X-Request-Id"), saidBy(request, "frontdesk.request_id"))
	require.Equal(t, request.SpanId, traced["backend get"].ParentSpanId)
	require.Equal(t, "order", saidBy(traced["backend get"], "frontdesk.resource"))

	require.NotNil(t, traced["HTTP"])
	require.Equal(t, "_OTHER", saidBy(traced["HTTP"], "http.request.method"))
	require.Equal(t, "endpoint_unknown", saidBy(traced["HTTP"], "frontdesk.reason"))
	require.Equal(t, otlp.Status_STATUS_CODE_UNSET, traced["HTTP"].Status.Code)
	failed := traced["GET /contact"]
	require.Equal(t, "backend_unavailable 500", saidBy(failed, "frontdesk.reason")+" "+saidBy(failed, "error.type"))
	require.Equal(t, otlp.Status_STATUS_CODE_ERROR, failed.Status.Code)

	accepted := traced["POST /backup/owner"]
	require.NotNil(t, accepted)
	require.Equal(t, accepted.SpanId, traced["work backup"].ParentSpanId)
	callback := traced["callback"]
	require.Equal(t, accepted.SpanId, callback.ParentSpanId)
	require.Equal(t, otlp.Span_SPAN_KIND_CLIENT, callback.Kind)
	require.Equal(t, "200", saidBy(callback, "http.response.status_code"))
	require.Equal(t, fmt.Sprintf("%x", callback.SpanId), strings.Split(called.Header.Get("traceparent"), "-")[2])

	for _, s := range spans.All() {
		for _, secret := range []string{token, "password", "fields=id", "s3cret", "S3CRET", receiver.Address()} {
			require.NotContains(t, s.String(), secret)
		}
	}
	require.Equal(t, clientTrace, traceInLog(t, d, a.Header.Get("X-Request-Id")))
}

// traceInLog is the trace that the access line of a request names.
func traceInLog(t *testing.T, d *rig.Desk, requestID string) string {
	t.Helper()
	for line := range strings.Lines(d.Log.String()) {
		var entry struct {
			Msg, Trace string
			RequestID  string `json:"request_id"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "request" && entry.RequestID == requestID {
			return entry.Trace
		}
	}
	t.Fatal("no access line")
	return ""
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
			o, _ := rig.BySheet(t, "remote", rig.Read(t, rig.RemoteSheets(t, "garagecloud.yaml")), "${GARAGE_URL}", server.URL, "${GARAGE_SECRET}", remotetest.ClientSecret)
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
