package check

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(legacytest.Run(m))) }

// engines are the servers that DEALERPAK runs on.
func engines() map[string]func(t testing.TB) string {
	return map[string]func(t testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres}
}

// finished is the sheet that DEALERPAK is served by, with words of it replaced.
func finished(t *testing.T, engine string, replace ...string) string {
	t.Helper()
	files, err := legacytest.Files()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(files, engine+".yaml"))
	require.NoError(t, err)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, string(text), replace[i])
	}
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o600))
	return path
}

func loaded(t *testing.T, path, dsn string) Options {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{
		Env:        func(string) (string, bool) { return dsn, true },
		RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	require.NoError(t, err)
	return Options{Sheet: s, Model: model}
}

// unasked is a database that is proved, and not asked what clients ask.
type unasked struct{ Database }

func (unasked) Supports(*mapping.Resource, mapping.Scope) bool { return false }

func checked(t *testing.T, path, dsn string) *Report {
	t.Helper()
	return proved(t, loaded(t, path, dsn))
}

// proved is what a check says of a database that is not asked what clients ask.
func proved(t *testing.T, o Options) *Report {
	t.Helper()
	o.Open = func(ctx context.Context, s *sheet.Sheet) (Database, error) {
		db, err := opener(t)(ctx, s)
		return unasked{db}, err
	}
	report, err := SQL(t.Context(), o)
	require.NoError(t, err)
	return report
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

// TestFinishedSheet finds nothing that fails in the sheet that DEALERPAK is
// served by, and what its manual says is wrong with the rows.
func TestFinishedSheet(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			path := finished(t, engine)
			report := checked(t, path, start(t))
			var text strings.Builder
			require.NoError(t, report.WriteText(&text))
			require.Zero(t, report.Count(Error), text.String())
			require.NotEmpty(t, report.has("data.null", "resources.vehicle.fields.model"), text.String())
			require.NotEmpty(t, report.has("data.unknown-code", "resources.orderline.fields.unit_type"), text.String())
			require.NotEmpty(t, report.has("sql.trigger", "resources.order.table"), text.String())
			require.Equal(t, []string{"advertisementsite", "flatrate", "flatrateline", "vehicleadvertisementsite"}, report.Left.Resources)
			var j strings.Builder
			require.NoError(t, report.WriteJSON(&j))
			require.Contains(t, j.String(), `"rule": "data.null"`)
		})
	}
}

// TestFindings spoils the finished sheet, one thing at a time.
func TestFindings(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	for _, c := range []struct {
		name         string
		replace      []string
		severity     Severity
		rule, path   string
		seen, remedy string
	}{
		{"table", []string{"table: OMZGRP\n", "table: OMZGRPP\n"}, Error, "sql.missing", "resources.turnovergroup.table",
			"there is no table OMZGRPP", "name a table or view of the database, did you mean OMZGRP?"},
		{"column", []string{"description: {column: OMS, length: 30}\n      vat_kind", "description: {column: OMSCHR, length: 30}\n      vat_kind"},
			Error, "sql.missing", "resources.turnovergroup.fields.description", "there is no column OMSCHR in OMZGRP", "BEDRNR, OGRP, OMS"},
		{"type", []string{`payment_days: {column: BETTRM, write: {BETTRM: "COALESCE(:value, 14)"}}`, "payment_days: TELNR"}, Error, "sql.lacking", "resources.contact.fields.payment_days",
			"V_RELATIE_ACTIEF.TELNR is char, and is read as a whole number", "write: {COLUMN: SQL with :value}"},
		{"length", []string{"street: {column: STRAAT, length: 30}", "street: STRAAT"}, Warning, "sql.too-short",
			"resources.contactaddress.fields.street", "RELADR.STRAAT takes 30 characters, and clients may send 100", "say length: 30"},
		{"changes by a table", []string{"  vehicle:\n", "  vehicle:\n    changes: {by: table, table: WIJZ, sequence: NR, key: A}\n"}, Error, "sql.missing", "resources.vehicle.changes", "WIJZ", ""},
		{"changes without an index", []string{"  vehicle:\n", "  vehicle:\n    changes: {by: table, table: ORDKOP, sequence: STAT, key: ORDNR}\n"}, Warning, "sql.unindexed-changes", "resources.vehicle.changes", "STAT", "make one"},
		{"codes", []string{"EM: 4, ", ""}, Error, "data.unknown-code", "resources.contactcommunication.fields.type", "record(s) have at SRT what the codes of type do not list", "SELECT SRT, COUNT(*) … GROUP BY SRT"},
		{"not null", []string{"is_prefered_email: {column: VOORK, codes: yesno, write: {VOORK: 'CASE :value WHEN 1 THEN ''J'' WHEN 0 THEN ''N'' ELSE ''N'' END'}}", "is_prefered_email: {column: VOORK, codes: yesno}"},
			Warning, "sql.not-null", "resources.contactcommunication.fields.is_prefered_email", "takes no null", "COALESCE(:value, …)"},
		{"key", []string{"key: {columns: COMNR, generated: identity}", "key: {columns: RELNR, generated: identity}"}, Error, "sql.key",
			"resources.contactcommunication.key", "its primary key is (COMNR)", ""},
		{"a key that stands twice", []string{"key: {columns: COMNR, generated: identity}", "key: {columns: RELNR, generated: identity}"}, Error, "data.duplicate",
			"resources.contactcommunication.key", "stand in more than one record of a client", "name the columns that tell the rows apart"},
		{"identity", []string{"key: {columns: MDWNR, generated: max+1}", "key: {columns: MDWNR, generated: identity}"}, Error, "sql.key-generated",
			"resources.employee.key", "gets no number from the database", "max+1"},
		{"where", []string{"where: UITDAT = '00000000'", "where: UITDATUM = '00000000'"}, Error, "sql.statement", "resources.employee.where", "UITDATUM", "mend the SQL"},
		{"unfilled", []string{"      name: {column: NAAM, length: 120}\n", "      name: {absent: true}\n"}, Error, "sql.lacking",
			"resources.document", "DOKMT.NAAM must have a value", "constants"},
		{"zone", []string{"engine: mariadb", "engine: mariadb\n    session: [\"SET time_zone = '+00:00'\"]"}, Error, "sql.zone",
			"resources.vehicle.fields.modified_at", "VTG.MUTTS is shown in the zone of the session", "say time_zone: UTC of the field, or source.sql.session"},
		{"view", []string{"table: REL\n    read: V_RELATIE_ACTIEF", "table: V_RELATIE_ACTIEF"}, Warning, "sql.view-written", "resources.contact.table", "is a view", ""},
		{"no day", []string{"NOT IN (''00000000'', ''19560000'')", "NOT IN (''00000000'')"}, Error, "data.unfit", "resources.contact.fields.birth_date", "4 of 196 record(s) have a birth_date that the interface cannot show", "mend read"},
		{"another null", nil, Warning, "data.altered", "resources.contact.fields.birth_date", "4 of 196 record(s) would not be as they are", "the reverse of read"},
		{"another factor", []string{"hourly_rate: {read: 'UURTRF / 100.0', write: {UURTRF: 'ROUND(:value * 100)'}, ordered: true}", "hourly_rate: {read: 'UURTRF / 100.0', write: {UURTRF: 'ROUND(:value * 10)'}, ordered: true}"},
			Error, "data.missed", "resources.employee.fields.hourly_rate", "are not found by a filter by the hourly_rate that they show", "say a find"},
		{"another order", []string{"hourly_rate: {read: 'UURTRF / 100.0'", "hourly_rate: {read: '-UURTRF / 100.0'"}, Error, "data.unordered", "resources.employee.fields.hourly_rate", "stand elsewhere by their column", "take ordered: true out"},
		{"users of all", []string{"    table: MDW\n", "    table: MDW\n    client: \"\"\n"}, Error, "client.none", "resources.employee.client", "every client is shown those of all", "name the place of their client"},
		{"a rule that is off", []string{"keep: keep.db\n", "keep: keep.db\nwithout_rules: [order_status]\n"}, Warning, "rules.off", "without_rules[0]", "the rule order_status is switched off, and all that it judges by is in order and orderline", "take it out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := checked(t, finished(t, "mariadb", c.replace...), dsn)
			found := report.has(c.rule, c.path)
			require.Len(t, found, 1, "%+v", report.Findings)
			require.Equal(t, c.severity, found[0].Severity)
			require.Contains(t, found[0].Seen, c.seen)
			require.Contains(t, found[0].Remedy, c.remedy)
			require.Greater(t, found[0].Line, 1)
		})
	}
}

func opened(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
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

// TestDuplicates finds values that stand twice where no index keeps them apart.
func TestDuplicates(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	execute(t, opened(t, dsn),
		"ALTER TABLE ART DROP FOREIGN KEY FK_ART_OGRP", "ALTER TABLE ART DROP FOREIGN KEY FK_ART_LEV", "ALTER TABLE ART DROP INDEX UQ_ART_NR",
		"UPDATE ART SET ARTNR = 'DUBBEL' WHERE BEDRNR = 1 ORDER BY ARTID LIMIT 2")
	only := finished(t, "mariadb", "\n    table: ART\n", "\n    table: ART\n    operations: {only: [get, list, update]}\n", "    delete: 'UPDATE ART SET VERVALLEN = ''J'' WHERE ARTID = :key'\n", "")
	require.Len(t, checked(t, only, dsn).has("sql.not-unique", "resources.article.fields.number"), 1, "an update can make it stand twice, too")
	report := checked(t, finished(t, "mariadb"), dsn)
	require.Len(t, report.has("sql.not-unique", "resources.article.fields.number"), 1)
	twice := report.has("data.duplicate", "resources.article.fields.number")
	require.Len(t, twice, 1)
	require.Equal(t, "1 value(s) of number stand in more than one record of a client", twice[0].Seen)
}

// TestNobodyIsNamed: what a database says of a value repeats it, and a report is sent on.
func TestNobodyIsNamed(t *testing.T) {
	dsn := legacytest.Postgres(t)
	report := checked(t, finished(t, "postgres", `hourly_rate: {read: '"UURTRF" / 100.0', write: {UURTRF: 'ROUND(:value * 100)'}, ordered: true}`, `hourly_rate: {read: 'CAST("NAAM" AS integer)'}`), dsn)
	found := report.has("data.unproved", "resources.employee.key")
	require.Len(t, found, 1, "%+v", report.Findings)
	require.Regexp(t, `invalid input syntax for type integer: "X[xX ]+`, found[0].Seen)
}

// TestReadOnly has the database refuse whatever a check might write.
func TestReadOnly(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			o := loaded(t, finished(t, engine), start(t))
			o.Open = func(ctx context.Context, s *sheet.Sheet) (Database, error) {
				db, err := opener(t)(ctx, s)
				require.NoError(t, err)
				err = db.Write(ctx, func(tx backend.Tx) error {
					r := s.Model.Resource("vehicle")
					page, err := tx.List(ctx, r, backend.Query{Client: auth.Client{ID: 1}, Limit: 1})
					require.NoError(t, err)
					patch := mapping.NewRecord(r)
					patch.Set("brand", mapping.TextValue("other"))
					_, err = tx.Update(ctx, auth.Client{ID: 1}, page.Records[0], patch)
					return err
				})
				require.Error(t, err)
				return unasked{db}, nil
			}
			report, err := SQL(t.Context(), o)
			require.NoError(t, err)
			require.Zero(t, report.Count(Error), words(t, report))
		})
	}
}

// TestForeignSQL: nothing fails of the sheets of administrations that nobody here wrote, and it is
// told what they cannot say.
func TestForeignSQL(t *testing.T) {
	t.Run("tryton", func(t *testing.T) {
		s := foreigntest.Tryton(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		undated := report.has("data.undated", "resources.order.fields.modified_at")
		require.Len(t, undated, 1, words(t, report))
		require.Regexp(t, `^\d+ of 60 record\(s\) have no modified_at, and lists by modified_since never have them$`, undated[0].Seen)
	})
	t.Run("sqlledger", func(t *testing.T) {
		s := foreigntest.SQLLedger(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		text, err := os.ReadFile(s.Sheet)
		require.NoError(t, err)
		const right, wrong = "CAST(:value / 100 AS real)", ":value / 100"
		require.Contains(t, string(text), right)
		path := filepath.Join(t.TempDir(), "sheet.yaml")
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), right, wrong, 1)), 0o600))
		missed := checked(t, path, s.DSN).has("data.missed", "resources.orderline.fields.discount_percentage")
		require.Len(t, missed, 1, "no real is a decimal to the last digit")
		require.Equal(t, "72 of 120 record(s) are not found by a filter by the discount_percentage that they show", missed[0].Seen)
	})
	t.Run("kraft", func(t *testing.T) {
		s := foreigntest.Kraft(t)
		report := checked(t, s.Sheet, s.DSN)
		require.Zero(t, report.Count(Error), words(t, report))
		nobodys := report.has("data.nobody", "resources.order.client")
		require.Len(t, nobodys, 1, words(t, report))
		require.Equal(t, "36 of 66 record(s) belong to no client that a user works for", nobodys[0].Seen, "those of customers 1x, 1.0, 01 and 2x, and of none")
	})
}
