package legacy

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// lacksLetters reports whether an error says that a text has letters that the character set of a
// column or the database lacks. Every set has ASCII: if the text has nothing else, the error has
// another cause, in the sheet or the database.
func lacksLetters(err error, text string) bool {
	f, _ := sqlrecord.FaultOf(err)
	return f.Class == sqlrecord.FaultCharset && strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// unheld is the filter by one value whose letters may have made the database fail; nil for none.
func unheld(err error, filters []backend.Filter) *backend.Filter {
	for _, f := range filters {
		for _, v := range f.Operands() {
			if lacksLetters(err, v.Text()) {
				return &backend.Filter{Field: f.Field, Value: v}
			}
		}
	}
	return nil
}

// holdable removes the filter values that no record can have because of their letters. It returns
// false if a filter has no other values, so that nothing matches.
func (s *Store) holdable(ctx context.Context, t *Mapped, q backend.Query) (backend.Query, bool) {
	lacked := func(f backend.Filter) bool {
		one := backend.Query{Client: q.Client, Fields: []int{}, Filters: []backend.Filter{f}, Limit: 1}
		err := sqlrecord.Reserved(s.db).Read(ctx, func(c sqlrecord.Conn) error {
			return t.Rows.Many(s.d, s.Params(t, q.Client), one, nil).Each(ctx, c, func(mapping.Record, []mapping.Value, *mapping.Field) error { return nil })
		})
		return lacksLetters(err, f.Value.Text())
	}
	q.Filters = slices.Clone(q.Filters)
	for i := range q.Filters {
		f := &q.Filters[i]
		if f.Op != mapping.AnyOf && lacked(*f) {
			return q, false
		}
		if f.Op == mapping.AnyOf {
			f.Values = slices.DeleteFunc(slices.Clone(f.Values), func(v mapping.Value) bool { return lacked(backend.Filter{Field: f.Field, Value: v}) })
			if len(f.Values) == 0 {
				return q, false
			}
		}
	}
	return q, true
}
