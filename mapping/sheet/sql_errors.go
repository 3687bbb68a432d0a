package sheet

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/mapping"
)

// Failure is a database's error, for Translate.
type Failure struct{ SQLState, Code, Constraint, Message string }

// Translator words the errors of a database.
type Translator struct{ entries []sqlError }

// sqlError is an error of a database that the sheet translates.
type sqlError struct {
	Meaning
	fault   faultFile
	message *regexp.Regexp
	from    string // constraint or message
	quotes  bool   // the message has the refused value
}

// Translate words a failure by the first entry of the sheet that fits; nil if none does:
// clients are then told nothing about it. An entry fits only if everything that its message
// names is known.
func (t *Translator) Translate(f Failure, a Attempt) *mapping.Error {
	if t == nil {
		return nil
	}
	for i := range t.entries {
		e := &t.entries[i]
		if !e.isOn(a) || !e.fits(f) {
			continue
		}
		raw := ""
		switch e.from {
		case "constraint":
			raw = f.Constraint
		case "message":
			raw = e.group(f, 1)
		}
		m := e.mean(a, raw)
		value := func() (string, bool) { return m.shown(e.group(f, -1)) }
		if !e.quotes {
			value = nil
		}
		if worded := e.word(m, a.ID, value); worded != nil {
			return worded
		}
	}
	return nil
}

func (e *sqlError) fits(f Failure) bool {
	return strings.HasPrefix(f.SQLState, e.fault.SQLState) && (e.fault.Code == "" || f.Code == e.fault.Code) &&
		(e.fault.Constraint == "" || strings.EqualFold(f.Constraint, e.fault.Constraint)) && (e.message == nil || e.message.MatchString(f.Message))
}

// group is a group of the message's pattern; -1 is the last.
func (e *sqlError) group(f Failure, n int) string {
	groups := e.message.FindStringSubmatch(f.Message)
	if n < 0 {
		n += len(groups)
	}
	if n < 1 || n >= len(groups) {
		return ""
	}
	return groups[n]
}

// shown is what clients see of a value in a message, which of another record is converted.
func (m meant) shown(stored string) (string, bool) {
	if m.other == nil {
		return stored, true
	}
	how := m.other.SQL.Fields[m.field.Index]
	if i := slices.IndexFunc(how.Codes, func(c Code) bool { return c.Stored == stored }); i >= 0 {
		return how.Codes[i].Shown.String(), how.Codes[i].Shown.IsSet()
	}
	v, err := m.field.Parse(stored, time.UTC)
	return v.String(), err == nil && how.Codes == nil
}
