package sqlrecord

import (
	"context"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Store keeps the records of a model in a database. It is the records' part of
// a backend.Driver: an administration embeds it and adds what it derives.
// Store judges nothing: it writes readonly fields as any others.
//
// It is safe for concurrent use, unless On has bound it to a connection.
type Store struct {
	db        engine
	tables    map[*mapping.Resource]*table
	bookmarks *bookmarks
	now       func() time.Time
	dates     bool // now dates what is written, see DatedBy
	conn      Conn // not nil inside a transaction
	ahead     *ahead
}

var (
	_ backend.Reader = (*Store)(nil)
	_ backend.Prober = (*Store)(nil)
)

// New returns the store of a model's records in db, whose tables Migrate has
// made. It owns db from now on.
func New(db DB, model *mapping.Model, now func() time.Time) *Store {
	return NewShared(db, model, now, func(r *mapping.Resource) bool { return r.SystemRecords })
}

// NewShared is New with a function that reports which resources have records of all clients.
func NewShared(db DB, model *mapping.Model, now func() time.Time, shared func(*mapping.Resource) bool) *Store {
	s := &Store{db: db.(engine), tables: map[*mapping.Resource]*table{}, bookmarks: newBookmarks(), now: now}
	for _, r := range model.Resources {
		s.tables[r] = newTable(db.Dialect(), r, shared(r))
	}
	for _, t := range s.tables {
		t.link(db.Dialect(), s.tables)
	}
	return s
}

// DB returns the database, for tables other than the records'.
func (s *Store) DB() DB { return s.db }

// Conn returns the connection that the store is bound to; nil if it is not bound.
func (s *Store) Conn() Conn { return s.conn }

// On returns the store bound to a connection that Read, Snapshot or Write of the
// database has given: all its calls run there. Its writes are dated by the clock.
func (s *Store) On(c Conn) *Store {
	bound := *s
	bound.conn, bound.ahead = c, nil
	return &bound
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Exists reports whether the client sees a record of that ID.
func (s *Store) Exists(ctx context.Context, client auth.Client, r *mapping.Resource, id int32) (found bool, err error) {
	if _, found = s.ahead.get(r, backend.Query{Client: client, ID: id}); found {
		return true, nil
	}
	t := s.tables[r]
	err = s.read(ctx, func(c Conn) error {
		found = false
		return c.Query(ctx, t.exists, oneInt, []mapping.Value{mapping.IntValue(client.ID), mapping.IntValue(int64(id))},
			func([]mapping.Value) error { found = true; return nil })
	})
	return found, err
}

var oneInt = []Column{{Type: mapping.Int4}}

func (s *Store) read(ctx context.Context, f func(Conn) error) error {
	if s.conn != nil {
		return f(s.conn)
	}
	return s.db.Read(ctx, f)
}

func (s *Store) snapshot(ctx context.Context, f func(Conn) error) error {
	if s.conn != nil {
		return f(s.conn)
	}
	return s.db.Snapshot(ctx, f)
}

func (s *Store) write(ctx context.Context, f func(*Store) error) error {
	if s.conn != nil {
		return f(s)
	}
	return s.Write(ctx, f)
}
