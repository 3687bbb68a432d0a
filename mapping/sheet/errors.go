package sheet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/mapping"
)

// Attempt is the operation that a system refused.
type Attempt struct {
	Resource *Resource
	Op       mapping.Scope
	Record   mapping.Record // the record that was sent; zero if none was
	ID       int32          // of the record; 0 on create and list
}

// Translator translates errors of a system, of type R, to errors of the interface.
type Translator[R any] []translation[R]

// translation is an entry of the sheet that translates an error.
type translation[R any] struct {
	meaning
	fits  func(R) bool
	named func(R) string         // the system's name of the field; "" if the error does not have it
	value func(R) (string, bool) // the refused value; nil if it is the one that was sent
}

// Translate translates an error by the first entry of the sheet that fits; nil if none does: then the cause is
// not shown to clients. An entry fits only if everything that its message names is known.
func (t Translator[R]) Translate(refused R, a Attempt) *mapping.Error {
	for i := range t {
		e := &t[i]
		if !e.isOn(a) || !e.fits(refused) {
			continue
		}
		m := e.mean(a, e.named(refused))
		value := func() (string, bool) { return sent(m.record, m.field), m.other == nil }
		if e.value != nil {
			value = func() (string, bool) {
				text, ok := e.value(refused)
				if ok && m.other != nil && m.other.SQL != nil {
					return m.shown(text)
				}
				return text, ok
			}
		}
		if worded := e.word(m, a.ID, value); worded != nil {
			return worded
		}
	}
	return nil
}

// shown converts a stored value of another record, from a database's message, to the value that clients see.
func (m meant) shown(stored string) (string, bool) {
	how := m.other.SQL.Fields[m.field.Index]
	if i := slices.IndexFunc(how.Codes, func(c Code) bool { return c.Stored == stored }); i >= 0 {
		return how.Codes[i].Shown.String(), how.Codes[i].Shown.IsSet()
	}
	v, err := m.field.Parse(stored, time.UTC)
	return v.String(), err == nil && how.Codes == nil
}

// raisable returns the catalogue's rows that a system's error may be translated to.
func raisable() map[mapping.Reason]*mapping.Entry {
	all := map[mapping.Reason]*mapping.Entry{}
	for _, e := range mapping.NewCatalogue().Entries() {
		if all[e.Reason] == nil && (e.By == mapping.ByEither || e.By == mapping.ByAdministration) {
			all[e.Reason] = &e
		}
	}
	return all
}

// namesField reports whether the message names a field, which the sheet then has to identify.
func namesField(row *mapping.Entry) bool {
	return row.Takes(mapping.ArgField) || row.Takes(mapping.ArgArray)
}

// ownField returns the field that is part of a message which also has its value; "" for none.
func ownField(row *mapping.Entry) string {
	if row.Takes(mapping.ArgOwnValue) {
		return row.Field(nil)
	}
	return ""
}

func (e *meaning) isOn(a Attempt) bool {
	return len(e.On) == 0 || a.Resource != nil && (slices.Contains(e.On, a.Resource.Name) || slices.Contains(e.On, a.Resource.Name+"."+string(a.Op)))
}

// meant is the field that an error is about, and its record.
type meant struct {
	field  *mapping.Field // nil if it is not known
	record mapping.Record
	path   string    // of an element that was sent with its parent: orderlines[0]
	other  *Resource // the resource of the field, if it is not that of the sent record; else nil
}

// mean finds the field that an error is about. raw is the system's name of the field; "" if the
// error does not have it.
func (e *meaning) mean(a Attempt, raw string) (m meant) {
	m.record = a.Record
	if a.Resource == nil {
		return m
	}
	name := e.Field
	if name == "" {
		name = e.Fields[raw]
	}
	if own := ownField(e.row); own != "" {
		name = own
	}
	if resource, field, ok := strings.Cut(name, "."); ok {
		if of := a.Resource.sheet.byName[resource]; of != nil && of.Field(field) != nil {
			m.field, m.other = of.Field(field), of
		}
		return m
	}
	if name != "" {
		m.field = a.Resource.Field(name)
	} else if raw != "" && len(e.Fields) == 0 {
		if strings.HasPrefix(raw, "/") { // a JSON pointer into what was sent
			raw = strings.ReplaceAll(strings.Trim(raw, "/"), "/", ".")
		}
		m.field = a.Resource.calledAs(raw)
	}
	if m.field == nil && raw != "" {
		e.element(a, raw, &m)
	}
	return m
}

// elementForm is how systems name a field of an element: lines[0].price, lines.0.price.
var elementForm = regexp.MustCompile(`^(.+?)(?:\[|\.)(\d+)(?:\]\.|\.)(.+)$`)

// element finds a field of an element that was sent with its parent.
func (e *meaning) element(a Attempt, raw string, m *meant) {
	parts := elementForm.FindStringSubmatch(raw)
	if parts == nil || a.Resource.Service == nil {
		return
	}
	n, err := strconv.Atoi(parts[2])
	for i, elements := range a.Record.Children {
		array := a.Resource.Fields[i].Field
		if a.Resource.Service.Fields[i].Elements.Path.String() != parts[1] || err != nil || n >= len(elements) {
			continue
		}
		m.record, m.path = elements[n], array.Name+"["+parts[2]+"]"
		if m.field = m.record.Resource.Field(e.Fields[parts[3]]); len(e.Fields) == 0 {
			m.field = a.Resource.sheet.byName[array.ArrayOf].calledAs(parts[3])
		}
	}
}

// calledAs returns the field that is written to a place of the system, or else the field of that name; nil if
// there is none, or more than one.
func (r *Resource) calledAs(place string) *mapping.Field {
	var found []*mapping.Field
	for i := range r.Fields {
		if f := r.Fields[i]; f.writable && !f.Readonly && r.isAt(i, place) {
			found = append(found, f.Field)
		}
	}
	switch len(found) {
	case 0:
		return r.Field(place)
	case 1:
		return found[0]
	default:
		return nil
	}
}

// isAt reports whether a field is written to a place.
func (r *Resource) isAt(i int, place string) bool {
	if r.Service != nil {
		return r.Service.Fields[i].Path != nil && r.Service.Fields[i].Path.String() == place
	}
	return slices.ContainsFunc(r.SQL.Fields[i].Write, func(a Assign) bool { return a.Column == place })
}

// word fills in the message of an error; nil if something that it names is not known. value returns
// the refused value.
func (e *meaning) word(m meant, id int32, value func() (string, bool)) *mapping.Error {
	field := m.field
	args := make([]any, 0, len(e.row.Args))
	for _, arg := range e.row.Args {
		if field == nil && arg.Takes.OfField() {
			return nil
		}
		switch arg.Takes {
		case mapping.ArgField, mapping.ArgArray:
			args = append(args, mapping.Literal(field.Name))
		case mapping.ArgValue, mapping.ArgOwnValue:
			text, ok := value()
			if !ok {
				return nil
			}
			args = append(args, text)
		case mapping.ArgLength:
			text, _ := value()
			args = append(args, utf8.RuneCountInString(text))
		case mapping.ArgMost:
			args = append(args, field.Length)
		case mapping.ArgValidation:
			if field.Validation() == "" {
				return nil
			}
			args = append(args, mapping.Literal(field.Validation()))
		case mapping.ArgAfter:
			if field.After == "" {
				return nil
			}
			args = append(args, mapping.Literal(field.After))
		case mapping.ArgAfterValue:
			args = append(args, sent(m.record, m.record.Resource.Field(field.After)))
		case mapping.ArgID:
			args = append(args, mapping.Literal("id"))
		case mapping.ArgIDValue:
			args = append(args, id)
		case mapping.ArgAt:
			args = append(args, mapping.Literal(e.At))
		}
	}
	worded := mapping.Fail(e.row.Reason, args...)
	switch {
	case m.path == "":
		return worded
	case namesField(e.row):
		return worded.In(m.path)
	default:
		return worded.At(m.path)
	}
}

func sent(rec mapping.Record, field *mapping.Field) string {
	if field == nil || rec.Resource == nil || rec.Values[field.Index].IsAbsent() {
		return ""
	}
	return rec.Values[field.Index].String()
}
