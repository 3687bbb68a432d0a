package sheet

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

var (
	sqlStateForm = regexp.MustCompile(`^[0-9A-Z]{2}([0-9A-Z]{3})?$`)
	statusForm   = regexp.MustCompile(`^[1-5]([0-9]{2}|xx)$`)
)

// matcher compiles what recognises an answer.
func (l *loader) matcher(path string, f matchFile) *Matcher {
	m := &Matcher{sqlState: f.SQLState, code: f.Code, codeAt: f.CodeAt, constraint: f.Constraint, status: f.Status, messageAt: f.MessageAt}
	if f.SQLState != "" && !sqlStateForm.MatchString(f.SQLState) {
		l.fail(path+".sqlstate", "found %s, expected five letters and digits such as 23505, or the first two", l.found(path+".sqlstate", f.SQLState))
	}
	if f.Status != "" && !statusForm.MatchString(f.Status) {
		l.fail(path+".status", "found %s, expected a status such as 409, or 4xx", l.found(path+".status", f.Status))
	}
	for key, given := range map[string]bool{"sqlstate": f.SQLState != "", "constraint": f.Constraint != ""} {
		if given && l.http() {
			l.fail(path+"."+key, "found with an HTTP service, expected status, code or message")
		}
	}
	for key, given := range map[string]bool{"status": f.Status != "", "code_at": f.CodeAt != "", "message_at": f.MessageAt != ""} {
		if given && l.sql() {
			l.fail(path+"."+key, "found with a database, expected sqlstate, code, constraint or message")
		}
	}
	if f.Code != "" && l.http() && f.CodeAt == "" {
		l.fail(path, "code_at is missing, expected the path of the code in the answer")
	}
	if f.Message != "" {
		pattern, err := regexp.Compile(f.Message)
		if err != nil {
			l.fail(path+".message", "found %s, which is no regular expression: %s", l.found(path+".message", f.Message), strings.TrimPrefix(l.detail(path+".message", err), "error parsing regexp: "))
		}
		m.message = pattern
	}
	m.any = l.wildcard([]pair{{path + ".code_at", f.CodeAt}, {path + ".message_at", f.MessageAt}})
	return m
}

// wildcard is the object whose members * stands for in paths; each path comes with its place
// in the sheet.
func (l *loader) wildcard(paths []pair) (w wildcard) {
	for _, p := range paths {
		before, after, given := strings.Cut(p.Value, "*")
		if !given || p.Value == "" {
			continue
		}
		of := wildcard{strings.TrimSuffix(before, "."), true}
		switch {
		case l.judged[p.Key]:
		case l.sql() || l.xml:
			l.once(p.Key, "found *, which stands for the members of an object in JSON alone: expected the names")
		case before != "" && !strings.HasSuffix(before, ".") || after != "" && !strings.HasPrefix(after, ".") || strings.Contains(after, "*"):
			l.once(p.Key, "found %s, expected * once, as a whole step: data.*.code", l.found(p.Key, p.Value))
		case w.given && w != of:
			l.once(p.Key, "found %s beside %s, expected * for the members of one object", l.found(p.Key, p.Value), strings.TrimPrefix(w.of+".*", "."))
		}
		w = of
	}
	return w
}

// loadErrors compiles the translations of errors.
func (l *loader) loadErrors() *Translator {
	t, known := &Translator{}, raisable()
	for i, f := range l.file.Errors {
		path := "errors[" + itoa(i) + "]"
		e := errorEntry{
			when: l.matcher(path+".when", f.When), row: known[mapping.Reason(f.Reason)], field: f.Field,
			fieldFrom: f.FieldFrom, fields: f.Fields, value: f.Value, at: f.At,
			any: l.wildcard([]pair{{path + ".when.code_at", f.When.CodeAt}, {path + ".when.message_at", f.When.MessageAt}, {path + ".field_from", f.FieldFrom}, {path + ".value", f.Value}}),
		}
		if e.when.IsZero() && !l.doc.Broken(path+".when") {
			l.fail(path, "when is missing, expected what recognises the error")
		}
		for k, on := range f.On {
			resource, op, _ := strings.Cut(on, ".")
			where := where{resource, mapping.Scope(op)}
			l.judgeOn(path+".on["+itoa(k)+"]", on, where)
			e.on = append(e.on, where)
		}
		if e.row == nil {
			l.unknownReason(path+".reason", f.Reason, known)
		} else {
			l.judgeReason(path, f, e)
		}
		t.entries = append(t.entries, e)
	}
	return t
}

func (l *loader) judgeOn(path, text string, w where) {
	known := l.resourceNames()
	if !slices.Contains(known, w.resource) {
		l.unknown(path, "resource", w.resource, known)
	} else if w.op != "" && !slices.Contains(operationNames, string(w.op)) {
		l.fail(path, "found %s, expected an operation of %s: %s%s", l.found(path, text), w.resource, strings.Join(operationNames, ", "), l.suggest(path, string(w.op), operationNames))
	}
}

func (l *loader) resourceNames() []string {
	if l.sheet.Model == nil {
		return nil
	}
	return l.sheet.Model.Names()
}

func (l *loader) unknownReason(path, reason string, known map[mapping.Reason]*mapping.Entry) {
	names := make([]string, 0, len(known))
	for _, r := range slices.Sorted(maps.Keys(known)) {
		names = append(names, string(r))
	}
	l.fail(path, "found %s, which is no reason that an error of the system can stand for%s", l.found(path, reason), l.suggest(path, reason, names))
}

// judgeReason requires everything that the message of the reason names.
func (l *loader) judgeReason(path string, f errorFile, e errorEntry) {
	named := namesField(e.row)
	switch {
	case named && f.Field == "" && f.FieldFrom == "":
		l.fail(path, "the message of the reason names a field, expected field, or field_from")
	case !named && (f.Field != "" || f.FieldFrom != ""):
		names := "no field"
		if e.row.Takes(mapping.ArgID) {
			names = "the field id, and no other"
		} else if own := ownField(e.row); own != "" {
			names = "the field " + own + " by itself"
		}
		l.fail(path, "the message of the reason names %s, expected neither field nor field_from", names)
	case f.Field != "" && f.FieldFrom != "":
		l.fail(path, "found field and field_from, expected one of them")
	case f.FieldFrom == "constraint" && len(f.Fields) == 0:
		l.fail(path, "fields is missing, expected the constraints and the fields that they mean")
	case f.FieldFrom == "" && len(f.Fields) > 0:
		l.fail(path+".fields", "found without field_from, expected both")
	}
	if e.when.message == nil && (f.FieldFrom == "message" || f.Value == "message") || e.when.message != nil && e.when.message.NumSubexp() == 0 && (f.FieldFrom == "message" || f.Value == "message") {
		l.fail(path+".when", "message has no group in parentheses, which field_from or value asks for")
	}
	if inUse := e.row.Takes(mapping.ArgAt); inUse != (f.At != "") {
		l.fail(path, "at is the resource that a record is in use at, expected it with reason in_use and no other")
	} else if inUse {
		l.judgeAt(path+".at", f.At)
	}
	for _, name := range slices.Sorted(maps.Values(f.Fields)) {
		l.judgeErrorField(path+".fields", name, e)
	}
	if f.Field != "" {
		l.judgeErrorField(path+".field", f.Field, e)
	}
}

// atForm is how the interface names resources.
var atForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// judgeAt requires a resource, or a word that is not almost one: that would be a misspelling.
func (l *loader) judgeAt(path, name string) {
	known := l.model.Names()
	hint := l.suggest(path, name, known)
	switch {
	case slices.Contains(known, name):
	case hint != "":
		l.fail(path, "there is no resource %s%s", l.found(path, name), hint)
	case !atForm.MatchString(name):
		l.fail(path, "found %s, expected a resource, or a word of small letters, digits and _ for what is none", l.found(path, name))
	}
}

// judgeErrorField requires a field that the resources have and that suits the message.
func (l *loader) judgeErrorField(path, name string, e errorEntry) {
	var fields []*mapping.Field
	var known []string
	if l.sheet.Model == nil {
		return
	}
	if resource, field, ok := strings.Cut(name, "."); ok {
		if r := l.sheet.Model.Resource(resource); r == nil || r.Field(field) == nil {
			l.fail(path, "found %s, expected a field of the record, or RESOURCE.FIELD of another that is mapped", l.found(path, name))
		} else if e.value == "" {
			l.fail(path, "found %s without value, expected where the answer has the value of another record", l.found(path, name))
		}
		return
	}
	for _, r := range l.sheet.Model.Resources {
		if len(e.on) > 0 && !slices.ContainsFunc(e.on, func(w where) bool { return w.resource == r.Name }) {
			continue
		}
		for i := range r.Fields {
			known = append(known, r.Fields[i].Name)
		}
		if f := r.Field(name); f != nil {
			fields = append(fields, f)
		}
	}
	slices.Sort(known)
	switch {
	case len(fields) == 0:
		l.unknown(path, "mapped field", name, slices.Compact(known))
	case e.row.Takes(mapping.ArgValidation) && !slices.ContainsFunc(fields, func(f *mapping.Field) bool { return f.Validation() != "" }):
		l.fail(path, "%s has no validation for the message to name, expected a reason such as varchar_invalid", name)
	case e.row.Takes(mapping.ArgAfter) && !slices.ContainsFunc(fields, func(f *mapping.Field) bool { return f.After != "" }):
		l.fail(path, "%s need not follow another date, expected a field that does", name)
	case e.row.Takes(mapping.ArgMost) && !slices.ContainsFunc(fields, func(f *mapping.Field) bool { return f.Length > 0 }):
		l.fail(path, "%s has no length, expected a text field", name)
	}
}
