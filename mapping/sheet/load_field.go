package sheet

import (
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// fields compiles the fields that are mapped, in the order of the model.
func (d *draft) fields() {
	if len(d.file.Fields) == 0 {
		d.fail(d.at("fields"), "missing, expected the fields that the system has")
	}
	known := make([]string, 0, len(d.of.Fields))
	for i := range d.of.Fields {
		if f := &d.of.Fields[i]; !f.Primary {
			known = append(known, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.file.Fields)) {
		path := d.at("fields", name)
		if f := d.of.Field(name); f == nil {
			d.unknown(path, "field of "+d.of.Name, name, known)
		} else if f.Primary {
			d.fail(path, "%s is the key, expected it under key only", name)
		}
	}
	if v := d.file.Version; v != "" && d.isPlace(d.at("version"), v) {
		d.resource.Version = v
		d.place(v)
	}
	d.assignConstants()
	for _, c := range d.file.Constants {
		d.fixed(&d.resource.constants, d.at("constants"), c, "client.id", "client.name")
		d.writes(c.Key, "constants", d.at("constants", c.Key))
	}
	for _, f := range mapping.Each(d.of.Fields) {
		if ff, ok := d.file.Fields[f.Name]; ok && !f.Primary && !ff.Absent {
			d.field(f, ff)
		} else if ok && ff.Absent && ff.fieldSettings.given() {
			d.fail(d.at("fields", f.Name, "absent"), "found with other keys, expected it alone: an absent field has no others")
		}
	}
	if d.http() {
		d.besideReferences()
	}
	for _, s := range d.file.SoftDelete {
		d.fixed(&d.resource.softDelete, d.at("soft_delete"), s)
	}
	if d.file.Hidden != "" {
		e, err := compileRow(d.file.Hidden, d.place, boolType)
		if err != nil {
			d.fail(d.at("hidden"), "%s", d.detail(d.at("hidden"), err))
		} else {
			d.resource.hidden = &condition{e}
		}
	}
}

// besideReferences takes constants for a part of a reference if both have an object of their
// own: customer.type beside customer.id.
func (d *draft) besideReferences() {
	for _, f := range d.drafted {
		if f.Reference == "" || len(f.Write) != 1 || objectOf(f.Write[0]) == "" {
			continue
		}
		object := objectOf(f.Write[0])
		others := func(of *Field) bool {
			return of != f && slices.ContainsFunc(of.Write, func(place string) bool { return strings.HasPrefix(place, object+".") })
		}
		if slices.ContainsFunc(d.drafted, others) {
			continue
		}
		d.resource.constants = slices.DeleteFunc(d.resource.constants, func(c fixed) bool {
			if objectOf(c.place) != object || c.now != nil || c.parts != nil {
				return false
			}
			f.beside = append(f.beside, Assignment{Place: c.place, Value: c.value, Field: f.Field})
			return true
		})
	}
}

// given tells whether the settings say anything but absent.
func (s fieldSettings) given() bool {
	return len(s.From) > 0 || s.Constant.given || s.CEL != "" || s.sql != "" || s.Children != ""
}

// fixed compiles a place with a fixed value, in which the known placeholders are filled in.
func (d *draft) fixed(into *[]fixed, at string, pv entry[valueFile], known ...string) {
	path := strictyaml.Child(at, pv.Key)
	if !d.isPlace(path, pv.Key) {
		return
	}
	one := fixed{place: pv.Key}
	text := pv.Value.scalar.text
	filled := placeholder.MatchString(text)
	switch {
	case filled && known == nil:
		d.fail(path, "found %s, which is not filled in here: expected the value itself; where it depends on the client or the record, say so in the operation's body", d.found(path, text))
	case filled:
		one.parts = split(text)
		d.names(path, &template{parts: one.parts}, callContext{known: known, plain: true})
	}
	if known != nil {
		d.notClient(path, pv.Key)
	}
	if pv.Value.now == nil {
		one.value = pv.Value.scalar.raw()
	} else {
		field := &mapping.Field{Name: pv.Key, Type: mapping.Timestamp}
		now := d.codec(path, fieldFile{fieldSettings: fieldSettings{Format: pv.Value.now.Now}}, field, d.zone())
		one.now = &now
	}
	*into = append(*into, one)
}

// writes notes that a place is written, and reports a second writer.
func (d *draft) writes(place, by, path string) {
	only := d.file.Operations.Only
	if len(only) > 0 && !slices.Contains(only, string(mapping.OpCreate)) && !slices.Contains(only, string(mapping.OpUpdate)) {
		return // nobody writes it
	}
	if first, twice := d.writers[place]; twice {
		d.fail(path, "%s is written by %s already, expected one field for each place: mark one readonly", place, first)
		return
	}
	d.writers[place] = by
}

// field compiles one field.
func (d *draft) field(f *mapping.Field, ff fieldFile) {
	path := d.at("fields", f.Name)
	narrowed := *f
	n := d.narrowField(path, ff, &narrowed)
	out := &Field{Field: &narrowed, clockAt: -1}
	d.drafted = append(d.drafted, out)
	if f.Type == mapping.Array {
		d.arrayField(path, ff, out)
		d.narrowing[f.Name] = n
		return
	}
	ff = d.judgeColumn(path, ff, &narrowed)
	out.codec = d.codec(path, ff, &narrowed, d.zone())
	d.source(path, ff, out)
	if !d.isReferenceOfKept(out) && len(out.fromAt) > 1 {
		d.fail(path, "found %s, expected one: only a reference to a composite key has several", count(len(out.From), "place"))
	}
	d.writing(path, ff, out, &n)
	if ff.asSQL != nil {
		d.columnOf(ff, out)
	}
	if cs := out.codec.codes; cs != nil && cs.unknown != "keep" && narrowed.Check == "" {
		if n.OneOf = cs.values(); len(narrowed.OneOf) > 0 {
			n.OneOf = slices.DeleteFunc(slices.Clone(f.OneOf), func(v string) bool { return !slices.Contains(cs.values(), v) })
		}
	}
	d.narrowing[f.Name] = n
}

// narrowField is what the sheet says about a field as clients see it.
func (d *draft) narrowField(path string, ff fieldFile, f *mapping.Field) mapping.FieldNarrowing {
	n := mapping.FieldNarrowing{
		Readonly: ff.Readonly || ff.Constant.given || (ff.sql != "" || ff.CEL != "") && len(ff.Set) == 0 && !ff.written() ||
			ff.Stamp != "" || !ff.fieldSettings.given() && f.Type != mapping.Array,
		Immutable: ff.Immutable, Required: ff.Required, Scale: ff.Scale, Length: ff.Length,
	}
	if own := strictyaml.Child(path, "readonly"); !ff.Readonly && d.doc.Has(own) {
		switch {
		case f.Readonly:
			d.fail(own, "found false, and the interface has %s as readonly: clients never send it. Expected none; what the system needs of a new record comes from default, constants, stamp or the key's generated", f.Name)
		case n.Readonly:
			d.fail(own, "found false of a field that is only read: expected none, and a place to write it to (%s) where clients are to send it", d.word("from, or set", "column, or write"))
		}
	}
	if n.Readonly && ff.Required != nil && *ff.Required {
		d.fail(strictyaml.Child(path, "required"), "%s is readonly, and what clients cannot send is not required", f.Name)
	}
	if ff.Width > 0 && (n.Length == 0 || ff.Width < n.Length) {
		n.Length = ff.Width
	}
	if n.Scale == nil && ff.Decimals > 0 && !ff.Codes.given() {
		n.Scale = &ff.Decimals
	}
	if n.Length > 0 && n.Length < f.Length {
		f.Length = n.Length
	}
	if n.Scale != nil && *n.Scale < f.Scale && *n.Scale >= 0 {
		f.Scale = *n.Scale
	}
	return n
}

// arrayField compiles an array field, which has elements and no conversions.
func (d *draft) arrayField(path string, ff fieldFile, out *Field) {
	out.source = fromElements
	out.Children = ff.Children
	if len(ff.From) == 1 && ff.Children == "" {
		out.Children = ff.From[0]
	}
	if out.Children != "" && d.sql() {
		d.fail(path, "found a path to its elements in a database, expected %s: {}, since they are records of their own", out.Name)
	}
	if len(ff.From) > 1 || ff.Codes.given() || ff.Constant.given || ff.CEL != "" || ff.isSQL() || ff.Type != "" || ff.Format != "" {
		d.fail(path, "%s is an array, expected nothing but %sreadonly", out.Name, d.word("children and ", ""))
	}
	if _, ok := d.loader.Resources[out.ArrayOf]; !ok {
		d.fail(path, "its elements are records of %s, which is not among resources", out.ArrayOf)
	}
}

// source compiles where the value of a field comes from: exactly one of from, constant and
// cel; of a database one of column, constant and read.
func (d *draft) source(path string, ff fieldFile, out *Field) {
	var given []string
	for _, s := range []struct {
		key string
		ok  bool
	}{{d.word("from", "column"), len(ff.From) > 0}, {"constant", ff.Constant.given}, {"cel", ff.CEL != ""}, {"read", ff.sql != ""}} {
		if s.ok {
			given = append(given, s.key)
		}
	}
	switch {
	case len(given) > 1:
		d.fail(path, "found %s, expected one of them", strings.Join(given, " and "))
		return
	case len(given) == 0:
		d.fail(path, "found no source, expected one of %s", d.word("from, constant, cel and absent", "column, read, constant and absent"))
		return
	}
	if ff.Children != "" {
		d.fail(strictyaml.Child(path, "children"), "%s is no array, expected from", out.Name)
	}
	if ff.Has.given && given[0] != "from" {
		d.fail(strictyaml.Child(path, "has"), "found without from, expected the list too")
	}
	switch given[0] {
	case "from", "column":
		if ff.Has.given {
			d.list(path, ff, out)
		} else {
			d.fromPlaces(path, ff, out)
		}
	case "constant":
		out.source, out.constant = fromConstant, d.constant(strictyaml.Child(path, "constant"), ff.Constant, out.Field)
	case "cel":
		gives, _ := celTypes(out.Field)
		e, err := compileRow(ff.CEL, d.place, gives...)
		if err != nil {
			at := strictyaml.Child(path, "cel")
			d.fail(at, "%s", d.detail(at, err))
		}
		out.source, out.cel = fromCEL, e
		if d.isReferenceOfKept(out) {
			d.fail(strictyaml.Child(path, "cel"), "%s refers to records whose IDs are kept, expected from with the place of their key", out.Name)
		}
	case "read":
		at := strictyaml.Child(path, "read")
		d.judgeSQL(at, ff.sql, "client")
		place := Place{Name: "sql." + out.Name, SQL: ff.sql}
		out.source, out.From, out.fromAt = fromPlace, []string{place.Name}, []int{d.placeOf(place)}
		d.asReference(at, out)
	}
}

// fromPlaces compiles a field that is read from places.
func (d *draft) fromPlaces(path string, ff fieldFile, out *Field) {
	at := path
	if own := strictyaml.Child(path, d.word("from", "column")); d.doc.Has(own) {
		at = own
	}
	for _, name := range ff.From {
		if !d.isPlace(at, name) {
			return
		}
		out.From = append(out.From, name)
		out.fromAt = append(out.fromAt, d.place(name))
	}
	out.source = fromPlace
	if name := ff.TimeFrom; name != "" && d.isPlace(strictyaml.Child(path, "time_from"), name) {
		out.From = append(out.From, name)
		out.clockAt = d.place(name)
	}
	d.asReference(at, out)
}

// isReferenceOfKept tells whether the field may hold kept IDs.
func (d *draft) isReferenceOfKept(f *Field) bool {
	if target := d.sheet.byName[f.Reference]; target != nil && f.Reference != "" {
		return target.Key.Kept
	}
	if f.ReferenceBy == "" {
		return false
	}
	for _, r := range d.sheet.byName {
		if r.Key.Kept {
			return true
		}
	}
	return false
}

// asReference turns a field into a reference by kept ID, if it refers to records with kept
// IDs.
func (d *draft) asReference(path string, f *Field) {
	if !d.isReferenceOfKept(f) {
		return
	}
	if f.codec.codes != nil || f.codec.padZero {
		d.fail(path, "%s refers to records whose IDs are kept, expected no conversions", f.Name)
	}
	if f.Reference == "" {
		f.source = fromReferred
		return
	}
	f.source, f.Target = fromReference, d.sheet.byName[f.Reference]
	key := f.Target.Key
	if n := len(f.fromAt); n != len(key.Places) && !(key.ByClient && n == len(key.Places)-1) {
		expected := count(len(key.Places), "place")
		if key.ByClient {
			expected += ", or without that of the client's number"
		}
		d.fail(path, "found %s of the key of %s, expected %s: %s", count(n, "place"), f.Reference, expected, strings.Join(key.Places, ", "))
	}
}
