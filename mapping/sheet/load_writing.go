package sheet

import (
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// writing compiles where a field is written.
func (d *draft) writing(path string, ff fieldFile, out *Field, n *mapping.FieldNarrowing) {
	d.setters(path, ff, out)
	if len(ff.Write) > 0 && len(ff.From) == 0 {
		d.fail(strictyaml.Child(path, "write"), "found without from, expected both")
	}
	switch ff.Stamp {
	case "create":
		out.stamp = StampCreate
	case "change":
		out.stamp = StampChange
	}
	if s := ff.asSQL; s != nil && len(s.Write) > 0 {
		d.assigns(path, s, out)
	} else if len(ff.From) > 0 && !ff.Readonly && out.source != fromNothing {
		out.Write = out.From
		if len(ff.Write) > 0 {
			out.Write = ff.Write
			if len(out.Write) != len(out.From) {
				d.fail(strictyaml.Child(path, "write"), "found %s, expected %d, as many as are read", count(len(out.Write), "place"), len(out.From))
			}
		}
		for _, place := range out.Write {
			shared := len(out.Write) > 1 && out.codec.clock == nil || out.source == fromList && d.isList(d.writers[place]) // parts of keys recur, and lists
			if place != d.resource.Client && !shared {
				d.writes(place, out.Name, path)
			}
		}
	}
	out.writable = len(out.Write) > 0 || ff.written() && !ff.Readonly && !out.isFixed()
	d.onCreate(path, ff, out, n)
}

// setters compiles how a computed field is written.
func (d *draft) setters(path string, ff fieldFile, out *Field) {
	at := strictyaml.Child(path, "set")
	if len(ff.Set) > 0 && ff.CEL == "" {
		d.fail(at, "found without cel, expected it too: set writes what it reads")
	}
	for _, p := range ff.Set {
		where := strictyaml.Child(at, p.Key)
		s, err := compileSet(p.Key, p.Value, out.Field, d.place)
		if err != nil {
			d.fail(where, "%s", d.detail(where, err))
			continue
		}
		if required := ff.Required; required == nil && !out.Required || required != nil && !*required {
			if _, err := s.set(mapping.NullValue(), nil); err != nil && len(s.reads) > 0 {
				d.fail(where, "it fails for null, which clients may send, or for a new record, which has nothing in row yet: expected value == null ? … : …, and has(row.PLACE) ? … : …")
			} else if err != nil {
				d.fail(where, "it fails for null, which clients may send: expected value == null ? … : …, or required: true")
			}
		}
		if d.isPlace(where, p.Key) && !ff.Readonly {
			out.set = append(out.set, s)
			out.Write = append(out.Write, p.Key)
			d.writes(p.Key, out.Name, where)
		}
	}
}

// onCreate compiles what create writes if no value is sent.
func (d *draft) onCreate(path string, ff fieldFile, out *Field, n *mapping.FieldNarrowing) {
	if ff.Default.given {
		where := strictyaml.Child(path, "default")
		if !out.writable {
			d.fail(where, "%s is not written, expected no default", out.Name)
		}
		if v, ok := d.value(where, ff.Default, out.Field); ok && v.IsSet() {
			text := v.String()
			out.onCreate, n.Default = v, &text
			if n.Required == nil {
				no := false
				n.Required = &no
			}
		}
	}
	if out.onCreate.IsAbsent() && out.writable && d.sql() && (out.codec.nullAs.Kind != RawAbsent || len(out.codec.zero) > 0) {
		out.onCreate = mapping.NullValue()
	}
}
