package sheet

import (
	"context"
	"strconv"
	"strings"
)

// Answer is an answer of a service, for Translate and Match.
type Answer struct {
	Context context.Context // bounds jq
	Status  int
	Input   func() map[string]any // what jq sees of it: {status, body}
}

// Fits reports whether an answer is recognised. If jq fails, it is not: conditions run on answers of any
// form.
func (m Match) Fits(a Answer) bool {
	text := strconv.Itoa(a.Status)
	class, isClass := strings.CutSuffix(m.Status, "xx")
	if m == (Match{}) || m.Status != "" && m.Status != text && !(isClass && len(text) == 3 && text[:1] == class) {
		return false
	}
	if m.JQ == nil {
		return true
	}
	holds, err := m.JQ.Holds(a.Context, a.Input())
	return holds && err == nil
}

// text returns the text that jq finds in an answer; false if it finds none, or fails.
func (a Answer) text(q *JQ) (string, bool) {
	found, err := q.First(a.Context, a.Input())
	text, ok := ScalarText(found)
	return text, ok && err == nil
}

// errors compiles the translations of errors.
func (l *httpLoader) errors() {
	for i, f := range l.file.Errors {
		path := item("errors", i)
		if f.When == (Match{}) && !l.doc.Broken(path+".when") {
			l.fail(path, "when is missing, expected what recognises the error")
		}
		e := translation[Answer]{meaning: f.meaning, fits: l.match(path+".when", f.When, "").Fits, named: func(Answer) string { return "" }}
		from := ""
		if f.FieldFrom != nil {
			from = f.FieldFrom.text
		}
		l.judgeMeaning(path, &e.meaning, from, f.Value != nil)
		if from := l.answered(f.FieldFrom); from != nil {
			e.named = func(a Answer) string {
				text, _ := a.text(from)
				return text
			}
		}
		if value := l.answered(f.Value); value != nil {
			e.value = func(a Answer) (string, bool) { return a.text(value) }
		}
		if e.row != nil {
			l.service.Errors = append(l.service.Errors, e)
		}
	}
}
