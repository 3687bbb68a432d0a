package sheet

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// callContext says what the templates of a call may name.
type callContext struct {
	method   string            // where the sheet names none
	known    []string          // placeholders
	keys     int               // parts of {key}; 0 where there is no key
	filters  []string          // fields of {filter.FIELD}
	values   []string          // fields of {value.FIELD}
	parts    map[string]string // why a {value.FIELD} would be a part of the value
	fields   bool              // {fields}
	fallback string            // body where the sheet gives none
	natures  map[string]nature
	plainKey bool // {key} is a number
	filter   *conditions
	sorts    bool            // {sort}
	plain    bool            // {secret.NAME} is none: it is no call
	each     map[string]bool // arrays in a body
}

// The kinds of templates that are a text.
const (
	pathTemplate = iota
	queryTemplate
	headerTemplate
)

var (
	headerName    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	ownHeaders    = []string{"host", "content-length", "transfer-encoding", "connection", "content-type", "expect", "upgrade"}
	pathForm      = regexp.MustCompile(`^/[A-Za-z0-9/._~!$&'()*+,;=:@%{}-]*$`)
	xmlPlaceForm  = regexp.MustCompile(`^@?[A-Za-z_][A-Za-z0-9_.:-]*$`)
	wholeNumber   = regexp.MustCompile(`^[0-9]+$`)
	formURLEncode = "application/x-www-form-urlencoded"
)

// fresh says that a connection is used once.
const fresh = "fresh"

// request compiles a call.
func (l *loader) request(path string, f requestFile, c callContext) *Request {
	q := &Request{Method: cmp.Or(f.Method, c.method, "GET"), Timeout: f.Timeout, secrets: l.httpSecrets(), language: l.language(), filter: c.filter, uses: map[string]bool{}, quoted: map[string]bool{}}
	q.Template = q.Method + " " + f.Path
	q.Fresh = f.Connections == fresh || f.Connections == "" && l.Source.HTTP != nil && l.Source.HTTP.Connections.fresh
	if f.Timeout < 0 {
		l.fail(strictyaml.Child(path, "timeout"), "found %s, expected more than 0s", f.Timeout)
	}
	if f.Path != "" {
		q.path = l.namedTemplate(strictyaml.Child(path, "path"), pair{Value: f.Path}, pathTemplate, c)
	}
	for _, p := range f.Query {
		q.query = append(q.query, l.namedTemplate(strictyaml.Child(path, "query", p.Key), p, queryTemplate, c))
	}
	for _, p := range f.Headers {
		q.headers = append(q.headers, l.namedTemplate(strictyaml.Child(path, "headers", p.Key), p, headerTemplate, c))
	}
	text := cmp.Or(f.Body, c.fallback)
	if text != "" {
		l.loadBody(path, text, f, q, c)
	}
	q.note()
	return q
}

// namedTemplate compiles a path, query value or header.
func (l *loader) namedTemplate(path string, p pair, kind int, c callContext) template {
	t := template{name: p.Key, parts: split(p.Value)}
	l.names(path, &t, c)
	switch kind {
	case pathTemplate:
		l.judgePath(path, &t, c)
		if slices.ContainsFunc(t.parts, func(p part) bool { return p.name == "filter" }) {
			l.fail(path, "found {filter} in a path, expected it in query or body")
		}
		if !pathForm.MatchString(p.Value) {
			l.fail(path, "found %s, expected a path that begins with /, its parameters in query", l.found(path, p.Value))
		}
	case headerTemplate:
		if !headerName.MatchString(p.Key) || slices.Contains(ownHeaders, strings.ToLower(p.Key)) {
			l.fail(path, "found header %s, expected one that is not the client's own to set", strictyaml.Quote(p.Key))
		}
		if strings.ContainsFunc(p.Value, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			l.fail(path, "found a character that headers cannot have")
		}
	}
	if list := t.list(); list != "" && (kind != queryTemplate || t.only() == "") {
		l.fail(path, "found {%s}, which is several values: expected it alone as a query parameter, which is then there for each, or as a value in JSON", list)
	}
	if kind != pathTemplate {
		l.judgeText(path, &t, c)
	}
	return t
}

// names checks the placeholders of a template.
func (l *loader) names(path string, t *template, c callContext) {
	for _, part := range t.parts {
		switch {
		case part.name != "":
			l.placeholder(path, part.name, c, false)
		case strings.ContainsAny(part.literal, "{}"):
			l.fail(path, "found a brace that is no placeholder, expected {NAME}")
		}
	}
}

// placeholder judges whether a template may name something where it stands.
func (l *loader) placeholder(path, name string, c callContext, inBody bool) {
	known := slices.Clone(c.known)
	if c.filter != nil {
		known = append(known, "filter")
	}
	if c.sorts {
		known = append(known, "sort")
	}
	if h := l.Source.HTTP; h != nil && !c.plain {
		for _, secret := range slices.Sorted(maps.Keys(h.Secrets)) {
			known = append(known, "secret."+secret)
		}
	}
	if c.keys > 0 {
		known = append(known, "key")
		for i := range c.keys {
			known = append(known, "key."+strconv.Itoa(i+1))
		}
	}
	for _, field := range c.filters {
		known = append(known, "filter."+field)
		for _, o := range sentOperators {
			known = append(known, operand(field, o))
		}
	}
	for _, field := range c.values {
		known = append(known, "value."+field)
	}
	if c.fields {
		known = append(known, "fields")
	}
	if c.each[name] && inBody {
		return
	}
	if why := c.parts[name]; why != "" {
		l.fail(path, "found {%s}, %s: expected it in {fields} alone", name, why)
		return
	}
	if strings.HasPrefix(name, "fields.") && c.fields && inBody && !l.xml {
		return
	}
	if name == "fields" && c.fields && !inBody {
		l.fail(path, "found {fields} outside of a body, expected {value.FIELD}")
		return
	}
	if !slices.Contains(known, name) {
		braced := make([]string, len(known))
		for i := range known {
			braced[i] = "{" + known[i] + "}"
		}
		if _, expanded := l.doc.Written(path); expanded {
			name = "…"
		}
		hint := strictyaml.Suggest("{"+name+"}", braced)
		if hint == "" {
			hint = ", expected one of " + strings.Join(families(known), ", ")
		}
		l.fail(path, "there is no {%s} here%s", name, hint)
	}
}

// families are the placeholders, with those of fields and keys grouped.
func families(known []string) []string {
	var out []string
	for _, name := range known {
		family, _, dotted := strings.Cut(name, ".")
		switch {
		case dotted && (family == "filter" || family == "value"):
			name = family + ".FIELD"
		case dotted && family == "key":
			continue
		}
		if name = "{" + name + "}"; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// call compiles an operation over HTTP.
func (d *draft) call(path string, op mapping.Scope, of *operationFile, out *Operation) {
	c := d.contextOf(op)
	if c.each = of.inEach(); len(c.each) > 0 && op != mapping.OpCreate {
		d.fail(strictyaml.Child(path, "each"), "found at %s, expected it at create only", op)
	}
	if of.Filter != nil && op == mapping.OpList {
		c.filter = d.filter(path, of.Filter, c)
	}
	if c.sorts = of.Sort != nil && op == mapping.OpList; c.sorts {
		out.Sort = d.sorting(strictyaml.Child(path, "sort"), of.Sort)
	}
	if of.Path == "" {
		d.fail(path, "path is missing, expected that of the call")
	}
	if (op == mapping.OpCreate || op == mapping.OpUpdate) && d.xml && of.Body == "" {
		d.fail(path, "body is missing, expected a template of XML with {fields} or {value.FIELD}")
	}
	out.Request = d.request(path, of.requestFile, c)
	out.ReadBack, out.SendAll = of.ReadBack, of.Send == "all"
	if of.Send == "siblings" {
		d.siblings(strictyaml.Child(path, "send"), op, out.Request)
	}
	out.Key = of.Key
	if out.Nothing = of.Result == "none" || of.Result == "" && of.Key != nil; !out.Nothing {
		out.Result = of.Result
	}
	if of.Key != nil && (op != mapping.OpCreate || len(of.Key) != len(d.resource.Key.Places)) {
		d.fail(strictyaml.Child(path, "key"), "found %d paths at %s, expected them at create only, one for each part of the key", len(of.Key), op)
	}
	if out.NotFound = matchStatus("404"); of.NotFound != nil {
		out.NotFound = d.matcher(strictyaml.Child(path, "not_found"), *of.NotFound)
	}
	if op != mapping.OpList {
		for key, given := range map[string]bool{"paging": of.Paging != nil, "total": of.Total != nil, "filter": of.Filter != nil, "sort": of.Sort != nil} {
			if given {
				d.fail(strictyaml.Child(path, key), "found at %s, expected it at list only", op)
			}
		}
		return
	}
	d.paging(path, of, out, c)
	if of.Filter != nil {
		d.usesFilter(path, out)
	}
	if of.Sort != nil && !out.Request.uses["sort"] {
		d.fail(strictyaml.Child(path, "sort"), "found no {sort} in the request, expected it where the service takes the order")
	}
	for _, field := range c.filters {
		if out.Request.uses["filter."+field] {
			d.listed = append(d.listed, field)
		}
	}
	d.operators(path, out.Request, c)
}

// contextOf is what the templates of an operation may name.
func (d *draft) contextOf(op mapping.Scope) callContext {
	c := callContext{known: []string{"client.id", "client.name", "token"}, natures: map[string]nature{}, plainKey: !d.resource.Key.Kept}
	for _, f := range d.drafted {
		if f.source != fromElements && f.codec.field != nil {
			c.natures["filter."+f.Name], c.natures["value."+f.Name] = f.nature(), f.nature()
			for _, o := range sentOperators {
				c.natures[operand(f.Name, o)] = f.nature()
			}
			c.natures[operand(f.Name, mapping.IsNull)] = natureBare // true or false
		}
		if f.Index == d.of.ModifiedAt {
			c.natures["modified_since"] = f.nature()
		}
	}
	c.natures["filter.id"] = map[bool]nature{true: natureText, false: natureBare}[d.resource.Key.Kept]
	switch op {
	case mapping.OpGet, mapping.OpUpdate, mapping.OpDelete:
		c.known = append(c.known, "id")
		if op != mapping.OpGet && d.file.Version != "" {
			c.known = append(c.known, "version")
		}
		c.keys = len(d.resource.Key.Places)
	case mapping.OpList:
		c.method = "GET"
		c.known = append(c.known, "limit", "offset", "page", "cursor", "modified_since")
		c.filters = append(c.filters, "id")
		for _, f := range d.drafted {
			if f.source == fromPlace || f.source == fromReference || f.source == fromReferred || f.source == fromCEL {
				c.filters = append(c.filters, f.Name)
			}
		}
	}
	if op == mapping.OpCreate || op == mapping.OpUpdate {
		c.fields, c.method = true, "PUT"
		if op == mapping.OpCreate {
			c.method = "POST"
			c.known = append(c.known, "idempotency_key")
			if d.resource.Key.Generated == "uuid" {
				c.keys = len(d.resource.Key.Places)
			}
		}
		if !d.xml {
			c.fallback = "{fields}"
		}
		c.parts = map[string]string{}
		for _, f := range d.drafted {
			if n := d.written(f); f.source == fromElements {
				c.parts["value."+f.Name] = "which is a list of records"
			} else if f.source == fromList {
				c.parts["value."+f.Name] = "which is written as a list with what else that has"
			} else if n > 1 {
				c.parts["value."+f.Name] = "which is written to " + count(n, "place")
			} else if f.writable {
				c.values = append(c.values, f.Name)
			}
		}
	}
	if op == mapping.OpDelete {
		c.method = "DELETE"
	}
	return c
}

// written is how many places a field is written to.
func (d *draft) written(f *Field) (n int) {
	for _, place := range f.Write {
		if place != d.resource.Client { // which is never another's
			n++
		}
	}
	return n
}
