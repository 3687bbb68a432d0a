package webhook

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// A job stays in the trace of the request that asked for it: the headers of that
// trace are stored with the job.

// withoutTraces returns the tracer of an orchestrator that was given none.
func withoutTraces() trace.Tracer { return noop.NewTracerProvider().Tracer("") }

// traceOf returns the headers of the trace that ctx belongs to; nil for none.
func traceOf(ctx context.Context) map[string]string {
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// begin begins a span in the trace of a job.
func (o *Orchestrator) begin(ctx context.Context, j Job, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier(j.Trace))
	return o.Tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(
		attribute.String("frontdesk.job", j.ID), attribute.String("frontdesk.kind", j.Work.Kind), attribute.String("frontdesk.key", j.Owner.Key)))
}

// endWork ends the span of a job's work. The error is only in the log: it can contain
// anything.
func endWork(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// endCall ends the span of a callback.
func endCall(span trace.Span, host string, try int, o Outcome) {
	span.SetAttributes(
		attribute.String("http.request.method", http.MethodGet),
		attribute.String("server.address", host),
		attribute.Int("frontdesk.try", try),
	)
	if o.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", o.Status))
	}
	if !o.Delivered() {
		kind := o.Err
		if kind == ErrStatus || kind == ErrRedirect {
			kind = strconv.Itoa(o.Status)
		}
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
