package mapdraft

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/mapping"
)

// setting is a key of the sheet, with what it is a guess by.
type setting struct{ key, value string }

// mapped is a field as the sheet will say it.
type mapped struct {
	name     string
	settings []setting
	why      string
	score    float64
	todo     []string
}

func (m *mapped) set(key, value string) { m.settings = append(m.settings, setting{key, value}) }
func (m *mapped) doubt(text string)     { m.todo = append(m.todo, text) }

// convert says how a field is converted.
func (d *drafter) convert(m *match, x *found) *mapped {
	f, c := x.Field, x.column
	out := &mapped{name: f.Name, why: x.why, score: x.score}
	out.set("from", c.Name)
	if f.Reference != "" || f.ReferenceBy != "" {
		if d.ofKey(m.table, c) && !f.Immutable && f.Reference != "" && c.Name != d.client {
			out.set("immutable", "true")
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
	case f.Type == mapping.Varchar || f.Type == mapping.Text:
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
	if len(wanted) == 0 || c.few == nil {
		if len(f.OneOf) > 0 {
			out.set("codes", "{}")
			out.doubt("which codes stand for " + strings.Join(f.OneOf, ", ") + "?")
			return true
		}
		return false
	}
	if len(f.OneOf) == 0 && all(c.few, func(s string) bool { return len(s) > 5 }) {
		return false // words, not codes
	}
	list, unknown := d.codesFor(c, wanted)
	if len(list) == 0 {
		if len(f.OneOf) == 0 {
			return false
		}
		out.doubt("which codes stand for " + strings.Join(f.OneOf, ", ") + "?")
	}
	for _, doubt := range d.doubtful(list, wanted) {
		out.doubt(doubt)
	}
	trim(c, out)
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

func isBlank(c *column) bool { text, ok := literal(c.Default); return ok && text == "" }

// nullAs says what null is written as where the column takes none: its default.
func (d *drafter) nullAs(m *match, f *mapping.Field, c *column, out *mapped, list []code) {
	if c.Nullable || f.Required || f.Readonly || m.readOnly(d) || f.Name == "is_blocked" || f.Name == "is_archived" {
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
		out.set("type", map[bool]string{true: "integer", false: "decimal"}[c.sort == sortInteger])
		if c.sort == sortInteger && f.Readonly && slices.Contains(c.values, "0") {
			out.set("zero", quoted("0"))
		}
		return
	}
	trim(c, out)
	if !c.Nullable && !f.Required && (c.empties > 0 || isBlank(c)) {
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
	if charset := d.narrowCharset(); writes && charset != "" && isProse(f, c) {
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

// isProse tells of texts that may have letters beyond ASCII.
func isProse(f *mapping.Field, c *column) bool {
	if f.Check != "" || f.IgnoreDashes {
		return false
	}
	for _, word := range strings.Split(f.Name, "_") {
		if slices.Contains([]string{"number", "code", "account", "mime", "url", "username", "email", "ean", "addition", "language", "id", "sha256", "prefix", "pattern"}, word) {
			return false
		}
	}
	return true
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

// convertNumber handles decimals, and integers that imply some.
func (d *drafter) convertNumber(f *mapping.Field, c *column, out *mapped) {
	switch c.sort {
	case sortInteger:
		out.set("type", "integer")
		most := 0
		for _, v := range c.values {
			n, _ := strconv.Atoi(v)
			most = max(most, n, -n)
		}
		switch {
		case f.Check == "percentage" && most > 1000:
			out.set("decimals", "2")
		case f.Check == "percentage" && most > 100:
			out.set("decimals", "1")
		case f.Check == "percentage":
			out.doubt("whole percents, or tenths of one (decimals: 1)?")
		case f.Name == "quantity" || f.Name == "stock":
			out.doubt("whole units, or thousandths (decimals: 3)?")
		default:
			out.set("decimals", "2")
			if most < 1000 {
				out.doubt("cents?")
			}
		}
	case sortDecimal:
		if c.Precision > 0 && c.Scale < f.Scale {
			out.set("scale", strconv.Itoa(c.Scale))
		}
	case sortText:
		out.set("type", "text")
		if slices.ContainsFunc(c.values, func(s string) bool { return strings.Contains(s, ",") }) {
			out.set("decimal_comma", "true")
		}
	}
}

// dateFormats are the formats that texts and integers are tried by.
var dateFormats = []struct{ format, layout, zero string }{
	{"yyyyMMdd", "20060102", "00000000"}, {"yyyy-MM-dd", "2006-01-02", "0000-00-00"}, {"dd-MM-yyyy", "02-01-2006", "00-00-0000"},
	{"dd.MM.yyyy", "02.01.2006", "00.00.0000"}, {"yyyyMMddHHmmss", "20060102150405", "00000000000000"}, {"yyyy-MM-dd HH:mm:ss", "2006-01-02 15:04:05", "0000-00-00 00:00:00"},
}

// dateFormat is the format that most values of a column have; "" for none.
func dateFormat(c *column) string {
	if c.sort != sortText && c.sort != sortInteger {
		return ""
	}
	for _, f := range dateFormats {
		if c.sort == sortText && c.Length > 0 && c.Length < len(f.format) {
			continue
		}
		fit, set := 0, 0
		for _, v := range c.values {
			if v == "" || strings.Trim(v, "0-.: ") == "" {
				continue
			}
			set++
			if t, err := time.Parse(f.layout, v); err == nil && t.Year() > 1850 && t.Year() < 2200 {
				fit++
			}
		}
		blank := slices.Contains(c.values, f.zero) || literalIs(c.Default, f.zero)
		if set == 0 && c.Length == len(f.format) && c.has("date") {
			return f.format
		}
		if set > 0 && fit*10 >= set*9 || set == 0 && blank && c.has("date", "timestamp", "from", "until") {
			return f.format
		}
	}
	return ""
}

// convertTime handles dates and times, of one column or two.
func (d *drafter) convertTime(m *match, x *found, out *mapped) {
	f, c := x.Field, x.column
	zeros := []string{}
	switch c.sort {
	case sortDate, sortDatetime, sortTimestamp:
		if d.source.Engine == "sqlite" {
			zeros = sqliteTime(c, out)
			break
		}
		out.set("type", map[sort]string{sortDate: "date", sortDatetime: "datetime", sortTimestamp: "timestamp"}[c.sort])
		for _, zero := range []string{"0000-00-00", "0001-01-01", "1899-12-30", "1900-01-01"} {
			if slices.ContainsFunc(c.values, func(v string) bool { return strings.HasPrefix(v, zero) }) || strings.Contains(c.Default, zero) {
				zeros = append(zeros, zero)
			}
		}
	default:
		format := dateFormat(c)
		if c.sort == sortInteger {
			out.set("type", "integer")
		}
		out.set("format", format)
		for _, known := range dateFormats {
			if known.format == format {
				zeros = d.zeros(c, known.layout, known.zero)
			}
		}
	}
	if clock := d.clockOf(m.table, c); clock != nil {
		out.set("time_from", clock.Name)
	}
	if len(zeros) > 0 {
		out.set("zero", list(zeros))
	}
	if len(zeros) > 1 && c.sort != sortDatetime {
		out.doubt("no calendar has " + strings.Join(zeros[1:], ", "))
	}
	switch {
	case f.Name != "created_at" && f.Name != "modified_at":
	case c.kept:
		out.set("readonly", "true")
	case f.Name == "created_at":
		out.set("stamp", "create")
	default:
		out.set("stamp", "change")
	}
}

// sqliteTime says how SQLite, which has no dates, is written to as others do it.
func sqliteTime(c *column, out *mapped) (zeros []string) {
	format := "yyyy-MM-dd"
	if c.sort != sortDate {
		format = quoted("yyyy-MM-dd HH:mm:ss")
	}
	out.set("type", "text")
	out.set("format", format)
	for _, zero := range []string{"0000-00-00", "0001-01-01"} {
		if slices.ContainsFunc(c.values, func(v string) bool { return strings.HasPrefix(v, zero) }) || strings.Contains(c.Default, zero) {
			if c.sort != sortDate {
				zeros = append(zeros, zero+" 00:00:00")
			}
			zeros = append(zeros, zero)
		}
	}
	return zeros
}

// zeros are the values that are no date: that which stands for none, and those
// that no calendar has.
func (d *drafter) zeros(c *column, layout, zero string) []string {
	var found []string
	if slices.Contains(c.values, zero) || literalIs(c.Default, zero) || !c.Nullable && d.isCustom(zero) {
		found = append(found, zero)
	}
	if slices.Contains(c.values, "0") {
		found = append(found, "0")
	}
	for _, v := range c.values {
		if _, err := time.Parse(layout, v); err != nil && v != "" && !slices.Contains(found, v) && len(found) < 6 {
			found = append(found, v)
		}
	}
	return found
}

// isCustom tells whether no date is written so in other columns.
func (d *drafter) isCustom(zero string) bool {
	return slices.ContainsFunc(d.tables, func(t *table) bool {
		return slices.ContainsFunc(t.columns, func(c *column) bool { return literalIs(c.Default, zero) })
	})
}

// clockOf finds the column with the time of day beside a date: that whose name
// says the same but for date and time, or that which stands next to it.
func (d *drafter) clockOf(t *table, date *column) *column {
	if date.sort == sortDatetime || date.sort == sortTimestamp || !date.has("date") {
		return nil
	}
	rest := func(c *column, but string) []string {
		var texts []string
		for _, p := range c.parts {
			if !slices.Contains(p.ideas, but) {
				texts = append(texts, p.text)
			}
		}
		return texts
	}
	for _, c := range t.columns {
		if c.has("time") && !c.has("date") && c.sort == sortText && c.Length >= 4 && c.Length <= 8 && slices.Equal(rest(c, "time"), rest(date, "date")) {
			return c
		}
	}
	return nil
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
