package gateway

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	enchex "encoding/hex"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"frontdesk/backend"
	"frontdesk/gateway/testpage"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// This file is the only place that writes a status or a body; compress.go replaces the body of
// a list by its compressed form.

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
	htmlType    = "text/html; charset=utf-8"
)

// answer writes a JSON body made by build, which appends to the response's own
// buffer.
func (x *Exchange) answer(status int, contentType string, build func(dst []byte) []byte) {
	x.response.SetStatusCode(status)
	x.response.Header.SetContentType(contentType)
	buffer := x.response.SwapBody(nil)
	x.response.SwapBody(build(buffer[:0]))
}

func appendRecord(dst []byte, rec mapping.Record, fields []int) []byte {
	dst = append(dst, `{"data":`...)
	dst = rec.AppendJSON(dst, fields)
	return append(dst, '}')
}

// answerRecord answers with one record.
func (x *Exchange) answerRecord(status int, rec mapping.Record, fields []int, etag string) {
	if etag != "" {
		x.tag([]byte(etag))
	}
	x.holdsFields(rec.Resource, fields)
	x.answer(status, jsonType, func(dst []byte) []byte { return appendRecord(dst, rec, fields) })
}

// tag gives an answer its entity tag, by which the client may ask whether it has changed.
func (x *Exchange) tag(etag []byte) {
	h := &x.response.Header
	h.SetCanonical([]byte("Etag"), etag)
	h.SetCanonical([]byte("Cache-Control"), []byte("private, no-cache"))
}

// notModified says that the client already has this version of the record.
func (x *Exchange) notModified(etag string) {
	x.tag([]byte(etag))
	x.response.SetStatusCode(http.StatusNotModified)
}

// answerPage answers with a page of a list; next is the address of the page after it.
func (x *Exchange) answerPage(page backend.Page, next string) {
	fields := x.Query.Fields
	if fields == nil {
		fields = x.Endpoint.Resource.ListFields()
	}
	x.holdsFields(x.Endpoint.Resource, fields)
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		dst = append(dst, `{"data":[`...)
		for i := range page.Records {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = page.Records[i].AppendJSON(dst, fields)
		}
		dst = append(dst, ']')
		if !x.HasParam("after") {
			dst = append(dst, `,"page":`...)
			dst = strconv.AppendInt(dst, int64(x.page()), 10)
		}
		dst = append(dst, `,"page_size":`...)
		dst = strconv.AppendInt(dst, int64(x.Query.Limit), 10)
		dst = append(dst, `,"next":`...)
		if next == "" {
			dst = append(dst, "null"...)
		} else {
			dst = mapping.AppendJSONString(dst, next)
		}
		if x.Query.Total {
			dst = append(dst, `,"total":`...)
			dst = strconv.AppendInt(dst, page.Total, 10)
		}
		if page.Until.IsSet() {
			dst = page.Until.AppendJSON(append(dst, `,"until":`...))
		}
		return append(dst, '}')
	})
	x.compress()
}

// answerDone acknowledges an operation that has no data to answer.
func (x *Exchange) answerDone() {
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte { return append(dst, done...) })
}

const done = `{"successCode":200}`

// keptDone is keptAnswer for an operation that leaves no record.
func keptDone(mapping.Record) []byte { return []byte("\n" + done) }

// answerData answers {"data": …}.
func (x *Exchange) answerData(build func(dst []byte) []byte) {
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		return append(build(append(dst, `{"data":`...)), '}')
	})
}

// answerToken answers a session.
func (x *Exchange) answerToken(token string) {
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		return append(mapping.AppendJSONString(append(dst, `{"token":`...), token), '}')
	})
}

// answerPageHTML answers a page for people.
func (x *Exchange) answerPageHTML(status int, page []byte) {
	x.response.Header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	x.response.Header.Set("Referrer-Policy", "no-referrer")
	x.answer(status, htmlType, func(dst []byte) []byte { return append(dst, page...) })
}

// keptAnswer is what is stored under an idempotency key: a line with the entity tag and
// the Location, if any, and the body.
func (g *Gateway) keptAnswer(location string, rec mapping.Record) []byte {
	return appendRecord([]byte(g.etag(rec)+" "+location+"\n"), rec, rec.Resource.RecordFields())
}

// answerReplay repeats a stored answer.
func (x *Exchange) answerReplay(kept []byte) {
	head, body, _ := bytes.Cut(kept, []byte{'\n'})
	etag, location, _ := bytes.Cut(head, []byte{' '})
	status := http.StatusOK
	if r := x.Endpoint.Resource; r != nil && bytes.HasPrefix(body, []byte(`{"data":{`)) {
		x.holdsFields(r, r.RecordFields())
	}
	if len(location) > 0 {
		status = http.StatusCreated
		x.response.Header.SetBytesV("Location", location)
	}
	if len(etag) > 0 {
		x.tag(etag)
	}
	x.response.Header.Set("Idempotent-Replayed", "true")
	x.answer(status, jsonType, func(dst []byte) []byte { return append(dst, body...) })
}

// answerError finds status and message of an error in the scope of the exchange. An error
// that is not a violation is a failure of the server: the client only gets its request
// id.
func (g *Gateway) answerError(x *Exchange, err error) {
	v, ok := mapping.AsViolations(err)
	if !ok || len(v) == 0 {
		v = mapping.Violations{mapping.Fail(mapping.InternalError)}
	}
	first := v[0]
	row := g.catalogue.Lookup(first.Reason, x.scopes()...)
	x.reason = first.Reason
	if row.Status >= http.StatusInternalServerError && (first.Reason != mapping.Overloaded || first.Unwrap() != nil) { // a crowd is counted, not logged
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

// explains is the address of the explanation of a reason.
func (g *Gateway) explains(r mapping.Reason) string {
	return g.o.PublicURL + testpage.ErrorsPath + "#" + string(r)
}

var linkHeader = []byte("Link")

// mostLinks keeps the header of an answer within what proxies take of one, 4 KiB with some.
const mostLinks = 3

// linkHelp adds the header Link, which tells what to do about the violations: about each
// reason once, and about the first ones only.
func (g *Gateway) linkHelp(x *Exchange, v mapping.Violations) {
	links, told := x.scratch[:0], 0
	for i, e := range v {
		if slices.ContainsFunc(v[:i], func(before *mapping.Error) bool { return before.Reason == e.Reason }) {
			continue
		}
		if told == mostLinks {
			break
		}
		if told++; told > 1 {
			links = append(links, ", "...)
		}
		links = g.appendHelp(links, x, e)
	}
	x.scratch = links
	x.response.Header.SetCanonical(linkHeader, links)
}

// helpLinks are the links of the reasons. The shape of the body is the contract's, so
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

// etag is the entity tag of a record: it changes with any change of the record or of the
// model, and is "" if the backend cannot tell. The version alone is not enough: after a
// restore of an older state it repeats numbers that clients have seen, so modified_at is
// part of the tag. A backend without versions gets a tag of the content, unless the
// record has elements, which can change without it.
func (g *Gateway) etag(rec mapping.Record) string {
	model := g.o.Offer.Model.Version[:6]
	version := cmp.Or(rec.Tag, rec.Version)
	if version == mapping.Untold || version == 0 && rec.Resource.HasArrays() {
		return ""
	}
	if version != 0 {
		var room [48]byte
		tag := append(append(append(room[:0], '"'), model...), '-')
		tag = append(strconv.AppendInt(tag, version, 36), '.')
		tag = strconv.AppendInt(tag, rec.Values[rec.Resource.ModifiedAt].Int(), 36)
		return string(append(tag, '"'))
	}
	sum := sha256.Sum256(rec.AppendJSON(nil, rec.Resource.RecordFields()))
	return `"` + model + "." + enchex.EncodeToString(sum[:12]) + `"`
}

// etagMatches tells whether a list of entity tags, as in If-Match and If-None-Match,
// contains etag. A weak tag counts only if weak is set. A record without a tag is matched
// by * only.
func etagMatches(list, etag string, weak bool) bool {
	if list == "" {
		return false
	}
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if weak {
			part = strings.TrimPrefix(part, "W/")
		}
		if part == "*" || part == etag && etag != "" {
			return true
		}
	}
	return false
}

// unchanged tells whether the record of an entity tag is still the version that If-Match
// names. The version of the model does not count, so a client may read from a gateway of
// one version and write to one of the next.
func unchanged(list, etag string) bool {
	if etagMatches(list, etag, false) {
		return true
	}
	const model = len(`"1a2b3c`) // after which a tag by version has a dash
	if etag == "" || etag[model] != '-' {
		return false
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); len(part) > model && part[0] == '"' && part[model:] == etag[model:] {
			return true
		}
	}
	return false
}

// prepare sets what every answer carries.
func (x *Exchange) prepare() {
	h := &x.response.Header
	h.SetCanonical([]byte("X-Request-Id"), []byte(x.RequestID))
	h.SetCanonical([]byte("Cache-Control"), []byte("no-store"))
	h.SetCanonical([]byte("X-Content-Type-Options"), []byte("nosniff"))
}

// reset removes what an operation had already written of an answer.
func (x *Exchange) reset() {
	x.response.Reset()
	x.prepare()
}

// answerAccepted says that the result is not there yet.
func (x *Exchange) answerAccepted() {
	x.response.Header.Set("Retry-After", strconv.Itoa(callbackRetry))
	x.answer(http.StatusAccepted, jsonType, func(dst []byte) []byte { return append(dst, `{"successCode":202}`...) })
}

// answerFile answers with a result, or with the one requested range of it, and closes the
// file when it was sent.
func (x *Exchange) answerFile(file webhook.Reader, result webhook.Result) error {
	h := &x.response.Header
	etag := `"` + result.SHA256 + `"`
	h.Set("ETag", etag)
	h.Set("Accept-Ranges", "bytes")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Disposition", `attachment; filename="`+result.Name+`"`)
	h.SetContentType(result.Type)
	first, last := int64(0), result.Size-1
	if asked := x.request.Header.Peek("Range"); isRange(asked) && rangeHolds(x.header("If-Range"), etag) {
		from, to, err := fasthttp.ParseByteRange(asked, int(result.Size))
		if err != nil || from > to {
			h.Set("Content-Range", "bytes */"+strconv.FormatInt(result.Size, 10))
			x.response.SetStatusCode(http.StatusRequestedRangeNotSatisfiable)
			return file.Close()
		}
		first, last = int64(from), int64(to)
		h.SetContentRange(from, to, int(result.Size))
		x.response.SetStatusCode(http.StatusPartialContent)
	}
	section := struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, first, last-first+1), file}
	x.response.SetBodyStream(section, int(last-first+1))
	return nil
}

// isRange tells whether a Range header is one range of bytes. Other units must be
// ignored, and several ranges may be (RFC 9110).
func isRange(asked []byte) bool {
	_, _, err := fasthttp.ParseByteRange(asked, math.MaxInt)
	return err == nil
}

// rangeHolds tells whether the condition If-Range fits the current result.
func rangeHolds(ifRange, etag string) bool { return ifRange == "" || ifRange == etag }
