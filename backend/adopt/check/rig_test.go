package check

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(legacytest.Run(m))) }

func testdata(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	return text
}

// statements are the lines of a file of SQL.
func statements(t *testing.T, file string) (all []string) {
	t.Helper()
	for line := range strings.Lines(string(testdata(t, file))) {
		if !strings.HasPrefix(line, "--") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// written writes a sheet with words of it replaced, which are in it, and returns where.
func written(t *testing.T, text string, replace ...string) string {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, text, replace[i])
	}
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(text)), 0o600))
	return path
}

// sheetFile is a sheet of testdata with words of it replaced.
func sheetFile(t *testing.T, name string, replace ...string) string {
	t.Helper()
	return written(t, string(testdata(t, name+".yaml")), replace...)
}

// finished is the sheet that DEALERPAK is served by, with words of it replaced.
func finished(t *testing.T, engine string, replace ...string) string {
	t.Helper()
	files, err := legacytest.Files()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(files, engine+".yaml"))
	require.NoError(t, err)
	return written(t, string(text), replace...)
}

// read reads a sheet as the gateway does that has clients' dates in Amsterdam; of one with
// problems these.
func read(t *testing.T, path, dsn string) (Options, strictyaml.Problems) {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{
		Env:  func(string) (string, bool) { return dsn, true },
		Zone: amsterdam(t), RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	problems := strictyaml.Problems(nil)
	if !errors.As(err, &problems) {
		require.NoError(t, err)
	}
	return Options{Sheet: s, Model: model, Open: opener(t)}, problems
}

func loaded(t *testing.T, path, dsn string) Options {
	t.Helper()
	o, problems := read(t, path, dsn)
	require.Empty(t, problems)
	return o
}

func amsterdam(t *testing.T) *time.Location {
	zone, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	return zone
}

// idStore is a new one of the IDs that a sheet's resources need.
func idStore(t *testing.T, s *sheet.Sheet) (sqlrecord.DB, *idstore.Store) {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(t.Context(), db, idstore.Options{Now: time.Now, IgnoreCase: s.KeysWithoutCase()})
	require.NoError(t, err)
	return db, k
}

// opener opens databases as the gateway does, with IDs of their own.
func opener(t *testing.T) func(context.Context, *sheet.Sheet) (Database, error) {
	return func(ctx context.Context, s *sheet.Sheet) (Database, error) {
		_, k := idStore(t, s)
		return legacy.Open(ctx, legacy.Options{Sheet: s, IDStore: k, Now: time.Now, Hasher: auth.NewHasher()})
	}
}

// unasked is a database that is proved, and not asked what clients ask.
type unasked struct{ Database }

func (unasked) Supports(*mapping.Resource, mapping.Scope) bool { return false }

// through has databases opened as before, and something put in front of them.
func (o Options) through(front func(Database) Database) Options {
	open := o.Open
	o.Open = func(ctx context.Context, s *sheet.Sheet) (Database, error) {
		db, err := open(ctx, s)
		return front(db), err
	}
	return o
}

// reported is what a check says of a database.
func reported(t *testing.T, o Options) *Report {
	t.Helper()
	report, err := SQL(t.Context(), o)
	require.NoError(t, err)
	return report
}

// checked is what a check says of a database that is not asked what clients ask.
func checked(t *testing.T, path, dsn string) *Report {
	t.Helper()
	return reported(t, loaded(t, path, dsn).through(func(d Database) Database { return unasked{d} }))
}

// askedOf is what a check says of a database that is asked what clients ask.
func askedOf(t *testing.T, path, dsn string) *Report {
	t.Helper()
	return reported(t, loaded(t, path, dsn))
}

func words(t *testing.T, r *Report) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, r.WriteText(&text))
	return text.String()
}

// has returns the findings of a rule at a path.
func (r *Report) has(rule, path string) (found []Finding) {
	for _, f := range r.Findings {
		if f.Rule == rule && f.Path == path {
			found = append(found, f)
		}
	}
	return found
}

// told holds a report to one finding, "SEVERITY RULE PATH", and what is said of it: all of that, where
// it begins with ^, or a part.
func told(t *testing.T, r *Report, says, seen string) Finding {
	t.Helper()
	severity, at, _ := strings.Cut(says, " ")
	rule, path, _ := strings.Cut(at, " ")
	found := r.has(rule, path)
	require.Len(t, found, 1, "%s: %s", says, words(t, r))
	require.Equal(t, severity, string(found[0].Severity), says)
	if strings.HasPrefix(seen, "^") {
		require.Regexp(t, seen, found[0].Seen)
	} else {
		require.Contains(t, found[0].Seen, seen)
	}
	return found[0]
}

func opened(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	engine := "mysql"
	if strings.HasSuffix(dsn, ".db") {
		engine = "sqlite"
	}
	db, err := sql.Open(engine, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// execute runs statements, one after the other.
func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
}
