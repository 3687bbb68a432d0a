package adopt

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// ReadOnly is the statement that makes a session of an engine read-only.
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

// Inspect reads what a database has: in the source's schema, and of the tables in others that a
// sheet names.
func Inspect(ctx context.Context, source *sheet.SQL, of *sheet.Sheet) (schema legacy.Schema, err error) {
	err = reading(ctx, source, func(db sqlrecord.DB) error {
		schema, err = legacy.Inspect(ctx, db, source, of)
		return err
	})
	return schema, err
}

// reading connects to a database while f looks at it, in sessions that cannot write.
func reading(ctx context.Context, of *sheet.SQL, f func(sqlrecord.DB) error) error {
	source := *of
	source.Session = append(slices.Clone(of.Session), ReadOnly(of.Engine))
	db, err := legacy.Connect(ctx, &source, 0, zap.NewNop())
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}
