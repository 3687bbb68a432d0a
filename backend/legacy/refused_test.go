package legacy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// strictTables refuse what a sheet does not know of: numbers and texts that a column
// cannot hold, keys of several columns, conditions, and references from a table that
// the sheet does not name (r_memo).
var strictTables = []string{
	"CREATE TABLE r_rel (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, naam varchar(10) NOT NULL, dagen smallint, nota varchar(5), kvk varchar(8), land varchar(2), geb varchar(8), CONSTRAINT uq_r_kvk UNIQUE (adm, kvk), CONSTRAINT ck_r_naam CHECK (naam <> kvk)%s)",
	"CREATE TABLE r_ord (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, rel integer NOT NULL, CONSTRAINT fk_r_ord FOREIGN KEY (rel) REFERENCES r_rel (id))",
	"CREATE TABLE r_lijn (id integer NOT NULL PRIMARY KEY, ord integer NOT NULL, oms varchar(40) NOT NULL, aantal decimal(5,2) NOT NULL, prijs integer NOT NULL, CONSTRAINT fk_r_lijn FOREIGN KEY (ord) REFERENCES r_ord (id), CONSTRAINT uq_r_lijn UNIQUE (ord, oms))",
	"CREATE TABLE r_memo (id integer NOT NULL PRIMARY KEY, rel integer, CONSTRAINT fk_r_memo FOREIGN KEY (rel) REFERENCES r_rel (id))",
	"CREATE TABLE r_log (id integer NOT NULL PRIMARY KEY, rel integer, CONSTRAINT fk_r_log FOREIGN KEY (rel) REFERENCES r_rel (id) ON DELETE CASCADE)",
	"INSERT INTO r_rel VALUES (1, 1, 'One', 14, NULL, '11', NULL, NULL), (2, 1, 'Two', 14, NULL, '22', NULL, NULL), (3, 1, 'Three', 14, NULL, '33', NULL, NULL), (4, 2, 'Other', 14, NULL, '44', NULL, NULL)",
	"INSERT INTO r_ord VALUES (1, 1, 1)",
	"INSERT INTO r_lijn VALUES (1, 1, 'bolt', 1, 100)",
	"INSERT INTO r_memo VALUES (1, 2)",
	"INSERT INTO r_log VALUES (1, 3)",
}

// strictChecks are what SQLite, whose columns hold anything, is told to keep.
const strictChecks = ", CHECK (dagen BETWEEN -32768 AND 32767), CHECK (length(nota) <= 5)"

const strictSheet = `client: adm
rules: RULES
without_rules: [order_status]
MORE
resources:
  contact: {table: r_rel, key: {columns: id, generated: max+1},
    fields: {kind: {constant: person}, name: naam, payment_days: dagen, note: nota, company_number: kvk, language: {column: land, empty: "null"}}}
  order: {table: r_ord, key: {columns: id, generated: max+1},
    fields: {contact_id: rel, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}}
  orderline: {table: r_lijn, key: {columns: id, generated: max+1}, client: {through: order_id}, list_requires: [],
    fields: {order_id: ord, description: oms, quantity: aantal, price: prijs, turnover_group_id: {absent: true}}}
`

// strict opens the tables.
func strict(t *testing.T, engine, rules, more string, statements ...string) *tables {
	t.Helper()
	all := append(slices.Clone(strictTables), statements...)
	checks := ""
	if engine == "sqlite" {
		checks = strictChecks
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "%s", checks)
	}
	return onTables(t, engine, strings.NewReplacer("RULES", rules, "MORE", more).Replace(strictSheet), all...)
}

// TestValuesThatTheColumnCannotHold: before, each was Internal server error.
func TestValuesThatTheColumnCannotHold(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := strict(t, engine, "gateway", "")
		_, err := x.tryCreate(one, x.record("contact", "name", "New", "payment_days", "40000"))
		requireTold(t, err, mapping.Int4Invalid, []string{"payment_days", "40000"})
		_, err = x.tryUpdate(one, 1, x.record("contact", "payment_days", "-32769"))
		requireTold(t, err, mapping.Int4Invalid, []string{"payment_days", "-32769"})
		x.update(one, 1, x.record("contact", "payment_days", "-32768"))
		_, err = x.tryUpdate(one, 1, x.record("contact", "note", "abcdef"))
		requireTold(t, err, mapping.TextTooLong, []string{"note", "6", "5"})
		if engine != "sqlite" { // whose columns hold any number
			_, err = x.tryUpdate(one, 1, x.record("contact", "note", "abcdef", "company_number", "123456789", "payment_days", "70000"))
			found, _ := mapping.AsViolations(err)
			require.Len(t, found, 3, "%v", err)
			line := x.record("orderline", "order_id", "1", "description", "nut", "quantity", "999.995", "price", "1")
			_, err = x.tryCreate(one, line)
			requireTold(t, err, mapping.Float8Invalid, []string{"quantity", "999.995"})
			line.Set("quantity", x.record("orderline", "quantity", "999.9949").Get("quantity"))
			x.create(one, line)
		}
		x.update(one, 1, x.record("contact", "note", "ëëëëë"))
		require.NotContains(t, x.calls.all, backend.Failed)
		require.NotContains(t, x.calls.all, backend.Unexpected)
	})
}

// TestKeysThatOnlyTheDatabaseKnows: before, they were judged again five times, and then
// the backend was said to be unavailable.
func TestKeysThatOnlyTheDatabaseKnows(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := strict(t, engine, "gateway", "")
		_, err := x.tryCreate(one, x.record("contact", "name", "New", "company_number", "11"))
		requireTold(t, err, mapping.DuplicateValue, []string{"company_number", "11"})
		_, err = x.tryUpdate(one, 1, x.record("contact", "company_number", "22"))
		requireTold(t, err, mapping.DuplicateValue, []string{"company_number", "22"})
		_, err = x.tryCreate(one, x.record("orderline", "order_id", "1", "description", "bolt", "quantity", "1", "price", "1"))
		requireTold(t, err, mapping.DuplicateValue, []string{"order_id", "1"}, []string{"description", "bolt"})
		x.create(two, x.record("contact", "name", "New", "company_number", "11"))
		require.NotContains(t, x.calls.all, backend.Busy)
	})
}

// TestUseByTablesThatTheSheetDoesNotName: before, it was judged again five times, and
// then the backend was said to be unavailable.
func TestUseByTablesThatTheSheetDoesNotName(t *testing.T) {
	for engine := range engines {
		t.Run(engine, func(t *testing.T) {
			x := strict(t, engine, "gateway", "")
			requireTold(t, x.tryDelete(one, "contact", 2), mapping.InUse, []string{"id", "elsewhere"})
			if engine != "sqlite" { // which does not say which of the keys it was
			}
			requireTold(t, x.tryDelete(one, "contact", 1), mapping.InUse, []string{"id", "order"})
			require.NoError(t, x.tryDelete(one, "contact", 3), "the database deletes along what refers to it")
			require.NotContains(t, x.calls.all, backend.Busy)
		})
		t.Run(engine+"/named", func(t *testing.T) {
			when := map[string]string{"mariadb": `{code: "1451", constraint: fk_r_memo}`, "postgres": `{sqlstate: "23503", constraint: fk_r_memo}`, "sqlite": `{code: "787"}`}[engine]
			x := strict(t, engine, "gateway", "errors: [{when: "+when+", reason: in_use, at: memo, on: [contact.delete]}]")
			requireTold(t, x.tryDelete(one, "contact", 2), mapping.InUse, []string{"id", "memo"})
		})
		t.Run(engine+"/own rules", func(t *testing.T) {
			x := strict(t, engine, "backend", "")
			at := "order"
			if engine == "sqlite" {
				at = "elsewhere"
			}
			requireTold(t, x.tryDelete(one, "contact", 1), mapping.InUse, []string{"id", at})
			_, err := x.tryCreate(one, x.record("order", "contact_id", "99"))
			requireTold(t, err, mapping.RelatedIDNotFound, []string{"contact_id", "99"})
			require.NotContains(t, x.calls.all, backend.Busy)
		})
	}
}

// TestConditionsOfTheDatabase: nobody foresaw them, and judging again does not help.
func TestConditionsOfTheDatabase(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := strict(t, engine, "gateway", "")
		_, err := x.tryCreate(one, x.record("contact", "name", "same", "company_number", "same"))
		require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
		require.ErrorContains(t, err, "ck_r_naam")
		require.Equal(t, []backend.Outcome{backend.Unexpected}, x.calls.all)
	})
}

// TestIndexesOfAPart are those of PostgreSQL over some rows, and over expressions: of
// these no column is told.
func TestIndexesOfAPart(t *testing.T) {
	x := strict(t, "postgres", "gateway", "")
	for _, statement := range []string{"CREATE UNIQUE INDEX ux_r_land ON r_rel (land) WHERE adm = 1", "CREATE UNIQUE INDEX ux_r_naam ON r_rel (lower(naam))"} {
		x.exec(statement)
	}
	x.look(t.Context())
	x.create(one, x.record("contact", "name", "New", "language", "nl"))
	_, err := x.tryCreate(one, x.record("contact", "name", "Newer", "language", "nl"))
	requireTold(t, err, mapping.DuplicateValue, []string{"language", "nl"})
	_, err = x.tryCreate(one, x.record("contact", "name", "NEW"))
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
	require.ErrorContains(t, err, "ux_r_naam")
	require.NotContains(t, x.calls.all, backend.Busy)
}

// programs are triggers whose own statements fail: of a text that a log has no room for,
// of a value that is none of the client's, of a reference.
var programs = map[string][]string{
	"postgres": {
		"CREATE TABLE r_audit (naam varchar(2), nota varchar(2))",
		`CREATE FUNCTION r_program() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
			IF NEW.naam = ''log'' THEN INSERT INTO r_audit (naam) VALUES (NEW.naam); END IF;
			IF NEW.nota = ''sum'' THEN PERFORM CAST(70000 AS smallint); END IF;
			IF NEW.nota = ''say'' THEN RAISE EXCEPTION ''no'' USING ERRCODE = ''22003'', TABLE = ''r_rel'', COLUMN = ''nota''; END IF;
			RETURN NEW; END'`,
		"CREATE FUNCTION r_refer() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no'' USING ERRCODE = ''23503''; END'",
		"CREATE TRIGGER r_program BEFORE UPDATE ON r_rel FOR EACH ROW EXECUTE FUNCTION r_program()",
		"CREATE TRIGGER r_refer BEFORE INSERT ON r_ord FOR EACH ROW EXECUTE FUNCTION r_refer()",
	},
	"mariadb": {
		"CREATE TABLE r_audit (naam varchar(2), nota date)",
		`CREATE TRIGGER r_program BEFORE UPDATE ON r_rel FOR EACH ROW BEGIN
			IF NEW.naam = 'log' THEN INSERT INTO r_audit (naam) VALUES (NEW.naam); END IF;
			IF NEW.nota = 'sum' THEN INSERT INTO r_audit (nota) VALUES (NEW.nota); END IF;
		END`,
		"CREATE TRIGGER r_refer BEFORE INSERT ON r_ord FOR EACH ROW SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1452, MESSAGE_TEXT = 'no'",
	},
	"sqlite": {
		"CREATE TABLE r_audit (naam text CHECK (length(naam) <= 2), nota text CHECK (length(nota) <= 2), ord integer REFERENCES r_ord (id)) STRICT",
		"CREATE TRIGGER r_log BEFORE UPDATE ON r_rel WHEN NEW.naam = 'log' BEGIN INSERT INTO r_audit (naam) VALUES (NEW.naam); END",
		"CREATE TRIGGER r_sum BEFORE UPDATE ON r_rel WHEN NEW.nota = 'sum' BEGIN INSERT INTO r_audit (nota) VALUES (NEW.nota); END",
		"CREATE TRIGGER r_refer BEFORE INSERT ON r_ord BEGIN INSERT INTO r_audit (ord) VALUES (0); END",
	},
}

// TestWhatProgramsRefuse: before, the only field that was sent was said to be wrong, or
// the one whose column is named as another table's is.
func TestWhatProgramsRefuse(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := strict(t, engine, "gateway", "", programs[engine]...)
		unexpected := func(err error) {
			t.Helper()
			require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
		}
		_, err := x.tryUpdate(one, 1, x.record("contact", "name", "log"))
		unexpected(err)
		_, err = x.tryUpdate(one, 1, x.record("contact", "note", "sum"))
		unexpected(err)
		_, err = x.tryCreate(one, x.record("order", "contact_id", "3"))
		unexpected(err)
		require.Equal(t, []backend.Outcome{backend.Unexpected, backend.Unexpected, backend.Unexpected}, x.calls.all)
		if engine == "postgres" { // where a program can name the column
			_, err := x.tryUpdate(one, 1, x.record("contact", "name", "Else", "note", "say"))
			requireTold(t, err, mapping.VarcharInvalid, []string{"note", "say"})
		}
		x.update(one, 1, x.record("contact", "note", "fine"))
	})
}

// TestWhatIsCheckedAtTheCommit is told as what is checked at once.
func TestWhatIsCheckedAtTheCommit(t *testing.T) {
	for _, engine := range []string{"postgres", "sqlite"} {
		t.Run(engine, func(t *testing.T) {
			x := strict(t, engine, "backend", "", map[string][]string{
				"postgres": {"ALTER TABLE r_rel DROP CONSTRAINT uq_r_kvk", "ALTER TABLE r_rel ADD CONSTRAINT uq_r_kvk UNIQUE (adm, kvk) DEFERRABLE INITIALLY DEFERRED", "ALTER TABLE r_ord ALTER CONSTRAINT fk_r_ord DEFERRABLE INITIALLY DEFERRED"},
				"sqlite":   {"DROP TABLE r_lijn", "DROP TABLE r_ord", "CREATE TABLE r_ord (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, rel integer NOT NULL REFERENCES r_rel (id) DEFERRABLE INITIALLY DEFERRED)", "CREATE TABLE r_lijn (id integer NOT NULL PRIMARY KEY, ord integer, oms varchar(40), aantal integer, prijs integer)"},
			}[engine]...)
			_, err := x.tryCreate(one, x.record("order", "contact_id", "99"))
			requireTold(t, err, mapping.RelatedIDNotFound, []string{"contact_id", "99"})
			if engine == "postgres" {
				_, err := x.tryUpdate(one, 1, x.record("contact", "company_number", "22"))
				requireTold(t, err, mapping.DuplicateValue, []string{"company_number", "22"})
			}
			require.NotContains(t, x.calls.all, backend.Unexpected)
		})
	}
}
