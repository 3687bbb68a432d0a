package sheet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// fieldSpec is what a sheet says about a field.
type fieldSpec struct {
	*conversionFile
	*Conversion          // the compiled conversion
	sources     []string // the keys that say where the field is: column, path, read
	isWritten   bool     // the sheet has write
}

// compileFields compiles the fields that are mapped, in the order of the model.
func (d *draft) compileFields() {
	if len(d.specs) == 0 {
		d.fail(d.at("fields"), "found none, expected those that the system has")
	}
	var known []string
	for _, f := range mapping.Each(d.of.Fields) {
		if !f.Primary {
			known = append(known, f.Name)
		}
	}
	for _, name := range sortedKeys(d.specs) {
		if f := d.of.Field(name); f == nil {
			d.unknown(d.fieldAt(name), "field of "+d.of.Name, name, known)
		} else if f.Primary {
			d.fail(d.fieldAt(name), "%s is the key, expected it under key only", name)
		}
	}
	for _, f := range mapping.Each(d.of.Fields) {
		s, ok := d.specs[f.Name]
		switch {
		case !ok || f.Primary:
		case !s.Absent:
			d.compileField(*f, s)
		case len(s.sources) > 0 || s.conversionFile.Constant.given || s.isWritten:
			d.fail(d.fieldAt(f.Name, "absent"), "found with other keys, expected it alone: an absent field has no others")
		}
	}
}

// compileField compiles one field. It narrows f as far as other fields depend on that.
func (d *draft) compileField(f mapping.Field, s fieldSpec) {
	out := &Field{Field: &f}
	d.mapped = append(d.mapped, out)
	constant := s.conversionFile.Constant
	n := mapping.FieldNarrowing{Readonly: s.Readonly || constant.given, Immutable: s.Immutable, Required: s.Required, Length: s.Length}
	if n.Length > 0 && n.Length < f.Length {
		f.Length = n.Length
	}
	if target := d.sheet.byName[f.Reference]; f.Reference != "" && target != nil && target.Key.Kept {
		out.Target = target
	}
	if f.Type == mapping.Array {
		d.arrayField(out, s)
	} else {
		d.judgeKeys(out)
		d.convert(&f, s)
		switch {
		case !d.judgeSources(&f, s):
			n.Readonly = true
		case constant.given:
			s.Conversion.Constant = d.constant(d.fieldAt(f.Name, "constant"), constant, &f)
		default:
			s.Conversion.Codes = d.codes(d.fieldAt(f.Name, "codes"), s.conversionFile.Codes, &f)
			d.field(out, &n)
			n.Readonly = n.Readonly || !out.writable
			if s.UnknownIsNull = s.Unknown == "null"; s.conversionFile.Codes.given() && f.Check == "" {
				n.OneOf = shown(s.Conversion.Codes, f.OneOf)
			}
			d.newValue(out, s, &n)
		}
	}
	d.judgePromises(&f, s, n)
	d.narrowing[f.Name] = n
}

// refersToKept reports whether a field may hold kept IDs.
func (d *draft) refersToKept(f *Field) bool {
	return f.Target != nil || f.ReferenceBy != "" && d.sheet.keepsIDs()
}

// arrayField compiles an array field, which has elements and no conversions.
func (d *draft) arrayField(f *Field, s fieldSpec) {
	if s.isWritten || s.conversionFile.Constant.given || s.conversionFile.Default.given || s.converts() {
		d.fail(d.fieldAt(f.Name), "%s is an array, expected nothing but %sreadonly", f.Name, d.words().elements)
	}
	if d.draftOf(f.ArrayOf) == nil {
		d.fail(d.fieldAt(f.Name), "its elements are records of %s, which is not among resources", f.ArrayOf)
	}
	d.array(f)
}

// converts reports whether the sheet has a conversion of the value.
func (s *fieldSpec) converts() bool {
	return s.conversionFile.Codes.given() || s.Type != "" || len(s.Zero) > 0 || s.Empty != ""
}

// judgeSources requires exactly one key for where a field is, or for its constant value.
func (d *draft) judgeSources(f *mapping.Field, s fieldSpec) bool {
	words, keys := d.words(), s.sources
	if s.conversionFile.Constant.given {
		keys = append(slices.Clone(keys), "constant")
	}
	switch {
	case len(keys) == 0:
		d.fail(d.fieldAt(f.Name), "found no source, expected one of %s, read, constant and absent", words.place)
	case len(keys) > 1 && (words.place == "column" || keys[len(keys)-1] == "constant"):
		d.fail(d.fieldAt(f.Name), "found %s, expected one of them", strings.Join(keys, " and "))
	default:
		return true
	}
	return false
}

// faults returns a function that reports a key of a field if given is true.
func (d *draft) faults(field string) func(key string, given bool, format string, args ...any) {
	return func(key string, given bool, format string, args ...any) {
		if given {
			d.fail(d.fieldAt(field, key), format, args...)
		}
	}
}

// convert compiles the conversion of a field, except codes and constants.
func (d *draft) convert(f *mapping.Field, s fieldSpec) {
	fault := d.faults(f.Name)
	place, zoned := d.words().place, s.TimeZone.Location != nil
	isTime := f.Type == mapping.Timestamp
	fault("type", s.Type != "" && !isTime, "type is for a timestamp, and %s is %s", f.Name, article(f.Type))
	fault("time_zone", zoned && !isTime, "time_zone is for a timestamp, and %s is %s", f.Name, article(f.Type))
	fault("time_zone", zoned && isTime && (s.Type == "timestamp" || strings.HasPrefix(s.Type, "epoch")), "found with an instant, which is in no zone or says its own: expected none")
	fault("type", s.Type != "" && s.conversionFile.Codes.given(), "codes say what the system has, letter by letter: expected codes or type")
	fault("length", s.Length != 0 && !f.IsText(), "length is for text, and %s is %s", f.Name, article(f.Type))
	most := d.of.Field(f.Name).Length
	fault("length", f.IsText() && s.Length > most || s.Length < 0, "found %d, expected at most %d, which the field has", s.Length, most)
	fault("unknown", s.Unknown != "" && !s.conversionFile.Codes.given(), "found without codes, expected a code list too")
	isPlaced := slices.Contains(s.sources, place)
	for _, key := range given(choice{"codes", s.conversionFile.Codes.given()}, choice{"zero", len(s.Zero) > 0}, choice{"empty", s.Empty != ""}) {
		fault(key, !isPlaced, "found without %s, expected it in %s of read, and of write", place, d.words().language)
	}
	fault("write", s.isWritten && s.Readonly, "found with readonly: true, expected one of them")
	s.Conversion.Nulls, s.Conversion.EmptyIsNull = s.Zero, s.Empty == "null"
	if isTime {
		s.Conversion.Kind, s.Conversion.Zone = Kind(s.Type), cmp.Or(s.TimeZone.Location, d.zone())
	}
}

// judgeDays refuses dates in a zone other than that of clients if a date would become a different
// day: when a client sends it, or when it is read from a zone in which days begin earlier. It
// skips created_at and modified_at, which are not dates that people chose.
func (d *draft) judgeDays() {
	for _, f := range d.mapped {
		how, zone := d.specs[f.Name].Conversion, d.o.Zone
		if how.Kind != KindDate || how.Zone == nil || f.Index == d.of.CreatedAt || f.Index == d.of.ModifiedAt || zone == nil {
			continue
		}
		what := "one that is read would be the day before"
		switch earlier, later := compareZones(how.Zone, zone); {
		case (earlier || later) && f.writable && d.writes():
			what = "one that is written would shift"
		case !earlier:
			continue
		}
		path := d.fieldAt(f.Name)
		if own := d.fieldAt(f.Name, "time_zone"); d.doc.Has(own) {
			path = own
		}
		d.fail(path, "found days of %s, where clients' dates are days of %s (server.time_zone): %s, expected time_zone: %[2]s", how.Zone, zone, what)
	}
}

// shown returns the values of a code list that clients see; if order is not empty, in that order.
func shown(codes []Code, order []string) (all []string) {
	for _, c := range codes {
		if text := c.Shown.String(); c.Shown.IsSet() && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(order) > 0 {
		return slices.DeleteFunc(slices.Clone(order), func(v string) bool { return !slices.Contains(all, v) })
	}
	return all
}

// codes compiles a code list.
func (l *loader) codes(at string, f codesRefFile, of *mapping.Field) (all []Code) {
	list := f.list
	if !f.given() {
		return nil
	}
	if f.name != "" {
		if list = l.Codes[f.name]; list == nil {
			l.unknown(at, "code list", f.name, sortedKeys(l.Codes))
			return nil
		}
		at = strictyaml.Child("codes", f.name)
	}
	if len(list) == 0 {
		l.fail(at, "found an empty code list")
	}
	for _, code := range list {
		if v, ok := l.value(strictyaml.Child(at, code.stored), code.shown, of); ok {
			all = append(all, Code{code.stored, code.plain, v})
		}
	}
	return all
}

// value reads a value of the interface from the sheet.
func (l *loader) value(path string, given scalarFile, f *mapping.Field) (mapping.Value, bool) {
	if given.null {
		return mapping.NullValue(), true
	}
	v, e := f.Parse(given.text, time.UTC)
	if e != nil {
		l.fail(path, "found %s, expected a value of type %s, as %s is", l.doc.Found(path, given.text), f.Type, f.Name)
		return mapping.Value{}, false
	}
	if len(f.OneOf) > 0 && !slices.Contains(f.OneOf, v.String()) {
		l.fail(path, "found %s, expected one of the values of %s: %s%s", l.doc.Found(path, given.text), f.Name, strings.Join(f.OneOf, ", "), l.doc.Suggest(path, given.text, f.OneOf))
		return mapping.Value{}, false
	}
	return v, true
}

// constant reads the value that every record has; null if it cannot be read.
func (l *loader) constant(path string, given scalarFile, f *mapping.Field) mapping.Value {
	if v, ok := l.value(path, given, f); ok {
		return v
	}
	return mapping.NullValue()
}

// newValue compiles the default for a new record without a value.
func (d *draft) newValue(f *Field, s fieldSpec, n *mapping.FieldNarrowing) {
	given, at := s.conversionFile.Default, d.fieldAt(f.Name, "default")
	if !given.given {
		return
	}
	if !f.writable {
		d.fail(at, "%s is not written, expected no default", f.Name)
	}
	if v, ok := d.value(at, given, f.Field); ok && v.IsSet() {
		text := v.String()
		s.Conversion.Default, n.Default = v, &text
		if n.Required == nil {
			no := false
			n.Required = &no
		}
	}
}

// judgePromises reports settings that promise clients more than is possible.
func (d *draft) judgePromises(f *mapping.Field, s fieldSpec, n mapping.FieldNarrowing) {
	if at := d.fieldAt(f.Name, "readonly"); !s.Readonly && d.doc.Has(at) {
		switch {
		case f.Readonly:
			d.fail(at, "found false, and the interface has %s as readonly: clients never send it. Expected none; what the system needs of a new record comes from default, or what create sets", f.Name)
		case n.Readonly:
			d.fail(at, "found false of a field that is only read: expected none, and a place to write it to (%s, or write) where clients are to send it", d.words().place)
		}
	}
	if n.Readonly && s.Required != nil && *s.Required {
		d.fail(d.fieldAt(f.Name, "required"), "%s is readonly, and what clients cannot send is not required", f.Name)
	}
}
