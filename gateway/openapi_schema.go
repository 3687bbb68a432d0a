package gateway

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/gateway/openapi"
	"frontdesk/mapping"
)

// The patterns of timestamps, in requests and in answers.
const (
	sentTimestamp     = `^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?))?$`
	answeredTimestamp = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`
)

func ptr[T any](v T) *T { return &v }

// literal returns the JSON value of a field's text in the model: an example, a
// default or one of the allowed values.
func literal(f *mapping.Field, text string) any {
	if number := jsontext.Value(text); (f.Type == mapping.Int4 || f.Type == mapping.Float8) && number.IsValid() {
		return number
	}
	return text
}

// typed returns the schema that follows from the datatype and the allowed values.
func typed(f *mapping.Field) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"string"}}
	switch f.Type {
	case mapping.Int4:
		s.Type, s.Format = openapi.Types{"integer"}, "int32"
	case mapping.Float8:
		s.Type, s.Format = openapi.Types{"number"}, "double"
	case mapping.Bytea:
		s.Encoding = "base64"
	}
	for _, v := range f.OneOf {
		s.Enum = append(s.Enum, literal(f, v))
	}
	return s
}

// idSchema returns the schema of a primary ID.
func idSchema() *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32", Minimum: ptr(1)}
}

// oneOf returns the schema of a text that is one of these.
func oneOf(texts []string) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"string"}}
	for _, text := range texts {
		s.Enum = append(s.Enum, text)
	}
	return s
}

// restricted adds the restrictions that requests are judged by.
func (d *describer) restricted(s *openapi.Schema, f *mapping.Field) {
	if f.Type == mapping.Timestamp {
		s.Pattern = sentTimestamp
	}
	if f.Reference != "" || f.ReferenceBy != "" || f.Primary {
		s.Minimum = ptr(1)
	}
	s.References = f.Reference
	check := f.Check
	if f.Name == webhookURL {
		check = "https_url"
	}
	switch form := mapping.ValidationOf(check); {
	case form.Format != "" || form.Pattern != "":
		s.Format, s.Pattern = form.Format, form.Pattern
	case check == "percentage":
		s.Minimum, s.Maximum = ptr(0), ptr(100)
	case check == "resource":
		s.Enum = oneOf(d.g.o.Offer.Model.Names()).Enum
	}
	// With a list of values a bound says nothing, and generators of validators stumble.
	if s.Enum == nil && f.IsText() && f.Length < mapping.AnyLength {
		s.MaxLength = f.Length
	}
}

// fieldText returns a field's description with the rules that a schema cannot express.
func fieldText(f *mapping.Field) string {
	return joined(" ", f.Description,
		when(f.Unique && f.UniquePer == "", "No two records share a value."),
		when(f.UniquePer != "" && len(f.UniqueWhen) == 0, "No two records of the same "+f.UniquePer+" share a value."),
		when(f.Reference != "", "The id of a record of "+f.Reference+"."),
		when(f.After != "", "Later than "+f.After+"."),
		f.Deprecated.String(), mapping.ValidationOf(f.Check).Words,
		when(f.Type == mapping.Float8 && f.Scale > 0, "Kept with "+strconv.Itoa(f.Scale)+" decimals."))
}

// nullable also allows null. Integers without a gap become a range, because generators
// for Go make a constant for each value of an enum, and null is not an integer. Other enums
// stand beside null: with null among their values, generators of clients make code that does
// not compile.
func nullable(s *openapi.Schema) *openapi.Schema {
	if first, last, ok := span(s.Enum); ok {
		s.Minimum, s.Maximum, s.Enum = ptr(first), ptr(last), nil
	}
	if s.Enum == nil {
		s.Type = append(s.Type, openapi.Null)
		return s
	}
	s.AnyOf = []*openapi.Schema{{Type: s.Type, Format: s.Format, Enum: s.Enum}, {Type: openapi.Types{openapi.Null}}}
	s.Type, s.Format, s.Enum = nil, "", nil
	return s
}

// span returns the first and last of consecutive integers.
func span(values []any) (first, last int, ok bool) {
	for i, v := range values {
		number, isNumber := v.(jsontext.Value)
		n, err := strconv.Atoi(string(number))
		if !isNumber || err != nil || (i > 0 && n != last+1) {
			return 0, 0, false
		}
		if i == 0 {
			first = n
		}
		last = n
	}
	return first, last, len(values) > 0
}

// fieldsOf returns the fields of a resource for which holds does.
func fieldsOf(r *mapping.Resource, holds func(*mapping.Field) bool) (all []*mapping.Field) {
	for _, f := range mapping.Each(r.Fields) {
		if holds(f) {
			all = append(all, f)
		}
	}
	return all
}

// fieldsSchema returns the schema of an object of fields, of which some are required.
func fieldsSchema(description string, fields []*mapping.Field, schema func(*mapping.Field) *openapi.Schema, required func(*mapping.Field) bool) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"object"}, Description: description}
	for _, f := range fields {
		s.Properties.Add(f.Name, schema(f))
		if required(f) {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

// Which fields of an object are required.
func always(*mapping.Field) bool       { return true }
func never(*mapping.Field) bool        { return false }
func isRequired(f *mapping.Field) bool { return f.Required }

// recordSchema returns the schema of a record in answers: no field is required, because fields=
// may leave it out; any field but the id and the flags may be null.
func (d *describer) recordSchema(r *mapping.Resource) *openapi.Schema {
	return d.component(typeName(r.Name), func() *openapi.Schema {
		fields := fieldsOf(r, func(f *mapping.Field) bool { return f.In(d.arrays(arrayRead)) })
		return fieldsSchema(r.Description+" All fields are answered, unless `fields` chose some.", fields, d.answered, never)
	})
}

// wholeRecord returns the schema of a record that is answered with these fields: all but arrays, and in lists all but
// binary data. It repeats the schemas of the fields, since most generators do not read what one schema
// requires of another; only recordSchema has their descriptions.
func (d *describer) wholeRecord(r *mapping.Resource, positions []int) *openapi.Schema {
	name := "Whole" + typeName(r.Name)
	if len(positions) < len(r.RecordFields()) {
		name = "Listed" + typeName(r.Name)
	}
	return d.component(name, func() *openapi.Schema {
		d.recordSchema(r)
		fields := fieldsOf(r, func(f *mapping.Field) bool { return slices.Contains(positions, f.Index) })
		return fieldsSchema("All of "+typeName(r.Name)+".", fields, func(f *mapping.Field) *openapi.Schema {
			s := d.answered(f)
			s.Description, s.Examples = "", nil
			return s
		}, always)
	})
}

// answered returns the schema of a field in answers.
func (d *describer) answered(f *mapping.Field) *openapi.Schema {
	if f.Type == mapping.Array {
		return &openapi.Schema{
			Type: openapi.Types{"array"}, Items: d.recordSchema(f.Target()),
			Description: fieldText(f) + " Answered only where `fields` names it.", Deprecated: f.Deprecated != nil,
		}
	}
	s := typed(f)
	s.Description, s.Deprecated = fieldText(f), f.Deprecated != nil
	if f.Type == mapping.Timestamp {
		s.Format = "date-time"
	}
	if f.Primary {
		s.Minimum, s.Description = ptr(1), "Primary ID."
	} else if !slices.Contains(flags, f.Name) {
		nullable(s)
	}
	if f.Example != "" && f.Type != mapping.Timestamp {
		s.Examples = []any{literal(f, f.Example)}
	}
	return s
}

// flags are the fields of every record that are never null; everywhere are those whose filters
// all lists share.
var (
	flags      = []string{"is_system", "is_blocked", "is_archived"}
	everywhere = append([]string{"id", "created_at", "modified_at"}, flags...)
)

// creatable reports whether a field is sent with a new record. parent is the field of an array
// element that refers to the record it is created with; nil for a record of its own.
func (d *describer) creatable(f, parent *mapping.Field) bool {
	return !f.Readonly && !f.Primary && f != parent && f.In(d.arrays(arraySend))
}

// changeable reports whether PUT may change a field. A business rule forbids it for license_plate.
func changeable(r *mapping.Resource, f *mapping.Field) bool {
	ruled := f.Name == "license_plate" && slices.Contains(r.Rules, "license_plate")
	return !f.Readonly && !f.Primary && !f.Immutable && f.Withheld&mapping.InUpdates == 0 && f.Type != mapping.Array && !ruled
}

// createSchema returns the schema of the body of a create, or an element of one with a parent.
func (d *describer) createSchema(r *mapping.Resource, parent *mapping.Field, name string) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		fields := fieldsOf(r, func(f *mapping.Field) bool { return d.creatable(f, parent) })
		s := fieldsSchema("A new "+r.Name+", of fields as "+typeName(r.Name)+" explains them.", fields, func(f *mapping.Field) *openapi.Schema {
			s := d.sent(r, f)
			if f.Default != "" && f.Type != mapping.Array { // in words: generators make a field with a default one that has to be sent
				s.Description = strings.TrimSpace(s.Description + " " + f.Default + " where it is left out.")
			}
			return s
		}, isRequired)
		s.Additional = ptr(false)
		return s
	})
}

// updateSchema returns the schema of the body of an update, without fields that it cannot change.
func (d *describer) updateSchema(r *mapping.Resource) *openapi.Schema {
	return d.component(typeName(r.Name)+"Update", func() *openapi.Schema {
		fields := fieldsOf(r, func(f *mapping.Field) bool { return changeable(r, f) })
		s := fieldsSchema("The fields of "+typeName(r.Name)+" to change.", fields, func(f *mapping.Field) *openapi.Schema { return d.sent(r, f) }, never)
		s.Additional = ptr(false)
		return s
	})
}

// sent returns the schema of a field in requests.
func (d *describer) sent(r *mapping.Resource, f *mapping.Field) *openapi.Schema {
	if f.Type == mapping.Array {
		target := f.Target()
		return &openapi.Schema{
			Type: openapi.Types{"array"}, MinItems: 1, MaxItems: mapping.MaxElements, Description: fieldText(f), Deprecated: f.Deprecated != nil,
			Items: d.createSchema(target, target.Field(f.ArrayKey), typeName(r.Name)+"Create"+typeName(target.Name)),
		}
	}
	s := typed(f)
	s.Deprecated, s.Description = f.Deprecated != nil, f.Deprecated.String()
	d.restricted(s, f)
	if f.Required && f.IsText() && s.Enum == nil {
		s.MinLength = 1
	}
	if !f.Required {
		nullable(s)
	}
	return s
}

// formSchema returns the schema of the body of an endpoint that is no resource.
func (d *describer) formSchema(form *mapping.Resource, name string) *openapi.Schema {
	return d.component(name, func() *openapi.Schema {
		s := fieldsSchema("", fieldsOf(form, always), d.formField, isRequired)
		s.Additional = ptr(false)
		return s
	})
}

func (d *describer) formField(f *mapping.Field) *openapi.Schema {
	s := typed(f)
	s.Description = f.Description
	d.restricted(s, f)
	if f.Example != "" {
		s.Examples = []any{literal(f, f.Example)}
	}
	return s
}

// dataSchema returns the schema of a Go value, by its JSON names. The tags doc and example describe
// it, pattern and format restrict a text, min is the least number or the fewest elements;
// may:"lack" marks an optional member.
func dataSchema(t reflect.Type) *openapi.Schema {
	switch t {
	case reflect.TypeFor[mapping.Reason]():
		return openapi.Ref("Reason")
	case reflect.TypeFor[violationAnswer]():
		return openapi.Ref("Violation")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(dataSchema(t.Elem()))
	case reflect.Interface: // a text or nothing
		return nullable(&openapi.Schema{Type: openapi.Types{"string"}})
	case reflect.String:
		return &openapi.Schema{Type: openapi.Types{"string"}}
	case reflect.Bool:
		return &openapi.Schema{Type: openapi.Types{"boolean"}}
	case reflect.Int, reflect.Int32:
		return &openapi.Schema{Type: openapi.Types{"integer"}, Format: "int32"}
	case reflect.Int64:
		return &openapi.Schema{Type: openapi.Types{"integer"}}
	case reflect.Slice:
		return &openapi.Schema{Type: openapi.Types{"array"}, Items: dataSchema(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	default:
		panic("no schema for " + t.String())
	}
}

// structSchema returns the schema of an object.
func structSchema(t reflect.Type) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"object"}}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			of := structSchema(f.Type)
			s.Properties, s.Required = append(s.Properties, of.Properties...), append(s.Required, of.Required...)
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := dataSchema(f.Type)
		member.Description, member.Pattern = f.Tag.Get("doc"), f.Tag.Get("pattern")
		member.Format = cmp.Or(f.Tag.Get("format"), member.Format)
		if example := f.Tag.Get("example"); example != "" {
			if member.Examples = []any{example}; member.Type[0] != "string" {
				member.Examples = []any{jsontext.Value(example)}
			}
		}
		if least, err := strconv.Atoi(f.Tag.Get("min")); err == nil && member.Items != nil {
			member.MinItems = least
		} else if err == nil {
			member.Minimum = ptr(least)
		}
		s.Properties.Add(name, member)
		if f.Tag.Get("may") != "lack" && option != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}
