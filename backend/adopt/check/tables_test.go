package check

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// TestChangesAreAsked: of a table of changes it is told what cannot be read, what
// names no record, and what leads to none.
func TestChangesAreAsked(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "noted.db")
	execute(t, opened(t, dsn), "CREATE TABLE n_rel (nr integer PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL)",
		"CREATE TABLE n_wijz (nr integer PRIMARY KEY, tabel varchar(10) NOT NULL, sleutel integer, ander integer)",
		"INSERT INTO n_rel VALUES (1, 1, 'Een'), (2, 1, 'Twee')", "INSERT INTO n_wijz VALUES (1, 'n_rel', 1, NULL), (2, 'n_rel', 2, 77), (3, 'ander', 5, 5)")
	for says, of := range map[string]struct{ seen, right, wrong string }{
		"":                                      {"contact: 2 of 2 changes that were read lead to a record", "", ""},
		"ask.changes resources.contact.changes": {"what has changed cannot be read: ", "where: tabel = 'n_rel'", "where: tabl = 'n_rel'"},
		"ask.changes-key resources.contact.changes.key":      {"1 of 2 changes have no key there", "key: sleutel", "key: ander"},
		"ask.changes-lead-nowhere resources.contact.changes": {"none of the 1 changes that were read leads to a record", "tabel = 'n_rel'", "tabel = 'ander'"},
	} {
		report := askedOf(t, sheetFile(t, "noted", of.right, of.wrong), dsn)
		if says == "" {
			require.Contains(t, words(t, report), of.seen)
			require.NotContains(t, words(t, report), "ask.changes")
			continue
		}
		rule, path, _ := strings.Cut(says, " ")
		found := report.has(rule, path)
		require.Len(t, found, 1, words(t, report))
		require.Contains(t, found[0].Seen, of.seen)
	}
}

// TestCaseOfKeys: what the sheet says of case is held to what the database says.
func TestCaseOfKeys(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	for _, test := range []struct {
		collation, says string
		want            []Severity
	}{
		{"utf8mb4_general_ci", "", nil}, // known to the driver
		{"utf8mb4_general_ci", ", case: exact", []Severity{Warning}},
		{"utf8mb4_general_ci", ", case: ignore", nil},
		{"utf8mb4_bin", "", nil},
		{"utf8mb4_bin", ", case: ignore", []Severity{Error}},
	} {
		execute(t, db, "DROP TABLE IF EXISTS omzetgroep",
			"CREATE TABLE omzetgroep (code varchar(20) COLLATE "+test.collation+" NOT NULL PRIMARY KEY, omschrijving varchar(100) NOT NULL)",
			"INSERT INTO omzetgroep VALUES ('AB01', 'first')")
		var got []Severity
		for _, f := range checked(t, sheetFile(t, "group", "%s", test.says), dsn).has("sql.key-case", "resources.turnovergroup.key") {
			got = append(got, f.Severity)
		}
		require.Equal(t, test.want, got, "%+v", test)
	}
}

// TestTablesWithoutTransactions: what a write leaves that is refused half-way is an error of the sheet,
// unless clients only read.
func TestTablesWithoutTransactions(t *testing.T) {
	dsn := legacytest.EmptyMariaDB(t, "utf8mb4")
	db := opened(t, dsn)
	execute(t, db, "CREATE TABLE omzetgroep (code varchar(20) NOT NULL PRIMARY KEY, omschrijving varchar(100) NOT NULL) ENGINE=MyISAM", "INSERT INTO omzetgroep VALUES ('AB01', 'first')")
	told(t, checked(t, sheetFile(t, "group", "%s", ""), dsn), "error sql.no-transactions resources.turnovergroup.table", "omzetgroep is a table of MyISAM, which has no transactions")
	reading := sheetFile(t, "group", "%s", "", `client: ""`, "client: \"\"\n    operations: {only: [get, list]}")
	require.Empty(t, checked(t, reading, dsn).has("sql.no-transactions", "resources.turnovergroup.table"))
}

// TestWhoseRows: before, a sheet whose client is a column of the view alone passed
// the check and failed at every write, rows of nobody were not told of, and rows
// behind :client were looked at for no client at all.
func TestWhoseRows(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, contact int NOT NULL)",
		"CREATE VIEW w_orders AS SELECT o.id, o.contact, c.adm FROM w_order o JOIN w_contact c ON c.id = o.contact",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"INSERT INTO w_contact VALUES (1, 1, 'A', '20000101'), (2, 7, 'B', '20000101'), (3, NULL, 'C', '20000101')",
		"INSERT INTO w_address VALUES (1, 1, 'A', '20000101'), (2, 2, 'A', '20000199'), (3, 99, 'A', '20000101'), (4, 3, 'A', '20000101')")
	report := checked(t, sheetFile(t, "whose"), dsn)
	told(t, report, "error ask.start resources", "resource order: client: every write names adm, and w_order has no such column")
	report = checked(t, sheetFile(t, "whose", "    read: w_orders\n", "    read: w_orders\n    operations: {only: [get, list]}\n"), dsn)
	for resource, nobodys := range map[string]string{"contact": "1 of 3", "contactaddress": "2 of 4"} {
		found := report.has("data.nobody", "resources."+resource+".client")
		require.Len(t, found, 1, words(t, report))
		require.Equal(t, nobodys+" record(s) belong to no client that a user works for", found[0].Seen)
	}
	unfit := report.has("data.unfit", "resources.contactcommunication.fields.modified_at")
	require.Len(t, unfit, 1, "%+v", report.Findings)
	require.Contains(t, unfit[0].Seen, "1 of 2 record(s)")
	require.Contains(t, strings.Join(report.Looked, "\n"), "contactcommunication: all 2 row(s)")
}

// TestUseBeyondTheSheet: before, foreign keys of tables that the sheet does not name were
// read and not told of, and clients learnt that the backend is unavailable.
func TestUseBeyondTheSheet(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, adm int, contact int NOT NULL, CONSTRAINT fk_order FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE VIEW w_orders AS SELECT * FROM w_order",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"CREATE TABLE w_memo (id int PRIMARY KEY, contact int, CONSTRAINT fk_memo FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE TABLE w_log (id int PRIMARY KEY, contact int, CONSTRAINT fk_log FOREIGN KEY (contact) REFERENCES w_contact (id) ON DELETE SET NULL)")
	found := checked(t, sheetFile(t, "whose"), dsn).has("sql.in-use", "resources.contact.table")
	require.Len(t, found, 1)
	require.Equal(t, "fk_memo of w_memo refers to w_contact, and no resource is of it: clients are told of what it refers to that it is in use elsewhere", found[0].Seen)
	const entry = `{when: {code: "1451", constraint: fk_memo}, reason: in_use, at: NAME, on: [contact.delete]}`
	require.Equal(t, "say under errors what clients call it: "+entry, found[0].Remedy)
	said := "errors: [" + strings.Replace(entry, "NAME", "memo", 1) + "]\nresources:"
	require.Empty(t, checked(t, sheetFile(t, "whose", "resources:", said), dsn).has("sql.in-use", "resources.contact.table"))
}

// TestPlans: of a client with many records it is told, field by field, for what the planner finds
// no index; with one nothing is told.
func TestPlans(t *testing.T) {
	const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
	for engine, begin := range map[string]struct {
		dsn     func(t *testing.T) string
		analyze string
		run     func(t *testing.T, dsn string, statements ...string)
	}{
		"mariadb": {func(t *testing.T) string { return legacytest.EmptyMariaDB(t, "utf8mb4") }, "ANALYZE TABLE w_contact", func(t *testing.T, dsn string, statements ...string) {
			execute(t, opened(t, dsn), append([]string{"SET max_recursive_iterations = 20000"}, statements...)...)
		}},
		"postgres": {func(t *testing.T) string { return legacytest.Postgres(t) }, "ANALYZE w_contact", func(t *testing.T, dsn string, statements ...string) {
			require.NoError(t, sqltest.Execute(dsn, statements...))
		}},
		"sqlite": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "planned.db") }, "ANALYZE w_contact", func(t *testing.T, dsn string, statements ...string) {
			execute(t, opened(t, dsn), statements...)
		}},
	} {
		t.Run(engine, func(t *testing.T) {
			dsn := begin.dsn(t)
			text := map[string]string{"mariadb": "CONCAT('n', i)", "postgres": "'n' || i", "sqlite": "'n' || i"}[engine]
			insert := "INSERT INTO w_contact (id, adm, name, nick) " + numbers + "SELECT i, 1, " + text + ", " + text + " FROM n"
			begin.run(t, dsn, "CREATE TABLE w_contact (id int NOT NULL PRIMARY KEY, adm int NOT NULL, name varchar(100) NOT NULL, nick varchar(50) DEFAULT 'x' NOT NULL)",
				insert, "CREATE INDEX w_client ON w_contact (adm, id)", "CREATE INDEX w_name ON w_contact (adm, name, id)", begin.analyze)
			path := sheetFile(t, "planned", "%s", engine)
			report := askedOf(t, path, dsn)
			found := report.has("sql.plan", "resources.contact")
			require.Len(t, found, 2, words(t, report))
			require.Equal(t, "a list filtered by first_name reads all 12000 records of the client each time: the planner uses no index for it", found[0].Seen)
			require.Equal(t, "a list sorted by first_name reads all 12000 records of the client each time: the planner uses no index for it", found[1].Seen)
			begin.run(t, dsn, "CREATE INDEX w_nick ON w_contact (adm, nick, id)", begin.analyze)
			require.NotContains(t, words(t, askedOf(t, path, dsn)), "sql.plan")
		})
	}
}
