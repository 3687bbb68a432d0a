package sheet

import (
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// nature is what the value of a placeholder can be.
type nature uint8

const (
	natureText    nature = iota // anything
	natureQuoted                // a text that ends no quotes: of a code list, a date
	natureBare                  // one value in any language, without quotes too
	natureTrusted               // the operator's own, or made of what was judged
)

// natureOf is the nature of a placeholder where a template stands.
func (c callContext) natureOf(name string) nature {
	switch name {
	case "id", "client.id", "limit", "offset", "page", "version", "idempotency_key":
		return natureBare
	case "token", "body", "fields", "sort":
		return natureTrusted
	}
	if strings.HasPrefix(name, "secret.") {
		return natureTrusted
	}
	if strings.HasPrefix(name, "key") && c.plainKey {
		return natureBare
	}
	return c.natures[name]
}

// nature is what the system's values of a field can be.
func (f *Field) nature() nature {
	c := &f.codec
	switch {
	case f.source == fromReference || f.source == fromReferred:
		return natureText // parts of keys
	case c.codes != nil && c.codes.unknown == "keep", c.field.IsText() && c.codes == nil, c.field.Type == mapping.Bytea:
		return natureText
	case c.codes != nil:
		for _, codes := range c.codes.write {
			if slices.ContainsFunc(codes, func(code Raw) bool { return code.IsSet() && !isBare(code) }) {
				return natureQuoted
			}
		}
	case c.comma:
		return natureQuoted
	case c.field.Type == mapping.Timestamp:
		if raw, _ := c.writeTime(0); !isBare(raw) {
			return natureQuoted
		}
	}
	return natureBare
}

// mayBeMissing tells whether a call may have no value for a placeholder.
func mayBeMissing(name string) bool {
	family, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"filter", "value", "modified_since", "cursor"}, family)
}

// judgeText checks how the values in a template are kept apart from the text around them. A
// value without text around it cannot be mistaken for anything else.
func (l *loader) judgeText(path string, t *template, c callContext) {
	if isExpression(t.parts) {
		l.judgeExpression(path, t.parts, c)
		l.judgeSeveral(path, t.parts, c)
	}
}

// judgePath is judgeText for each part of a path.
func (l *loader) judgePath(path string, t *template, c callContext) {
	from := 0
	for i := 0; i <= len(t.parts); i++ {
		if i < len(t.parts) && (t.parts[i].name != "" || !strings.Contains(t.parts[i].literal, "/")) {
			continue
		}
		segment := t.parts[from:i]
		var around strings.Builder
		named := false
		for _, p := range segment {
			named = named || p.name != ""
			around.WriteString(p.literal)
		}
		if from > 0 {
			before := t.parts[from-1].literal
			around.WriteString(before[strings.LastIndexByte(before, '/')+1:])
		}
		if i < len(t.parts) {
			after, _, _ := strings.Cut(t.parts[i].literal, "/")
			around.WriteString(after)
		}
		if named && strings.ContainsAny(around.String(), `'"()=,;&`) {
			l.judgeExpression(path, t.parts[max(0, from-1):min(i+1, len(t.parts))], c)
		}
		from = i + 1
	}
}

// judgeExpression requires that every value in an expression is between quotes that it cannot
// end, or needs none.
func (l *loader) judgeExpression(path string, parts []part, c callContext) {
	open, nested, escaped := l.language().scan(parts)
	judged := false
	for i := range parts {
		p := &parts[i]
		of := c.natureOf(p.name)
		switch {
		case p.name == "":
		case of == natureTrusted:
			p.quote = 0
		case p.name == "filter" && p.quote == 0 && c.filter.isNeverEmpty():
		case p.name == "filter" && p.quote == 0:
			l.fail(path, "found text around {filter}, which may be empty: expected it alone, or a part that is always sent, such as the client's: parts: [\"org = {client.id}\", …]")
		case p.name == "filter":
			l.fail(path, "found {filter}, which is an expression itself, in quotes: expected it outside of them")
		case p.quote != 0 && of == natureText && l.language().quotes == "":
			l.fail(path, "{%s} stands in quotes that its value could end, expected how the service writes quotes within: source.http.expressions: {quotes: doubled}, backslash, pocketbase or strict", p.name)
		case p.quote != 0:
			judged = true
		case of == natureText && strings.HasPrefix(p.name, "key"), of == natureBare:
			p.bare = true // what is no number, GUID or time is not sent
		default:
			l.fail(path, "{%s} is a text within an expression, where it could become more than a value: expected it in quotes, '{%[1]s}'", p.name)
		}
	}
	switch {
	case judged && nested:
		l.fail(path, "found quotes within quotes around a value, expected it in one kind of quotes: how both are written within is not known")
	case judged && escaped:
		l.fail(path, `found \ right before a value, which would change how the value begins: expected \\ for one that is text`)
	case judged && open != 0:
		l.fail(path, "found a quote that is not closed")
	}
}

// judgeSeveral refuses an expression that a missing value would leave incomplete.
func (l *loader) judgeSeveral(path string, parts []part, c callContext) {
	n, missing := 0, ""
	for _, p := range parts {
		if p.name != "" && c.natureOf(p.name) != natureTrusted {
			n++
			if mayBeMissing(p.name) && p.name != "filter" {
				missing = p.name
			}
		}
	}
	if n > 1 && missing != "" {
		l.fail(path, "{%s} may have no value, and would leave a hole in the expression: expected {filter}, and the conditions under filter: {join: …, parts: […]}", missing)
	}
}

// note finds out what the templates of a request name, and which values always stand between
// quotes.
func (q *Request) note() {
	named, quoted := map[string]int{}, map[string]int{}
	see := func(t *template) {
		for _, p := range t.parts {
			if p.quote != 0 {
				quoted[p.name]++
			}
			named[p.name]++
		}
	}
	texts := slices.Concat(q.query, q.headers)
	for i := range texts {
		see(&texts[i])
	}
	if q.body != nil {
		q.body.texts(see)
	}
	if q.filter != nil && (named["filter"] > 0 || q.uses["filter"]) {
		for i := range q.filter.parts {
			see(&q.filter.parts[i])
		}
		for i := range q.filter.anyOf {
			see(&q.filter.anyOf[i])
		}
		for name := range q.filter.nulls {
			named[name]++
		}
	}
	q.tells = maps.Clone(q.uses)
	for name := range named {
		q.tells[name] = true
	}
	see(&q.path)
	for name := range named {
		q.quoted[name] = quoted[name] > 0 && quoted[name] == named[name] && !q.uses[name]
	}
	for name := range named {
		q.uses[name] = name != ""
	}
	for name := range q.uses {
		q.usesValues = q.usesValues || strings.HasPrefix(name, "value.")
	}
}

func (l *loader) language() language {
	if l.Source.HTTP == nil {
		return language{}
	}
	e := l.Source.HTTP.Expressions
	return language{e.Quotes, e.Wildcards}
}

// loadExpressions checks how values are written in expressions.
func (l *loader) loadExpressions(at string, e expressionsFile) {
	if strings.ContainsFunc(e.Wildcards, func(r rune) bool { return r <= ' ' || breaksOut(r) }) {
		l.fail(strictyaml.Child(at, "wildcards"), "found a blank, expected characters that the service takes for patterns, such as *%%")
	}
}

// filter compiles what {filter} stands for in a list.
func (d *draft) filter(path string, f *filterFile, c callContext) *conditions {
	at := strictyaml.Child(path, "filter")
	if f.Join == "" {
		d.fail(at, "join is missing, expected what stands between two parts: \" && \"")
	}
	if len(f.Parts) == 0 {
		d.fail(at, "parts are missing, expected the conditions, each with its value")
	}
	e := &conditions{join: f.Join}
	for i, text := range f.Parts {
		where := strictyaml.Child(at, "parts") + "[" + itoa(i) + "]"
		t := template{parts: split(text)}
		d.names(where, &t, c)
		d.judgeExpression(where, t.parts, c)
		if t.list() != "" {
			d.fail(where, "found {%s} in a part: expected or: and the part of one value, which is then there for each", t.list())
		}
		e.parts = append(e.parts, t)
		if several, ok := t.ofSeveral(); ok && f.Or != "" {
			e.anyOf = append(e.anyOf, several)
		}
	}
	d.nulls(strictyaml.Child(at, "nulls"), f, e, c)
	return e
}

// ofSeveral is a part that names the value of one field, with the placeholder of several
// values; false for any other.
func (t template) ofSeveral() (several template, ok bool) {
	several.parts = slices.Clone(t.parts)
	named := 0
	for i, p := range several.parts {
		if p.name == "" {
			continue
		}
		named++
		if rest, is := strings.CutPrefix(p.name, "filter."); is && rest != "id" && !strings.Contains(rest, ".") {
			several.parts[i].name, ok = operand(rest, mapping.AnyOf), true
		}
	}
	return several, ok && named == 1
}

// nulls compiles the conditions that a field is null, and that it is not.
func (d *draft) nulls(at string, f *filterFile, e *conditions, c callContext) {
	e.or, e.nulls = f.Or, map[string][2]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Nulls)) {
		path, both := strictyaml.Child(at, name), f.Nulls[name]
		switch {
		case !slices.Contains(c.filters, name) || name == "id":
			d.unknown(path, "mapped field", name, c.filters[1:])
		case len(both) != 2 || both[0] == "" || both[1] == "" || both[0] == both[1]:
			d.fail(path, "found %s, expected two conditions: that it is null, and that it is not", count(len(both), "text"))
		case placeholder.MatchString(both[0] + both[1]):
			d.fail(path, "found a placeholder, where nothing is filled in: expected the service's own words")
		default:
			e.nulls[operand(name, mapping.IsNull)] = [2]string{both[1], both[0]}
		}
	}
}

// usesFilter requires {filter} in a list's calls, also in that of the total: what is counted
// must be what is listed.
func (d *draft) usesFilter(path string, out *Operation) {
	if !out.Request.uses["filter"] {
		d.fail(strictyaml.Child(path, "filter"), "found no {filter} in the request, expected it where the service takes the expression")
	}
	if t := out.Total; t != nil && t.Request != nil && !t.Request.uses["filter"] {
		d.fail(strictyaml.Child(path, "total"), "found no {filter} in its request, expected what is counted to be what is listed")
	}
}
