package mirror

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Columns of each table.
const (
	idColumn       = "id"
	modifiedColumn = "modified_at"
	// sumColumn has a hash of the others, by which a row that somebody else has changed is
	// found out.
	sumColumn = "_sum"
)

// layout numbers the form of the tables of the copy itself.
const layout = 1

const stateTables = `
CREATE TABLE IF NOT EXISTS _mirror (
	layout INTEGER NOT NULL,
	client TEXT NOT NULL,    -- whose records these are: a client's name, or see nameless
	cursor TEXT,             -- the copy has all changes up to it; NULL before the first read
	up_to_date TEXT,         -- when it last had all there were
	run TEXT NOT NULL        -- the run that writes: another one takes over
) STRICT;
CREATE TABLE IF NOT EXISTS _mirror_resource (
	name TEXT PRIMARY KEY,
	columns TEXT NOT NULL,   -- as the table was made
	read_to INTEGER NOT NULL, -- the first read has come so far
	complete INTEGER NOT NULL -- and is done
) STRICT;`

// ErrTakenOver says that another run writes the copy.
var ErrTakenOver = errors.New("another frontdesk mirror has taken over this copy")

// busyWait is how long another run may keep the copy locked.
const busyWait = 30 * time.Second

// store is the copy. It belongs to one goroutine.
type store struct {
	conn   *sqlite.Conn
	run    string
	cursor string
	tables []*table
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// openStore opens the copy of a client's records, or begins one.
//
// owns tells whether the user has that cursor: it is asked where the client is called otherwise.
func openStore(ctx context.Context, file, client string, owns func(cursor string) (bool, error)) (s *store, err error) {
	made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- SQLite would let all read a new one
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer func() {
		if err != nil {
			err = withClose(ctx, fmt.Errorf("%s: %w", file, err), conn.Close())
		}
	}()
	conn.SetBusyTimeout(0) // SQLite's own wait does not see ctx, and does not cover a turn to WAL: the loop below waits
	s = &store{conn: conn, run: rand.Text()}
	for _, pragma := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "PRAGMA trusted_schema=OFF"} {
		err := sqlitex.ExecuteTransient(conn, pragma, nil)
		for began := time.Now(); sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy && time.Since(began) < busyWait; {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			err = sqlitex.ExecuteTransient(conn, pragma, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	conn.SetBusyTimeout(busyWait)
	for claimed := client; ; {
		of, err := s.take(client, claimed)
		if err != nil || of == client {
			return s, err
		}
		if err := s.isOf(client, of, owns); err != nil {
			return nil, err
		}
		claimed = of // others may have gone on with the copy while that was asked: it is looked at again
	}
}

// take begins the copy, or takes over one whose client is called client, or claimed, as owns says that this one was
// called before. It returns whose the copy is; that of anybody else stays as it is.
func (s *store) take(client, claimed string) (of string, err error) {
	end, err := sqlitex.ImmediateTransaction(s.conn) // of two runs that begin a copy, one finds that of the other
	if err != nil {
		return "", err
	}
	defer end(&err)
	if err := sqlitex.ExecuteScript(s.conn, stateTables, nil); err != nil {
		return "", err
	}
	found := false
	err = s.each("SELECT layout, client, cursor FROM _mirror", nil, func(row *sqlite.Stmt) error {
		if found, of, s.cursor = true, row.ColumnText(1), row.ColumnText(2); row.ColumnInt(0) != layout {
			return Wrong{fmt.Errorf("the copy was made by another version of frontdesk: delete it, or name another file")}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case !found:
		return client, s.do("INSERT INTO _mirror (layout, client, run) VALUES (?, ?, ?)", layout, client, s.run)
	case of == client, of == claimed:
		return client, s.do("UPDATE _mirror SET run = ?, client = ?", s.run, client)
	}
	return of, nil
}

func (s *store) close() error { return s.conn.Close() }

// withClose adds to the error of a run what went wrong when the copy was closed. Of a run that was only stopped
// that is told alone.
func withClose(ctx context.Context, err, closing error) error {
	if closing != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return closing
	}
	return errors.Join(err, closing)
}

// do runs a statement.
func (s *store) do(text string, args ...any) error {
	return sqlitex.Execute(s.conn, text, &sqlitex.ExecOptions{Args: args})
}

func (s *store) each(text string, args []any, row func(*sqlite.Stmt) error) error {
	return sqlitex.Execute(s.conn, text, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
}

// write runs f in a transaction, unless another run has taken over.
func (s *store) write(f func() error) (err error) {
	end, err := sqlitex.ImmediateTransaction(s.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	err = s.each("SELECT run FROM _mirror", nil, func(row *sqlite.Stmt) error {
		if row.ColumnText(0) != s.run {
			return ErrTakenOver
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f()
}

// prepare makes the tables of these resources, and tells of those whose fields are others
// than before: they are made anew.
func (s *store) prepare(resources []*resource, say func(format string, args ...any)) error {
	return s.write(func() error {
		type before struct {
			columns string
			table   table
		}
		known := map[string]before{}
		err := s.each("SELECT name, columns, read_to, complete FROM _mirror_resource", nil, func(row *sqlite.Stmt) error {
			known[row.ColumnText(0)] = before{row.ColumnText(1), table{readTo: row.ColumnInt64(2), complete: row.ColumnBool(3)}}
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range resources {
			t := newTable(r)
			definition := t.definition()
			was, there := known[r.Name]
			delete(known, r.Name)
			switch {
			case there && was.columns == definition:
				t.readTo, t.complete = was.table.readTo, was.table.complete
			case there:
				say("%s has other fields than before: it is read anew", r.Name)
				if err := s.do("DROP TABLE " + t.name); err != nil {
					return err
				}
				fallthrough
			default:
				if err := s.do("CREATE TABLE " + t.name + " (" + definition + ") STRICT"); err != nil {
					return err
				}
				if err := s.do("INSERT OR REPLACE INTO _mirror_resource (name, columns, read_to, complete) VALUES (?, ?, 0, 0)", r.Name, definition); err != nil {
					return err
				}
			}
			s.tables = append(s.tables, t)
		}
		for name, was := range known {
			if was.table.readTo == 0 { // told before
				continue
			}
			say("%s is no longer copied; its table stays as it is", name)
			if err := s.do("UPDATE _mirror_resource SET read_to = 0, complete = 0 WHERE name = ?", name); err != nil {
				return err
			}
		}
		return nil
	})
}

// row is what a copy has of a record.
type row struct {
	id       int64
	modified string // as it is answered in JSON, without quotation marks
	sum      int64
	intact   bool // as it was stored
}

// rows calls each for the rows with these ids, in their order.
func (s *store) rows(t *table, from, to int64, each func(row) error) error {
	values := make([]any, len(t.columns))
	return s.each("SELECT * FROM "+t.name+" WHERE id BETWEEN ? AND ? ORDER BY id", []any{from, to}, func(stmt *sqlite.Stmt) error {
		one := row{id: stmt.ColumnInt64(0), modified: "null", sum: stmt.ColumnInt64(len(t.columns))}
		for i, f := range t.columns {
			switch {
			case stmt.ColumnIsNull(i):
				values[i] = nil
			case kinds[f.Datatype] == "INTEGER":
				values[i] = stmt.ColumnInt64(i)
			case kinds[f.Datatype] == "REAL":
				values[i] = stmt.ColumnFloat(i)
			default:
				values[i] = stmt.ColumnText(i)
				if f.Name == modifiedColumn {
					one.modified = stmt.ColumnText(i)
				}
			}
		}
		one.intact = sum(values) == one.sum
		return each(one)
	})
}

func (s *store) putRecord(t *table, r record) error {
	values, err := t.values(r)
	if err != nil {
		return err
	}
	return s.do(t.put, values...)
}

func (s *store) deleteRecord(t *table, id int64) error {
	return s.do("DELETE FROM "+t.name+" WHERE id = ?", id)
}

// deleteOutside deletes rows with ids that no record has, and tells how many there were.
func (s *store) deleteOutside(t *table) (n int64, err error) {
	err = s.write(func() error {
		err := s.do("DELETE FROM "+t.name+" WHERE id NOT BETWEEN 1 AND ?", lastID)
		n = int64(s.conn.Changes())
		return err
	})
	return n, err
}

// count is how many records a table has.
func (s *store) count(t *table) (n int64, err error) {
	err = s.each("SELECT count(*) FROM "+t.name, nil, func(row *sqlite.Stmt) error {
		n = row.ColumnInt64(0)
		return nil
	})
	return n, err
}

// index makes an index on a column.
func (s *store) index(t *table, column string) error {
	return s.do("CREATE INDEX IF NOT EXISTS " + quote("_"+t.resource.Name+"_"+column) + " ON " + t.name + " (" + quote(column) + ")")
}

// begin has everything read, from that cursor on. What is there stays until what has become
// of it is read.
func (s *store) begin(cursor string) error {
	err := s.write(func() error {
		for _, t := range s.tables {
			if err := s.do("UPDATE _mirror_resource SET read_to = 0, complete = 0 WHERE name = ?", t.resource.Name); err != nil {
				return err
			}
		}
		return s.do("UPDATE _mirror SET cursor = ?, up_to_date = NULL", cursor)
	})
	if err != nil {
		return err
	}
	s.cursor = cursor
	for _, t := range s.tables {
		t.readTo, t.complete = 0, false
	}
	return nil
}

// readPage stores what a read has found: all records that there are with a value of key from
// t.readTo+1 to the last. Those in the copy that are not among them are gone.
func (s *store) readPage(t *table, key string, to int64, records []record) error {
	err := s.write(func() error {
		ids := make([]int64, len(records))
		for i, r := range records {
			ids[i] = r.id()
		}
		among, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		where := quote(key) + " BETWEEN ? AND ?"
		if to == math.MaxInt32 { // nothing may be left behind the last
			where = "(" + where + " OR " + quote(key) + " IS NULL)"
		}
		err = s.do("DELETE FROM "+t.name+" WHERE "+where+" AND id NOT IN (SELECT value FROM json_each(?))", t.readTo+1, to, string(among))
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := s.putRecord(t, r); err != nil {
				return err
			}
		}
		return s.do("UPDATE _mirror_resource SET read_to = ?, complete = ? WHERE name = ?", to, to == math.MaxInt32, t.resource.Name)
	})
	if err == nil {
		t.readTo, t.complete = to, to == math.MaxInt32
	}
	return err
}

// apply stores a page of changes together with its cursor.
func (s *store) apply(page *changesPage, now time.Time) error {
	upTo := any(nil)
	if !page.More {
		upTo = now.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	err := s.write(func() error {
		for _, c := range page.Data {
			t := s.table(c.Resource)
			if t == nil {
				continue
			}
			var err error
			if c.Record == nil {
				err = s.deleteRecord(t, c.ID)
			} else {
				err = s.putRecord(t, c.Record)
			}
			if err != nil {
				return err
			}
		}
		return s.do("UPDATE _mirror SET cursor = ?, up_to_date = coalesce(?, up_to_date)", page.Cursor, upTo)
	})
	if err == nil {
		s.cursor = page.Cursor
	}
	return err
}

func (s *store) table(name string) *table {
	for _, t := range s.tables {
		if t.resource.Name == name {
			return t
		}
	}
	return nil
}
