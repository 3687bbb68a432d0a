package legacy

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// result is the whole result of a statement.
type result struct {
	names []string
	rows  [][]sheet.Raw
}

// find returns a column's value in a row of the result. Case counts only if two names differ
// in nothing else.
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
func query(ctx context.Context, c conn, s *statement, each func([]sheet.Raw) error) error {
	return new(shapes).query(ctx, c, s, each)
}

// queryAll runs a statement and returns its last result that has columns: a procedure may
// return several.
func queryAll(ctx context.Context, c conn, s *statement) (r result, err error) {
	rows, err := c.QueryContext(ctx, s.ask(ctx), s.args...)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for {
		of, err := shapeOf(s.d, rows)
		if err != nil {
			return r, err
		}
		if len(of.names) > 0 {
			r = result{names: of.names}
		}
		err = of.scan(rows, func(row []sheet.Raw) error {
			r.rows = append(r.rows, row)
			return nil
		})
		if err != nil {
			return r, err
		}
		if !rows.NextResultSet() {
			return r, rows.Err()
		}
	}
}

// queryOne returns the only row of a statement; nil if there is none.
func queryOne(ctx context.Context, c conn, s *statement) (row []sheet.Raw, err error) {
	err = query(ctx, c, s, func(r []sheet.Raw) error {
		row = r
		return nil
	})
	return row, err
}

// shapes are the texts of statements, each made once, and the types of their columns, which
// the engine's driver is asked for once. The zero value is ready to use, and safe for
// concurrent use.
type shapes struct {
	mu    sync.RWMutex
	known map[string]*shape
}

// mostShapes bounds how many are kept. Lists with filters have ever new texts.
const mostShapes = 256

func (s *shapes) get(st *statement) *shape {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known[string(st.text)] // which makes no string of it
}

func (s *shapes) keep(of *shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= mostShapes {
		s.known = map[string]*shape{}
	}
	s.known[of.text] = of
}

// query runs a statement and gives every row to each, which may keep it.
func (s *shapes) query(ctx context.Context, c conn, st *statement, each func([]sheet.Raw) error) (err error) {
	of, text := s.get(st), ""
	if of != nil {
		text = of.text
	} else {
		text = st.String()
	}
	backend.Asking(ctx, text)
	rows, err := c.QueryContext(ctx, text, st.args...)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); closed != nil {
			err = errors.Join(err, closed)
		}
	}()
	if of == nil {
		if of, err = shapeOf(st.d, rows); err != nil {
			return err
		}
		of.text = text
		s.keep(of)
	}
	return of.scan(rows, each)
}

// shape is the text of a statement, and what the columns of its result are.
type shape struct {
	text         string
	names, kinds []string
	columns      []sqlrecord.Column // for SQLite's direct readers
	d            dialect
	cells        sync.Pool // of *cells
}

// cells are what a row is scanned into: values go from the engine's driver into a Raw without
// a copy.
type cells struct {
	all  []cell
	into []any // pointers to them
}

type cell struct {
	of   *shape
	at   int
	read sheet.Raw
}

// Scan implements sql.Scanner.
func (c *cell) Scan(v any) error {
	c.read = sheet.Raw{Kind: sheet.RawNull}
	if v != nil {
		c.read = c.of.d.raw(c.of.kinds[c.at], v)
	}
	return nil
}

func shapeOf(d dialect, rows *sql.Rows) (*shape, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	s := &shape{d: d, names: make([]string, len(types)), kinds: make([]string, len(types)), columns: slices.Repeat([]sqlrecord.Column{{Any: true}}, len(types))}
	for i, t := range types {
		s.names[i], s.kinds[i] = t.Name(), t.DatabaseTypeName()
	}
	s.cells.New = func() any {
		c := &cells{all: make([]cell, len(types)), into: make([]any, len(types))}
		for i := range c.all {
			c.all[i].of, c.all[i].at, c.into[i] = s, i, &c.all[i]
		}
		return c
	}
	return s, nil
}

// room is where rows are stored. They are kept, so memory is allocated for many at once.
type room struct {
	left []sheet.Raw
	made int
}

// mostRowsAtOnce is for how many rows memory is allocated at once.
const mostRowsAtOnce = 64

func (r *room) next(n int) []sheet.Raw {
	if len(r.left) < n {
		rows := max(1, min(r.made, mostRowsAtOnce))
		r.left, r.made = make([]sheet.Raw, n*rows), r.made+rows
	}
	row := r.left[:n:n]
	r.left = r.left[n:]
	return row
}

// scan reads the rows of one result.
func (s *shape) scan(rows *sql.Rows, each func([]sheet.Raw) error) error {
	c := s.cells.Get().(*cells)
	defer s.cells.Put(c)
	var room room
	for rows.Next() {
		if err := rows.Scan(c.into...); err != nil {
			return err
		}
		row := room.next(len(c.all))
		for i := range c.all {
			row[i], c.all[i].read = c.all[i].read, sheet.Raw{}
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return rows.Err()
}
