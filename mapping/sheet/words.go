package sheet

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

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
		Filled: f.writable && (f.Required || !f.onCreate.IsAbsent() || f.stamp != StampNever || f.Default != ""),
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
	_, doc, _ := decode(path, src)
	return doc, nil
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

// WritesNull tells whether a null of the field is written as something else.
func (f *Field) WritesNull() bool {
	if raw, _ := f.codec.null(); raw.IsSet() {
		return true
	}
	return f.codec.codes != nil && len(f.codec.codes.write[mapping.NullValue()]) > 0
}
