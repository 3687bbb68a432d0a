package strictyaml

import (
	"fmt"
	"reflect"
	"strings"
)

// kind decodes by the kind of Go value.
func (d *decoder) kind(n *node, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			panic(fmt.Sprintf("strictyaml: cannot decode into %s at %q, expected text as keys", v.Type(), path))
		}
		d.dictionary(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *decoder) structure(n *node, v reflect.Value, path string) {
	if n.kind == Null {
		return
	}
	known := d.fieldsOf(v.Type())
	names := known.names
	if n.kind != Mapping {
		d.problem(n, ruleKind, path, "found %s, expected a mapping with %s", n.kind, listing(names))
		return
	}
	for _, e := range n.entries {
		below := child(path, e.key)
		index, ok := known.index[e.key]
		if !ok {
			hint := Suggest(e.key, names)
			if hint == "" {
				hint = ", expected " + listing(names)
			}
			d.report(d.place(e.at), ruleUnknown, below, "unknown key"+hint)
			continue
		}
		d.remember(e, below)
		d.value(e.value, v.FieldByIndex(index), below)
	}
}

func (d *decoder) dictionary(n *node, v reflect.Value, path string) {
	if n.kind != Mapping && n.kind != Null {
		d.problem(n, ruleKind, path, "found %s, expected a mapping", n.kind)
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.entries))
	for _, e := range n.entries {
		below := child(path, e.key)
		d.remember(e, below)
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(e.value, value, below)
		m.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), value)
	}
	v.Set(m)
}

func (d *decoder) list(n *node, v reflect.Value, path string) {
	switch n.kind {
	case Null, List:
	case Scalar:
		d.problem(n, ruleKind, path, "found a single value, expected a list, between [ and ] or one - per line")
		return
	default:
		d.problem(n, ruleKind, path, "found %s, expected a list", n.kind)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	places := make([]position, len(n.items))
	if n.kind == List {
		d.doc.items[path] = places
	}
	for i, item := range n.items {
		places[i] = d.place(item.at)
		d.value(item, list.Index(i), element(path, i))
	}
	v.Set(list)
}

// remember places a value where it begins, or at its key when it begins on a
// later line.
func (d *decoder) remember(e entry, path string) {
	at := e.value.at
	if at.line != e.at.line {
		at = e.at
	}
	d.doc.places[path] = d.place(at)
}

// fields are the keys that a struct takes.
type fields struct {
	index map[string][]int
	names []string // in the order of the fields
}

func (d *decoder) fieldsOf(t reflect.Type) fields {
	known, seen := d.structs[t]
	if !seen {
		known.index, known.names = fieldsOf(t)
		d.structs[t] = known
	}
	return known
}

// fieldsOf maps the keys a struct takes to its fields, with the keys in the
// order of the fields.
func fieldsOf(t reflect.Type) (fields map[string][]int, names []string) {
	fields = map[string][]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			inner, innerNames := fieldsOf(f.Type)
			for _, key := range innerNames {
				fields[key] = append([]int{i}, inner[key]...)
				names = append(names, key)
			}
		case name != "" && name != "-":
			fields[name] = f.Index
			names = append(names, name)
		}
	}
	return fields, names
}

// listing joins names as a sentence does: a, b or c.
func listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
