package sheet

import (
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// element is the template of JSON around each element of an array.
type element struct {
	node jsonNode
	uses map[string]bool
}

// has tells whether the template writes a field of the element.
func (e *element) has(field string) bool { return e.uses["fields"] || e.uses["value."+field] }

// HasEach tells whether the body writes the elements of an array with a template of their own.
func (q *Request) HasEach(array string) bool { return q.each["value."+array] != nil }

// Assigned is the value written for a field; absent if it is not written, or an array.
func Assigned(fields []Assignment, name string) Raw {
	for i := range fields {
		if f := fields[i].Field; f != nil && f.Name == name && fields[i].Rows == nil {
			return fields[i].Value
		}
	}
	return Raw{}
}

// fillEach appends the elements that a placeholder stands for, separated by commas. given is
// false if the record has no such array.
func (f *filling) fillEach(dst []byte, name string) (out []byte, given bool, err error) {
	if f.Rows == nil {
		return dst, false, nil
	}
	rows, given := f.Rows(strings.TrimPrefix(name, "value."))
	of := f.each[name]
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		inner := *f
		inner.Fields = slices.DeleteFunc(slices.Clone(row), func(a Assignment) bool { return a.Field != nil && of.uses["value."+a.Field.Name] })
		inner.Get = func(name string) Raw {
			if field, ok := strings.CutPrefix(name, "value."); ok {
				return Assigned(row, field)
			}
			return f.Get(name)
		}
		if dst, _, err = of.node.fill(dst, &inner); err == nil {
			err = inner.err
		}
		if err != nil {
			return dst, given, err
		}
	}
	return dst, given, nil
}

// elements compiles the templates for elements of arrays in the body of create.
func (d *draft) elements() {
	of, op := d.file.Operations.Create, d.resource.Operations[mapping.OpCreate]
	if of == nil || op == nil || len(of.Each) == 0 {
		return
	}
	at := d.at("operations", "create", "each")
	body, isJSON := op.Request.body.(*jsonNode)
	if !isJSON {
		d.fail(at, "found with a body that is not JSON: expected {fields}, in which the elements stand")
		return
	}
	body.texts(func(t *template) {
		for _, p := range t.parts {
			if strings.HasPrefix(p.name, "value.") && slices.ContainsFunc(of.Each, func(e pair) bool { return "value."+e.Key == p.name }) {
				d.fail(d.at("operations", "create", "body"), "found {%s} in a text, expected it in the place of a value: it is a list", p.name)
			}
		}
	})
	op.Request.each = map[string]*element{}
	for _, e := range of.Each {
		if compiled := d.element(strictyaml.Child(at, e.Key), e, op.Request); compiled != nil {
			op.Request.each["value."+e.Key] = compiled
		}
	}
}

// element compiles the template of one array; nil where there is none.
func (d *draft) element(path string, e pair, q *Request) *element {
	var arrays []string
	for _, f := range d.drafted {
		if f.source == fromElements {
			arrays = append(arrays, f.Name)
		}
	}
	if !slices.Contains(arrays, e.Key) {
		d.unknown(path, "array field", e.Key, arrays)
		return nil
	}
	child, array := d.draftOf(d.of.Field(e.Key).ArrayOf), d.of.Field(e.Key)
	if child == nil {
		return nil // which is reported
	}
	if !q.Uses("value." + e.Key) {
		d.fail(path, "found no {value.%s} in the body, expected it where the elements go", e.Key)
	}
	node, err := parseJSON(e.Value)
	if err != nil {
		d.fail(path, "%s", d.detail(path, err))
		return nil
	}
	c, own := child.contextOf(mapping.OpCreate), d.contextOf(mapping.OpCreate)
	c.known, c.keys, c.plainKey = slices.DeleteFunc(own.known, func(name string) bool { return name == "idempotency_key" }), own.keys, own.plainKey
	c.values = slices.DeleteFunc(c.values, func(name string) bool { return name == array.ArrayKey })
	out := &element{node, map[string]bool{}}
	node.names(func(name string) {
		d.placeholder(path, name, c, true)
		out.uses[name] = true
	})
	node.texts(func(t *template) { d.judgeText(path, t, c) })
	var lost []string
	for i := range child.resource.Fields {
		f := &child.resource.Fields[i]
		if f.writable && !f.Readonly && !f.Primary && f.Name != array.ArrayKey && !out.has(f.Name) {
			lost = append(lost, f.Name)
		}
	}
	if len(lost) > 0 {
		d.fail(path, "the elements leave out what clients may send: %s. Expected {value.FIELD} for each, {fields} for all of them, or readonly: true at the field of %s", strings.Join(lost, ", "), child.of.Name)
	}
	return out
}

// inEach are the placeholders of arrays that have a template.
func (f *operationFile) inEach() map[string]bool {
	names := map[string]bool{}
	for _, e := range f.Each {
		names["value."+e.Key] = true
	}
	return names
}
