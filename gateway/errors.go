package gateway

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// This file writes the body of every error. Its words are rows in mapping/rows_*.go.

// handleError is the ErrorHandler of Fiber: withAnswer calls it for what a handler returned, and
// Fiber for requests that it or fasthttp could not read.
func (g *Gateway) handleError(c *fiber.Ctx, err error) error {
	if x := exchangeOf(c); x != nil {
		g.answerError(x, err)
		return nil
	}
	x := g.newExchange(c.Context())
	defer g.release(x)
	if x.conn != nil {
		x.conn.lingers = true
	}
	x.policy, x.RequestID = g.o.Policy(), requestID(x.request.Header.Peek("X-Request-Id"))
	x.reset()
	reason := whyUnread(err)
	g.answerError(x, mapping.Fail(reason))
	x.response.SetConnectionClose()      // where the next request begins is not known
	if reason != mapping.InternalError { // then one of these may have panicked
		g.observe(x)
		g.logAccess(x)
	}
	return nil
}

// whyUnread returns why a request has no Exchange. Fiber and fasthttp refuse too large headers, and
// malformed requests, which include those that did not come in time. The body stage refuses too large
// bodies.
func whyUnread(err error) mapping.Reason {
	switch e, ok := errors.AsType[*fiber.Error](err); {
	case !ok: // a recovered panic
		return mapping.InternalError
	case e.Code == http.StatusRequestHeaderFieldsTooLarge:
		return mapping.HeaderTooLarge
	default:
		return mapping.RequestMalformed
	}
}

// violationsOf returns what an error is answered as, at least one violation: an error that is
// none is a failure of the server, of which the client only gets its request id.
func violationsOf(err error) mapping.Violations {
	if v, ok := mapping.AsViolations(err); ok && len(v) > 0 {
		return v
	}
	return mapping.Violations{mapping.Fail(mapping.InternalError)}
}

// answerError finds status and message of an error in the scope of the exchange.
func (g *Gateway) answerError(x *Exchange, err error) {
	v := violationsOf(err)
	first := v[0]
	row := g.catalogue.Lookup(first.Reason, x.scopes()...)
	x.reason = first.Reason
	if row.Status >= http.StatusInternalServerError && (first.Reason != mapping.Overloaded || first.Unwrap() != nil) { // overload is counted, not logged
		g.logFailure(x, err)
	}
	if first.RetryAfter > 0 {
		x.response.Header.Set("Retry-After", retryAfter(first.RetryAfter))
	}
	g.linkHelp(x, v)
	problem := testpage.Takes(x.header("Accept"), problemType)
	contentType := jsonType
	if problem {
		contentType = problemType
	}
	x.answer(row.Status, contentType, func(dst []byte) []byte {
		message := row.Text(first)
		dst = append(dst, '{')
		if problem {
			dst = append(dst, `"type":`...)
			dst = mapping.AppendJSONString(dst, g.explains(first.Reason))
			dst = append(dst, `,"title":`...)
			dst = mapping.AppendJSONString(dst, http.StatusText(row.Status))
			dst = append(dst, `,"status":`...)
			dst = strconv.AppendInt(dst, int64(row.Status), 10)
			dst = append(dst, `,"detail":`...)
			dst = mapping.AppendJSONString(dst, message)
			dst = append(dst, ',')
		}
		dst = append(dst, `"errorCode":`...)
		dst = strconv.AppendInt(dst, int64(row.Status), 10)
		dst = append(dst, ',')
		dst = appendViolation(dst, row, first, message)
		dst = append(dst, `,"request_id":`...)
		dst = mapping.AppendJSONString(dst, x.RequestID)
		if len(v) > 1 {
			dst = append(dst, `,"errors":[`...)
			for i, e := range v {
				if i > 0 {
					dst = append(dst, ',')
				}
				row := g.catalogue.Lookup(e.Reason, x.scopes()...)
				dst = append(dst, '{')
				dst = appendViolation(dst, row, e, row.Text(e))
				dst = append(dst, '}')
			}
			dst = append(dst, ']')
		}
		return append(dst, '}')
	})
}

// explains returns the address of the explanation of a reason.
func (g *Gateway) explains(r mapping.Reason) string {
	return g.o.PublicURL + testpage.ErrorsPath + "#" + string(r)
}

var linkHeader = []byte("Link")

// mostLinks keeps the header of an answer within what proxies take of one, 4 KiB with some.
const mostLinks = 3

// linkHelp adds the header Link, which says what to do about the violations: once for each
// reason, and only for the first mostLinks reasons.
func (g *Gateway) linkHelp(x *Exchange, v mapping.Violations) {
	links, count := x.scratch[:0], 0
	for i, e := range v {
		if slices.ContainsFunc(v[:i], func(before *mapping.Error) bool { return before.Reason == e.Reason }) {
			continue
		}
		if count == mostLinks {
			break
		}
		if count++; count > 1 {
			links = append(links, ", "...)
		}
		links = g.appendHelp(links, x, e)
	}
	x.scratch = links
	x.response.Header.SetCanonical(linkHeader, links)
}

// helpLinks returns the links of the reasons. The shape of the body is the contract's, so
// what to do about an error is the title of a link to its explanation (RFC 8288). Cures are
// ASCII without control characters, so Quote escapes as HTTP does.
func (g *Gateway) helpLinks() map[mapping.Reason][]byte {
	links := map[mapping.Reason][]byte{}
	for _, e := range g.catalogue.Entries() {
		links[e.Reason] = []byte("<" + g.explains(e.Reason) + `>; rel="help"; title=` + strconv.Quote(e.Cure))
	}
	return links
}

// appendViolation appends the members message, reason and, if there is one, field or
// position.
func appendViolation(dst []byte, row *mapping.Entry, e *mapping.Error, message string) []byte {
	dst = append(dst, `"message":`...)
	dst = mapping.AppendJSONString(dst, message)
	dst = append(dst, `,"reason":"`...)
	dst = append(dst, e.Reason...)
	dst = append(dst, '"')
	if field := row.FieldOf(e); field != "" {
		dst = append(dst, `,"field":`...)
		dst = mapping.AppendJSONString(dst, field)
	}
	if p := e.Position; p.Line > 0 {
		dst = strconv.AppendInt(append(dst, `,"position":{"line":`...), int64(p.Line), 10)
		dst = append(strconv.AppendInt(append(dst, `,"column":`...), int64(p.Column), 10), '}')
	}
	return dst
}
