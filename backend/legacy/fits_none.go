package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"frontdesk/backend"
)

// What is looked for may be nothing that a column can have: then no record has it, and it
// is no failure that the database says so.

// lacksLetters tells whether an error says that one of these texts has letters that the
// column it is compared with cannot have. Every column can have those of ASCII, but for
// NUL: about these the error is one of the sheet or of the database.
func (s *Store) lacksLetters(err error, texts ...string) bool {
	if err == nil {
		return false
	}
	f, ok := s.d.fault(err)
	return ok && f.class == faultCharset && slices.ContainsFunc(texts, func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r == 0 })
	})
}

// lacksLetters tells it of the texts that are filtered by.
func (l *listing) lacksLetters(err error) bool {
	var texts []string
	for _, f := range l.q.Filters {
		for _, v := range f.Operands() {
			texts = append(texts, v.String())
		}
	}
	return l.Store.lacksLetters(err, texts...)
}

// errNoneFits says that no record matches a filter, and that PostgreSQL ended the transaction
// over it. The transaction is run again with that knowledge.
var errNoneFits = errors.New("no record fits the filter")

// goesOn is nil if a transaction continues after an error; PostgreSQL's do not.
func (l *listing) goesOn(err error) error {
	if l.tx == nil || l.d.engine() != "postgres" {
		return nil
	}
	l.tx.tries.none = append(l.tx.tries.none, l.q.Filters)
	return fmt.Errorf("%w: %w", errNoneFits, err)
}

// fitsNone tells whether an error says that a filtered value is none of its column's type,
// such as abc for a UUID: then no record has it. PostgreSQL reads values by the types of their
// columns; run on no rows, the statement fails by the value alone.
func (l *listing) fitsNone(ctx context.Context, err error) bool {
	if f, ok := l.d.fault(err); !ok || f.class != faultValue {
		return false
	}
	conn := l.conn
	if l.tx != nil {
		conn = l.tx.aside()
	}
	return slices.ContainsFunc(l.q.Filters, func(f backend.Filter) bool {
		b := newStatement(l.d).add("SELECT 1 FROM ", l.t.from, " WHERE 1 = 0 AND ")
		b.client = intRaw(l.q.Client.ID)
		if possible, err := l.t.filter(b, l.q, f, l.keys); err != nil || !possible {
			return false
		}
		_, err = queryOne(ctx, conn, b)
		fault, _ := l.d.fault(err)
		return fault.class == faultValue
	})
}

// fittedNone tells whether an earlier run of the transaction found that no record matches the
// filters of a list.
func (s session) fittedNone(q backend.Query) bool {
	return s.tx != nil && slices.ContainsFunc(s.tx.tries.none, func(none []backend.Filter) bool { return sameFilters(none, q.Filters) })
}
