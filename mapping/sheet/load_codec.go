package sheet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// codec compiles the conversions of a field, and checks that they fit the field and each
// other. zone is that of times for which the sheet names none.
func (l *loader) codec(path string, ff fieldFile, f *mapping.Field, zone *time.Location) codec {
	c := codec{
		field: f, loc: cmp.Or(ff.TimeZone.Location, zone), decimals: ff.Decimals, comma: ff.DecimalComma, width: ff.Width,
		trimRight: ff.Trim == "right" || ff.Trim == "both", trimLeft: ff.Trim == "both",
		padRight: ff.Pad == "right", padZero: ff.Pad == "zero", upper: ff.Case == "upper", lower: ff.Case == "lower", dashless: ff.Dashes == "none",
		charset: charsetOf(ff.Charset), emptyNull: ff.Empty == "null", zero: ff.Zero,
	}
	if how := ff.Unknown.how; how != "" {
		l.oneOf(strictyaml.Child(path, "unknown"), how, "fail", "null", "keep", "value")
	}
	l.contradictions(path, ff, f)
	c.system = l.system(path, ff, f)
	c.isoText = f.Type == mapping.Timestamp && (!l.sql() || ff.Type == "text")
	if ff.NullAs.given && !ff.NullAs.null {
		c.nullAs = c.typed(ff.NullAs.text)
	}
	if f.Type == mapping.Timestamp {
		l.formats(path, ff, &c)
		if ff.TimeZone.Location != nil && (ff.Type == "timestamp" || c.epoch > 0 || c.format != nil && c.format.zoned) {
			l.fail(strictyaml.Child(path, "time_zone"), "found with an instant, which is in no zone or says its own: expected none")
		}
	}
	if ff.Codes.given() {
		c.codes = l.codes(path, ff, &c)
	}
	return c
}

// judgeDays refuses dates in another zone than that of clients if a date would become another
// one: when a client sends it, or when it is read from a zone in which days begin earlier.
// Times at which a program made or changed a record are not such dates.
func (d *draft) judgeDays(f *Field) {
	c, zone := &f.codec, d.o.Zone
	days := c.isWall() && c.clock == nil && (c.format == nil && c.system == sysDate || c.format != nil && !c.format.clock)
	if !days || f.Index == d.resource.CreatedAt || f.Index == d.resource.ModifiedAt || zone == nil {
		return
	}
	how := ""
	switch earlier, later := compareZones(c.loc, zone); {
	case (earlier || later) && f.writable && (d.has(mapping.OpCreate) || d.has(mapping.OpUpdate)):
		how = "one that is written would shift"
	case earlier:
		how = "one that is read would be the day before"
	default:
		return
	}
	path := d.at("fields", f.Name)
	if own := strictyaml.Child(path, "time_zone"); d.doc.Has(own) {
		path = own
	}
	d.fail(path, "found days of %s, where clients' dates are days of %s (server.time_zone): %s, expected time_zone: %[2]s", c.loc, zone, how)
}

// contradictions reports options that the field, or another option, rules out.
func (l *loader) contradictions(path string, ff fieldFile, f *mapping.Field) {
	needs := func(key string, given, fits bool, what string) {
		if given && !fits {
			l.fail(strictyaml.Child(path, key), "%s is for %s, and %s is %s", key, what, f.Name, article(f.Type))
		}
	}
	needs("decimals", ff.Decimals != 0, f.Type == mapping.Float8, "a float8")
	needs("scale", ff.Scale != nil, f.Type == mapping.Float8, "a float8")
	needs("decimal_comma", ff.DecimalComma, f.Type == mapping.Float8, "a float8")
	needs("format", ff.Format != "", f.Type == mapping.Timestamp, "a timestamp")
	needs("time_from", ff.TimeFrom != "", f.Type == mapping.Timestamp, "a timestamp")
	needs("time_format", ff.TimeFormat != "", f.Type == mapping.Timestamp, "a timestamp")
	needs("time_zone", ff.TimeZone.Location != nil, f.Type == mapping.Timestamp, "a timestamp")
	needs("stamp", ff.Stamp != "", f.Type == mapping.Timestamp, "a timestamp")
	needs("case", ff.Case != "", f.IsText(), "text")
	needs("dashes", ff.Dashes != "", f.IgnoreDashes, "a license plate")
	needs("charset", ff.Charset != "" && !ff.Codes.given(), f.IsText(), "text")
	needs("pad", ff.Pad == "right" && !ff.Codes.given(), f.IsText(), "text")
	needs("length", ff.Length != 0, f.IsText(), "text")
	if ff.Decimals < 0 || ff.Decimals > 9 {
		l.fail(strictyaml.Child(path, "decimals"), "found %d, expected 1 to 9", ff.Decimals)
	}
	if ff.Scale != nil && (*ff.Scale < 0 || *ff.Scale > f.Scale) && f.Scale >= 0 {
		l.fail(strictyaml.Child(path, "scale"), "found %d, expected 0 to %d, which the field keeps", *ff.Scale, f.Scale)
	}
	if (ff.Pad != "") != (ff.Width > 0) {
		l.fail(path, "found one of pad and width, expected both or none")
	}
	if f.IsText() && ff.Length > f.Length || ff.Length < 0 {
		l.fail(strictyaml.Child(path, "length"), "found %d, expected at most %d, which the field has", ff.Length, f.Length)
	}
	if ff.Unknown.how != "" && !ff.Codes.given() {
		l.fail(strictyaml.Child(path, "unknown"), "found without codes, expected a code list too")
	}
	if ff.TimeFormat != "" && ff.TimeFrom == "" {
		l.fail(strictyaml.Child(path, "time_format"), "found without time_from, expected the place of the time too")
	}
	if ff.Codes.given() {
		for key, given := range map[string]bool{
			"format": ff.Format != "", "decimals": ff.Decimals != 0, "time_from": ff.TimeFrom != "", "case": ff.Case != "",
			"decimal_comma": ff.DecimalComma, "pad": ff.Pad != "",
		} {
			if given {
				l.fail(strictyaml.Child(path, key), "codes say what the system has, letter by letter: expected codes or %s", key)
			}
		}
	}
}

func article(t mapping.Datatype) string {
	if t == mapping.Int4 || t == mapping.Array {
		return "an " + t.String()
	}
	return "a " + t.String()
}

// fittingTypes are the types that the system may use for a field; the first is the default.
func fittingTypes(t mapping.Datatype) []string {
	switch t {
	case mapping.Int4:
		return []string{"integer", "text", "boolean", "decimal"}
	case mapping.Float8:
		return []string{"decimal", "integer", "text"}
	case mapping.Timestamp:
		return []string{"datetime", "date", "timestamp", "text", "integer"}
	case mapping.Bytea:
		return []string{"bytes", "text"}
	default:
		return []string{"text", "integer", "decimal", "bytes"}
	}
}

// system is the type that a value has in the system.
func (l *loader) system(path string, ff fieldFile, f *mapping.Field) systemType {
	fitting := fittingTypes(f.Type)
	if ff.Codes.given() {
		fitting = []string{"text", "integer", "boolean", "decimal"}
	}
	if ff.Type != "" {
		if systemTypes[ff.Type] != 0 && !slices.Contains(fitting, ff.Type) {
			l.fail(strictyaml.Child(path, "type"), "found %s for %s, expected one of %s", ff.Type, article(f.Type), strings.Join(fitting, ", "))
		}
		if engine := l.engine(); ff.Type == "timestamp" && (engine == "mariadb" || engine == "mysql" || engine == "sqlite") {
			l.fail(strictyaml.Child(path, "type"), "found timestamp, and %s has no type with a zone: expected datetime, and its time_zone", engine)
		}
		return systemTypes[ff.Type]
	}
	switch {
	case f.Type == mapping.Float8 && ff.Decimals > 0 && !ff.DecimalComma:
		return sysInteger
	case f.Type == mapping.Float8 && ff.DecimalComma, f.Type == mapping.Int4 && ff.Pad == "zero" && !ff.Codes.given():
		return sysText
	case f.Type == mapping.Timestamp && strings.HasPrefix(ff.Format, "epoch_"):
		return sysInteger
	case f.Type == mapping.Timestamp && ff.Format != "" && ff.Format != "iso8601":
		return sysText
	case f.Type == mapping.Timestamp && !l.sql():
		return sysTimestamp
	case f.Type == mapping.Bytea && !l.sql():
		return sysText
	}
	return systemTypes[fitting[0]]
}

// formats compiles the formats of dates and times.
func (l *loader) formats(path string, ff fieldFile, c *codec) {
	at := strictyaml.Child(path, "format")
	switch ff.Format {
	case "":
	case "iso8601":
		c.isoText = true
	case "epoch_seconds":
		c.epoch = 1000
	case "epoch_millis":
		c.epoch = 1
	default:
		c.format = l.layout(at, ff.Format)
		if c.format != nil && !c.format.date {
			l.fail(at, "found %s, expected a date in it: yyyy, MM and dd", l.found(at, ff.Format))
		}
		if c.format != nil && c.format.clock && ff.TimeFrom != "" {
			l.fail(at, "found a time of day in it and in time_from, expected one of them")
		}
	}
	if c.format != nil && c.format.zoned {
		c.format.ordered = c.format.ordered || !l.sql() // there the service compares
	}
	switch {
	case c.format == nil || c.system == sysText || c.system == sysInteger:
	case l.sql():
		l.fail(at, "found with a type that has no format, expected type text or integer")
	case c.system == sysTimestamp && !c.format.zoned:
		l.fail(at, "found %s of a timestamp, which says its zone: expected Z or X behind it, or type datetime", l.found(at, ff.Format))
	case c.system != sysTimestamp && c.format.zoned:
		l.fail(at, "found a zone in it, expected type timestamp")
	default:
		c.system = sysText
	}
	if c.format != nil && c.system == sysInteger && !c.format.digits {
		l.fail(at, "found %s of an integer, expected a format of digits alone", l.found(at, ff.Format))
	}
	if c.format == nil && c.epoch == 0 && c.system == sysInteger {
		l.fail(path, "a date in an integer needs a format, such as yyyyMMdd or epoch_seconds")
	}
	if ff.TimeFrom == "" {
		return
	}
	if c.epoch > 0 {
		l.fail(strictyaml.Child(path, "time_from"), "found with an epoch, which has the time of day")
	}
	if c.format == nil && c.system == sysDatetime {
		c.system = sysDate
	}
	format := ff.TimeFormat
	if format == "" {
		format = "HHmmss"
	}
	at = strictyaml.Child(path, "time_format")
	if c.clock = l.layout(at, format); c.clock != nil && (!c.clock.clock || c.clock.date) {
		l.fail(at, "found %s, expected a time of day alone, such as HHmmss", l.found(at, format))
	}
}

func (l *loader) layout(path, format string) *layout {
	compiled, err := newLayout(format)
	if err != nil {
		l.fail(path, "found %s: %s", l.found(path, format), l.detail(path, err))
		return nil
	}
	return compiled
}

// codes compiles the code list of a field.
func (l *loader) codes(path string, ff fieldFile, c *codec) *codes {
	at, list := strictyaml.Child(path, "codes"), ff.Codes.list
	if ff.Codes.name != "" {
		shared, ok := l.file.Codes[ff.Codes.name]
		if !ok {
			known := make([]string, 0, len(l.file.Codes))
			for name := range l.file.Codes {
				known = append(known, name)
			}
			slices.Sort(known)
			l.unknown(at, "code list", ff.Codes.name, known)
			return nil
		}
		at, list = strictyaml.Child("codes", ff.Codes.name), shared
	}
	if len(list) == 0 {
		l.fail(at, "found an empty code list")
	}
	cs := &codes{read: map[string]mapping.Value{}, write: map[mapping.Value][]Raw{}, unknown: ff.Unknown.how}
	for _, code := range list {
		where := strictyaml.Child(at, code.Key)
		if trimmed := c.trim(code.Key); trimmed != code.Key {
			l.fail(where, "found blanks around %s, which trim takes off", strictyaml.Quote(code.Key))
		}
		raw := c.typed(code.Key)
		if c.system == sysInteger && raw.Kind != RawInt || c.system == sysBoolean && raw.Kind != RawBool {
			l.fail(where, "found %s as a code of a number or boolean", strictyaml.Quote(code.Key))
		}
		v, ok := l.value(where, code.Value, c.field)
		if !ok {
			continue
		}
		cs.read[code.Key] = v
		cs.write[v] = append(cs.write[v], raw)
		cs.list = append(cs.list, Code{code.Key, v})
	}
	if ff.Unknown.how == "value" {
		cs.value, _ = l.value(strictyaml.Child(path, "unknown"), ff.Unknown.value, c.field)
	}
	return cs
}

// value is a value of the interface as a sheet gives it.
func (l *loader) value(path string, given scalarFile, f *mapping.Field) (mapping.Value, bool) {
	if given.null {
		return mapping.NullValue(), true
	}
	v, e := f.Parse(given.text, time.UTC)
	if e != nil {
		l.fail(path, "found %s, expected a value of type %s, as %s is", l.found(path, given.text), f.Type, f.Name)
		return mapping.Value{}, false
	}
	if len(f.OneOf) > 0 && !slices.Contains(f.OneOf, v.String()) {
		l.fail(path, "found %s, expected one of the values of %s: %s%s", l.found(path, given.text), f.Name, strings.Join(f.OneOf, ", "), l.suggest(path, given.text, f.OneOf))
		return mapping.Value{}, false
	}
	return v, true
}

// constant is a value that every record has.
func (l *loader) constant(path string, given scalarFile, f *mapping.Field) mapping.Value {
	v, ok := l.value(path, given, f)
	if !ok {
		return mapping.NullValue()
	}
	return v
}

// values are what the code list can be read as, each once, in its order.
func (cs *codes) values() []string {
	var all []string
	for _, v := range cs.shown() {
		if text := v.String(); v.IsSet() && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// shown is what the codes stand for, in their order, and what unknown ones do.
func (cs *codes) shown() (all []mapping.Value) {
	for _, c := range cs.list {
		all = append(all, c.Shown)
	}
	return append(all, cs.value)
}

// inOrder tells whether the codes come in the order of their values, each of which has one code:
// records with the same value are in another order. Those that the list does not know are
// anywhere among them, unless it fails for them.
func (cs *codes) inOrder() bool {
	if cs.unknown != "" && cs.unknown != "fail" {
		return false
	}
	type coded struct {
		raw Raw
		v   mapping.Value
	}
	var all []coded
	for v, raws := range cs.write {
		for _, raw := range raws {
			if !v.IsSet() {
				return false
			}
			all = append(all, coded{raw, v})
		}
	}
	slices.SortFunc(all, func(a, b coded) int {
		switch {
		case a.raw.Kind == RawInt && b.raw.Kind == RawInt:
			return cmp.Compare(a.raw.Int, b.raw.Int)
		case a.raw.Kind == RawNumber && b.raw.Kind == RawNumber:
			x, _, _ := apd.NewFromString(a.raw.Text) // typed took them for numbers
			y, _, _ := apd.NewFromString(b.raw.Text)
			return x.Cmp(y)
		}
		return strings.Compare(a.raw.String(), b.raw.String())
	})
	for i := 1; i < len(all); i++ {
		before, after := all[i-1].v, all[i].v
		if before.Kind() == mapping.KindText && before.Text() >= after.Text() || before.Kind() != mapping.KindText && before.Int() >= after.Int() {
			return false
		}
	}
	return true
}

// count is n in words of a message: 1 column, 2 columns.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%s %ss", strconv.Itoa(n), of)
}

func itoa(n int) string { return strconv.Itoa(n) }
