package sheet

import (
	"bytes"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/config"
	"frontdesk/mapping"
)

// Request is a call of an HTTP service with templates, compiled. It is safe for
// concurrent use.
type Request struct {
	Method      string
	Template    string // method and path as the sheet has them: GET /orders/{id}
	ContentType string // of the body; "" for none
	Timeout     time.Duration
	// Fresh tells that the call has a connection of its own.
	Fresh bool

	path           template
	query, headers []template
	body           body
	uses, quoted   map[string]bool
	tells          map[string]bool // what is named beside the path
	usesValues     bool
	secrets        map[string]config.Secret
	filter         *conditions // what {filter} stands for; nil where there is none
	language       language
	each           map[string]*element // of arrays, by their placeholders
}

// body is a template of a body.
type body interface {
	append(dst []byte, v *filling) ([]byte, error)
	// texts visits the texts with placeholders.
	texts(see func(*template))
}

// template is a text with placeholders.
type template struct {
	name  string // of the query parameter or header
	parts []part
}

// part is a literal, or a placeholder where name is not "".
type part struct {
	literal, name string
	quote         byte // in an expression, the quotes that it stands in; 0 for none
	bare          bool // in an expression, outside of quotes
}

// only returns the placeholder that is the whole template; "" for none.
func (t template) only() string {
	if len(t.parts) == 1 {
		return t.parts[0].name
	}
	return ""
}

// names adds the placeholders in the template.
func (t *template) names(add func(string)) {
	for _, p := range t.parts {
		if p.name != "" {
			add(p.name)
		}
	}
}

var placeholder = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_.-]*)\}`)

// split separates a text into literals and placeholders.
func split(text string) []part {
	var parts []part
	for {
		at := placeholder.FindStringSubmatchIndex(text)
		if at == nil {
			if text != "" {
				parts = append(parts, part{literal: text})
			}
			return parts
		}
		if at[0] > 0 {
			parts = append(parts, part{literal: text[:at[0]]})
		}
		parts = append(parts, part{name: text[at[2]:at[3]]})
		text = text[at[1]:]
	}
}

// Values are what a template's placeholders stand for.
type Values struct {
	// Get returns the value of a placeholder, by the name between the braces;
	// absent where there is none. It is not asked for secret.* and fields.
	Get func(name string) Raw
	// List returns the values of a placeholder that stands for several, none where nothing
	// is filtered so; nil where no list is asked for.
	List func(name string) []Raw
	// Fields are what {fields} stands for.
	Fields []Assignment
	// Rows returns the elements of an array that has a template of its own; nil where
	// no body has any.
	Rows func(array string) (rows [][]Assignment, given bool)
}

// Call is a request of an HTTP service, all escaped. Target is appended to the address of the
// service.
type Call struct {
	Method, Target string // Target is path and query
	Headers        [][2]string
	Body           []byte
}

// UsesValues tells whether a template names a field: {value.NAME}.
func (q *Request) UsesValues() bool { return q.usesValues }

// Uses tells whether a template of the request has the placeholder, such as cursor, token or
// fields.
func (q *Request) Uses(name string) bool { return q.uses[name] }

// Parents are the fields by which the path names a parent record, which may not exist:
// order_id of /orders/{filter.order_id}/lines.
func (q *Request) Parents() (fields []string) {
	for _, p := range q.path.parts {
		if kind, name, _ := strings.Cut(p.name, "."); kind == "filter" || kind == "value" {
			fields = append(fields, name)
		}
	}
	return fields
}

// IsInPath tells whether the path has a placeholder: every record in the answer then has its
// value.
func (q *Request) IsInPath(name string) bool {
	return slices.ContainsFunc(q.path.parts, func(p part) bool { return p.name == name })
}

// Tells tells whether the call of a write sets a field, apart from {fields}. On create the
// path does, by naming the parent of the new record; otherwise it only names the record.
func (q *Request) Tells(f *mapping.Field, create bool) bool {
	name := "value." + f.Name
	return q.tells[name] || create && f.Reference != "" && q.IsInPath(name)
}

// Quotes tells whether the value of a placeholder is always between quotes, so that an empty
// text is a value like any other.
func (q *Request) Quotes(name string) bool { return q.quoted[name] }

// hasFields tells whether {fields}, or {fields.PATH} around each of the places, is in the body.
func (q *Request) hasFields(places []string) bool {
	return q.uses["fields"] || len(places) > 0 && !slices.ContainsFunc(places, func(place string) bool {
		for object := place; object != ""; object = objectOf(object) {
			if q.uses["fields."+object] {
				return false
			}
		}
		return true
	})
}

// Steps are the names of a path, which dots divide; one after a backslash is part of the name:
// @odata\.count.
func Steps(path string) []string {
	if !strings.Contains(path, `\.`) {
		return strings.Split(path, ".")
	}
	steps := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range steps {
		steps[i] = strings.ReplaceAll(steps[i], "\x00", ".")
	}
	return steps
}

// objectOf is the path of the object that a place is in; "" for the whole record.
func objectOf(place string) string { return place[:max(strings.LastIndexByte(place, '.'), 0)] }

// filling is a request while it is built.
type filling struct {
	Values
	secrets  map[string]config.Secret
	filter   *conditions
	language language
	each     map[string]*element
	err      error // the first value that cannot be sent
}

// fillings are used again: nothing of one is kept once its request is built.
var fillings = sync.Pool{New: func() any { return new(filling) }}

func (q *Request) filling(v Values) *filling {
	f := fillings.Get().(*filling)
	f.Values, f.secrets, f.filter, f.language, f.each = v, q.secrets, q.filter, q.language, q.each
	return f
}

// end gives a filling back, and returns why a value could not be sent.
func (f *filling) end() error {
	err := f.err
	*f = filling{}
	fillings.Put(f)
	return err
}

// value returns what is written for a placeholder.
func (f *filling) value(p part) Raw {
	raw := f.get(p.name)
	if raw.Kind == RawAbsent {
		return raw
	}
	fail := func(why string) Raw {
		if f.err == nil {
			f.err = &Unsendable{p.name, why}
		}
		return Raw{}
	}
	switch {
	case strings.HasPrefix(p.name, "filter.") && raw.Kind == RawText && f.language.takesForPattern(raw.Text):
		return fail("the service would take it for a pattern")
	case p.quote != 0:
		text, ok := f.language.quoted(raw.String(), p.quote)
		if !ok {
			return fail("it would end the quotes that it stands in")
		}
		return textRaw(text)
	case p.bare && !isBare(raw):
		return fail("it would be more than a value without quotes")
	}
	return raw
}

func (f *filling) get(name string) Raw {
	if secret, ok := strings.CutPrefix(name, "secret."); ok {
		return textRaw(string(f.secrets[secret]))
	}
	if name == "filter" && f.filter != nil {
		return f.filter.fill(f)
	}
	if f.Get == nil {
		return Raw{}
	}
	return f.Get(name)
}

// Build fills in the templates. It fails with Unsendable if there is no place for a value,
// such as one with a line break in a header; the error does not show the value.
func (q *Request) Build(v Values) (c Call, err error) {
	f := q.filling(v)
	defer func() { err = errors.Join(err, f.end()) }()
	c.Method = q.Method
	if c.Target, err = q.target(f); err != nil {
		return c, err
	}
	if c.Headers, err = q.appendHeaders(nil, f); err != nil {
		return c, err
	}
	if q.body == nil {
		return c, nil
	}
	if c.Body, err = q.body.append(make([]byte, 0, sizeOf(v.Fields)), f); err != nil {
		return c, err
	}
	if q.ContentType != "" {
		c.Headers = append(c.Headers, [2]string{"Content-Type", q.ContentType})
	}
	return c, nil
}

// sizeOf is about how many bytes fields take in a body.
func sizeOf(fields []Assignment) int {
	size := 64
	for i := range fields {
		size += len(fields[i].Place) + len(fields[i].Value.Text) + 24
	}
	return size
}

// target is the path and the query.
func (q *Request) target(f *filling) (string, error) {
	var room [256]byte
	dst := room[:0]
	for _, p := range q.path.parts {
		if p.name == "" {
			dst = append(dst, p.literal...)
			continue
		}
		raw := f.value(p)
		if raw.Kind == RawInt {
			dst = strconv.AppendInt(dst, raw.Int, 10)
			continue
		}
		text := raw.String()
		if text == "" || strings.ContainsFunc(text, breaksOut) {
			return "", &Unsendable{p.name, "it is no part of a path"}
		}
		dst = append(dst, url.PathEscape(text)...)
	}
	if bytes.IndexByte(dst, '.') >= 0 && leadsElsewhere(string(dst)) {
		return "", &Unsendable{Why: "a part of the path would be . or .."}
	}
	return string(appendForm(dst, '?', q.query, f)), nil
}

// leadsElsewhere tells whether a part of a path is . or .., also if a service takes an escaped
// slash or a backslash for a slash.
func leadsElsewhere(path string) bool {
	for _, part := range strings.FieldsFunc(slashes.Replace(path), func(r rune) bool { return r == '/' }) {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

var slashes = strings.NewReplacer("%2F", "/", "%5C", "/")

// appendForm appends name=value pairs, the first after start. A pair whose
// placeholders are all absent is left out, unless it has text of its own. One of several
// values is there for each of them.
func appendForm(dst []byte, start byte, pairs []template, f *filling) []byte {
	add := func(t template, f *filling) {
		text, ok := t.fill(f)
		if !ok {
			return
		}
		if start != 0 {
			dst = append(dst, start)
		}
		start = '&'
		dst = append(dst, escapeQuery(t.name)...)
		dst = append(dst, '=')
		dst = append(dst, escapeQuery(text)...)
	}
	for _, t := range pairs {
		if name := t.list(); name != "" {
			f.eachOf(name, func(one *filling) { add(t, one) })
		} else {
			add(t, f)
		}
	}
	return dst
}

// escapeQuery escapes a name or value of a query, or of a form. A blank is %20 there, which all
// services take for one, and a colon a colon: services that read a query as RFC 3986 has it, such
// as OData's, take + for a plus, and know times by their colons.
func escapeQuery(text string) string { return readQuery.Replace(url.QueryEscape(text)) }

var readQuery = strings.NewReplacer("+", "%20", "%3A", ":")

// fill returns the text; ok is false if all its values are absent.
func (t template) fill(f *filling) (text string, ok bool) {
	var b strings.Builder
	ok = len(t.parts) == 0
	for _, p := range t.parts {
		if p.name == "" {
			b.WriteString(p.literal)
			ok = ok || len(t.parts) == 1
			continue
		}
		raw := f.value(p)
		if raw.Kind != RawAbsent {
			ok = true
			b.WriteString(raw.String())
		}
	}
	return b.String(), ok
}

// AppendHeaders appends the request's headers, except the type of its body.
func (q *Request) AppendHeaders(dst [][2]string, v Values) ([][2]string, error) {
	if len(q.headers) == 0 {
		return dst, nil
	}
	f := q.filling(v)
	dst, err := q.appendHeaders(dst, f)
	return dst, errors.Join(err, f.end())
}

func (q *Request) appendHeaders(dst [][2]string, f *filling) ([][2]string, error) {
	for _, t := range q.headers {
		text, ok := t.fill(f)
		if !ok {
			continue
		}
		for i := range len(text) {
			if c := text[i]; c < ' ' && c != '\t' || c >= 0x7f {
				return dst, &Unsendable{Why: "header " + t.name + " would have a character that headers cannot have"}
			}
		}
		dst = append(dst, [2]string{t.name, text})
	}
	return dst, nil
}

// formBody is a body of name=value pairs.
type formBody []template

func (b formBody) texts(see func(*template)) {
	for i := range b {
		see(&b[i])
	}
}

func (b formBody) append(dst []byte, f *filling) ([]byte, error) {
	return appendForm(dst, 0, b, f), nil
}
