package draft

import (
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// setting is a key of the sheet.
type setting struct{ key, value string }

// mapped is a field as the sheet will say it.
type mapped struct {
	name     string
	settings []setting
	why      string
	todo     []string
}

func (m *mapped) set(key, value string) { m.settings = append(m.settings, setting{key, value}) }
func (m *mapped) doubt(text string)     { m.todo = append(m.todo, text) }

// convert says how a field is converted.
func (d *drafter) convert(m *match, x *found) *mapped {
	f, c := x.Field, x.column
	out := &mapped{name: f.Name, why: d.seen(m, x)}
	if x.score < 0.65 {
		out.doubt("is it this one?")
	}
	out.set("from", c.Name)
	if f.Reference != "" || f.ReferenceBy != "" {
		if d.ofKey(m.table, c) && !f.Immutable && f.Reference != "" && c.Name != d.client {
			out.set("immutable", "true")
			if !f.Required && d.http == nil && len(m.table.Primary) > 1 {
				out.set("required", "true")
			}
		}
		return out
	}
	writes := !f.Readonly && !m.readOnly(d) || publishes(f)
	switch {
	case d.convertCodes(m, x, out):
	case f.Type == mapping.Timestamp:
		d.convertTime(m, x, out)
	case f.Type == mapping.Float8:
		d.convertNumber(f, c, out)
	case f.IsText():
		d.convertText(m, x, out, writes)
	case f.Type == mapping.Int4:
		if c.sort == sortText {
			out.set("type", "text")
		}
	}
	if writes && !c.Nullable && !f.Required && (f.Type == mapping.Int4 || f.Type == mapping.Float8) && !out.has("null_as") && !out.has("codes") {
		if text, ok := literal(c.Default); ok && text != "" && f.Type == mapping.Int4 {
			out.set("null_as", text)
		} else if ok && text != "" {
			if n, err := strconv.ParseFloat(text, 64); err == nil {
				out.set("null_as", strconv.FormatFloat(n, 'f', -1, 64))
			}
		}
	}
	d.convertWriting(m, f, c, out)
	return out
}

func (m *mapped) has(key string) bool {
	return slices.ContainsFunc(m.settings, func(s setting) bool { return s.key == key })
}

// publishes tells of the readonly fields that frontdesk itself writes: the state
// of publishing, and what follows from a document's content.
func publishes(f *mapping.Field) bool {
	return slices.Contains([]string{"publish_status", "published_at", "size", "sha256"}, f.Name)
}

// convertWriting says who writes the column, where it is not just the client.
func (d *drafter) convertWriting(m *match, f *mapping.Field, c *column, out *mapped) {
	switch {
	case out.has("stamp") || out.has("readonly"):
	case c.kept && f.Name != "created_at" && f.Name != "modified_at" && !f.Required, f.Readonly && !publishes(f) && !out.has("stamp"):
		out.set("readonly", "true")
		if d.http == nil && !c.Nullable && c.Default == "" && !c.kept && !d.ofKey(m.table, c) && !m.readOnly(d) {
			out.doubt("what gives a new record its " + c.Name + "? constants, or a procedure")
		}
	case d.ofKey(m.table, c) && m.table.Primary != nil && f.Numbering == "":
		out.set("immutable", "true")
	}
}

// convertCodes handles fields with code lists; false where it is none.
func (d *drafter) convertCodes(m *match, x *found, out *mapped) bool {
	f, c := x.Field, x.column
	if slices.Equal(f.OneOf, []string{"0", "1"}) {
		return d.convertFlag(m, x, out)
	}
	wanted := candidates(m.Resource, f)
	if len(wanted) == 0 || len(f.OneOf) == 0 && all(c.few, func(s string) bool { return len(s) > 5 }) {
		return false // words, not codes
	}
	if len(f.OneOf) == 0 && f.Length == 2 && len(c.few) > 0 && all(c.few, func(s string) bool { return len(s) == 2 && strings.ToLower(s) == s }) {
		return false // codes of ISO 639, as the interface has them
	}
	var list []code
	var unknown []string
	if c.few != nil {
		list, unknown = d.codesFor(c, wanted)
	}
	if len(list) == 0 {
		if len(f.OneOf) == 0 {
			return false
		}
		trim(c, out)
		out.set("codes", "{}")
		out.doubt("which codes stand for " + strings.Join(f.OneOf, ", ") + "?")
		return true
	}
	trim(c, out)
	if len(unknown) == 0 && c.sort == sortText && !isChar(c) && !slices.ContainsFunc(list, func(k code) bool { return k.from != k.to }) {
		return true // the interface's own words
	}
	list = d.doubts(f, out, list, wanted)
	blank := !f.Required && (slices.Contains(c.few, "") || isBlank(c))
	out.set("codes", d.share(f, list, blank))
	if c.sort == sortInteger {
		out.set("type", "integer")
	}
	if len(unknown) > 0 {
		out.set("unknown", quoted("null"))
		if f.Required {
			out.doubt("what stands for " + strings.Join(unknown, ", ") + "?")
		} else {
			out.doubt("unknown: " + strings.Join(unknown, ", "))
		}
	}
	d.nullAs(m, f, c, out, list)
	return true
}

// doubts notes what is doubtful of a code list, and adds codes that no row has.
func (d *drafter) doubts(f *mapping.Field, out *mapped, list []code, wanted []string) []code {
	for _, doubt := range d.doubtful(list, wanted) {
		out.doubt(doubt)
	}
	if unseen := d.unseen(list, wanted); len(unseen) > 0 {
		var texts []string
		for _, k := range unseen {
			texts = append(texts, k.from+" is "+k.to)
		}
		list = append(list, unseen...)
		out.doubt("not seen: " + strings.Join(texts, ", "))
	}
	for i := range list { // contactcommunication's kinds are numbers
		if n := slices.Index(wanted, list[i].to); f.Type == mapping.Int4 && n >= 0 && n < len(f.OneOf) {
			list[i].to = f.OneOf[n]
		}
	}
	return list
}

func isBlank(c *column) bool { text, ok := literal(c.Default); return ok && text == "" }

// nullAs says what null is written as where the column takes none: its default.
func (d *drafter) nullAs(m *match, f *mapping.Field, c *column, out *mapped, list []code) {
	if c.Nullable || f.Required || f.Readonly || m.readOnly(d) || f.IsState() {
		return
	}
	text, ok := literal(c.Default)
	if ok && slices.ContainsFunc(list, func(k code) bool { return k.from == text }) {
		out.set("null_as", scalar(text, c.sort == sortInteger))
	}
}

// convertFlag handles yes and no, and the states of records.
func (d *drafter) convertFlag(m *match, x *found, out *mapped) bool {
	f, c := x.Field, x.column
	if c.sort == sortBoolean {
		out.set("type", "boolean")
		return true
	}
	if list := d.yesNo(c); list != nil {
		if c.sort == sortInteger && list[0].from == "1" && list[1].from == "0" {
			return true
		}
		out.set("codes", d.shareFlag(list))
		trim(c, out)
		if c.sort == sortInteger {
			out.set("type", "integer")
		}
		d.nullAs(m, f, c, out, list)
		return true
	}
	out.doubt("which codes stand for 0 and 1?")
	out.set("codes", "{}")
	return true
}

// convertText handles text.
func (d *drafter) convertText(m *match, x *found, out *mapped, writes bool) {
	f, c := x.Field, x.column
	if c.sort == sortInteger || c.sort == sortDecimal {
		out.set("type", string(c.sort))
		if c.sort == sortInteger && f.Readonly && slices.Contains(c.values, "0") {
			out.set("zero", quoted("0"))
		}
		return
	}
	trim(c, out)
	nothing := m.endpoint != nil && m.endpoint.style != nil && m.endpoint.style.noNull
	if (!c.Nullable || d.http != nil) && !f.Required && (c.empties > 0 || isBlank(c) || nothing) {
		out.set("empty", quoted("null"))
		if writes {
			out.set("null_as", quoted(""))
		}
	}
	if f.IgnoreDashes && all(c.values, func(s string) bool { return !strings.Contains(s, "-") }) {
		out.set("dashes", "none")
	}
	if writes && c.Length > 0 && c.Length < f.Length {
		out.set("length", strconv.Itoa(c.Length))
	}
	if charset := d.narrowCharset(); writes && charset != "" && !f.IgnoreDashes {
		out.set("charset", charset)
	}
}

// trim takes blanks off what is filled up with them, be it by the engine: then
// one that is empty is nothing but blanks.
func trim(c *column, out *mapped) {
	if c.sort == sortText && (c.padded || isChar(c) && !isGUID(c)) {
		out.set("trim", "right")
	}
}

func isGUID(c *column) bool { return slices.ContainsFunc(c.values, guid.MatchString) }

func isChar(c *column) bool {
	return c.Type == "char" || c.Type == "character" || c.Type == "bpchar" || c.Type == "nchar"
}

func (d *drafter) narrowCharset() string {
	name := strings.ToLower(d.charset)
	switch {
	case strings.Contains(name, "utf"), name == "":
		return ""
	case strings.Contains(name, "latin1"), strings.Contains(name, "8859"):
		return "latin1"
	case strings.Contains(name, "1252"), strings.Contains(name, "cp1"), strings.Contains(name, "sql_latin"):
		return "cp1252"
	case strings.Contains(name, "ascii"):
		return "ascii"
	}
	return ""
}

// literal is a column's default where it is a value of its own.
func literal(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text = text[1 : len(text)-1]
	}
	if cast := strings.Index(text, "::"); cast > 0 {
		text = text[:cast]
	}
	if strings.HasPrefix(text, "N'") {
		text = text[1:]
	}
	if unquoted := strings.Trim(text, "'"); unquoted != text || strings.HasSuffix(text, "'") {
		return strings.TrimRight(strings.ReplaceAll(unquoted, "''", "'"), " "), true
	}
	if text != "" && strings.Trim(text, "+-.0123456789") == "" {
		return text, true
	}
	return "", false
}

func literalIs(text, value string) bool {
	is, ok := literal(text)
	return ok && is == value
}
