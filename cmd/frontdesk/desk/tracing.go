package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/config"
)

// How long sending spans may take, and for how long it is retried.
const (
	spanTimeout = 5 * time.Second
	spanRetries = 15 * time.Second
)

// tracing makes spans and sends them to a collector. A nil tracing makes none.
type tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	client   *http.Client
	failures atomic.Int64
}

// openTracing returns nil if the configuration wants no traces. It does not wait for the
// collector.
func openTracing(ctx context.Context, c config.Tracing, log *zap.Logger) (*tracing, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	address, err := url.Parse(string(c.Endpoint))
	if err != nil {
		return nil, errors.New("tracing.endpoint: cannot be read") // err repeats the address, which may be secret
	}
	own := address.EscapedPath() // may hold a secret
	if own == "" || own == "/" {
		own, address = "", address.JoinPath("v1", "traces")
	}
	t := &tracing{client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: time.Minute}}}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address.String()), otlptracehttp.WithHTTPClient(t.client),
		otlptracehttp.WithTimeout(spanTimeout), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: spanTimeout, MaxElapsedTime: spanRetries,
		}))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "frontdesk"), attribute.String("service.version", Version())),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&lossLogger{SpanExporter: exporter, t: t, path: own, log: log}),
		sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.Ratio))),
	)
	t.tracer = t.provider.Tracer("frontdesk")
	return t, nil
}

// close sends the remaining spans.
func (t *tracing) close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), spanTimeout)
	defer cancel()
	err := t.provider.Shutdown(ctx)
	t.client.CloseIdleConnections()
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the last spans could not be sent")
	}
	return err
}

// spans returns the tracer; nil if there are no traces.
func (t *tracing) spans() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.tracer
}

// call returns the Trace of backend.Options; nil if there are no traces.
func (t *tracing) call() func(context.Context, string, string) (context.Context, func(backend.Outcome)) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, resource, operation string) (context.Context, func(backend.Outcome)) {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return ctx, func(backend.Outcome) {}
		}
		ctx, span := t.tracer.Start(ctx, "backend "+operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("frontdesk.resource", resource), attribute.String("frontdesk.operation", operation)))
		return ctx, func(o backend.Outcome) {
			if o != backend.Answered {
				span.SetAttributes(attribute.String("error.type", string(o)))
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}
	}
}

// traceHeaders returns the headers of the trace that ctx belongs to; "" for none.
func traceHeaders(ctx context.Context) (parent, state string) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return "", ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"], carrier["tracestate"]
}

// lossLogger logs when spans begin to be lost and when that is over, instead of a line for each
// batch.
type lossLogger struct {
	sdktrace.SpanExporter
	t    *tracing
	path string // hidden in logs; "" for the usual one
	log  *zap.Logger
	lost atomic.Bool
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *lossLogger) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		e.t.failures.Add(1)
		if !e.lost.Swap(true) {
			why := err.Error()
			if e.path != "" {
				why = strings.ReplaceAll(why, e.path, "/…")
			}
			e.log.Warn("spans cannot be sent, and are lost", zap.String("error", why))
		}
	case e.lost.Swap(false):
		e.log.Info("spans can be sent again")
	}
	return nil
}
