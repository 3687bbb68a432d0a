package sheet

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Traits are what a sheet says about a field, for tools that compare it with a system.
type Traits struct {
	// System is the type in the system, as sheets name it; "" where the field is
	// not converted.
	System string
	// Placed tells that the value is read from places, not computed or constant.
	Placed bool
	// Fixed tells that the value is the same in every record.
	Fixed bool
	// Reference tells that the places hold the key of another record.
	Reference bool
	// Codes are what the system has, in order; nil where there is no code list.
	// Unknown is what becomes of any other: fail, null, keep or value.
	Codes   []string
	Unknown string
	// Null tells that a null can be read although the place cannot be null.
	Null bool
	// Filled tells that the place is written on every create.
	Filled bool
	// Narrow tells that only texts of a charset are written.
	Narrow bool
	// Quoted tells that the format has a Z in quotes behind a time of day, and so takes what
	// says UTC for a time of another zone.
	Quoted bool
}

// Traits returns what the sheet says of a field.
func (f *Field) Traits() Traits {
	c := &f.codec
	t := Traits{
		Placed: f.source == fromPlace, Reference: f.source == fromReference || f.source == fromReferred, Narrow: c.charset != nil,
		Fixed:  f.source == fromConstant || f.source == fromNothing,
		Null:   c.emptyNull || len(c.zero) > 0,
		Quoted: c.format.quotesZone() && c.loc != nil && c.loc.String() != "UTC",
		Filled: f.writable && (f.Required || !f.onCreate.IsAbsent() || f.stamp != stampNever || f.Default != ""),
	}
	if t.Placed || t.Reference {
		t.System = c.systemName()
	}
	if c.codes == nil {
		return t
	}
	t.Codes, t.Unknown = slices.Sorted(maps.Keys(c.codes.read)), c.codes.unknown
	for _, v := range c.codes.read {
		t.Null = t.Null || !v.IsSet()
	}
	return t
}

func (c *codec) systemName() string {
	for name, s := range systemTypes {
		if s == c.system {
			return name
		}
	}
	return ""
}

// Constants are the places that are set on every create.
func (r *Resource) Constants() []string {
	var all []string
	for _, c := range r.constants {
		all = append(all, c.place)
	}
	return all
}

// Beside are the constants that go out with a reference, in the object that it is in.
func (f *Field) Beside() []Assignment { return f.beside }

// ShownConstants are what every create writes beside the fields, with words for values that
// are known only then.
func (r *Resource) ShownConstants() (all []Assignment) {
	if r.Client != "" {
		all = append(all, Assignment{Place: r.Client, Value: textRaw("{client.id}")})
	}
	for _, c := range r.constants {
		one := Assignment{Place: c.place, Value: c.value}
		switch {
		case c.now != nil:
			one.Value = textRaw("{now}")
		case c.parts != nil:
			one.Value = textRaw(c.shown())
		}
		all = append(all, one)
	}
	return all
}

// Unfit is a value that a field's conversion cannot read.
type Unfit struct {
	Field *Field
	Value Raw
	Why   string
}

// Unfit returns what of a row aligned with Places does not convert, whosever row
// it is.
func (r *Resource) Unfit(row []Raw) (all []Unfit) {
	for _, f := range mapping.Each(r.Fields) {
		switch f.source {
		case fromPlace:
			clock := Raw{}
			if f.clockAt >= 0 {
				clock = row[f.clockAt]
			}
			if _, why := f.codec.read(row[f.fromAt[0]], clock); why != "" {
				all = append(all, Unfit{f, row[f.fromAt[0]], string(why)})
			}
		case fromList:
			if _, why := f.isIn(row[f.fromAt[0]]); why != "" {
				all = append(all, Unfit{f, row[f.fromAt[0]], string(why)})
			}
		case fromCEL:
			if _, err := r.compute(f, row); err != nil {
				all = append(all, Unfit{f, Raw{}, err.Error()})
			}
		case fromKey:
			if _, why := r.idIn(row[r.keyAt[0]]); !r.Key.Kept && why != "" {
				all = append(all, Unfit{f, row[r.keyAt[0]], string(why)})
			}
		}
	}
	return all
}

// Forgets tells whether writing a field back unchanged would alter the row, because set computes
// something else than the row has.
func (r *Resource) Forgets(f *Field, row []Raw) bool {
	if f.set == nil {
		return false
	}
	v, err := r.compute(f, row)
	if err != nil {
		return false // see Unfit
	}
	for _, s := range f.set {
		at, read := r.places[s.place]
		if raw, err := s.set(v, row); read && row[at].Kind != RawAbsent && (err != nil || !sameRaw(raw, row[at])) {
			return true
		}
	}
	return false
}

// sameRaw tells whether two values are the same to a system, whatever their kinds.
func sameRaw(a, b Raw) bool {
	plain := func(r Raw) string {
		if r.Kind == RawBool {
			return strconv.FormatInt(r.Int, 10)
		}
		return fmt.Sprint(native(r))
	}
	return plain(a) == plain(b)
}

// IsNull tells whether a field of a row aligned with Places is null to clients.
func (r *Resource) IsNull(f *Field, row []Raw) bool {
	if f.source != fromPlace {
		return false
	}
	v, why := f.codec.read(row[f.fromAt[0]], Raw{})
	return why == "" && !v.IsSet() && !v.IsAbsent()
}

// Outline returns where the values of a sheet are in its file, even if the sheet has problems.
func Outline(path string) (*strictyaml.Document, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mapping sheet: %w", err)
	}
	doc, _ := strictyaml.Decode(path, src, &file{})
	return doc, nil
}

// Words says for people where a field comes from, and how it is converted.
func (r *Resource) Words(f *Field) (place, conversion string) {
	c := &f.codec
	switch f.source {
	case fromNothing:
		return "", "always null"
	case fromConstant:
		return "", "always " + wordOf(f.constant)
	case fromKey:
		place = strings.Join(r.Key.Places, ", ")
		if r.Key.Kept {
			return place, "an ID is given out for the key, and kept"
		}
		if r.Key.width > 0 {
			return place, fmt.Sprintf("the ID itself, filled up with zeros to %d", r.Key.width)
		}
		return place, "the ID itself"
	case fromElements:
		if f.Children == "" {
			return "", "records of " + f.ArrayOf
		}
		return f.Children, "elements within the record"
	case fromReference:
		return strings.Join(f.From, ", "), "the kept ID of the " + f.Reference + " with that key"
	case fromReferred:
		return strings.Join(f.From, ", "), "the ID of the record of the resource that " + f.ReferenceBy + " names"
	case fromList:
		return f.From[0], "1 where the list has " + strictyaml.Quote(f.has.String()) + ", else 0"
	case fromCEL:
		if len(f.Write) > 0 {
			return strings.Join(f.Write, ", "), "computed (cel), and written by set"
		}
		return "", "computed (cel)"
	}
	place = strings.Join(f.From, ", ")
	if len(f.Write) > 0 && !slices.Equal(f.Write, f.From) {
		place += ", written to " + strings.Join(f.Write, ", ")
	}
	words := c.said()
	if f.Reference != "" {
		words[0] += ", the ID of a record of " + f.Reference
	}
	if len(f.Write) == 0 {
		words = append(words, "read only")
	}
	switch f.stamp {
	case stampCreate:
		words = append(words, "set to the present time on create")
	case stampChange:
		words = append(words, "set to the present time on every change")
	}
	if f.onCreate.IsSet() {
		words = append(words, wordOf(f.onCreate)+" where none is given on create")
	}
	return place, strings.Join(words, "; ")
}

// said tells in words which conversions a value goes through.
func (c *codec) said() []string {
	words := []string{c.systemName()}
	add := func(when bool, text string) {
		if when {
			words = append(words, text)
		}
	}
	if c.codes != nil {
		words = append(words, c.codes.said())
	}
	switch {
	case c.epoch == 1000:
		add(true, "seconds since 1970")
	case c.epoch == 1:
		add(true, "milliseconds since 1970")
	case c.format != nil:
		add(true, "as "+c.format.said())
	}
	add(c.clock != nil, "with the time of day of the second")
	add(c.isWall(), "in "+c.loc.String())
	add(c.field.Type == mapping.Timestamp && c.isoText && c.format == nil && !c.isWall(), "in "+c.loc.String()+" where it names no zone")
	if c.decimals > 0 {
		add(true, fmt.Sprintf("divided by 1%s", strings.Repeat("0", c.decimals)))
	}
	add(c.comma, "decimal comma")
	if len(c.zero) > 0 {
		zeros := slices.Clone(c.zero)
		if i := slices.Index(zeros, ""); i >= 0 {
			zeros[i] = "an empty text"
		}
		add(true, strings.Join(zeros, " and ")+[]string{" is null", " are null"}[min(len(zeros)-1, 1)])
	}
	add(c.trimLeft, "blanks around taken off")
	add(c.trimRight && !c.trimLeft, "blanks behind taken off")
	add(c.emptyNull, "empty is null")
	if c.nullAs.Kind != RawAbsent {
		add(true, "null written as "+strictyaml.Quote(c.nullAs.String()))
	}
	add(c.padRight, fmt.Sprintf("filled up with blanks to %d", c.width))
	add(c.padZero, fmt.Sprintf("filled up with zeros to %d", c.width))
	add(c.upper, "written in capitals")
	add(c.lower, "written in small letters")
	add(c.dashless, "kept without dashes")
	if c.charset != nil {
		add(true, "only letters of "+c.charset.said())
	}
	return words
}

func (cs *codes) said() string {
	var all []string
	for _, code := range slices.Sorted(maps.Keys(cs.read)) {
		all = append(all, strictyaml.Quote(code)+" is "+wordOf(cs.read[code]))
	}
	switch cs.unknown {
	case "null":
		all = append(all, "any other is null")
	case "value":
		all = append(all, "any other is "+wordOf(cs.value))
	case "keep":
		all = append(all, "any other is kept")
	}
	return strings.Join(all, ", ")
}

func (c *charset) said() string {
	if c.table == nil {
		return "ASCII"
	}
	return c.table.String()
}

// said is the format as sheets write it.
func (l *layout) said() string {
	var b strings.Builder
	for _, p := range l.parts {
		switch {
		case p.unit != 0:
			b.WriteString(strings.Repeat(string(p.unit), p.width))
		case p.literal != "T" && strings.ContainsFunc(p.literal, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			b.WriteString("'" + p.literal + "'")
		default:
			b.WriteString(p.literal)
		}
	}
	return b.String()
}

// quotesZone tells whether a quoted Z follows a time of day directly.
func (l *layout) quotesZone() bool {
	if l == nil {
		return false
	}
	for i, p := range l.parts[min(1, len(l.parts)):] {
		if before := l.parts[i].unit; p.unit == 0 && p.literal == "Z" && (before == 'm' || before == 's' || before == 'S') {
			return true
		}
	}
	return false
}

func wordOf(v mapping.Value) string {
	if !v.IsSet() {
		return "null"
	}
	return v.String()
}

// WritesNull tells whether a null of the field is written as something else.
func (f *Field) WritesNull() bool {
	if raw, _ := f.codec.null(); raw.IsSet() {
		return true
	}
	return f.codec.codes != nil && len(f.codec.codes.write[mapping.NullValue()]) > 0
}
