package gateway

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	enchex "encoding/hex"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/backend"
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

// keptAnswer returns what is stored under an idempotency key: a line with the entity tag and
// the Location, if any, and the body.
func (g *Gateway) keptAnswer(location string, rec mapping.Record) []byte {
	return appendRecord([]byte(g.etag(rec)+" "+location+"\n"), rec, rec.Resource.RecordFields())
}

// answerKept answers what is or would be stored under an idempotency key.
func (x *Exchange) answerKept(kept []byte) {
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
	x.answer(status, jsonType, func(dst []byte) []byte { return append(dst, body...) })
}

// etag returns the entity tag of a record: it changes with any change of the record or of the
// model, and is "" if the backend does not know. The version alone is not enough: after a
// restore of an older state it repeats numbers that clients have seen, so modified_at is
// part of the tag, unless it may reveal a change that the api_key does not see. A backend without
// versions gets a tag of the content, unless the record has elements, which can change without it.
func (g *Gateway) etag(rec mapping.Record) string {
	model := g.o.Offer.Model.Version[:6]
	version := cmp.Or(rec.Tag, rec.Version)
	if version == mapping.NoTag || version == 0 && rec.Resource.HasArrays() {
		return ""
	}
	if version != 0 {
		var room [48]byte
		tag := append(append(append(room[:0], '"'), model...), '-')
		tag = strconv.AppendInt(tag, version, 36)
		if g.routes.whole == nil {
			tag = strconv.AppendInt(append(tag, '.'), rec.Values[rec.Resource.ModifiedAt].Int(), 36)
		}
		return string(append(tag, '"'))
	}
	sum := sha256.Sum256(rec.AppendJSON(nil, rec.Resource.RecordFields()))
	return `"` + model + "." + enchex.EncodeToString(sum[:12]) + `"`
}

// etagMatches reports whether a list of entity tags, as in If-Match and If-None-Match,
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

// unchanged reports whether the record of an entity tag is still the version that If-Match
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
	if requested := x.request.Header.Peek("Range"); isRange(requested) && rangeHolds(x.header("If-Range"), etag) {
		from, to, err := fasthttp.ParseByteRange(requested, int(result.Size))
		if err != nil || from > to {
			h.Set("Content-Range", "bytes */"+strconv.FormatInt(result.Size, 10))
			x.response.SetStatusCode(http.StatusRequestedRangeNotSatisfiable)
			return file.Close()
		}
		first, last = int64(from), int64(to)
		h.SetContentRange(from, to, int(result.Size))
		x.response.SetStatusCode(http.StatusPartialContent)
	}
	x.response.SetBodyStream(x.download(io.NewSectionReader(file, first, last-first+1), file), int(last-first+1))
	return nil
}

// downloadTimeout is how long the download of a result may take, if the client reads some
// of it within each WriteTimeout. It is as long as an address of the result is valid.
const downloadTimeout = webhook.LinkValidity

// download is a result being sent to a client, which may take long if it keeps reading.
type download struct {
	io.Reader
	io.Closer
	conn  *conn
	until time.Time
}

func (x *Exchange) download(of io.Reader, file io.Closer) io.Reader {
	d := &download{of, file, x.conn, after(downloadTimeout)}
	if d.conn != nil {
		boundUnsent(d.conn.Conn)
	}
	return d
}

// Read implements io.Reader. It is called for a piece after the one before was sent.
func (d *download) Read(piece []byte) (int, error) {
	if d.conn != nil {
		at := after(d.conn.server.o.WriteTimeout)
		if at.IsZero() || at.After(d.until) {
			at = d.until
		}
		if err := d.conn.SetWriteDeadline(at); err != nil {
			return 0, err
		}
	}
	return d.Reader.Read(piece)
}

// isRange reports whether a Range header is one range of bytes. Other units must be
// ignored, and several ranges may be (RFC 9110).
func isRange(header []byte) bool {
	_, _, err := fasthttp.ParseByteRange(header, math.MaxInt)
	return err == nil
}

// rangeHolds reports whether the condition If-Range fits the current result.
func rangeHolds(ifRange, etag string) bool { return ifRange == "" || ifRange == etag }
