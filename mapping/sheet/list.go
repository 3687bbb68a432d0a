package sheet

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// A list of codes, such as the roles of a contact, has a field for each code that the
// interface knows: 1 where the list has it. What else the list has stays in it.

// isIn is 1 if a list has the field's element.
func (f *Field) isIn(list Raw) (mapping.Value, fault) {
	switch {
	case list.Kind == RawAbsent:
		return mapping.Value{}, ""
	case list.Kind == RawNull:
		return mapping.IntValue(0), ""
	case list.Kind != RawJSON || !strings.HasPrefix(list.Text, "["):
		return mapping.Value{}, "no list"
	}
	elements, err := Elements(list.Text)
	if err != nil {
		return mapping.Value{}, "no JSON"
	}
	if slices.ContainsFunc(elements, f.isElement) {
		return mapping.IntValue(1), ""
	}
	return mapping.IntValue(0), ""
}

// isElement tells whether an element of a list is the field's.
func (f *Field) isElement(e Element) bool {
	if f.has.Kind != RawText {
		return e.Text == f.has.String()
	}
	text, err := jsontext.AppendUnquote(nil, e.Text)
	return err == nil && string(text) == f.has.Text
}

// encodeElement writes the list with the field's element, or without it. If another field has
// changed the same list, out has it already.
func (r *Resource) encodeElement(out []Assignment, f *Field, v mapping.Value, row []Raw, create bool) ([]Assignment, error) {
	at := slices.IndexFunc(out, func(a Assignment) bool { return a.Place == f.Write[0] })
	if at < 0 {
		list := Raw{}
		switch {
		case create:
		case len(row) != len(r.Places):
			return out, fmt.Errorf("%s.%s: the list was not read to be changed", r.Name, f.Name)
		default:
			list = row[f.fromAt[0]]
		}
		out, at = append(out, Assignment{Place: f.Write[0], Value: list, Field: f.Field}), len(out)
	}
	elements, err := Elements(cmp.Or(out[at].Value.Text, "[]"))
	if err != nil {
		return out, fmt.Errorf("%s.%s: %w", r.Name, f.Name, err)
	}
	has := slices.ContainsFunc(elements, f.isElement)
	switch wanted := v.IsSet() && v.Int() == 1; {
	case wanted && !has:
		elements = append(elements, Element{Text: string(appendRawJSON(nil, f.has))})
	case !wanted:
		elements = slices.DeleteFunc(elements, f.isElement)
	}
	texts := make([]string, len(elements))
	for i, e := range elements {
		texts[i] = e.Text
	}
	out[at].Value = Raw{Kind: RawJSON, Text: "[" + strings.Join(texts, ",") + "]"}
	return out, nil
}

// list compiles a field that tells whether a list has an element.
func (d *draft) list(path string, ff fieldFile, out *Field) {
	at := strictyaml.Child(path, "has")
	plain := ff
	plain.From, plain.Has, plain.Readonly, plain.Immutable, plain.Required, plain.Default = nil, scalarFile{}, false, false, nil, scalarFile{}
	switch {
	case d.sql():
		d.fail(at, "found with a database, whose columns have no lists: expected cel, and set over row")
	case d.xml:
		d.fail(at, "found in XML, which has no lists of values: expected JSON")
	case ff.Has.null || !ff.Has.given || ff.Has.text == "":
		d.fail(at, "found nothing, expected the element of the list that the field stands for")
	case out.Field.Type != mapping.Int4 || !slices.Equal(out.Field.OneOf, []string{"0", "1"}):
		d.fail(at, "%s is not 0 or 1, as what a list has or has not: expected from alone", out.Name)
	case len(ff.From) != 1:
		d.fail(path, "found %s, expected one: the list", count(len(ff.From), "place"))
	case !reflect.DeepEqual(plain.fieldSettings, fieldSettings{}):
		d.fail(path, "found conversions beside has, which says what is 1: expected from and has alone")
	default:
		out.source, out.has, out.From = fromList, ff.Has.raw(), ff.From
		out.fromAt = []int{d.whole(path, ff.From[0])}
	}
}

// isList tells whether a field stands for an element of a list.
func (d *draft) isList(name string) bool {
	return slices.ContainsFunc(d.drafted, func(f *Field) bool { return f.Name == name && f.source == fromList })
}

// whole returns the position of an object or list that is read as it is.
func (d *draft) whole(path, name string) int {
	at := d.placeOf(Place{Name: name, Whole: true})
	if !d.resource.Places[at].Whole {
		d.fail(path, "%s is read as a list or an object here, and as a value elsewhere: expected one of them", name)
	}
	return at
}

// siblings makes updates send whole objects if something in them changes.
func (d *draft) siblings(at string, op mapping.Scope, q *Request) {
	switch {
	case op != mapping.OpUpdate:
		d.fail(at, "found at %s, expected it at update only", op)
		return
	case d.xml || !q.Uses("fields"):
		d.fail(at, "found siblings of a body without {fields} in JSON, expected {fields}, in which the objects stand")
		return
	}
	d.resource.siblings = map[string]int{}
	for _, f := range d.drafted {
		for _, place := range f.Write {
			if object, _, within := strings.Cut(place, "."); within && place != d.resource.Client {
				d.resource.siblings[object] = d.whole(d.at("fields", f.Name), object)
			}
		}
	}
	if len(d.resource.siblings) == 0 {
		d.fail(at, "found siblings, and no field is written within an object: expected changed")
	}
}
