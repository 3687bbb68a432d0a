package sheet

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/mapping"
)

// Attempt is the operation that a system refused.
type Attempt struct {
	Resource *Resource
	Op       mapping.Scope
	Record   mapping.Record // what was sent; zero where nothing was
	ID       int32          // of the record; 0 on create and list
}

// Translator words the errors of a system.
type Translator struct{ entries []errorEntry }

type errorEntry struct {
	when      *Matcher
	row       *mapping.Entry // of the reason; its words are those of the scope
	any       wildcard
	field     string
	fieldFrom string // path, constraint or message
	fields    map[string]string
	value     string // path or message
	at        string
	on        []where
}

// where is a resource and an operation of it; "" for any operation.
type where struct {
	resource string
	op       mapping.Scope
}

// Translate words a failure by the first entry of the sheet that fits; nil if none does:
// clients are then told nothing about it. An entry fits only if everything that its message
// names is known.
func (t *Translator) Translate(f Failure, a Attempt) *mapping.Error {
	if t == nil {
		return nil
	}
	for i := range t.entries {
		e := &t.entries[i]
		if !e.isOn(a) {
			continue
		}
		for one := range e.any.each(f) {
			if !e.when.Match(one) {
				continue
			}
			if worded := e.word(one, a); worded != nil {
				return worded
			}
		}
	}
	return nil
}

func (e *errorEntry) isOn(a Attempt) bool {
	if len(e.on) == 0 {
		return true
	}
	for _, w := range e.on {
		if a.Resource != nil && w.resource == a.Resource.Name && (w.op == "" || w.op == a.Op) {
			return true
		}
	}
	return false
}

// raisable are the catalogue's rows that a system's error may be translated to.
func raisable() map[mapping.Reason]*mapping.Entry {
	all := map[mapping.Reason]*mapping.Entry{}
	for _, e := range mapping.NewCatalogue().Entries() {
		if all[e.Reason] == nil && (e.By == mapping.ByEither || e.By == mapping.ByAdministration) {
			all[e.Reason] = &e
		}
	}
	return all
}

// namesField tells whether the sheet has to say which field is meant.
func namesField(row *mapping.Entry) bool {
	return row.Takes(mapping.ArgField) || row.Takes(mapping.ArgArray)
}

// ownField is the field that a message names itself, if it takes its value; "" for none.
func ownField(row *mapping.Entry) string {
	if row.Takes(mapping.ArgOwnValue) {
		return row.Field(nil)
	}
	return ""
}

// word fills in the message of an entry; nil if something that it names is not known.
func (e *errorEntry) word(f Failure, a Attempt) *mapping.Error {
	m := e.meant(f, a)
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
			value, ok := e.valueOf(f, m)
			if !ok {
				return nil
			}
			args = append(args, value)
		case mapping.ArgLength:
			value, _ := e.valueOf(f, m)
			args = append(args, utf8.RuneCountInString(value))
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
			args = append(args, a.ID)
		case mapping.ArgAt:
			args = append(args, mapping.Literal(e.at))
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

// meant is the field that a failure is about, and the record that it is of.
type meant struct {
	field  *mapping.Field // nil where it is not known
	record mapping.Record
	path   string // of an element that came with its parent: orderlines[0]
	of     *Field // a field of another resource, as the system has it; else nil
}

func (e *errorEntry) meant(f Failure, a Attempt) meant {
	m := meant{record: a.Record}
	if a.Resource == nil {
		return m
	}
	name, raw := e.fieldOf(f)
	if own := ownField(e.row); own != "" {
		name = own
	}
	if resource, other, ok := strings.Cut(name, "."); ok {
		if of := a.Resource.sheet.byName[resource]; of != nil && of.Field(other) != nil {
			m.of = &of.Fields[of.Field(other).Index]
			m.field = m.of.Field
		}
		return m
	}
	switch {
	case name != "":
		m.field = a.Resource.Field(name)
	case raw != "" && len(e.fields) == 0:
		m.field = a.Resource.writtenAt(raw)
	}
	if strings.HasPrefix(raw, "/") && len(e.fields) == 0 {
		m.field = a.Resource.pointedAt(raw)
	}
	if m.field == nil && raw != "" {
		e.element(a, raw, &m)
	}
	return m
}

// elementForm is how systems name a field of an element: lines[0].price, lines.0.price.
var elementForm = regexp.MustCompile(`^(.+?)(?:\[|\.)(\d+)(?:\]\.|\.)(.+)$`)

// element finds a field of an element that was sent with its parent.
func (e *errorEntry) element(a Attempt, raw string, m *meant) {
	parts := elementForm.FindStringSubmatch(raw)
	if parts == nil {
		return
	}
	n, err := strconv.Atoi(parts[2])
	for i := range a.Resource.Fields {
		array := &a.Resource.Fields[i]
		if array.Children != parts[1] || err != nil || n >= len(a.Record.Children[i]) {
			continue
		}
		m.record, m.path = a.Record.Children[i][n], array.Name+"["+parts[2]+"]"
		if m.field = m.record.Resource.Field(e.fields[parts[3]]); len(e.fields) == 0 {
			m.field = a.Resource.sheet.byName[array.ArrayOf].writtenAt(parts[3])
		}
	}
}

// writtenAt is the field that clients write to a place; nil if there is none or more than one.
func (r *Resource) writtenAt(place string) (found *mapping.Field) {
	for i := range r.Fields {
		switch f := &r.Fields[i]; {
		case !slices.Contains(f.Write, place) || f.Readonly:
		case found != nil:
			return nil
		default:
			found = f.Field
		}
	}
	return found
}

// pointedAt is the field that a JSON pointer into the request's body means: the pointer ends
// with the field's place or, of a reference, with an object around it.
func (r *Resource) pointedAt(pointer string) *mapping.Field {
	path := strings.ReplaceAll(strings.Trim(pointer, "/"), "/", ".")
	for found := true; found; _, path, found = strings.Cut(path, ".") {
		if f := r.writtenAt(path); f != nil {
			return f
		}
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Target != nil && !f.Readonly && len(f.Write) > 0 && strings.HasPrefix(f.Write[0], path+".") {
				return f.Field
			}
		}
	}
	return nil
}

// fieldOf is the field that the failure is about, "" if not known, and the system's name for
// it.
func (e *errorEntry) fieldOf(f Failure) (name, raw string) {
	switch {
	case e.field != "":
		return e.field, ""
	case e.fieldFrom == "constraint":
		raw = f.Constraint
	case e.fieldFrom == "message":
		raw = e.when.group(f, 1)
	case f.member != nil && strings.HasSuffix(e.fieldFrom, "*"):
		raw = f.member.Name
	case e.fieldFrom != "" && f.At != nil:
		raw = f.At(e.fieldFrom)
	}
	return e.fields[raw], raw
}

// valueOf is the value that was refused: as the failure quotes it, else as it was sent. A
// value of another resource is converted as its field is.
func (e *errorEntry) valueOf(f Failure, m meant) (string, bool) {
	var found string
	switch {
	case e.value == "message":
		found = e.when.group(f, -1)
	case e.value != "" && f.At != nil:
		found = f.At(e.value)
	default:
		return sent(m.record, m.field), m.of == nil
	}
	if m.of == nil {
		return found, true
	}
	v, fault := m.of.codec.read(Raw{Kind: RawText, Text: found}, Raw{})
	return v.String(), fault == "" && v.IsSet()
}

func sent(rec mapping.Record, field *mapping.Field) string {
	if field == nil || rec.Resource == nil || rec.Values[field.Index].IsAbsent() {
		return ""
	}
	return rec.Values[field.Index].String()
}
