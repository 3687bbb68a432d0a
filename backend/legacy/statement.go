package legacy

import (
	"context"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// statement is the text of a statement and its parameters. Text comes from the sheet and from
// this package; values get in only through arg.
type statement struct {
	d      dialect
	text   []byte
	args   []any
	client sheet.Raw // the client's number, in expressions of the sheet
	room   struct {  // of most statements, so that they take no more than this one
		text [1024]byte
		args [8]any
	}
}

func newStatement(d dialect) *statement {
	s := &statement{d: d}
	s.text, s.args = s.room.text[:0], s.room.args[:0]
	return s
}

// add appends text.
func (s *statement) add(text ...string) *statement {
	for _, t := range text {
		s.text = append(s.text, t...)
	}
	return s
}

// arg appends a value as a parameter.
func (s *statement) arg(v sheet.Raw) *statement {
	s.args = append(s.args, s.d.arg(v))
	s.text = s.d.placeholder(s.text, len(s.args))
	return s
}

// list appends the values as parameters, with commas between.
func (s *statement) list(values []sheet.Raw) *statement {
	for i, v := range values {
		s.add(comma(i)).arg(v)
	}
	return s
}

// expr appends an expression of the sheet, or a column, for this statement's client.
func (s *statement) expr(text string) *statement { return s.scoped(text, s.client) }

// scoped appends text of the sheet, with the client's number in place of every :client outside
// of quotes.
func (s *statement) scoped(text string, client sheet.Raw) *statement {
	return s.replaced(text, sheet.ClientParameter, client)
}

// replaced appends text of the sheet with a parameter in place of every name.
func (s *statement) replaced(text, name string, v sheet.Raw) *statement {
	for text != "" {
		at := sheet.FindParameter(text, name)
		if at < 0 {
			return s.add(text)
		}
		s.add(text[:at]).arg(v)
		text = text[at+len(name):]
	}
	return s
}

// between is the word that stands before the n-th of several parts, counted from 0.
func between(n int, word string) string {
	if n == 0 {
		return ""
	}
	return word
}

// comma is what stands before the n-th element of a list, counted from 0.
func comma(n int) string { return between(n, ", ") }

func (s *statement) String() string { return string(s.text) }

// ask returns the text, and notes that it is asked next.
func (s *statement) ask(ctx context.Context) string {
	text := s.String()
	backend.Asking(ctx, text)
	return text
}

// qualified quotes a table's name, with the schema that it names, or else the one given.
func qualified(d dialect, schema, name string) string {
	parts := strings.Split(name, ".")
	if len(parts) == 1 && schema != "" {
		parts = []string{schema, name}
	}
	for i, p := range parts {
		parts[i] = d.quote(p)
	}
	return strings.Join(parts, ".")
}
