package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// lacksLetters tells whether an error says that a text has letters which a column's, or the
// database's, character set lacks. Every set has ASCII: where the text has nothing else, the error
// has another cause, in the sheet or the database.
func lacksLetters(err error, text string) bool {
	f, _ := sqlrecord.FaultOf(err)
	return f.Class == sqlrecord.FaultCharset && strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// errLetters says that a filter has letters which no record can have. A list is read again without
// it: the database may have ended the transaction.
var errLetters = errors.New("no record can have a value that is filtered by")

// list returns a page of records.
func (s session) list(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	if s.foreign == nil { // of records that were found already
		return s.page(ctx, r, q)
	}
	possible := true
	if q.Filters, possible = without(q.Filters, *s.foreign); !possible {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	if page, err = s.page(ctx, r, q); err == nil {
		return page, nil
	}
	t := s.view.Load().tables[r]
	known := len(*s.foreign)
	for _, f := range each(q.Filters) {
		if !lacksLetters(err, f.Value.Text()) {
			continue
		}
		one := backend.Query{Client: q.Client, Fields: []int{}, Filters: []backend.Filter{f}, Limit: 1}
		asked := sqlrecord.Reserved(s.db).Read(ctx, func(c sqlrecord.Conn) error {
			return t.Rows.Many(s.d, s.Params(t, q.Client), one, nil).Each(ctx, c, func(mapping.Record, []mapping.Value, *mapping.Field) error { return nil })
		})
		if lacksLetters(asked, f.Value.Text()) {
			*s.foreign = append(*s.foreign, f)
		}
	}
	if len(*s.foreign) > known {
		err = fmt.Errorf("%w: %w", errLetters, err)
	}
	return page, err
}

// each are filters with one value each.
func each(filters []backend.Filter) (all []backend.Filter) {
	for _, f := range filters {
		if f.Op != mapping.AnyOf {
			all = append(all, f)
		}
		for _, v := range f.Values {
			all = append(all, backend.Filter{Field: f.Field, Value: v})
		}
	}
	return all
}

// without leaves out values that no record can have. It is false where one of the filters has no
// other: then nothing matches.
func without(filters, foreign []backend.Filter) (left []backend.Filter, possible bool) {
	if len(foreign) == 0 {
		return filters, true
	}
	left = slices.Clone(filters)
	for i := range left {
		fit := slices.DeleteFunc(each(left[i:i+1]), func(f backend.Filter) bool { return slices.ContainsFunc(foreign, f.Equal) })
		if len(fit) == 0 {
			return nil, false
		}
		if left[i].Op == mapping.AnyOf {
			left[i].Values = nil
			for _, f := range fit {
				left[i].Values = append(left[i].Values, f.Value)
			}
		}
	}
	return left, true
}
