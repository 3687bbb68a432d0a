package gateway

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// A request's span has what the access line has: names of the interface and of the
// configuration. Target, query, headers and bodies are not in it.

// clientHeaders are the headers in which a client names the trace of its request.
type clientHeaders struct{ of *fasthttp.RequestHeader }

var _ propagation.TextMapCarrier = clientHeaders{}

func (h clientHeaders) Get(name string) string { return string(h.of.Peek(name)) }
func (h clientHeaders) Set(string, string)     {}
func (h clientHeaders) Keys() []string         { return nil }

// withTrace makes a request a span, in the trace that its client names.
func (g *Gateway) withTrace(c *fiber.Ctx) error {
	if g.o.Tracer == nil {
		return c.Next()
	}
	x := exchangeOf(c)
	ctx := propagation.TraceContext{}.Extract(x.ctx, clientHeaders{&x.request.Header})
	x.ctx, x.span = g.o.Tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(x.started))
	err := c.Next()
	x.endTrace()
	return err
}

// endTrace names the span of an exchange that was answered, and ends it.
func (x *Exchange) endTrace() {
	defer x.span.End()
	if !x.span.IsRecording() {
		return
	}
	status := x.response.StatusCode()
	attributes := []attribute.KeyValue{
		attribute.String("http.request.method", "_OTHER"),
		attribute.Int("http.response.status_code", status),
		attribute.String("frontdesk.request_id", x.RequestID),
		attribute.String("frontdesk.key", x.keyName),
	}
	if op := x.Operation; op != nil {
		x.span.SetName(op.Method + " " + op.Template)
		attributes[0] = attribute.String("http.request.method", op.Method)
		attributes = append(attributes, attribute.String("http.route", op.Template))
	}
	if x.reason != "" {
		attributes = append(attributes, attribute.String("frontdesk.reason", cmp.Or(x.closerCause(), string(x.reason))))
	}
	if status >= http.StatusInternalServerError {
		attributes = append(attributes, attribute.String("error.type", strconv.Itoa(status)))
		x.span.SetStatus(codes.Error, "")
	}
	x.span.SetAttributes(attributes...)
}

// traceID returns the trace that an exchange belongs to, "" where there is none.
func (x *Exchange) traceID() string {
	if x.span == nil {
		return ""
	}
	return x.span.SpanContext().TraceID().String()
}
