package sheet

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Unsendable is the error of a value that a request cannot carry, or that would be read there as
// something else than a value. The request was not sent. The error does not show the value.
type Unsendable struct {
	Placeholder string // "" where a whole header or path is wrong
	Why         string
}

func (u *Unsendable) Error() string {
	if u.Placeholder == "" {
		return "the request cannot be made: " + u.Why
	}
	return "{" + u.Placeholder + "} cannot be sent: " + u.Why
}

// IsUnsendable tells whether a request could not be made because of a value.
func IsUnsendable(err error) bool {
	return err != nil && errors.As(err, new(*Unsendable))
}

// language is how values are written in the expressions of a service. The zero
// language has no quotes.
type language struct{ quotes, wildcards string }

// quoted writes a value to stand between two quotes. ok is false for one that
// could mean something else there: a control character or a line break in any
// language, and what the language has no way to write.
func (l language) quoted(s string, quote byte) (text string, ok bool) {
	if strings.ContainsFunc(s, breaksOut) {
		return "", false
	}
	q := string(quote)
	switch l.quotes {
	case "doubled":
		return strings.ReplaceAll(s, q, q+q), true
	case "backslash":
		return strings.NewReplacer(`\`, `\\`, q, `\`+q).Replace(s), true
	case "pocketbase":
		// Its versions differ in what a backslash means before anything but the
		// quote, and old ones put texts within parentheses into double quotes anew.
		return strings.ReplaceAll(s, q, `\`+q), !strings.ContainsAny(s, `\"`)
	default:
		return s, !strings.ContainsAny(s, `\'"`)
	}
}

func breaksOut(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// takesForPattern tells whether the service would read a text as a pattern.
func (l language) takesForPattern(s string) bool {
	return l.wildcards != "" && strings.ContainsAny(s, l.wildcards)
}

// bareText matches texts that are one value in every language without quotes: a number, a
// GUID, a date and time of ISO 8601.
var bareText = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?` +
	`|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}` +
	`|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?)$`)

// isBare tells whether a value needs no quotes in any language.
func isBare(r Raw) bool {
	return r.Kind == RawBool || r.IsSet() && r.Kind != RawBytes && bareText.MatchString(r.String())
}

// scan follows the quotes through the literals of a template, and notes in which its
// placeholders stand. open is a quote that is never closed. nested tells of quotes within
// other quotes, escaped of a placeholder after a backslash that would change how the value
// begins.
func (l language) scan(parts []part) (open byte, nested, escaped bool) {
	backslash := false
	for i := range parts {
		if parts[i].name != "" {
			parts[i].quote = open
			escaped, backslash = escaped || backslash, false
			continue
		}
		for _, c := range []byte(parts[i].literal) {
			switch {
			case backslash:
				backslash = false
			case open != 0 && c == '\\' && l.quotes != "doubled":
				backslash = true
			case open != 0 && c == open:
				open = 0
			case c != '\'' && c != '"':
			case open != 0:
				nested = true
			default:
				open = c
			}
		}
	}
	return open, nested, escaped
}

// plainText is text beside a placeholder that makes no expression of it: K-{key},
// {username}@example.nl, and blanks between two values.
var plainText = regexp.MustCompile(`^([A-Za-z0-9_.~@/\\-]*|\s*)$`)

// isExpression tells whether a template is more than a value with a prefix.
func isExpression(parts []part) bool {
	for _, p := range parts {
		if len(parts) > 1 && !plainText.MatchString(p.literal) {
			return true
		}
	}
	return false
}

// conditions are what {filter} stands for.
type conditions struct {
	join, or string
	parts    []template
	anyOf    []template           // parts with the placeholder of several values, one after the other
	nulls    map[string][2]string // by placeholder: that the field is not null, that it is
}

// isNeverEmpty tells whether one of the parts is always sent.
func (e *conditions) isNeverEmpty() bool {
	return e != nil && slices.ContainsFunc(e.parts, func(t template) bool {
		return !slices.ContainsFunc(t.parts, func(p part) bool { return p.name != "" && p.name != "client.id" })
	})
}

// fill joins the parts whose values are given; it is absent if there are none.
func (e *conditions) fill(f *filling) Raw {
	var all []string
	for _, t := range e.parts {
		given := true
		for _, p := range t.parts {
			given = given && (p.name == "" || f.get(p.name).IsSet())
		}
		if given {
			text, _ := t.fill(f)
			all = append(all, text)
		}
	}
	for _, t := range e.anyOf {
		var each []string
		f.eachOf(t.list(), func(one *filling) {
			text, _ := t.fill(one)
			each = append(each, text)
		})
		if len(each) > 0 {
			all = append(all, "("+strings.Join(each, e.or)+")")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.nulls)) {
		if is := f.get(name); is.Kind == RawBool {
			all = append(all, e.nulls[name][is.Int])
		}
	}
	if len(all) == 0 {
		return Raw{}
	}
	return textRaw(strings.Join(all, e.join))
}
