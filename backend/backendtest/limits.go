package backendtest

import (
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// What a field may keep of Unicode: the letters up to one of these.
const (
	unicodeText = '\U0010FFFF'
	latinText   = '\u00FF'
	asciiText   = '\u007F'
)

// keeps reports whether a text is within an alphabet.
func keeps(last rune, text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > last })
}

// within replaces the letters of a text that a field does not keep.
func (s *suite) within(r *Resource, f *Field, text string) string {
	last := s.alphabet(r, f)
	return strings.Map(func(letter rune) rune {
		switch {
		case letter <= last:
			return letter
		case last == latinText:
			return 'é'
		}
		return 'e'
	}, text)
}

// alphabet is the last letter that a field was found to keep.
func (s *suite) alphabet(r *Resource, f *Field) rune {
	if last, less := s.alphabets[described(r, f)]; less {
		return last
	}
	return unicodeText
}

// learnAlphabets learns from a refusal that fields keep less than Unicode, and
// replaces the other letters in the values. Refusing what cannot be kept is
// documented behaviour; only the case record.unicode fails for it. learnAlphabets
// returns false if the refusal is about anything else.
func (t *T) learnAlphabets(r *Resource, refused failure, sent values) bool {
	violations := refused.Errors
	if len(violations) == 0 {
		violations = []errorEntry{{Reason: refused.Reason, Field: refused.Field}}
	}
	for _, v := range violations {
		text, _ := sent[v.Field].(string)
		if r.field(v.Field) == nil || v.Reason != string(mapping.VarcharInvalid) || keeps(asciiText, text) {
			return false
		}
	}
	for _, v := range violations {
		f, text := r.field(v.Field), sent[v.Field].(string)
		less := latinText
		if keeps(latinText, text) {
			less = asciiText
		}
		t.alphabets[described(r, f)] = min(less, t.alphabet(r, f))
		sent[v.Field] = t.within(r, f, text)
	}
	return true
}

// limitCases test how exactly values are stored. A backend that stores less than the interface
// offers fails them, and lists that as an exception.
func limitCases() []Case {
	return []Case{
		each(rule("record.unicode", "Text is kept in Unicode, whatever the language", "Keep text in Unicode (utf8mb4). A system that cannot has to refuse what it would alter, and needs an exception.", keepsUnicode)),
		each(rule("record.milliseconds", "Timestamps are kept to the millisecond", "Give the column a precision of milliseconds.", func(t *T) { t.keepsAll("timestamp") })),
		each(rule("record.decimals", "Prices and quantities keep 4 decimals, other numbers that can be written 2", "Keep numbers in decimals of 4 places.", func(t *T) { t.keepsAll("float8") })),
	}
}

// keepsUnicode writes every field of free text in letters of several scripts.
func keepsUnicode(t *T) {
	sent, tested := t.full(t.resource), false
	for _, f := range t.resource.Fields {
		value, ok := sent[f.Name].(string)
		if ok && f.Required && !f.Unique && f.Length >= 20 && f.Validation == "" && f.Datatype == "varchar" && f.Name != "value" {
			value = t.unique(5) + " Zoë 𝄞"
			sent[f.Name] = value
		}
		tested = tested || !keeps(asciiText, value) || t.alphabet(t.resource, f) != unicodeText
	}
	if !tested {
		t.impossible("no free text")
	}
	t.create(t.resource, sent)
	var less []string
	for _, f := range t.resource.Fields {
		if last := t.alphabet(t.resource, f); last != unicodeText {
			less = append(less, fmt.Sprintf("%s keeps letters up to %U", f.Name, last))
		}
	}
	t.check(len(less) == 0, "fields that keep less", "none", strings.Join(less, ", "))
}

// keepsAll writes every field of a datatype as exactly as the interface has it, and
// fails with all fields that come back as something else.
func (t *T) keepsAll(datatype string) {
	sent := t.full(t.resource)
	got := t.get(t.resource, t.create(t.resource, sent)).data()
	var less []string
	tested := false
	for _, f := range t.resource.Fields {
		if f.Datatype != datatype || sent[f.Name] == nil {
			continue
		}
		tested = true
		if want := asAnswered(f, sent[f.Name]); text(want) != text(got[f.Name]) {
			less = append(less, fmt.Sprintf("%s: %s for %s", f.Name, text(got[f.Name]), text(want)))
		}
	}
	if !tested {
		t.impossible("no %s that can be written", datatype)
	}
	t.check(len(less) == 0, "fields that keep less", "all as they were sent", strings.Join(less, ", "))
}
