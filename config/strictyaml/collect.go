package strictyaml

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
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
	known := d.fieldsOf(v.Type())
	names := known.names
	switch {
	case n.kind == Mapping, n.kind == Null: // Null has no entries
	case known.short != "":
		d.field(n, v, path, known, known.short)
		return
	default:
		d.problem(n, ruleKind, path, "found %s, expected a mapping with %s", n.kind, listing(names))
		return
	}
	for _, e := range n.entries {
		below := Child(path, e.key)
		if known.index[e.key] == nil {
			hint := Suggest(e.key, names)
			if hint == "" {
				hint = ", expected " + listing(names)
			}
			d.report(d.place(e.at), ruleUnknown, Child(path, shownKey(e.key)), "unknown key"+hint)
			continue
		}
		d.remember(e, below)
		d.field(e.value, v, below, known, e.key)
	}
	d.missing(n, v, path, known)
}

// field decodes the value of a key of a struct, and judges it.
func (d *decoder) field(n *node, v reflect.Value, path string, known fields, key string) {
	v = v.FieldByIndex(known.index[key])
	d.value(n, v, path)
	d.judge(known.constraints[key], v, path)
}

// shownKey returns what a message shows of an unknown key. A text that does not look like a key may
// be a secret that stands where a key is expected, as after a forgotten colon.
func shownKey(key string) string {
	const start, most = 8, 30
	like := !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && (r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
	if runes := []rune(key); len(runes) > start && (!like || len(runes) > most) {
		return string(runes[:start]) + "…"
	}
	return key
}

// OneOf lists words for a message.
func OneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

func (d *decoder) dictionary(n *node, v reflect.Value, path string) {
	if n.kind != Mapping && n.kind != Null {
		d.problem(n, ruleKind, path, "found %s, expected a mapping", n.kind)
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.entries))
	for _, e := range n.entries {
		below := Child(path, e.key)
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

// remember records the position of a value: where it begins, or that of its key if it begins
// on a later line.
func (d *decoder) remember(e entry, path string) {
	at := e.value.at
	if at.line != e.at.line {
		at = e.at
	}
	d.doc.places[path] = d.place(at)
}

// fields are the keys that a struct takes.
type fields struct {
	index       map[string][]int
	names       []string // in the order of the fields
	constraints map[string][]Constraint
	required    map[string]Constraint // those that say what is expected
	short       string                // the key whose value may stand alone in place of the mapping; "" for none
}

func (d *decoder) fieldsOf(t reflect.Type) fields {
	known, seen := d.structs[t]
	if !seen {
		known = collectFields(t)
		d.structs[t] = known
	}
	return known
}

// collectFields finds the keys that a struct takes.
func collectFields(t reflect.Type) fields {
	known := fields{index: map[string][]int{}, constraints: map[string][]Constraint{}, required: map[string]Constraint{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			inner := collectFields(f.Type)
			for _, key := range inner.names {
				known.index[key] = append([]int{i}, inner.index[key]...)
			}
			known.names = append(known.names, inner.names...)
			maps.Copy(known.constraints, inner.constraints)
			maps.Copy(known.required, inner.required)
			known.short = cmp.Or(known.short, inner.short)
		case name != "" && name != "-":
			known.index[name] = f.Index
			known.names = append(known.names, name)
			known.constraints[name] = Constraints(f.Tag.Get("schema"))
			for _, c := range known.constraints[name] {
				switch {
				case c.Name == "short":
					known.short = name
				case c.Name == "required" && c.Expected != "":
					known.required[name] = c
				case c.Name == "enum" && slices.Contains(known.constraints[name], Constraint{Name: "required"}):
					known.required[name] = Constraint{Expected: OneOf(c.Words())}
				}
			}
		}
	}
	return known
}

// listing joins names as in a sentence: a, b or c.
func listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
