package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLearnAlphabets is what a refusal tells of the letters that fields keep,
// and which refusals tell nothing.
func TestLearnAlphabets(t *testing.T) {
	r := &Resource{Name: "contact", Fields: []*Field{{Name: "name"}, {Name: "note"}}}
	invalid := func(field string) errorEntry { return errorEntry{Reason: "varchar_invalid", Field: field} }
	run := &T{suite: &suite{alphabets: map[string]rune{}}}
	sent := values{"name": "Zoë 𝄞", "note": "Zoë 𝄞 <"}

	assert.True(t, run.learnAlphabets(r, failure{Errors: []errorEntry{invalid("name"), invalid("note")}}, sent))
	assert.Equal(t, values{"name": "Zoë é", "note": "Zoë é <"}, sent)
	assert.True(t, run.learnAlphabets(r, failure{Reason: "varchar_invalid", Field: "note"}, sent), "not even Latin-1")
	assert.Equal(t, values{"name": "Zoë é", "note": "Zoe e <"}, sent)
	assert.Equal(t, map[string]rune{"contact.name": latinText, "contact.note": asciiText}, run.alphabets)

	again := values{"name": "Zoë 𝄞"}
	assert.True(t, run.learnAlphabets(r, failure{Reason: "varchar_invalid", Field: "name"}, again))
	assert.Equal(t, latinText, run.alphabets["contact.name"], "nothing new")

	for what, refused := range map[string]failure{
		"ASCII is refused":    {Reason: "varchar_invalid", Field: "note"},
		"another reason":      {Reason: "field_required", Field: "name"},
		"one of another":      {Errors: []errorEntry{invalid("name"), {Reason: "field_readonly", Field: "name"}}},
		"no such field":       {Reason: "varchar_invalid", Field: "city"},
		"no refusal at all":   {},
		"a field not in it":   {Reason: "varchar_invalid"},
		"what was not a text": {Reason: "varchar_invalid", Field: "id"},
	} {
		assert.False(t, run.learnAlphabets(r, refused, sent), what)
	}
	assert.Equal(t, values{"name": "Zoë é", "note": "Zoe e <"}, sent)
}
