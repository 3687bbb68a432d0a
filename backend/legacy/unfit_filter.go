package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// A filter may have a value that its column cannot hold. Then no record matches: the database's
// error about it is not a failure.

// lacksLetters tells whether an error says that one of these texts has characters that the
// column's character set lacks. Every set has ASCII (NUL aside): if the texts have nothing else,
// the error has another cause, in the sheet or the database.
func (s *Store) lacksLetters(err error, texts ...string) bool {
	if err == nil {
		return false
	}
	f, ok := s.d.fault(err)
	return ok && f.class == faultCharset && slices.ContainsFunc(texts, func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r == 0 })
	})
}

// errUnfit says that no record can have a value that is filtered by, and that PostgreSQL ended
// the transaction over it. The transaction is run again with that knowledge.
var errUnfit = errors.New("no record can have a value that is filtered by")

// unfit returns, each as a filter of its own, the values of a list's filters that an error is
// about because their columns cannot hold them: abc of a UUID, which PostgreSQL reads by the type
// of the column, or letters that MariaDB's character set lacks. Each is asked about alone, on no rows.
func (l *listing) unfit(ctx context.Context, err error) (unfit []backend.Filter) {
	if f, ok := l.d.fault(err); !ok || f.class != faultValue && f.class != faultCharset {
		return nil
	}
	conn := l.conn
	if l.endsTransactions() {
		conn = l.tx.aside()
	}
	for _, filter := range l.q.Filters {
		for _, f := range alone(filter) {
			b := newStatement(l.d).add("SELECT 1 FROM ", l.t.from, " WHERE 1 = 0 AND ")
			b.client = intRaw(l.q.Client.ID)
			if possible, err := l.t.filter(b, l.q, f, l.keys); err != nil || !possible {
				continue
			}
			_, err := queryOne(ctx, conn, b)
			if fault, _ := l.d.fault(err); fault.class == faultValue || l.lacksLetters(err, f.Value.String()) {
				unfit = append(unfit, f)
			}
		}
	}
	return unfit
}

// withoutUnfit reads the list again without values that no record can have.
func (l *listing) withoutUnfit(ctx context.Context, unfit []backend.Filter, err error) (backend.Page, error) {
	if l.endsTransactions() {
		l.tx.tries.unfit = append(l.tx.tries.unfit, unfit...)
		return backend.Page{}, fmt.Errorf("%w: %w", errUnfit, err)
	}
	q, possible := l.q, false
	if q.Filters, possible = without(q.Filters, unfit); !possible {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	return l.list(ctx, l.t.Resource.Resource, q)
}

// endsTransactions tells whether the list is read in a transaction that an error has ended.
func (l *listing) endsTransactions() bool { return l.tx != nil && l.d.engine() == "postgres" }

// alone returns a filter for each value that a filter compares with.
func alone(f backend.Filter) []backend.Filter {
	if f.Op != mapping.AnyOf {
		return []backend.Filter{f}
	}
	each := make([]backend.Filter, len(f.Values))
	for i, v := range f.Values {
		each[i] = backend.Filter{Field: f.Field, Value: v}
	}
	return each
}

// without returns a list's filters without the values that no record can have. It is false if
// one of the filters has no other: then nothing matches.
func without(filters, unfit []backend.Filter) (left []backend.Filter, possible bool) {
	if len(unfit) == 0 {
		return filters, true
	}
	left = slices.Clone(filters)
	for i := range left {
		fit := slices.DeleteFunc(alone(left[i]), func(f backend.Filter) bool { return slices.ContainsFunc(unfit, f.Equal) })
		if len(fit) == 0 {
			return nil, false
		}
		if left[i].Op == mapping.AnyOf {
			left[i].Values = valuesOf(fit)
		}
	}
	return left, true
}

// valuesOf returns the values that filters compare with.
func valuesOf(filters []backend.Filter) []mapping.Value {
	values := make([]mapping.Value, len(filters))
	for i, f := range filters {
		values[i] = f.Value
	}
	return values
}
