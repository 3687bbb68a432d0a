package reference

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

//go:embed migrations
var migrations embed.FS

// internalVersion is the table that records which migrations of the internal tables were run.
const internalVersion = "frontdesk_house_version"

// The migrations in Go, which share one sequence of numbers with the files.
const systemRecordsMigration = 2

// systemData are the data files of the resources that bring records of their
// own. Their IDs are in the files, so that they are the same everywhere.
var systemData = map[string]string{"country": "countries", "advertisementsite": "advertisementsites"}

// systemIDs is the highest ID that is reserved for system records, including those
// of later versions.
const systemIDs = 999

// reservedTables are the tables that no resource of a model may be named like.
var reservedTables = []string{"client", "app_user", "password_reset", "counter", "idempotency", "sample_data"}

// migrate makes the records' tables, then the internal ones, then the system records.
func migrate(ctx context.Context, db sqlrecord.DB, model *mapping.Model, now func() time.Time) error {
	if err := sqlrecord.Migrate(ctx, db, model); err != nil {
		return err
	}
	records := func(ctx context.Context, tx *sql.Tx) error {
		return addSystemRecords(ctx, tx, db.Dialect(), model, now())
	}
	return sqlrecord.MigrateWith(ctx, db, sqlrecord.Migrations{
		Table: internalVersion, Files: migrations,
		Go: []*goose.Migration{goose.NewGoMigration(systemRecordsMigration, &goose.GoFunc{RunTx: records}, nil)},
	})
}

func addSystemRecords(ctx context.Context, tx *sql.Tx, d *sqlrecord.Dialect, model *mapping.Model, now time.Time) error {
	for _, name := range []string{"advertisementsite", "country"} {
		r := model.Resource(name)
		if r == nil {
			continue
		}
		if err := addSystemTable(ctx, tx, d, r, readTable(systemData[name]), now); err != nil {
			return fmt.Errorf("system records of %s: %w", name, err)
		}
	}
	return nil
}

// addSystemTable stores the rows of a data file as records that belong to no
// client. Columns that a vendor's model has dropped are left out.
func addSystemTable(ctx context.Context, tx *sql.Tx, d *sqlrecord.Dialect, r *mapping.Resource, t table, now time.Time) error {
	var fields []*mapping.Field
	for _, column := range t.columns {
		if f := r.Field(column); f != nil {
			fields = append(fields, f)
		}
	}
	moment := any(now)
	if d.Name == sqlrecord.SQLite().Name {
		moment = now.UnixMilli()
	}
	names := []string{"client_id", "row_version", "is_system", "is_blocked", "is_archived", "created_at", "modified_at"}
	common := []any{0, 1, 1, 0, 0, moment, moment}
	for _, f := range fields {
		names = append(names, f.Name)
	}
	insert := insertText(d, r.Name, names)
	for i := range t.rows {
		args := slices.Clone(common)
		for _, f := range fields {
			v, err := systemValue(f, t.get(i, f.Name))
			if err != nil {
				return err
			}
			args = append(args, v)
		}
		if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
			return err
		}
	}
	reserve := `UPDATE sqlite_sequence SET seq = $1 WHERE name = '` + r.Name + `'`
	if d.Name == sqlrecord.Postgres().Name {
		reserve = `SELECT setval(pg_get_serial_sequence('` + d.Quote(r.Name) + `', 'id'), $1)`
	}
	_, err := tx.ExecContext(ctx, reserve, systemIDs)
	return err
}

func insertText(d *sqlrecord.Dialect, tableName string, names []string) string {
	quoted, places := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		quoted[i], places[i] = d.Quote(name), d.Placeholder(i+1)
	}
	return "INSERT INTO " + d.Quote(tableName) + " (" + strings.Join(quoted, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
}

// systemValue reads one cell of a data file; an empty one is null.
func systemValue(f *mapping.Field, s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	v, e := f.Parse(s, time.UTC)
	if e != nil {
		return nil, e
	}
	switch v.Kind() {
	case mapping.KindText:
		return v.Text(), nil
	case mapping.KindInt:
		return v.Int(), nil
	default:
		return nil, fmt.Errorf("field %s: a %s is not read from a data file", f.Name, f.Type)
	}
}
