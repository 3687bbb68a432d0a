package sheet

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/mapping"
)

// Attempt is what a system refused.
type Attempt struct {
	Resource *Resource
	Op       mapping.Scope
	Record   mapping.Record // what was sent; zero where nothing was
	ID       int32          // of the record; 0 on create and list
}

// Matcher recognises an answer of the system. The zero Matcher matches nothing.
type Matcher struct {
	sqlState, code, codeAt, constraint string
	status                             string
	message                            *regexp.Regexp
	messageAt                          string
}

// IsZero tells whether nothing is said of what to recognise.
func (m *Matcher) IsZero() bool { return m == nil || *m == Matcher{} }

func matchStatus(status string) *Matcher { return &Matcher{status: status} }

// Match tells whether a failure is one that the matcher recognises: all that it
// says must hold.
func (m *Matcher) Match(f Failure) bool {
	if m.IsZero() {
		return false
	}
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

// text is what the message's pattern looks at.
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

// Translator words the errors of a system.
type Translator struct{ entries []errorEntry }

type errorEntry struct {
	when      *Matcher
	reason    mapping.Reason
	field     string
	fieldFrom string // path, constraint or message
	fields    map[string]string
	value     string // path or message
	at        string
	on        []where
}

// where is a resource, and an operation of it unless that is "".
type where struct {
	resource string
	op       mapping.Scope
}

// Translate words a failure as the first entry of the sheet that fits; nil
// where none does: it is then a failure that clients are not told of. An entry
// fits only where all that its message names is known.
func (t *Translator) Translate(f Failure, a Attempt) *mapping.Error {
	if t == nil {
		return nil
	}
	for i := range t.entries {
		e := &t.entries[i]
		if !e.isOn(a) || !e.when.Match(f) {
			continue
		}
		if worded := e.word(f, a); worded != nil {
			return worded
		}
	}
	return nil
}

func (e *errorEntry) isOn(a Attempt) bool {
	if len(e.on) == 0 {
		return true
	}
	for _, w := range e.on {
		if a.Resource != nil && w.resource == a.Resource.Name && (w.op == "" || w.op == a.Op) {
			return true
		}
	}
	return false
}

// argument is what a placeholder of a message takes.
type argument uint8

const (
	argField argument = iota + 1
	argValue
	argLength // of the value
	argMost   // characters of the field
	argValidation
	argAfter      // the field that it must come after
	argAfterValue // and its value
	argID
	argAt // the resource of in_use
)

// raisable are the reasons that a system's error may stand for, with what their
// messages take in every scope.
func raisable() map[mapping.Reason][]argument {
	field, value := []argument{argField}, []argument{argField, argValue}
	return map[mapping.Reason][]argument{
		mapping.FieldReadonly: field, mapping.FieldRequired: field, mapping.FieldEmpty: field, mapping.ArrayEmpty: field, mapping.CannotUpdate: field,
		mapping.RelatedIDNotFound: value, mapping.DuplicateValue: value, mapping.StatusForbidsChange: value,
		mapping.TimestampInvalid: value, mapping.Float8Invalid: value, mapping.Int4Invalid: value, mapping.VarcharInvalid: value, mapping.ByteaInvalid: value,
		mapping.VarcharTooLong:   {argField, argLength, argMost},
		mapping.TextTooLong:      {argField, argLength, argMost},
		mapping.ValidationFailed: {argField, argValue, argValidation},
		mapping.DateNotAfter:     {argField, argValue, argAfter, argAfterValue},
		mapping.InUse:            {argID, argAt},
		mapping.VehiclePublished: {argValueOfID},
		mapping.SystemRecord:     nil, mapping.BlockedRecord: nil, mapping.ArchivedRecord: nil, mapping.SecondOwner: nil,
		mapping.PreferredEmailDuplicate: nil, mapping.PreferredEmailNotAllowed: nil, mapping.LicensePlateChange: nil,
		mapping.PreconditionChanged: nil, mapping.RecordNotFound: {argID, argValueOfID},
		mapping.AdvertisementSiteRequired: nil, mapping.PublishFieldRequired: nil,
		mapping.FlatrateTurnoverGroupRequired: nil, mapping.FlatrateManualInputWithArticle: nil, mapping.FlatrateNoArticlePriceAlone: nil,
		mapping.FlatratePriceRequired: nil, mapping.FlatrateArticleRequired: nil, mapping.FlatrateManualInputWithArticleNo: nil,
		mapping.FlatrateSortOrderInUse: {argFixedValue}, mapping.FlatrateArticleNumberRequired: nil, mapping.FlatrateArticleNumberMismatch: {argFixedValue},
		mapping.FlatrateArticleKindRequired: nil, mapping.FlatrateUnitTypeRequired: nil,
	}
}

const (
	argValueOfID  argument = argAt + 1 + iota // the record's ID as a value
	argFixedValue                             // the value of the field that the message names
)

// namedByMessage are the fields that messages of a reason name themselves.
func namedByMessage() map[mapping.Reason]string {
	return map[mapping.Reason]string{
		mapping.FlatrateSortOrderInUse: "sort_order", mapping.FlatrateArticleNumberMismatch: "article_number",
	}
}

// word fills the message of an entry; nil where something that it names is not
// known.
func (e *errorEntry) word(f Failure, a Attempt) *mapping.Error {
	wants := raisable()[e.reason]
	name := e.fieldOf(f)
	if fixed := namedByMessage()[e.reason]; fixed != "" {
		name = fixed
	}
	var field *mapping.Field
	if a.Resource != nil {
		field = a.Resource.Field(name)
	}
	args := make([]any, 0, len(wants))
	for _, want := range wants {
		if field == nil && want <= argAfterValue || field == nil && want == argFixedValue {
			return nil
		}
		switch want {
		case argField:
			args = append(args, mapping.Literal(field.Name))
		case argValue, argFixedValue:
			args = append(args, e.valueOf(f, a, field))
		case argLength:
			args = append(args, utf8.RuneCountInString(e.valueOf(f, a, field)))
		case argMost:
			args = append(args, field.Length)
		case argValidation:
			if field.Validation() == "" {
				return nil
			}
			args = append(args, mapping.Literal(field.Validation()))
		case argAfter:
			if field.After == "" {
				return nil
			}
			args = append(args, mapping.Literal(field.After))
		case argAfterValue:
			args = append(args, sent(a, a.Resource.Field(field.After)))
		case argID:
			args = append(args, mapping.Literal("id"))
		case argValueOfID:
			args = append(args, a.ID)
		case argAt:
			args = append(args, mapping.Literal(e.at))
		}
	}
	return mapping.Fail(e.reason, args...)
}

// fieldOf is the field that the failure is about; "" where it is not known.
func (e *errorEntry) fieldOf(f Failure) string {
	if e.field != "" {
		return e.field
	}
	switch e.fieldFrom {
	case "":
		return ""
	case "constraint":
		return e.fields[f.Constraint]
	case "message":
		return e.fields[e.when.group(f, 1)]
	}
	if f.At == nil {
		return ""
	}
	return e.fields[f.At(e.fieldFrom)]
}

// group is a group of the message's pattern, -1 the last.
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

// valueOf is the value that was refused: where the failure has it, else as sent.
func (e *errorEntry) valueOf(f Failure, a Attempt, field *mapping.Field) string {
	switch {
	case e.value == "message":
		return e.when.group(f, -1)
	case e.value != "" && f.At != nil:
		return f.At(e.value)
	}
	return sent(a, field)
}

func sent(a Attempt, field *mapping.Field) string {
	if field == nil || a.Record.Resource == nil || a.Record.Values[field.Index].IsAbsent() {
		return ""
	}
	return a.Record.Values[field.Index].String()
}
