package sheet

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// judgeMeaning compiles the meaning of an error, and sets its row; the row stays nil for an unknown reason.
// from is field_from; quotes reports whether the error has the refused value.
func (l *loader) judgeMeaning(path string, e *meaning, from string, quotes bool) {
	rows := raisable()
	e.row = rows[e.Reason]
	for i, on := range e.On {
		l.judgeOn(item(path+".on", i), on)
	}
	if e.row == nil {
		var known []string
		for _, reason := range slices.Sorted(maps.Keys(rows)) {
			known = append(known, string(reason))
		}
		l.fail(path+".reason", "found %s, which is no reason that an error of the system can stand for%s", l.doc.Found(path+".reason", string(e.Reason)), l.doc.Suggest(path+".reason", string(e.Reason), known))
		return
	}
	l.judgeNamed(path, e, from)
	for _, name := range slices.Sorted(maps.Values(e.Fields)) {
		l.judgeErrorField(path+".fields", name, e, quotes)
	}
	if e.Field != "" {
		l.judgeErrorField(path+".field", e.Field, e, quotes)
	}
}

// judgeOn judges an item of on.
func (l *loader) judgeOn(path, text string) {
	resource, op, _ := strings.Cut(text, ".")
	if known := l.sheet.Model.Names(); !slices.Contains(known, resource) {
		l.unknown(path, "resource", resource, known)
	} else if op != "" && !slices.Contains(operationNames, op) {
		l.fail(path, "found %s, expected an operation of %s: %s%s", l.doc.Found(path, text), resource, strings.Join(operationNames, ", "), l.doc.Suggest(path, op, operationNames))
	}
}

// judgeNamed requires the keys for everything that the message of the reason names, and refuses others.
func (l *loader) judgeNamed(path string, e *meaning, from string) {
	named := namesField(e.row)
	switch {
	case named && e.Field == "" && from == "":
		l.fail(path, "the message of the reason names a field, expected field, or field_from")
	case !named && (e.Field != "" || from != ""):
		names := "no field"
		if e.row.Takes(mapping.ArgID) {
			names = "the field id, and no other"
		} else if own := ownField(e.row); own != "" {
			names = "the field " + own + " by itself"
		}
		l.fail(path, "the message of the reason names %s, expected neither field nor field_from", names)
	case e.Field != "" && from != "":
		l.fail(path, "found field and field_from, expected one of them")
	}
	if from == "" && len(e.Fields) > 0 {
		l.fail(path+".fields", "found without field_from, expected both")
	}
	if inUse := e.row.Takes(mapping.ArgAt); inUse != (e.At != "") {
		l.fail(path, "at is the resource that a record is in use at, expected it with reason in_use and no other")
	} else if inUse {
		l.judgeAt(path+".at", e.At)
	}
}

// atForm matches names in the form of resources.
var atForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// judgeAt requires a resource, or another word that is not similar to one, which would be a misspelling.
func (l *loader) judgeAt(path, name string) {
	known := l.model.Names()
	hint := l.doc.Suggest(path, name, known)
	switch {
	case slices.Contains(known, name):
	case hint != "":
		l.fail(path, "there is no resource %s%s", l.doc.Found(path, name), hint)
	case !atForm.MatchString(name):
		l.fail(path, "found %s, expected a resource, or a word of small letters, digits and _ for what is none", l.doc.Found(path, name))
	}
}

// judgeErrorField requires a mapped field that fits the message.
func (l *loader) judgeErrorField(path, name string, e *meaning, quotes bool) {
	if resource, field, ok := strings.Cut(name, "."); ok {
		if r := l.sheet.Model.Resource(resource); r == nil || r.Field(field) == nil {
			l.fail(path, "found %s, expected a field of the record, or RESOURCE.FIELD of another that is mapped", l.doc.Found(path, name))
		} else if !quotes {
			l.fail(path, "found %s without value, expected where the answer has the value of another record", l.doc.Found(path, name))
		}
		return
	}
	var fields []*mapping.Field
	var known []string
	for _, r := range l.sheet.Model.Resources {
		if len(e.On) > 0 && !slices.ContainsFunc(e.On, func(on string) bool { return on == r.Name || strings.HasPrefix(on, r.Name+".") }) {
			continue
		}
		for i := range r.Fields {
			known = append(known, r.Fields[i].Name)
		}
		if f := r.Field(name); f != nil {
			fields = append(fields, f)
		}
	}
	none := func(has func(f *mapping.Field) bool) bool { return !slices.ContainsFunc(fields, has) }
	slices.Sort(known)
	switch {
	case len(fields) == 0:
		l.unknown(path, "mapped field", name, slices.Compact(known))
	case e.row.Takes(mapping.ArgValidation) && none(func(f *mapping.Field) bool { return f.Validation() != "" }):
		l.fail(path, "%s has no validation for the message to name, expected a reason such as varchar_invalid", name)
	case e.row.Takes(mapping.ArgAfter) && none(func(f *mapping.Field) bool { return f.After != "" }):
		l.fail(path, "%s need not follow another date, expected a field that does", name)
	case e.row.Takes(mapping.ArgMost) && none(func(f *mapping.Field) bool { return f.Length > 0 }):
		l.fail(path, "%s has no length, expected a text field", name)
	}
}
