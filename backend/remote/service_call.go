package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// call makes a call of the sheet, and logs on before it if necessary. A call that is refused
// because its token has expired was not carried out, and is made once more with a new token;
// never if it has credentials itself.
func (s *service) call(ctx context.Context, op *operation, v *values) (*answer, error) {
	renewed := false
	for {
		var t ticket
		if s.logOn != nil {
			var err error
			if t, err = s.logOn.get(ctx, v.client); err != nil {
				return nil, err
			}
			v.token = t.token
		}
		r, err := s.request(ctx, op, v)
		if err != nil {
			return nil, unexpected(err)
		}
		a, err := s.wire.do(ctx, &r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, s.shown(op), err)
		}
		a.target = r.target
		if renewed || s.logOn == nil || !s.mayBeFault(a) && !s.source.LogOn.RenewOn.InSuccess() || !s.source.LogOn.RenewOn.Match(s.failure(a)) {
			return a, nil
		}
		if r.secret {
			s.logOn.expire(ctx, v.client, t)
			return a, nil
		}
		s.wire.release(a)
		s.logOn.expire(ctx, v.client, t)
		if r.write {
			noteLeft(ctx, false)
		}
		renewed = true
	}
}

// refusedValue is the error of a write that has a value which cannot be sent.
func refusedValue(err error, sent mapping.Record) error {
	var u *sheet.Unsendable
	if !errors.As(err, &u) {
		return err
	}
	name, _ := strings.CutPrefix(u.Placeholder, "value.")
	if f := sent.Resource.Field(name); f != nil {
		return mapping.Fail(mapping.VarcharInvalid, mapping.Literal(name), sent.Values[f.Index].String()).Because(err)
	}
	return err
}

// shown names a call in errors, without values, which may be secret.
func (s *service) shown(op *operation) string {
	if op.of == nil {
		return "of the accounts"
	}
	return fmt.Sprintf("of %s.%s", op.of.Name, op.scope)
}

// request fills in the templates of a call.
func (s *service) request(ctx context.Context, op *operation, v *values) (request, error) {
	get, head := v.getter, v.head
	if get == nil {
		get, head = v.get, make([]byte, 0, 256)
	}
	filled := sheet.Values{Get: get, Fields: s.body(op, v.fields)}
	if v.lists != nil {
		filled.List = v.list
	}
	if v.fields != nil {
		filled.Rows = v.rows
	}
	c, err := op.Request.Build(filled)
	if err != nil {
		return request{}, err
	}
	r := request{method: c.Method, target: s.base + c.Target, asked: op.Request.Template, body: c.Body, write: op.write, alone: op.Request.Fresh, secret: op.secret, timeout: s.timeoutOf(op.Request)}
	if v.page.address != "" {
		r.target = v.page.address
	}
	r.head = appendHeaders(head[:0], c.Headers)
	shared := [2]*sheet.Request{s.source.Headers}
	if s.logOn != nil {
		shared[1] = s.source.LogOn.Headers
	}
	for _, h := range shared {
		if h == nil {
			continue
		}
		built, err := h.AppendHeaders(nil, filled)
		if err != nil {
			return request{}, err
		}
		r.head = appendHeaders(r.head, built)
	}
	r.head = s.o.aboutHeaders(ctx, r.head)
	if v.getter != nil {
		v.head = r.head
	}
	return r, nil
}

func appendHeaders(dst []byte, headers [][2]string) []byte {
	for _, h := range headers {
		dst = append(append(append(append(dst, h[0]...), ": "...), h[1]...), "\r\n"...)
	}
	return dst
}

// body are the fields that {fields} stands for: all except those that the templates name, and
// those that an update has only for its path.
func (s *service) body(op *operation, fields []sheet.Assignment) []sheet.Assignment {
	if !op.Request.UsesValues() {
		return fields
	}
	return slices.DeleteFunc(slices.Clone(fields), func(a sheet.Assignment) bool {
		if a.Field == nil {
			return false
		}
		create := op.scope == mapping.OpCreate
		return op.Request.Tells(a.Field, create) || !create && !op.SendAll && op.Request.IsInPath("value."+a.Field.Name)
	})
}

// maxErrorBody is the longest body in which the sheet's errors are looked for.
const maxErrorBody = 1 << 20

// failure is an answer in the form that the sheet's matchers read.
func (s *service) failure(a *answer) sheet.Failure {
	body := a.body
	within := func(body string) func(string) string {
		return func(path string) string {
			top, err := s.scan(newShape(path), body)
			if err != nil || len(top.values) == 0 {
				return ""
			}
			return top.values[0].String()
		}
	}
	return sheet.Failure{Status: a.status, Body: []byte(body), At: within(body), Members: func(path string) (all []sheet.Member) {
		if len(body) > maxErrorBody {
			return nil
		}
		elements := elementsAt(body, path)
		for _, e := range elements[:min(len(elements), maxMembers)] {
			all = append(all, sheet.Member{Name: e.Name, At: within(e.Text)})
		}
		return all
	}}
}

// maxMembers is how many members of an error are examined.
const maxMembers = 100

// elementsAt returns the members of the object, or the elements of the list, at a path of a
// JSON text; none if there is neither, or if the text is not JSON.
func elementsAt(text, path string) []sheet.Element {
	steps := sheet.Steps(path)
	if path == "" {
		steps = nil
	}
	for _, step := range steps {
		elements, err := sheet.Elements(text)
		i := slices.IndexFunc(elements, func(e sheet.Element) bool { return e.Name == step })
		if err != nil || i < 0 {
			return nil
		}
		text = elements[i].Text
	}
	elements, _ := sheet.Elements(text)
	return elements
}

// scan takes the places of a shape out of a body, for what is needed once.
func (s *service) scan(shape *shape, body string) (row, error) {
	if s.source.XML {
		return new(xmlScanner).scan(shape, body)
	}
	return new(jsonScanner).scan(shape, body)
}

// mayBeFault tells whether matchers could recognise an answer. Most answers need not be
// examined.
func (s *service) mayBeFault(a *answer) bool {
	return a.status >= http.StatusMultipleChoices || s.source.XML && strings.Contains(a.body, "Fault>")
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// refused says what an unsuccessful or incomplete answer means: an error that the sheet
// translates is a violation, any other a failure.
func (s *service) refused(a *answer, op *operation, attempt sheet.Attempt, why error) error {
	f := s.failure(a)
	parents, missing := op.Request.Parents(), op.NotFound.Match(f)
	one := op.scope != mapping.OpCreate && op.scope != mapping.OpList
	if missing && (one || op.scope == mapping.OpList && len(parents) > 0) {
		return backend.ErrNotFound
	}
	if s.o.Sheet.Errors != nil {
		attempt.Resource, attempt.Op = op.of.Resource, op.scope
		if v := s.o.Sheet.Errors.Translate(f, attempt); v != nil && v.Reason != mapping.PreconditionChanged {
			return v.Because(failure(a))
		} else if v != nil {
			return fmt.Errorf("%w: %w", backend.ErrStale, failure(a))
		}
	}
	// Where the rules are kept here they have just found it: the address is wrong, then.
	if missing && op.scope == mapping.OpCreate && len(parents) == 1 && s.o.Sheet.OwnRules && op.of.Field(parents[0]).Reference != "" {
		return mapping.Fail(mapping.RelatedIDNotFound, mapping.Literal(parents[0]), attempt.Record.Get(parents[0]).String()).Because(failure(a))
	}
	if a.status == http.StatusPreconditionFailed && op.Request.Uses("version") {
		// Somebody changed the record since it was judged: it is judged anew.
		return fmt.Errorf("%w: %w", backend.ErrStale, failure(a))
	}
	if why != nil && isSuccess(a.status) {
		return unexpected(fmt.Errorf("%w, of status %d: %.300q", why, a.status, a.body))
	}
	return s.failed(a, f)
}

// failed is the failure that an answer stands for.
func (s *service) failed(a *answer, f sheet.Failure) error {
	err := failure(a)
	switch {
	case a.status == http.StatusTooManyRequests:
		v := mapping.Fail(mapping.BackendUnavailable).Because(err)
		v.RetryAfter = retryAfter(a)
		return v
	case s.source.XML && a.status == http.StatusInternalServerError && isClientFault(f):
		// SOAP 1.1 knows no other status for what is the caller's fault.
		return unexpected(err)
	default:
		return err
	}
}

func isClientFault(f sheet.Failure) bool {
	code := f.At("Body.Fault.faultcode")
	return strings.HasSuffix(code, "Client") || strings.HasSuffix(code, "Sender")
}

// retryAfter is how long the service asks to wait, at most a minute.
func retryAfter(a *answer) time.Duration {
	n, err := strconv.Atoi(string(a.header.Peek("Retry-After")))
	if err != nil || n < 1 {
		return time.Second
	}
	return time.Duration(min(n, 60)) * time.Second
}

var errNoResult = errors.New("the answer lacks what was asked for")

// result reads the records out of an answer. They belong to the scanner, which the caller
// frees when it no longer needs them.
func (s *service) result(a *answer, op *operation, scan scanner, attempt sheet.Attempt) (row, error) {
	if !isSuccess(a.status) {
		return row{}, s.refused(a, op, attempt, nil)
	}
	top, err := scan.scan(op.answer, a.body)
	if err == nil && len(top.lists) > 0 && !top.lists[0].there {
		err = errNoResult
	}
	if err != nil {
		return row{}, s.refused(a, op, attempt, err)
	}
	return top, nil
}

// scanner is a JSON or an XML scanner.
type scanner interface {
	scan(s *shape, text string) (row, error)
	reset()
}

func (j *jsonScanner) reset() { j.rows.reset() }
func (x *xmlScanner) reset()  { x.rows.reset() }

func (s *service) scanner() scanner {
	if s.source.XML {
		return &xmlScanner{}
	}
	return s.o.scanners.json()
}

func (s *service) free(scan scanner) {
	if j, ok := scan.(*jsonScanner); ok {
		s.o.scanners.free(j)
	}
}
