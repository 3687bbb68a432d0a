package sheet

import (
	"regexp"
	"strings"
)

// Failure is an error of a database, for Translate.
type Failure struct{ SQLState, Code, Constraint, Message string }

// errors compiles the errors of the sheet.
func (l *sqlLoader) errors() {
	for i, f := range l.file.Errors {
		path := item("errors", i)
		message := l.judgeFault(path, f.When)
		e := translation[Failure]{meaning: f.meaning, fits: func(given Failure) bool { return f.When.fits(given, message) }}
		if l.judgeMeaning(path, &e.meaning, f.FieldFrom, f.Value != ""); e.row == nil {
			continue
		}
		if f.FieldFrom == "constraint" && len(f.Fields) == 0 && f.Field == "" && namesField(e.row) {
			l.fail(path, "fields is missing, expected the constraints and the fields that they mean")
		}
		if (f.FieldFrom == "message" || f.Value != "") && (message == nil || message.NumSubexp() == 0) {
			l.fail(path+".when", "message has no group in parentheses, which field_from or value asks for")
		}
		e.named = func(given Failure) string {
			switch f.FieldFrom {
			case "constraint":
				return given.Constraint
			case "message":
				return message.FindStringSubmatch(given.Message)[1]
			}
			return ""
		}
		if f.Value != "" {
			e.value = func(given Failure) (string, bool) {
				groups := message.FindStringSubmatch(given.Message)
				return groups[len(groups)-1], true
			}
		}
		l.sheet.Errors = append(l.sheet.Errors, e)
	}
}

// judgeFault judges when of an error, and compiles the pattern of its message; nil for none.
func (l *sqlLoader) judgeFault(path string, f faultFile) (message *regexp.Regexp) {
	at := path + ".when"
	if f.Message != "" {
		var err error
		if message, err = regexp.Compile(f.Message); err != nil {
			l.fail(at+".message", "found %s, which is no regular expression: %s", l.doc.Found(at+".message", f.Message), strings.TrimPrefix(l.detail(at+".message", err), "error parsing regexp: "))
			f.Message = ""
		}
	}
	if f == (faultFile{}) && !l.doc.Broken(at) {
		l.fail(path, "when is missing, expected what recognises the error")
	}
	return message
}

func (f faultFile) fits(given Failure, message *regexp.Regexp) bool {
	return strings.HasPrefix(given.SQLState, f.SQLState) && (f.Code == "" || given.Code == f.Code) &&
		(f.Constraint == "" || strings.EqualFold(given.Constraint, f.Constraint)) && (message == nil || message.MatchString(given.Message))
}
