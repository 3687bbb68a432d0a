package sheet

import (
	"context"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// Fits tells whether an answer is recognised. answer is what jq sees of it: {status, body}. jq that
// fails does not recognise it: conditions are asked of answers of any form.
func (m Match) Fits(ctx context.Context, status int, answer func() map[string]any) bool {
	text := strconv.Itoa(status)
	class, isClass := strings.CutSuffix(m.Status, "xx")
	if m == (Match{}) || m.Status != "" && m.Status != text && !(isClass && len(text) == 3 && text[:1] == class) {
		return false
	}
	if m.JQ == nil {
		return true
	}
	holds, err := m.JQ.Holds(ctx, answer())
	return holds && err == nil
}

// ServiceErrors word the errors of a service.
type ServiceErrors []ServiceError

// Translate words an answer by the first that fits; nil if none does, or none whose message can be
// filled in: clients are then told nothing about it. answer is what jq sees of it: {status, body}.
func (all ServiceErrors) Translate(ctx context.Context, status int, answer func() map[string]any, a Attempt) *mapping.Error {
	for i := range all {
		e := &all[i]
		if !e.isOn(a) || !e.When.Fits(ctx, status, answer) {
			continue
		}
		if worded := e.worded(ctx, answer, a); worded != nil {
			return worded
		}
	}
	return nil
}

func (e *ServiceError) worded(ctx context.Context, answer func() map[string]any, a Attempt) *mapping.Error {
	textOf := func(q *JQ) (string, bool) { // jq that fails finds nothing
		found, err := q.First(ctx, answer())
		text, ok := ScalarText(found)
		return text, ok && err == nil
	}
	raw := ""
	if e.FieldFrom != nil {
		raw, _ = textOf(e.FieldFrom)
	}
	m, value := e.mean(a, raw), (func() (string, bool))(nil)
	if e.Value != nil {
		value = func() (string, bool) { return textOf(e.Value) }
	}
	return e.word(m, a.ID, value)
}
