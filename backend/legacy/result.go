package legacy

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"frontdesk/mapping/sheet"
)

// result is what a statement answered, all of it.
type result struct {
	names []string
	rows  [][]sheet.Raw
}

// find returns a column's value in a row of the result. Case counts only where
// two names differ in nothing else.
func (r result) find(row []sheet.Raw, name string) (sheet.Raw, bool) {
	for i, n := range r.names {
		if n == name {
			return row[i], true
		}
	}
	for i, n := range r.names {
		if strings.EqualFold(n, name) {
			return row[i], true
		}
	}
	return sheet.Raw{}, false
}

// query runs a statement and gives every row to each, which may keep it.
func query(ctx context.Context, c conn, s *statement, each func([]sheet.Raw) error) (err error) {
	rows, err := c.QueryContext(ctx, s.String(), s.args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	_, err = scan(s.d, rows, each)
	return err
}

// queryAll runs a statement and returns its last result that has columns: a
// procedure may answer several.
func queryAll(ctx context.Context, c conn, s *statement) (r result, err error) {
	rows, err := c.QueryContext(ctx, s.String(), s.args...)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		var all [][]sheet.Raw
		names, err := scan(s.d, rows, func(row []sheet.Raw) error {
			all = append(all, row)
			return nil
		})
		if err != nil {
			return r, err
		}
		if len(names) > 0 {
			r = result{names: names, rows: all}
		}
		if !rows.NextResultSet() {
			return r, rows.Err()
		}
	}
}

// queryOne returns the only row of a statement; nil where there is none.
func queryOne(ctx context.Context, c conn, s *statement) (row []sheet.Raw, err error) {
	err = query(ctx, c, s, func(r []sheet.Raw) error {
		row = r
		return nil
	})
	return row, err
}

// scan reads the rows of one result.
func scan(d dialect, rows *sql.Rows, each func([]sheet.Raw) error) (names []string, err error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	names, kinds := make([]string, len(types)), make([]string, len(types))
	values, into := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		names[i], kinds[i], into[i] = t.Name(), t.DatabaseTypeName(), &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]sheet.Raw, len(values))
		for i, v := range values {
			if v == nil {
				row[i] = sheet.Raw{Kind: sheet.RawNull}
			} else {
				row[i] = d.raw(kinds[i], v)
			}
		}
		if err := each(row); err != nil {
			return nil, err
		}
	}
	return names, rows.Err()
}
