package remote

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// call is a call of the sheet.
type call struct {
	*sheet.ServiceCall
	of       *sheet.Resource // nil for calls that concern no resource
	op       mapping.Scope
	endpoint string // method and path without values
	// headers are the call's own and those of every call, logOn those that are sent with the token
	// of the log-on. If a name repeats, the first counts.
	headers, logOn sheet.Parameters
	write          bool
	secret         bool // the call has a user's credentials
}

func newCall(source *sheet.Service, of *sheet.Resource, op mapping.Scope, spec *sheet.ServiceCall) *call {
	endpoint := spec.Method + " "
	for _, part := range spec.Path {
		if part.Path != nil {
			endpoint += "{" + part.Path.String() + "}"
		}
		endpoint += part.Literal
	}
	on := &call{ServiceCall: spec, of: of, op: op, endpoint: endpoint, write: op == mapping.OpCreate || op == mapping.OpUpdate || op == mapping.OpDelete}
	on.headers = spec.Headers
	if source.LogOn != nil && spec != &source.LogOn.Call {
		on.logOn = without(on.headers, source.LogOn.Headers)
	}
	on.headers = slices.Concat(on.headers, without(slices.Concat(on.headers, on.logOn), source.Headers))
	return on
}

// without are the headers whose names are not in others.
func without(others, headers sheet.Parameters) sheet.Parameters {
	return slices.DeleteFunc(slices.Clone(headers), func(n sheet.Named) bool { return has(others, n.Name) })
}

func has(headers sheet.Parameters, name string) bool {
	return slices.ContainsFunc(headers, func(n sheet.Named) bool { return strings.EqualFold(n.Name, name) })
}

// String names a call in errors, without values, which may be secret.
func (on *call) String() string {
	if on.of == nil {
		return "of the accounts"
	}
	return fmt.Sprintf("of %s.%s", on.of.Name, on.op)
}

// reply is what a service answered to a call.
type reply struct {
	*answer
	on     *call
	xml    bool
	read   bool // parsed and err are set
	parsed sheet.JSON
	err    error
}

// body is the parsed body of the answer.
func (p *reply) body() (sheet.JSON, error) {
	if !p.read {
		p.read = true
		if p.xml {
			p.parsed, p.err = decodeXML(p.answer.body)
		} else {
			p.parsed, p.err = sheet.ParseJSON(p.answer.body)
		}
	}
	return p.parsed, p.err
}

// result is the value at the place of the result; false if the answer does not have it.
func (p *reply) result(ctx context.Context) (sheet.JSON, bool, error) {
	v, err := p.body()
	if err != nil {
		return v, false, unexpected(err)
	}
	if p.on.Result.IsZero() {
		return v, true, nil
	}
	v, there, err := p.on.Result.Find(ctx, v)
	if err != nil {
		err = p.changed("%s: %w", p.on.Result, err)
	}
	return v, there, err
}

// changed is the error of an answer that does not have the shape in the sheet.
func (p *reply) changed(format string, args ...any) error {
	of := p.on.String()
	if p.on.of != nil {
		of = p.on.of.Name
	}
	return fmt.Errorf("%w: %s: %w", backend.ErrChanged, of, fmt.Errorf(format, args...))
}

// input is the answer as the sheet's conditions see it. A body that cannot be parsed is a text.
func (p *reply) input() map[string]any {
	var body any
	if len(p.answer.body) <= maxErrorBody {
		body = p.answer.body
		if parsed, err := p.body(); err == nil {
			body = parsed.Read()
		}
	}
	return map[string]any{"status": p.status, "body": body}
}

// fits reports whether the sheet recognises an answer.
func (p *reply) fits(ctx context.Context, m sheet.Match) bool {
	return m.Fits(sheet.Answer{Context: ctx, Status: p.status, Input: p.input})
}

// isOwn reports whether an error answer comes from the service: it is empty, or has the type of the
// service's answers. A page from a proxy has another type.
func (p *reply) isOwn() bool {
	kind, _, _ := strings.Cut(strings.ToLower(string(p.header.ContentType())), ";")
	switch {
	case strings.TrimSpace(p.answer.body) == "":
		return true
	case p.xml:
		return strings.Contains(kind, "xml") && !strings.Contains(kind, "html")
	default:
		return strings.Contains(kind, "json")
	}
}

// isNotFound reports whether the answer says that there is no such record.
func (p *reply) isNotFound(ctx context.Context) bool {
	if p.on.NotFound == (sheet.Match{}) {
		return p.status == http.StatusNotFound && p.isOwn()
	}
	return p.fits(ctx, p.on.NotFound)
}

// knows returns the placeholder values of calls for a client.
func (c *connector) knows(ctx context.Context, client auth.Client) (*known, error) {
	k := &known{source: c.source, client: client}
	if client.ID == 0 {
		return k, nil
	}
	var err error
	k.clientKey, err = c.clientKey(ctx, client)
	return k, err
}

// send makes a call, and logs on before it if necessary. A call that is refused because its token
// has expired was not carried out, and is made once more with a new token, unless it has a user's
// credentials.
func (c *connector) send(ctx context.Context, on *call, k *known) (*reply, error) {
	for renewed := false; ; renewed = true {
		var t ticket
		if c.logOn != nil {
			var err error
			if t, err = c.logOn.get(ctx, k.client); err != nil {
				return nil, err
			}
		}
		r, err := c.request(ctx, on, k, t.token)
		if err != nil {
			return nil, unexpected(fmt.Errorf("%s: %w", on, err))
		}
		a, err := c.wire.do(ctx, &r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, on, err)
		}
		a.target = r.target
		p := &reply{answer: a, on: on, xml: c.source.XML}
		if c.logOn == nil || renewed || !p.fits(ctx, c.logOn.renewOn) {
			return p, nil
		}
		c.logOn.expire(ctx, k.client, t)
		if r.secret {
			return p, nil
		}
		c.wire.release(a)
		if r.attempt != nil {
			r.attempt.Undone()
		}
	}
}

// request fills in a call. token is the log-on's, and a placeholder unless the call has another.
func (c *connector) request(ctx context.Context, on *call, k *known, token string) (request, error) {
	if own := k.token; own == "" {
		k.token = token
		defer func() { k.token = "" }()
	}
	r := request{method: on.Method, endpoint: on.endpoint, write: on.write, secret: on.secret, timeout: cmp.Or(on.Timeout, c.source.Timeout)}
	if on.write {
		r.attempt = k.attempt
	}
	if k.page != nil && k.page.address != "" {
		r.target = k.page.address
	} else {
		var room [256]byte
		target, err := k.appendTarget(ctx, append(room[:0], c.base...), on)
		if err != nil {
			return request{}, err
		}
		r.target = string(target)
	}
	kind, err := c.putBody(ctx, on, k, &r)
	if err != nil {
		return request{}, err
	}
	r.head = make([]byte, 0, 128)
	if kind != "" && !has(on.headers, contentType) {
		r.head = appendHeader(r.head, contentType, kind)
	}
	if r.head, err = k.appendHeaders(ctx, r.head, on.headers, kind != ""); err != nil {
		return request{}, err
	}
	if len(on.logOn) > 0 {
		shared := *k
		shared.token = token
		if r.head, err = shared.appendHeaders(ctx, r.head, on.logOn, kind != ""); err != nil {
			return request{}, err
		}
	}
	r.head = c.aboutHeaders(ctx, r.head)
	return r, nil
}

const contentType = "Content-Type"

// appendHeaders appends the lines of headers. Content-Type is sent only with a body.
func (k *known) appendHeaders(ctx context.Context, lines []byte, headers sheet.Parameters, hasBody bool) ([]byte, error) {
	for i := range headers {
		name := headers[i].Name
		if !hasBody && strings.EqualFold(name, contentType) {
			continue
		}
		texts, err := k.textsOf(ctx, &headers[i])
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c >= 0x7f }) {
				return nil, fmt.Errorf("%w: header %s would have a character that headers cannot have", errUnsendable, name)
			}
			lines = appendHeader(lines, name, text)
		}
	}
	return lines, nil
}

// putBody makes the body of a request, and returns its type; "" for none.
func (c *connector) putBody(ctx context.Context, on *call, k *known, r *request) (kind string, err error) {
	var body any
	switch {
	case on.Body != nil:
		if body, err = on.Body.First(ctx, k.input()); err != nil {
			return "", fmt.Errorf("body: %w", err)
		}
	case on.op == mapping.OpCreate, on.op == mapping.OpUpdate:
		body = ownOf(k.record)
	default:
		return "", nil
	}
	switch {
	case c.source.XML:
		r.body, err = encodeXML(body)
		return "text/xml; charset=utf-8", err
	case on.Form:
		object, ok := body.(map[string]any)
		if !ok {
			return "", fmt.Errorf("body: expected an object, which a form is made of")
		}
		r.body = form(object)
		return "application/x-www-form-urlencoded", nil
	default:
		r.body = sheet.AppendJSON(make([]byte, 0, 1024), body)
		return "application/json", nil
	}
}

// refused is the error for an answer that is no success: a violation if the sheet translates it, else a
// failure. why is what an answer of status 2xx lacks.
func (c *connector) refused(ctx context.Context, p *reply, attempt sheet.Attempt, why error) error {
	if violation := c.translate(ctx, p, attempt); violation != nil {
		return violation
	}
	code, isFault := p.fault()
	switch {
	case why != nil && isSuccess(p.status):
		return fmt.Errorf("%w, of status %d: %.300q", why, p.status, p.answer.body)
	case p.status == http.StatusTooManyRequests:
		v := mapping.Fail(mapping.BackendUnavailable).Because(failure(p.answer))
		v.RetryAfter = retryAfter(p.answer)
		return v
	case isFault && (strings.HasSuffix(code, "Client") || strings.HasSuffix(code, "Sender") || isSuccess(p.status)):
		// SOAP 1.1 has no other status than 500 for faults of the caller.
		return unexpected(failure(p.answer))
	case p.status == http.StatusNotFound && !p.isOwn(): // the answer of a proxy
		return fmt.Errorf("the service answered %d, as something else than its answers are: %.300q", p.status, p.answer.body)
	default:
		return failure(p.answer)
	}
}

// translate is the sheet's error that matches an answer; nil if none does.
func (c *connector) translate(ctx context.Context, p *reply, attempt sheet.Attempt) error {
	if p.on.of == nil || len(c.source.Errors) == 0 {
		return nil
	}
	attempt.Resource, attempt.Op = p.on.of, p.on.op
	switch v := c.source.Errors.Translate(sheet.Answer{Context: ctx, Status: p.status, Input: p.input}, attempt); {
	case v == nil:
		return nil
	case v.Reason == mapping.PreconditionChanged:
		// Somebody changed the record since it was judged, so it is judged again.
		return fmt.Errorf("%w: %w", backend.ErrStale, failure(p.answer))
	default:
		return v.Because(failure(p.answer))
	}
}

// fault is the code of a SOAP fault, of whatever status; false for any other answer.
func (p *reply) fault() (code string, is bool) {
	if !p.xml {
		return "", false
	}
	body, _ := p.body()
	fault, is := sheet.Path{"Envelope", "Body", "Fault"}.Find(body)
	for _, at := range []sheet.Path{{"faultcode"}, {"Code", "Value"}} {
		if v, has := at.Find(fault); has {
			code = asText(v.Read())
		}
	}
	return code, is
}

// clientKey is what identifies a client in the service.
func (c *connector) clientKey(ctx context.Context, client auth.Client) (any, error) {
	if !c.Sheet.ClientsKept {
		return int(client.ID), nil
	}
	if text, known := c.clients.Load(client.ID); known {
		return text, nil
	}
	ref := sheet.IDRef{Resource: clientResource, ID: int32(min(client.ID, math.MaxInt32))}
	keys, err := c.IDStore.Keys(ctx, client, []sheet.IDRef{ref})
	if err != nil {
		return nil, err
	}
	if keys[ref] == "" {
		return nil, unexpected(fmt.Errorf("the id store knows no client of number %s", strconv.FormatInt(client.ID, 10)))
	}
	c.clients.Store(client.ID, keys[ref])
	return keys[ref], nil
}

// clientResource is the resource under which the id store keeps clients.
const clientResource = "client"

func appendHeader(dst []byte, name, text string) []byte {
	return append(append(append(append(dst, name...), ": "...), text...), "\r\n"...)
}

// maxErrorBody is the longest body in which the sheet's errors are looked for.
const maxErrorBody = 1 << 20

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// retryAfter is how long the service asks to wait, at most a minute.
func retryAfter(a *answer) time.Duration {
	n, err := strconv.Atoi(string(a.header.Peek("Retry-After")))
	if err != nil || n < 1 {
		return time.Second
	}
	return time.Duration(min(n, 60)) * time.Second
}
