package check

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const writtenSheet = `
format: 2
source: {sql: {engine: mariadb, dsn: "${DSN}"}}
keep: keep.db
client: adm
rules: backend
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    fields: {kind: {constant: person}, name: name, first_name: first, note: memo}
`

// meddling is a database that makes something else of updates.
type meddling struct {
	Database
	with func(patch mapping.Record)
}

func (d meddling) Write(ctx context.Context, f func(backend.Tx) error) error {
	return d.Database.Write(ctx, func(tx backend.Tx) error { return f(meddlingTx{tx, d.with}) })
}

type meddlingTx struct {
	backend.Tx
	with func(patch mapping.Record)
}

func (tx meddlingTx) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	patch = patch.Clone()
	tx.with(patch)
	return tx.Tx.Update(ctx, client, before, patch)
}

// TestWrittenToADatabase: what a trigger makes of what is sent, what cannot be written at
// all, and what is lost beside, is told of; nothing is left, and no other client is touched.
func TestWrittenToADatabase(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	run := func(statements ...string) { execute(t, db, statements...) }
	run("CREATE TABLE w_contact (id int PRIMARY KEY, adm int NOT NULL, name varchar(100) NOT NULL, first varchar(50), memo text, KEY (adm, id))",
		"INSERT INTO w_contact VALUES (1, 1, 'a', 'x', 'm'), (2, 1, 'b', 'y', 'n'), (3, 7, 'c', 'z', 'o')")
	path := filepath.Join(t.TempDir(), "written.yaml")
	require.NoError(t, os.WriteFile(path, []byte(writtenSheet), 0o600))
	check := func(spoil func(Database) Database) *Report {
		o := loaded(t, path, dsn)
		o.Write = auth.Client{ID: 1}
		open := opener(t)
		o.Open = func(ctx context.Context, s *sheet.Sheet) (Database, error) {
			driver, err := open(ctx, s)
			return spoil(driver), err
		}
		report, err := SQL(t.Context(), o)
		require.NoError(t, err)
		return report
	}
	asIs := func(d Database) Database { return d }
	sum := func() (text string) {
		require.NoError(t, db.QueryRow("SELECT GROUP_CONCAT(CONCAT_WS(',', id, adm, name, first, memo) ORDER BY id SEPARATOR ';') FROM w_contact").Scan(&text))
		return text
	}
	report := check(asIs)
	require.Zero(t, report.Count(Error), words(t, report))
	require.NotContains(t, words(t, report), "was refused")
	require.Equal(t, "1,1,a,x,m;2,1,b,y,n;3,7,c,z,o", sum())

	empties := func(wherever func(mapping.Record) bool) func(Database) Database {
		return func(d Database) Database {
			return meddling{d, func(patch mapping.Record) {
				if wherever(patch) {
					patch.Set("note", mapping.NullValue())
				}
			}}
		}
	}
	report = check(empties(func(patch mapping.Record) bool { return !patch.Get("note").IsSet() && patch.Get("name").IsSet() }))
	require.Len(t, report.has("write.beside", "resources.contact.fields.name"), 1, words(t, report))

	run("UPDATE w_contact SET memo = 'm'", "CREATE TRIGGER w_first BEFORE INSERT ON w_contact FOR EACH ROW SET NEW.first = 'set'")
	report = check(asIs)
	require.Len(t, report.has("write.lost", "resources.contact.fields.first_name"), 1, words(t, report))
	run("DROP TRIGGER w_first", "CREATE TRIGGER w_none BEFORE INSERT ON w_contact FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'")
	report = check(asIs)
	require.Len(t, report.has("write.create", "resources.contact"), 1, words(t, report))
	require.Equal(t, "1,1,a,x,m;2,1,b,y,m;3,7,c,z,m", sum())
}

// TestEdges: values that are easily lost are written and read back, each is told of by what it is,
// and all is undone.
func TestEdges(t *testing.T) {
	check := func(kind, note string, more ...string) *Report {
		o := overTables(t, `format: 2
source: {sql: {engine: sqlite, dsn: "${DSN}"}}
time_zone: Europe/Amsterdam
keep: keep.db
client: adm
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    fields:
      kind: `+kind+`
      name: name
      note: `+note+`
      payment_days: days
      birth_date: {column: born, type: date}
`, append([]string{"CREATE TABLE w_contact (id int PRIMARY KEY, adm int NOT NULL, srt varchar(1) NOT NULL, name varchar(100) NOT NULL, memo text, days int, born date)",
			"INSERT INTO w_contact VALUES (1, 1, 'P', 'a', 'm', 14, '2000-01-01')"}, more...)...)
		o.Write = auth.Client{ID: 1}
		report, err := SQL(t.Context(), o)
		require.NoError(t, err)
		o.Write, o.Open = auth.Client{}, opener(t)
		after, err := SQL(t.Context(), o)
		require.NoError(t, err)
		require.Contains(t, words(t, after), "contact: all 1 row(s) of w_contact\n")
		return report
	}
	const right = "{column: srt, codes: {P: person, B: company}}"
	report := check(right, "memo")
	require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
	require.Regexp(t, `contact: [1-9][0-9] value\(s\) were written`, words(t, report))
	require.Empty(t, report.has("write.altered", "resources.contact.fields.birth_date"), "of days nobody wants the hour")

	report = check(right, `{column: memo, write: {memo: "TRIM(:value)"}}`)
	found := report.has("write.altered", "resources.contact.fields.note")
	require.Len(t, found, 1, words(t, report))
	require.Equal(t, "what is read after it was written to note is another value for blanks before a text, blanks behind a text", found[0].Seen)
	report = check(`{column: srt, codes: {P: person, B: company}, write: {srt: "CASE :value WHEN 'firm' THEN 'B' ELSE 'P' END"}}`, "memo")
	found = report.has("write.altered", "resources.contact.fields.kind")
	require.Len(t, found, 1, words(t, report))
	require.Equal(t, Error, found[0].Severity)
	require.Contains(t, found[0].Seen, "company")
	report = check(right, "memo", "CREATE TRIGGER w_none BEFORE UPDATE OF memo ON w_contact BEGIN SELECT RAISE(ABORT, 'not today'); END")
	require.NotEmpty(t, report.has("write.fails", "resources.contact.fields.note"), words(t, report))
}

// overTables is a sheet over an SQLite database of these tables.
func overTables(t *testing.T, text string, tables ...string) Options {
	t.Helper()
	dir := t.TempDir()
	dsn, path := filepath.Join(dir, "page.db"), filepath.Join(dir, "page.yaml")
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	execute(t, db, tables...)
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{Env: func(string) (string, bool) { return dsn, true }})
	require.NoError(t, err)
	return Options{Sheet: s, Model: model, Rows: 10, Open: opener(t)}
}
