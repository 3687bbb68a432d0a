package backendtest

import (
	"fmt"
	"strings"

	"frontdesk/mapping"
)

// alphabet is the part of Unicode that a field can store.
type alphabet int

const (
	unicodeText alphabet = iota
	latinText            // as far as U+00FF
	asciiText
)

func (a alphabet) String() string {
	return [...]string{"Unicode", "Latin-1", "ASCII"}[a]
}

// has tells whether a text is within the alphabet.
func (a alphabet) has(text string) bool {
	last := [...]rune{unicodeText: 0x10FFFF, latinText: 0xFF, asciiText: 0x7F}[a]
	return !strings.ContainsFunc(text, func(r rune) bool { return r > last })
}

// within replaces the letters of a text that are outside the alphabet.
func (a alphabet) within(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case a.has(string(r)):
			return r
		case a == latinText:
			return 'é'
		}
		return 'e'
	}, text)
}

func (s *suite) alphabet(r *Resource, f *Field) alphabet { return s.alphabets[described(r, f)] }

// learnAlphabets learns from a refusal that fields keep less than Unicode, and
// puts what they keep in its place. A backend that refuses what it cannot keep
// answers as documented: it is record.unicode that says what it lacks. It is
// false where the refusal is about anything else.
func (t *T) learnAlphabets(r *Resource, refused failure, sent values) bool {
	violations := refused.Errors
	if len(violations) == 0 {
		violations = []errorEntry{{Reason: refused.Reason, Field: refused.Field}}
	}
	for _, v := range violations {
		f := r.field(v.Field)
		text, _ := sent[v.Field].(string)
		if f == nil || v.Reason != string(mapping.VarcharInvalid) || asciiText.has(text) {
			return false
		}
	}
	for _, v := range violations {
		f := r.field(v.Field)
		text := sent[v.Field].(string)
		less := latinText
		if latinText.has(text) {
			less = asciiText
		}
		t.alphabets[described(r, f)] = max(less, t.alphabet(r, f))
		sent[v.Field] = less.within(text)
	}
	return true
}

// limitCases test how exactly values are stored. A backend that stores less than the interface
// offers fails them, and lists that as an exception.
func limitCases() []Case {
	return []Case{
		each(rule("record.unicode", "Text is kept in Unicode, whatever the language", "Keep text in Unicode (utf8mb4); where the system cannot, say charset in the sheet, so that what does not fit is refused in place of being altered.", keepsUnicode)),
		each(rule("record.milliseconds", "Timestamps are kept to the millisecond", "Give the column a precision of milliseconds.", func(t *T) {
			t.keeps("timestamp", func(f *Field, v any) any { return asAnswered(f, v) })
		})),
		each(rule("record.decimals", "Prices and quantities keep 4 decimals, other numbers that can be written 2", "Keep numbers in decimals of 4 places.", func(t *T) {
			t.keeps("float8", func(_ *Field, v any) any { return v })
		})),
	}
}

// keepsUnicode writes every field of free text in letters of several scripts.
func keepsUnicode(t *T) {
	sent, asked := t.full(t.resource), false
	for _, f := range t.resource.Fields {
		value, ok := sent[f.Name].(string)
		if ok && f.Required && !f.Unique && f.Length >= 20 && f.Validation == "" && f.Datatype == "varchar" && f.Name != "value" {
			value = t.unique(5) + " Zoë 𝄞"
			sent[f.Name] = value
		}
		asked = asked || !asciiText.has(value) || t.alphabet(t.resource, f) != unicodeText
	}
	if !asked {
		t.impossible("no free text")
	}
	t.create(t.resource, sent)
	var less []string
	for _, f := range t.resource.Fields {
		if t.alphabet(t.resource, f) != unicodeText {
			less = append(less, f.Name+" keeps "+t.alphabet(t.resource, f).String())
		}
	}
	t.check(len(less) == 0, "fields that keep less", "none", strings.Join(less, ", "))
}

// keeps writes every field of a datatype as exactly as the interface has it, and
// fails with all of those that come back as something else.
func (t *T) keeps(datatype string, answered func(f *Field, v any) any) {
	sent := t.full(t.resource)
	got := t.get(t.resource, t.create(t.resource, sent)).data()
	var less []string
	asked := false
	for _, f := range t.resource.Fields {
		if f.Datatype != datatype || sent[f.Name] == nil {
			continue
		}
		asked = true
		if want := answered(f, sent[f.Name]); text(want) != text(got[f.Name]) {
			less = append(less, fmt.Sprintf("%s: %s for %s", f.Name, text(got[f.Name]), text(want)))
		}
	}
	if !asked {
		t.impossible("no %s that can be written", datatype)
	}
	t.check(len(less) == 0, "fields that keep less", "all as they were sent", strings.Join(less, ", "))
}
