package rig

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// SpanReceiver takes spans over OTLP/HTTP, as a collector does. It is a test's
// own, over the protocol's official types: no collector is to be had from Debian.
type SpanReceiver struct {
	*httptest.Server
	mu    sync.Mutex
	Raw   []byte // all that was sent, decoded to text
	spans []*otlp.Span
}

// NewSpanReceiver starts one, and stops it at the end of the test.
func NewSpanReceiver(t testing.TB) *SpanReceiver {
	t.Helper()
	r := &SpanReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var batch collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &batch)
		}
		if err != nil || req.URL.Path != "/v1/traces" {
			http.Error(w, "no batch of spans", http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Raw = append(r.Raw, batch.String()...)
		for _, of := range batch.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

// Options have a desk send every span here.
func (r *SpanReceiver) Options() string {
	return fmt.Sprintf("tracing: {endpoint: %q, ratio: 1}\n", r.URL)
}

// All returns what was received. The desk sends the last of it when it stops.
func (r *SpanReceiver) All() []*otlp.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spans
}

// InTrace returns the spans of a trace by their names.
func (r *SpanReceiver) InTrace(id string) map[string]*otlp.Span {
	found := map[string]*otlp.Span{}
	for _, s := range r.All() {
		if fmt.Sprintf("%x", s.TraceId) == id {
			found[s.Name] = s
		}
	}
	return found
}
