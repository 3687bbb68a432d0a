package legacy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

// Reader reads a database and cannot write to it, for tools that compare a sheet with it or
// draft one. It is safe for concurrent use.
type Reader struct{ store *Store }

// OpenReader connects to the database of a source. The caller closes it.
func OpenReader(ctx context.Context, source *sheet.SQL) (*Reader, error) {
	d, err := dialectOf(source.Engine)
	if err != nil {
		return nil, err
	}
	session := append(append(d.session(DefaultLockWait), source.Session...), ReadOnly(d.engine())...)
	c, err := d.connector(string(source.DSN), session)
	if err != nil {
		return nil, err
	}
	r := &Reader{&Store{d: d, source: source, pools: pools{db: sql.OpenDB(c)}}}
	r.store.db.SetMaxOpenConns(2)
	r.store.db.SetConnMaxIdleTime(time.Minute)
	if err := r.store.db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the database: %w", err), r.store.db.Close())
	}
	return r, nil
}

// ReadOnly is the statement that makes a session read-only, if the engine has one.
func ReadOnly(engine string) []string {
	switch engine {
	case "postgres":
		return []string{"SET default_transaction_read_only = on"}
	case "mysql", "mariadb":
		return []string{"SET SESSION TRANSACTION READ ONLY"}
	case "sqlite":
		return []string{"PRAGMA query_only = ON"}
	}
	return nil
}

// Close ends the connections.
func (r *Reader) Close() error { return r.store.db.Close() }

// Inspect reads what the database has: of the source's schema, and of the tables that
// a sheet names in others.
func (r *Reader) Inspect(ctx context.Context, tables ...string) (Schema, error) {
	return r.store.Inspect(ctx, tables...)
}

// Expression is what is selected: a column, or SQL of the sheet, in which :client is replaced.
type Expression struct{ Column, SQL string }

// Rows returns the first rows of a table, at most limit, in no order. An expression without a
// column or SQL is null.
func (r *Reader) Rows(ctx context.Context, table string, of []Expression, where string, client int64, limit int) ([][]sheet.Raw, error) {
	d := r.store.d
	b := newStatement(d).add("SELECT ")
	for i, e := range of {
		b.add(comma(i))
		switch {
		case e.SQL != "":
			b.scoped("("+e.SQL+")", intRaw(client))
		case e.Column != "":
			b.add(d.quote(e.Column))
		default:
			b.add("NULL")
		}
	}
	b.add(" FROM ", qualified(d, r.store.source.Schema, table))
	if where != "" {
		b.add(" WHERE (").scoped(where, intRaw(client)).add(")")
	}
	return r.some(ctx, b, limit)
}

// some runs a statement for its first rows.
func (r *Reader) some(ctx context.Context, b *statement, limit int) (rows [][]sheet.Raw, err error) {
	r.store.d.page(b, limit, 0)
	err = query(ctx, r.store.db, b, func(row []sheet.Raw) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// Distinct returns the values that a column has, at most limit of them, among the
// first rows of the table; 0 for all rows.
func (r *Reader) Distinct(ctx context.Context, table, column string, limit, rows int) ([]sheet.Raw, error) {
	d := r.store.d
	name := d.quote(column)
	b := newStatement(d).add("SELECT DISTINCT ", name, " FROM ")
	if rows > 0 {
		b.add("(SELECT ", name, " FROM ", qualified(d, r.store.source.Schema, table))
		r.store.d.page(b, rows, 0)
		b.add(") few")
	} else {
		b.add(qualified(d, r.store.source.Schema, table))
	}
	found, err := r.some(ctx, b, limit)
	values := make([]sheet.Raw, len(found))
	for i, row := range found {
		values[i] = row[0]
	}
	return values, err
}

// Repeated returns how many values, of the columns together, are in more than one row, up to
// limit, and one such value. Rows in which one of the columns is null do not count. client
// replaces :client in where.
func (r *Reader) Repeated(ctx context.Context, table string, columns []string, where string, client int64, limit int) (n int, example []sheet.Raw, err error) {
	d := r.store.d
	list, set := "", ""
	for i, c := range columns {
		list += comma(i) + d.quote(c)
		set += between(i, " AND ") + d.quote(c) + " IS NOT NULL"
	}
	b := newStatement(d).add("SELECT ", list, " FROM ", qualified(d, r.store.source.Schema, table), " WHERE ", set)
	if where != "" {
		b.add(" AND (").scoped(where, intRaw(client)).add(")")
	}
	b.add(" GROUP BY ", list, " HAVING COUNT(*) > 1")
	rows, err := r.some(ctx, b, limit)
	if len(rows) > 0 {
		example = rows[0]
	}
	return len(rows), example, err
}

// Beyond counts the rows whose column holds a number below least or above most that is none of
// other.
func (r *Reader) Beyond(ctx context.Context, table, column, where string, client, least, most int64, other []sheet.Raw) (n int64, err error) {
	d := r.store.d
	name := d.quote(column)
	b := newStatement(d).add("SELECT COUNT(*) FROM ", qualified(d, r.store.source.Schema, table), " WHERE (", name, " < ", strconv.FormatInt(least, 10), " OR ", name, " > ", strconv.FormatInt(most, 10), ")")
	if len(other) > 0 {
		b.add(" AND ", name, " NOT IN (").list(other).add(")")
	}
	if where != "" {
		b.add(" AND (").scoped(where, intRaw(client)).add(")")
	}
	row, err := queryOne(ctx, r.store.db, b)
	if err != nil || len(row) != 1 {
		return 0, err
	}
	return row[0].Int, nil
}

// Charset returns the name of the charset that the database keeps texts in.
func (r *Reader) Charset(ctx context.Context) (string, error) {
	row, err := queryOne(ctx, r.store.db, newStatement(r.store.d).add(r.store.d.schema().charset))
	if err != nil || len(row) != 1 {
		return "", err
	}
	return row[0].String(), nil
}

// Sample returns at most limit rows of a resource, aligned with its Places: the first ones,
// whoever they belong to, or, if SQL of the sheet asks for the client, the first of each of
// the clients. It fails if a column, or SQL of the sheet, is wrong.
func (r *Reader) Sample(ctx context.Context, of *sheet.Resource, clients []int64, limit int) (rows [][]sheet.Raw, err error) {
	t, err := newTable(r.store.d, r.store.source.Schema, of)
	if err != nil {
		return nil, err
	}
	if !of.AsksClient() || len(clients) == 0 {
		clients = []int64{0}
	}
	for _, client := range clients {
		b := newStatement(r.store.d)
		t.selected(b, auth.Client{ID: client}, false)
		if of.Where != "" {
			b.add(" WHERE (").scoped(of.Where, intRaw(client)).add(")")
		}
		found, err := r.some(ctx, b, limit-len(rows))
		if err != nil {
			return nil, err
		}
		if rows = append(rows, found...); len(rows) >= limit {
			break
		}
	}
	return rows, nil
}
