package sheet

import (
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// fields returns what the sheet says about each field.
func (d *sqlDraft) fields() map[string]fieldSpec {
	all := map[string]fieldSpec{}
	for name, f := range d.file.Fields {
		d.columns[name] = &f.Column
		all[name] = fieldSpec{
			conversionFile: &f.conversionFile, Conversion: &f.Conversion, isWritten: len(f.Write) > 0,
			sources: given(choice{"column", len(f.Names) > 0}, choice{"read", f.Read != ""}),
		}
	}
	return all
}

func (d *sqlDraft) array(f *Field) {
	if s := d.file.Fields[f.Name]; len(s.Names) > 0 || s.Read != "" || s.Find != "" {
		d.fail(d.fieldAt(f.Name), "found a path to its elements in a database, expected %s: {}, since they are records of their own", f.Name)
	}
}

// field compiles the columns of a field.
func (d *sqlDraft) field(out *Field, n *mapping.FieldNarrowing) {
	path, s, c := d.fieldAt(out.Name), d.file.Fields[out.Name], d.columns[out.Name]
	c.ByStatement = d.named[out.Name]
	d.judgePlaces(path, out, s)
	switch {
	case len(s.Write) > 0:
		write := strictyaml.Child(path, "write")
		if params := d.assigned(write, out.Name, s.Write, "value", "client"); s.Stamp == "" && !slices.Contains(params, "value") {
			d.fail(write, "found no :value, expected the value that is written")
		}
	case !s.Readonly:
		for _, column := range s.Names {
			if column == d.resource.client { // the create sets the client
				continue
			}
			c.Write = append(c.Write, Assign{column, ":value"})
			if len(s.Names) == 1 { // several references may share a part of a key
				d.writtenBy(column, out.Name, path)
			}
		}
	}
	out.writable = !s.Readonly && (len(s.Names) > 0 || len(s.Write) > 0 || c.ByStatement)
	n.Readonly = n.Readonly || c.Stamp != StampNever
	if d.refersToKept(out) { // the database has keys, but not the IDs
		n.Unfiltered = mapping.OperatorsOf(mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below, mapping.Contains)
	}
}

// judgeKeys reports keys of a field that do not fit the field, or exclude each other.
func (d *sqlDraft) judgeKeys(f *Field) {
	path, s, fault := d.fieldAt(f.Name), d.file.Fields[f.Name], d.faults(f.Name)
	isRead := len(s.Names) > 0 || s.Read != ""
	engine := d.sheet.Source.SQL.Engine
	fault("type", s.Type == "timestamp" && !slices.Contains(zoned, engine), "found timestamp, and %s has no type with a zone: expected datetime, and its time_zone", engine)
	for _, key := range given(choice{"write", len(s.Write) > 0}, choice{"find", s.Find != ""}) {
		fault(key, !isRead, "found without column or read, expected one of them too")
	}
	fault("stamp", s.Stamp != "" && f.Type != mapping.Timestamp, "stamp is for a timestamp, and %s is %s", f.Name, article(f.Type))
	fault("stamp", s.Stamp != "" && len(s.Names) == 0 && len(s.Write) == 0, "found without a column that is written, expected column or write")
	fault("ordered", s.Ordered && len(s.Write) != 1, "found with %s that write sets, expected one, which sorts as the values do", count(len(s.Write), "column"))
	if find := strictyaml.Child(path, "find"); s.Find != "" && !slices.Contains(d.sql.judgeSQL(find, s.Find, "value", "client"), "value") {
		d.fail(find, "found no :value, expected the value that rows are found by")
	}
}

// judgePlaces judges the columns that are read. Those of a reference must be the whole key of its target.
func (d *sqlDraft) judgePlaces(path string, f *Field, s sqlFieldFile) {
	at := path
	for _, key := range []string{"column", "read"} {
		if own := strictyaml.Child(path, key); d.doc.Has(own) {
			at = own
		}
	}
	parts := len(s.Names)
	if s.Read != "" {
		d.sql.judgeSQL(at, s.Read, "client")
		parts = 1
	}
	for _, name := range s.Names {
		d.sql.isPlace(at, name)
	}
	switch kept := d.refersToKept(f); {
	case !kept && parts > 1:
		d.fail(path, "found %s, expected one: only a reference to a composite key has several", count(parts, "place"))
	case kept && s.conversionFile.Codes.given():
		d.fail(at, "%s refers to records whose IDs are kept, expected no conversions", f.Name)
	}
	if f.Target == nil {
		return
	}
	if key := f.Target.Key; parts != len(key.Places) && !(key.ByClient && parts == len(key.Places)-1) {
		expected := count(len(key.Places), "place")
		if key.ByClient {
			expected += ", or without that of the client's number"
		}
		d.fail(at, "found %s of the key of %s, expected %s: %s", count(parts, "place"), f.Reference, expected, strings.Join(key.Places, ", "))
	}
}

// assigned judges assignments of the sheet to columns, and returns their parameters.
func (d *sqlDraft) assigned(path, by string, all assigns, known ...string) (params []string) {
	for _, a := range all {
		at := strictyaml.Child(path, a.Column)
		if !d.sql.isPlace(at, a.Column) {
			continue
		}
		params = append(params, d.sql.judgeSQL(at, a.SQL, known...)...)
		if a.Column == d.resource.client {
			d.fail(at, "found the place of client, which every create writes already: expected it there alone")
		}
		d.writtenBy(a.Column, by, at)
	}
	return params
}

// writtenBy records the writer of a column, and reports a second one.
func (d *sqlDraft) writtenBy(column, by, path string) {
	if !d.names(mapping.OpCreate) && !d.names(mapping.OpUpdate) {
		return // no operation writes the column
	}
	if first, twice := d.writers[column]; twice {
		d.fail(path, "%s is written by %s already, expected one field for each place: mark one readonly", column, first)
		return
	}
	d.writers[column] = by
}
