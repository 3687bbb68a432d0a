package mapping

import (
	"slices"
	"strings"
)

// Parse is the inverse of Entry.Word: it finds the row of a message that a system
// behind the gateway answered, and extracts the arguments, so that the same scopes
// give the same text again, byte for byte. It returns false if no row of these
// scopes fits; a status of 0 stands for any. Time and memory are proportional to
// the length of the message, which the caller has to bound. The caller also sets
// RetryAfter, which is not in the message.
//
// Parse considers the rows that Lookup finds: those of the scopes, else the general
// ones, else those of other tables. Of several that fit, it takes the one with the
// most literal text, then that of the earlier scope, then that of the earlier line
// in the tables. A message alone is ambiguous in three ways, and is then read as
// follows:
//
//   - Rows with the same message: "Not authorized" and "Token invalid" mean
//     NotLoggedIn, unless the status shows TokenInvalid (GET
//     /authenticate/logout), "Internal server error" means InternalError, and
//     an invalid is_manual_input of a flat rate line
//     FlatrateManualInputWithArticle.
//   - A row that names its field itself, and one that takes any field: at
//     /flatrateline a missing price means FlatratePriceRequired and not
//     FieldRequired, at /contactcommunication a duplicate is_prefered_email
//     means PreferredEmailDuplicate and not DuplicateValue.
//   - A value that repeats words of the tables: the record "5 ID" that was not
//     found reads like the related ID 5. Within one row the first argument is
//     the shortest possible, since it is mostly a field, and the others begin as
//     late as possible, since the last ones are mostly ours. A list of
//     parameters is split at each " , ".
//
// Arguments are cut as Fail cuts them, since not all systems do, except names of
// fields and validations.
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

// template is the message of a row, split at its placeholders.
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

// before reports whether t is preferred to other, a template of an earlier line of the
// tables that fits as well.
func (t *template) before(other *template, scopes []Scope) bool {
	mine, others := t.rank(scopes), other.rank(scopes)
	// All requested scopes have one rank here; among them the length of the literal text decides first.
	if a, b := max(mine, len(scopes)), max(others, len(scopes)); a != b {
		return a < b
	}
	if t.weight != other.weight {
		return t.weight > other.weight
	}
	return mine < others
}

// rank returns the position of the row's scope in scopes; general rows and those of
// other tables follow.
func (t *template) rank(scopes []Scope) int {
	if i := slices.Index(scopes, t.row.Scope); i >= 0 {
		return i
	}
	if t.row.Scope == General {
		return len(scopes) + 1
	}
	return len(scopes) + 2
}

// read extracts path and arguments from a message; false if it does not fit.
func (t *template) read(message string) (path string, args []string, ok bool) {
	if args, ok = t.match(message); ok || t.row.named || t.row.field == "" {
		return "", args, ok
	}
	// Text prefixes the row's own field by the path of an array element.
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

// match extracts the placeholders. It takes the leftmost match of the first literal
// and the rightmost ones of the others, so that a message that fits in any way is
// found to fit.
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

// arguments returns args in the types that Fail takes: Literal for text of the model,
// string for values of the client. An argument that was cut already is a Literal, so that it
// is not cut again: with words of the message in front, it can be longer than shownLength.
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
