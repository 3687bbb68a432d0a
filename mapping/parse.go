package mapping

import (
	"slices"
	"strings"
)

// Parse is the inverse of wording: it finds the row that a system behind us
// answered with, and takes the arguments out of the message, so that the same
// text comes out again in the same scopes, byte for byte. False when no row of
// these scopes reads so; a status of 0 stands for any. Time and memory are in
// proportion to the message, whose length is for the caller to bound. What a
// message does not carry, RetryAfter, is the caller's to set.
//
// Rows are looked for where Lookup finds them: those of the scopes, else the
// general ones, else those that another table lends. Of several that fit, the
// one with the most literal text is meant, then that of the earlier scope, then
// that of the earlier line in the tables. A message alone is ambiguous in three
// ways, and is then read as follows:
//
//   - Rows of the same words: "Not authorized" and "Token invalid" mean
//     NotLoggedIn, unless the status tells TokenInvalid (GET
//     /authenticate/logout), "Internal server error" means InternalError, and
//     an invalid is_manual_input of a flat rate line
//     FlatrateManualInputWithArticle.
//   - A row that names its field itself beside one that takes any: at
//     /flatrateline a missing price means FlatratePriceRequired and not
//     FieldRequired, at /contactcommunication a duplicate is_prefered_email
//     means PreferredEmailDuplicate and not DuplicateValue.
//   - A value that repeats words of the tables: the record "5 ID" that was not
//     found reads like the related ID 5. Within one row the first argument ends
//     as soon as it can, since it is mostly a field, and the others begin as
//     late as they can, since the last are mostly ours. A list of parameters is
//     parted at each " , ".
//
// Arguments are cut as Fail cuts them, for systems that do not, except for names
// of fields and the words of a validation.
func (c *Catalogue) Parse(status int, message string, scopes ...Scope) (*Error, bool) {
	var best *template
	var found *Error
	for i := range c.templates {
		t := &c.templates[i]
		if status != 0 && status != t.row.Status || best != nil && !t.before(best, scopes) {
			continue
		}
		path, args, ok := t.read(message)
		if !ok || c.Lookup(t.row.Reason, scopes...) != t.row {
			continue
		}
		best, found = t, Fail(t.row.Reason, t.arguments(args)...).At(path)
	}
	return found, found != nil
}

// template is the message of a row, taken apart at its placeholders.
type template struct {
	row      *Entry
	literals []string // one more than placeholders
	list     bool     // the only placeholder takes any number of arguments
	weight   int      // bytes of literal text
}

func newTemplate(row *Entry) template {
	t := template{row: row}
	if before, after, list := strings.Cut(row.Message, "<x> , <x>"); list {
		t.list, t.literals = true, []string{before, after}
	} else {
		rest := row.Message
		for {
			literal, placeholder, more := strings.Cut(rest, "<")
			t.literals = append(t.literals, literal)
			if !more {
				break
			}
			_, rest, _ = strings.Cut(placeholder, ">")
		}
	}
	for _, literal := range t.literals {
		t.weight += len(literal)
	}
	return t
}

// before reports whether t is to be preferred to another one that fits, an earlier
// line of the tables.
func (t *template) before(other *template, scopes []Scope) bool {
	mine, others := t.rank(scopes), other.rank(scopes)
	// All scopes asked for are of one rank where text decides.
	if a, b := max(mine, len(scopes)), max(others, len(scopes)); a != b {
		return a < b
	}
	if t.weight != other.weight {
		return t.weight > other.weight
	}
	return mine < others
}

// rank is the position of the row's scope among those asked for; general and
// lent rows follow.
func (t *template) rank(scopes []Scope) int {
	if i := slices.Index(scopes, t.row.Scope); i >= 0 {
		return i
	}
	if t.row.Scope == General {
		return len(scopes) + 1
	}
	return len(scopes) + 2
}

// read takes a message apart; false when it is not of this template.
func (t *template) read(message string) (path string, args []string, ok bool) {
	if args, ok = t.match(message); ok || t.row.named || t.row.field == "" {
		return "", args, ok
	}
	// The row's own field may be that of an array element, as Text words it.
	rest, ok := strings.CutPrefix(message, "Field: ")
	if !ok {
		return "", nil, false
	}
	word, _, _ := strings.Cut(rest, " ")
	path, ok = strings.CutSuffix(word, "."+t.row.field)
	if !ok || path == "" {
		return "", nil, false
	}
	args, ok = t.match("Field: " + t.row.field + rest[len(word):])
	return path, args, ok
}

// match takes the placeholders out. The first literal found leftmost and the
// others from the right leave most room to each, so that a message that fits at
// all is found to fit.
func (t *template) match(message string) ([]string, bool) {
	last := len(t.literals) - 1
	if last == 0 {
		return nil, message == t.literals[0]
	}
	rest, ok := strings.CutPrefix(message, t.literals[0])
	if !ok {
		return nil, false
	}
	if rest, ok = strings.CutSuffix(rest, t.literals[last]); !ok {
		return nil, false
	}
	if t.list {
		return strings.Split(rest, " , "), true
	}
	args := make([]string, last)
	if last == 1 {
		args[0] = rest
		return args, true
	}
	if args[0], rest, ok = strings.Cut(rest, t.literals[1]); !ok {
		return nil, false
	}
	for i := last - 1; i > 1; i-- {
		at := strings.LastIndex(rest, t.literals[i])
		if at < 0 {
			return nil, false
		}
		args[i] = rest[at+len(t.literals[i]):]
		rest = rest[:at]
	}
	args[1] = rest
	return args, true
}

// arguments are args as Fail takes them: the model's own words and the client's.
// One that was cut already is not cut again: read with words of the table before
// it, it can be longer than what is shown of a value.
func (t *template) arguments(args []string) []any {
	of := make([]any, len(args))
	for i, a := range args {
		if t.row.named && i == 0 || i < len(t.row.Args) && t.row.Args[i].Takes == ArgValidation || strings.Contains(a, "…") {
			of[i] = Literal(a)
		} else {
			of[i] = a
		}
	}
	return of
}
