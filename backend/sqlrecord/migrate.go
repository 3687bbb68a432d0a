package sqlrecord

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"frontdesk/mapping"
)

// Migrations are the steps from one version of the database to the next: *.sql files as
// goose reads them, or Go, or both.
type Migrations struct {
	// Table records the steps taken. Every set of migrations has its own table.
	Table string
	Files fs.FS // may be nil; those of an engine are in its folder, as migrations/sqlite
	Go    []*goose.Migration

	anyOrder bool // a step may be taken after a step with a higher number
}

// Migrate creates the tables of the model's records, or brings them to the model's
// version. Every distinct "since" number of the model is one migration. Each depends only
// on the first: a vendor's migration may run before one of ours with a lower number. A database that is up to date stays as it is.
func Migrate(ctx context.Context, db DB, model *mapping.Model) error {
	return migrate(ctx, db, schema{d: db.Dialect(), model: model})
}

func migrate(ctx context.Context, db DB, s schema) error {
	m := Migrations{Table: "frontdesk_records_version", anyOrder: true}
	for _, version := range s.versions() {
		m.Go = append(m.Go, goose.NewGoMigration(int64(version), s.step(db, version), nil))
	}
	if err := MigrateWith(ctx, db, m); err != nil {
		return err
	}
	return s.check(ctx, db)
}

// step migrates to a version of the model: in one transaction, or online, while others use
// the database.
func (s schema) step(db DB, version int) *goose.GoFunc {
	if o, ok := db.(*postgresDB); ok {
		return &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error { return o.online(ctx, db, s, version) }}
	}
	return inOne(s.statements(version)...)
}

// inOne runs statements of a migration in one transaction.
func inOne(texts ...string) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error { return run(ctx, tx, texts...) }}
}

// run runs statements of a migration.
func run(ctx context.Context, on interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}, texts ...string) error {
	for _, text := range texts {
		if _, err := on.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%w in: %s", err, text)
		}
	}
	return nil
}

// MigrateWith takes the migrations that the database has not had yet. If several processes
// call it at once, one does the work and the others wait.
func MigrateWith(ctx context.Context, db DB, m Migrations) error {
	e := db.(engine)
	if m.Files != nil {
		files, err := fs.Sub(m.Files, "migrations/"+db.Dialect().Name)
		if err != nil {
			return err
		}
		m.Files = files
	}
	if done, err := e.migrated(ctx, m); done || err != nil {
		return err
	}
	err := e.migrating(ctx, func(db *sql.DB, d goose.Dialect, o ...goose.ProviderOption) error {
		p, err := m.provider(db, d, o...)
		if err != nil {
			return err
		}
		_, err = p.Up(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate %s: %w", m.Table, err)
	}
	return nil
}

func (m Migrations) provider(db *sql.DB, d goose.Dialect, o ...goose.ProviderOption) (*goose.Provider, error) {
	o = append(o, goose.WithTableName(m.Table), goose.WithGoMigrations(m.Go...), goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(m.anyOrder))
	return goose.NewProvider(d, db, m.Files, o...)
}

// check looks for what no migration has made: a resource or a field whose number the
// database had already passed when it was added to the model.
func (s schema) check(ctx context.Context, db DB) error {
	for _, r := range s.model.Resources {
		have, err := columnNames(ctx, db, r.Name)
		if err != nil {
			return fmt.Errorf("check the table of %s: %w", r.Name, err)
		}
		var missing []string
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Type != mapping.Array && !slices.Contains(have, f.Name) {
				missing = append(missing, f.Name)
			}
		}
		switch {
		case len(have) == 0:
			return fmt.Errorf("there is no table for resource %s: its since: %d is older than the database; give it since: %d",
				r.Name, r.Since, s.next())
		case len(missing) > 0:
			return fmt.Errorf("the table of resource %s lacks %s: their since is older than the database; give them since: %d",
				r.Name, strings.Join(missing, ", "), s.next())
		}
	}
	return nil
}

// columnNames returns the names of a table's columns; none if the table does not exist.
func columnNames(ctx context.Context, db DB, table string) (names []string, err error) {
	err = db.Read(ctx, func(c Conn) error {
		return c.Query(ctx, db.Dialect().columnNames, []Column{{Type: mapping.Text}}, []mapping.Value{mapping.TextValue(table)}, func(row []mapping.Value) error {
			names = append(names, row[0].Text())
			return nil
		})
	})
	return names, err
}

// next returns a version that no database of this model has passed.
func (s schema) next() int {
	all := s.versions()
	return all[len(all)-1] + 1
}
