package gateway

import (
	"net/http"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"
)

// withAccessLog writes the line of a request once it is answered.
func (g *Gateway) withAccessLog(c *fiber.Ctx) error {
	err := c.Next()
	g.logAccess(exchangeOf(c))
	return err
}

// logAccess writes the line of a request. It names query parameters but never
// their values, which may be secrets.
func (g *Gateway) logAccess(x *Exchange) {
	if !x.policy.AccessLog {
		return
	}
	g.o.Access.Info("request",
		zap.String("request_id", x.RequestID),
		zap.String("key", x.keyName),
		zap.String("sha256", x.keyHash.Short()),
		zap.String("client", x.client),
		zap.String("user", x.user().Username),
		zap.String("method", x.knownMethod()),
		zap.String("endpoint", x.endpoint()),
		zap.Strings("query", x.knownParams()),
		zap.Int("status", x.response.StatusCode()),
		zap.String("reason", string(x.reason)),
		zap.Duration("duration", g.took(x)),
		zap.Duration("backend", x.backendTime),
		zap.Int("bytes", x.answered()),
		zap.String("address", x.Address),
		zap.String("config", x.policy.Hash),
		x.loggedRecords(),
		zap.Strings("needs", x.needs),
		listed("lacks", x.lacks),
		listed("fields", x.lacksFields),
		listed("deprecated", x.deprecatedNames()),
		zap.String("cause", x.closerCause()),
		zap.String("trace", x.traceID()),
		x.loggedTool(),
	)
}

// loggedTool returns the member of the line with the tool of an agent, left out where there is none.
func (x *Exchange) loggedTool() zap.Field {
	if x.tool == "" {
		return zap.Skip()
	}
	return zap.String("tool", x.tool)
}

// loggedRecords returns the member with the records that a request named or wrote, left out where there are none.
func (x *Exchange) loggedRecords() zap.Field {
	switch {
	case x.wrote != nil:
		return zap.Int32s("records", x.wrote)
	case x.ID != 0 && x.several == nil:
		return zap.Int32("record", x.ID)
	default:
		return zap.Skip()
	}
}

// listed returns a member of the line with some names, left out where there are none.
func listed(member string, names []string) zap.Field {
	if names == nil {
		return zap.Skip()
	}
	return zap.Strings(member, names)
}

// answered returns how many bytes the answer's body has. Body would load a streamed one into
// memory.
func (x *Exchange) answered() int {
	if x.response.IsBodyStream() {
		return x.response.Header.ContentLength()
	}
	return len(x.response.Body())
}

// knownParams returns the names of the query parameters that the operation takes. Other names
// are not logged: one may be part of a password that contains an &.
func (x *Exchange) knownParams() []string {
	names := make([]string, 0, len(x.Params))
	for _, p := range x.Params {
		if x.Operation != nil && x.Operation.takes[p.Name] {
			names = append(names, p.Name)
		}
	}
	return names
}

// logFailure logs the cause of a failure, which the answer does not show.
func (g *Gateway) logFailure(x *Exchange, err error) {
	g.o.Log.Error("request failed",
		zap.String("request_id", x.RequestID),
		zap.String("key", x.keyName),
		zap.String("client", x.client),
		zap.String("method", x.knownMethod()),
		zap.String("endpoint", x.endpoint()),
		zap.String("trace", x.traceID()),
		zap.Error(err),
	)
}

// endpoint returns the template of the request's operation; "" where there is none.
func (x *Exchange) endpoint() string {
	if x.Operation == nil {
		return ""
	}
	return x.Operation.Template
}

// knownMethod returns the request's method if it is one of HTTP's. Clients can invent methods,
// and must not get their own text into the log.
func (x *Exchange) knownMethod() string {
	switch x.Method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPatch, "":
		return x.Method
	default:
		return "OTHER"
	}
}
