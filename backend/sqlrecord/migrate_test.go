package sqlrecord

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// modelWith loads the embedded model overlaid with other files.
func modelWith(t *testing.T, files map[string]string) *mapping.Model {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	m, err := mapping.LoadModel(dir)
	require.NoError(t, err)
	return m
}

const widget = `
name: widget
description: A thing.
module: things
SINCE
fields:
  - name: code
    type: varchar(10)
    unique: true
    description: Code.
  - name: country_id
    type: int4
    reference: country
    description: Where it is from.
  - name: weight
    type: float8
    description: In kilograms, however exact.
`

func extended(t *testing.T, since string) map[string]string {
	t.Helper()
	country, err := os.ReadFile(filepath.Join("..", "..", "mapping", "resources", "country.yaml"))
	require.NoError(t, err)
	return map[string]string{
		"widget.yaml": strings.Replace(widget, "SINCE", since, 1),
		"country.yaml": string(country) + `
  - name: capital
    type: varchar(60)
    description: Capital city.
    ` + since + `
  - name: main_contact_id
    type: int4
    reference: contact
    description: Whom to ask.
    ` + since + "\n",
	}
}

func TestMigrateToALaterModel(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, db DB) {
		s := newFixture(t, db)
		country := s.create(t, alice, "country", "code", "NL", "name", "Nederland")
		contact := s.create(t, alice, "contact", "name", "x")

		later := modelWith(t, extended(t, "since: 7"))
		require.NoError(t, Migrate(t.Context(), db, later))
		require.NoError(t, Migrate(t.Context(), db, later), "again")
		l := &fixture{New(db, later, s.clock.now), later, s.clock}
		got, err := l.Get(t.Context(), later.Resource("country"), backend.Query{Client: alice, ID: country.ID()})
		require.NoError(t, err)
		require.Equal(t, mapping.NullValue(), got.Get("capital"))
		_, err = l.Update(t.Context(), alice, got, l.record("country", "capital", "Amsterdam", "main_contact_id", contact.ID()))
		require.NoError(t, err)
		w := l.create(t, alice, "widget", "code", "a", "country_id", country.ID(), "weight", mapping.FloatValue(0.1))
		require.Equal(t, w.Values, l.get(t, alice, w).Values)
		require.ErrorIs(t, l.Delete(t.Context(), alice, l.get(t, alice, contactIn(later, contact))), backend.ErrStale)

		require.NoError(t, Migrate(t.Context(), db, s.model), "an older program still runs")
	})
}

func contactIn(m *mapping.Model, contact mapping.Record) mapping.Record {
	rec := mapping.NewRecord(m.Resource("contact"))
	rec.Values[0] = contact.Values[0]
	return rec
}

func TestMigrateMissesWhatCameTooLate(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, db DB) {
		newFixture(t, db)
		files := extended(t, "since: 1")
		err := Migrate(t.Context(), db, modelWith(t, map[string]string{"widget.yaml": files["widget.yaml"]}))
		require.EqualError(t, err, "there is no table for resource widget: its since: 1 is older than the database; give it since: 2")
		err = Migrate(t.Context(), db, modelWith(t, map[string]string{"country.yaml": files["country.yaml"]}))
		require.EqualError(t, err, "the table of resource country lacks capital, main_contact_id: their since is older than the database; give them since: 2")
	})
}

// TestMigrateAVendorsModel: the vendor's numbers and ours form one sequence, and ours can
// grow later.
func TestMigrateAVendorsModel(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, db DB) {
		newFixture(t, db)
		own, ours := extended(t, "since: 1000"), extended(t, "since: 2")
		require.NoError(t, Migrate(t.Context(), db, modelWith(t, map[string]string{"widget.yaml": own["widget.yaml"]})))
		both := modelWith(t, map[string]string{"widget.yaml": own["widget.yaml"], "country.yaml": ours["country.yaml"]})
		require.Equal(t, 3, both.Steps())
		require.NoError(t, Migrate(t.Context(), db, both))
		require.NoError(t, Migrate(t.Context(), db, both), "again")
	})
}

func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "records.db")
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	dsn := sqltest.Postgres(t)
	for name, open := range map[string]func() (DB, error){
		"sqlite":   func() (DB, error) { return OpenSQLite(file, Options{}) },
		"postgres": func() (DB, error) { return OpenPostgres(t.Context(), dsn, Options{Readers: 2}) },
	} {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				db, err := open()
				if assert.NoError(t, err, name) {
					assert.NoError(t, Migrate(t.Context(), db, model), name)
					assert.NoError(t, db.Close(), name)
				}
			})
		}
		wg.Wait()
	}
}

func TestMigrateWithOwnFiles(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, db DB) {
		m := Migrations{
			Table: "own_version",
			Files: fstest.MapFS{"migrations/" + db.Dialect().Name + "/00001_user.sql": {Data: []byte("-- +goose Up\nCREATE TABLE own_user (name text NOT NULL);\n")}},
			Go: []*goose.Migration{goose.NewGoMigration(2, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO own_user (name) VALUES ('demo')")
				return err
			}}, nil)},
		}
		require.NoError(t, MigrateWith(t.Context(), db, m))
		require.NoError(t, MigrateWith(t.Context(), db, m))
		require.Equal(t, "1", ask(t, db, "SELECT count(*) FROM own_user"))

		m.Go = append(m.Go, goose.NewGoMigration(3, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM own_user")
			require.NoError(t, err)
			_, err = tx.ExecContext(ctx, "no SQL")
			return err
		}}, nil))
		require.ErrorContains(t, MigrateWith(t.Context(), db, m), "migrate own_version: ")
		require.Equal(t, "1", ask(t, db, "SELECT count(*) FROM own_user"), "half a migration is none")
	})
}
