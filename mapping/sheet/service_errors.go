package sheet

import (
	"context"
	"strconv"
	"strings"
)

// Answer is an answer of a service, for Translate and Match.
type Answer struct {
	Context context.Context // ends jq that takes too long
	Status  int
	Input   func() map[string]any // what jq sees of it: {status, body}
}

// Fits reports whether m recognises an answer. It does not if its jq fails: answers have any form.
func (m Match) Fits(a Answer) bool {
	text := strconv.Itoa(a.Status)
	class, isClass := strings.CutSuffix(m.Status, "xx")
	sameStatus := m.Status == "" || m.Status == text || isClass && len(text) == 3 && text[:1] == class
	if m == (Match{}) || !sameStatus {
		return false
	}
	if m.JQ == nil {
		return true
	}
	holds, err := m.JQ.Holds(a.Context, a.Input())
	return holds && err == nil
}

// text returns the text that jq finds in an answer. It returns false if jq finds none, or fails.
func (a Answer) text(q *JQ) (string, bool) {
	found, err := q.First(a.Context, a.Input())
	text, ok := ScalarText(found)
	return text, ok && err == nil
}

// errors compiles the errors of the sheet.
func (l *httpLoader) errors() {
	for i, f := range l.file.Errors {
		path := item("errors", i)
		if f.When == (Match{}) && !l.doc.Broken(path+".when") {
			l.fail(path, "when is missing, expected what recognises the error")
		}
		e := translation[Answer]{meaning: f.meaning, fits: l.match(path+".when", f.When, "").Fits, named: func(Answer) string { return "" }}
		fieldFrom := ""
		if f.FieldFrom != nil {
			fieldFrom = f.FieldFrom.text
		}
		l.judgeMeaning(path, &e.meaning, fieldFrom, f.Value != nil)
		if name := l.answerJQ(f.FieldFrom); name != nil {
			e.named = func(a Answer) string {
				text, _ := a.text(name)
				return text
			}
		}
		if value := l.answerJQ(f.Value); value != nil {
			e.value = func(a Answer) (string, bool) { return a.text(value) }
		}
		if e.row != nil { // the reason is known
			l.service.Errors = append(l.service.Errors, e)
		}
	}
}
