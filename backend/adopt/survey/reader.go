package survey

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Reader looks at a database and cannot write to it, for tools that draft a sheet or compare one
// with it. It is safe for concurrent use.
type Reader struct {
	source *sheet.SQL
	db     sqlrecord.DB
}

// OpenReader connects to the database of a source. The caller closes the Reader.
func OpenReader(ctx context.Context, of *sheet.SQL) (*Reader, error) {
	source := *of
	source.Session = append(slices.Clone(of.Session), ReadOnly(of.Engine))
	db, err := legacy.Connect(ctx, &source, 0, zap.NewNop())
	if err != nil {
		return nil, err
	}
	return &Reader{&source, db}, nil
}

// ReadOnly is the statement that makes a session read-only.
func ReadOnly(engine string) string {
	switch engine {
	case "postgres":
		return "SET default_transaction_read_only = on"
	case "sqlite":
		return "PRAGMA query_only = ON"
	default:
		return "SET SESSION TRANSACTION READ ONLY"
	}
}

// Close ends the connections.
func (r *Reader) Close() error { return r.db.Close() }

// Inspect reads what the database has: in the source's schema, and of the tables in others that a
// sheet names.
func (r *Reader) Inspect(ctx context.Context, of *sheet.Sheet) (legacy.Schema, error) {
	return legacy.Inspect(ctx, r.db, r.source, of)
}

// Words counts the rows of a table that have a value in a column, and those among them that have
// none of these words.
func (r *Reader) Words(ctx context.Context, table, column string, words []string) (rows, others int64, err error) {
	d := r.db.Dialect()
	b, quoted := legacy.NewBuilder(r.source.Engine, d), sqlrecord.Plain(d.Quote(column))
	w := sqlrecord.NewWriter(d, nil).Add("SELECT COUNT(*), COUNT(CASE WHEN TRIM(").Expr(b.As(quoted, legacy.Texts)).Add(") NOT IN (", b.Literals(words), ") THEN 1 END)")
	sql, args := w.Add(" FROM ", legacy.Qualified(d, r.source.Schema, table), " WHERE ").Expr(quoted).Add(" IS NOT NULL").Statement()
	err = r.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, sql, []sqlrecord.Column{sqlrecord.Number, sqlrecord.Number}, args, func(row []mapping.Value) error {
			rows, others = row[0].Int(), row[1].Int()
			return nil
		})
	})
	return rows, others, err
}
