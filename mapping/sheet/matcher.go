package sheet

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
)

// Matcher recognises an answer of the system. The zero Matcher matches nothing.
type Matcher struct {
	sqlState, code, codeAt, constraint string
	status                             string
	message                            *regexp.Regexp
	messageAt                          string
	any                                wildcard
}

// wildcard is the object or list that * runs over: data of data.*.code. Everywhere in an entry
// * is the same member.
type wildcard struct {
	of    string
	given bool
}

// each yields f with each member in the place of *; f itself if there is no *, or a member was
// already chosen.
func (w wildcard) each(f Failure) iter.Seq[Failure] {
	return func(yield func(Failure) bool) {
		if !w.given || f.member != nil || f.Members == nil {
			yield(f)
			return
		}
		start := strings.TrimPrefix(w.of+".*", ".")
		for _, m := range f.Members(w.of) {
			one := f
			one.member = &m
			one.At = func(path string) string {
				if within, ok := strings.CutPrefix(path, start); ok {
					return m.At(strings.TrimPrefix(within, "."))
				}
				return f.At(path)
			}
			if !yield(one) {
				return
			}
		}
	}
}

// IsZero tells whether the matcher has no conditions.
func (m *Matcher) IsZero() bool { return m == nil || *m == Matcher{} }

func matchStatus(status string) *Matcher { return &Matcher{status: status} }

// InSuccess tells whether the matcher can recognise an answer of status 2xx: by such a status,
// or by a place of the answer. A text anywhere in it could be a record's.
func (m *Matcher) InSuccess() bool {
	return !m.IsZero() && (m.status == "" && m.codeAt+m.messageAt != "" || strings.HasPrefix(m.status, "2"))
}

// Match tells whether the matcher recognises a failure: all its conditions must hold.
func (m *Matcher) Match(f Failure) bool {
	if m.IsZero() {
		return false
	}
	for one := range m.any.each(f) {
		if m.matches(one) {
			return true
		}
	}
	return false
}

func (m *Matcher) matches(f Failure) bool {
	at := func(path, otherwise string) string {
		if path == "" {
			return otherwise
		}
		if f.At == nil {
			return ""
		}
		return f.At(path)
	}
	switch {
	case m.sqlState != "" && !strings.HasPrefix(f.SQLState, m.sqlState),
		m.code != "" && at(m.codeAt, f.Code) != m.code,
		m.constraint != "" && !strings.EqualFold(f.Constraint, m.constraint),
		m.status != "" && !matchesStatus(m.status, f.Status):
		return false
	}
	return m.message == nil || m.message.MatchString(m.text(f))
}

// text is what the pattern of the message is compared with.
func (m *Matcher) text(f Failure) string {
	switch {
	case m.messageAt != "" && f.At != nil:
		return f.At(m.messageAt)
	case f.Message != "":
		return f.Message
	default:
		return string(f.Body)
	}
}

func matchesStatus(pattern string, status int) bool {
	text := strconv.Itoa(status)
	if class, ok := strings.CutSuffix(pattern, "xx"); ok {
		return len(text) == 3 && text[:1] == class
	}
	return text == pattern
}

// group is a group of the message's pattern; -1 is the last.
func (m *Matcher) group(f Failure, n int) string {
	if m.message == nil {
		return ""
	}
	groups := m.message.FindStringSubmatch(m.text(f))
	if n < 0 {
		n += len(groups)
	}
	if n < 1 || n >= len(groups) {
		return ""
	}
	return groups[n]
}
