package sheet

import (
	"slices"
	"strings"

	"frontdesk/mapping"
)

// key compiles what identifies a record.
func (d *draft) key() {
	r, f := d.resource, d.file
	r.Table, r.Read, r.Where, r.SystemClient = f.rows.Table, f.rows.Read, f.rows.Where, f.SystemClient
	if r.Read == "" {
		r.Read = r.Table
	}
	r.Client = d.Client
	if f.Client.given || f.Shared {
		r.Client, r.shared = f.Client.place, true
	}
	if r.SystemClient != "" && r.Client == "" && !f.Client.parent {
		d.fail(d.at("system_client"), "found a client's number without client, expected its column or path")
	}
	if r.Client != "" && d.isPlace(d.at("client"), r.Client) {
		r.clientAt = d.place(r.Client)
	}
	if len(f.Key.Columns) == 0 {
		d.fail(d.at("key"), "missing, expected key: {columns: …} with the columns or paths that identify a record")
		r.Key.Kept = f.Key.ID == "kept"
		return
	}
	r.Key.Places = f.Key.Columns
	for i, name := range f.Key.Columns {
		path := d.at("key", "columns")
		if d.isPlace(path, name) {
			if slices.Contains(f.Key.Columns[:i], name) {
				d.fail(path, "found %s twice", name)
			}
			r.keyAt = append(r.keyAt, d.place(name))
		}
	}
	r.Key.ByClient = len(f.Key.Columns) > 1 && f.Key.Columns[0] == r.Client
	d.keyID()
	d.keyGenerated()
}

func (d *draft) keyID() {
	r, f := d.resource, d.file.Key
	r.Key.Kept = f.ID == "kept" || f.ID == "" && len(f.Columns) > 1
	if f.ID == "column" && len(f.Columns) > 1 {
		d.fail(d.at("key", "id"), "found column for a key of %d columns, expected kept: an int4 is then given out for every key", len(f.Columns))
	}
	if f.Case != "" && !r.Key.Kept {
		d.fail(d.at("key", "case"), "found with a key that is the ID itself, a number: expected none, or id: kept")
	}
	for _, name := range f.Numbers {
		switch path := d.at("key", "numbers"); {
		case !d.http() || !r.Key.Kept:
			d.fail(path, "found without a kept key of an HTTP service, expected none: a database says what its columns are, and an ID is a number")
		case !slices.Contains(f.Columns, name):
			d.unknown(path, "column of the key", name, f.Columns)
		}
	}
	r.Key.Numbers = f.Numbers
	d.keyPadded()
	r.Key.IgnoresCase, r.Key.CaseCounts = f.Case == "ignore", f.Case == "exact"
	if r.Key.Kept && d.Keep == "" {
		d.fail(d.at("key"), "the IDs of %s are given out and must be kept, expected keep: FILE at the top of the sheet", d.of.Name)
	}
}

// keyPadded compiles how a number is written into a key that is a text.
func (d *draft) keyPadded() {
	r, f := d.resource, d.file.Key
	if (f.Pad != "") != (f.Width > 0) {
		d.fail(d.at("key"), "found one of pad and width, expected both or none")
	}
	if f.Pad == "" {
		return
	}
	if r.Key.Kept {
		d.fail(d.at("key", "pad"), "found with a kept key, whose texts are sent as they came: expected none")
	}
	r.Key.width = f.Width
}

func (d *draft) keyGenerated() {
	key, how := &d.resource.Key, d.file.Key.Generated
	path := d.at("key", "generated")
	key.Generated = how
	switch {
	case how != "" && d.asSQL != nil:
		if how != generatedBySQL || len(d.file.asSQL.Key.Generated.SQL) == 0 {
			d.oneOf(path, how, "identity", "max+1", "supplied", "{sql: SQL}")
		}
	case how != "":
		d.oneOf(path, how, "uuid", "answer", "supplied")
	case !d.sql():
		key.Generated = "answer"
	case !key.Kept:
		key.Generated = "identity"
	}
}

// judgeNewKey requires that every part of a new row's key is given or made.
func (d *draft) judgeNewKey() {
	r, made := d.resource, 0
	switch r.Key.Generated {
	case "supplied":
	case "max+1", "uuid", generatedBySQL:
		made = 1
	default:
		return
	}
	if !d.sql() && r.Key.Generated != "uuid" || !d.isOwn(mapping.OpCreate) {
		return
	}
	var missing []string
	for _, place := range r.Key.Places {
		if !r.gives(place) {
			missing = append(missing, place)
		}
	}
	if len(missing) > made {
		d.fail(d.at("key"), "nothing gives %s of a new %s: expected a field that clients must send, not readonly, or a default, a constant, another generated, or operations: {only: …} without create",
			strings.Join(missing, " and "), d.of.Name)
	}
}

// gives tells whether every create writes a place.
func (r *Resource) gives(place string) bool {
	if place == r.Client || r.SQL == nil && slices.ContainsFunc(r.constants, func(c fixed) bool { return c.place == place }) { // what SQL gives, the database alone knows
		return true
	}
	return slices.ContainsFunc(r.Fields, func(f Field) bool {
		sent := f.Required && !f.Readonly
		return slices.Contains(f.Write, place) && f.IsFilled() && (sent || f.Default != "" || f.onCreate.IsSet() || f.stamp != StampNever)
	})
}
