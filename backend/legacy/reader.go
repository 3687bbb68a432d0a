package legacy

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Reader looks at a database and cannot write to it, for tools that draft a sheet or compare one
// with it. It is safe for concurrent use.
type Reader struct{ store *Store }

// OpenReader connects to the database of a source. The caller closes the Reader.
func OpenReader(ctx context.Context, of *sheet.SQL) (*Reader, error) {
	source := *of
	source.Session = append(slices.Clone(of.Session), ReadOnly(of.Engine)...)
	s := &Store{source: &source, log: zap.NewNop()}
	if err := s.connect(ctx, 0); err != nil {
		return nil, err
	}
	return &Reader{s}, nil
}

// ReadOnly is the statement that makes a session read-only.
func ReadOnly(engine string) []string {
	switch engine {
	case "postgres":
		return []string{"SET default_transaction_read_only = on"}
	case "sqlite":
		return []string{"PRAGMA query_only = ON"}
	default:
		return []string{"SET SESSION TRANSACTION READ ONLY"}
	}
}

// Close ends the connections.
func (r *Reader) Close() error { return r.store.Close() }

// Inspect reads what the database has: in the source's schema, and of the tables in others that a
// sheet names.
func (r *Reader) Inspect(ctx context.Context, of *sheet.Sheet) (Schema, error) {
	s := &Store{source: r.store.source, d: r.store.d, db: r.store.db, sheet: of}
	known, err := s.examine(ctx, (*inspector).tables)
	if err != nil {
		return Schema{}, err
	}
	return known.Schema, nil
}

// Words counts the rows of a table that have a value in a column, and those among them that have
// none of these words.
func (r *Reader) Words(ctx context.Context, table, column string, words []string) (rows, others int64, err error) {
	s := r.store
	b := fields{engine: s.source.Engine, d: s.d}
	text := b.asText(sqlrecord.Plain(s.d.Quote(column)))
	w := sqlrecord.NewWriter(s.d, nil).Add("SELECT COUNT(*), COUNT(CASE WHEN TRIM(").Expr(text).Add(") NOT IN (", b.literals(words), ") THEN 1 END) FROM ", qualified(s.d, s.source.Schema, table), " WHERE ", s.d.Quote(column), " IS NOT NULL")
	sql, args := w.Statement()
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, sql, []sqlrecord.Column{sqlrecord.Number, sqlrecord.Number}, args, func(row []mapping.Value) error {
			rows, others = row[0].Int(), row[1].Int()
			return nil
		})
	})
	return rows, others, err
}
