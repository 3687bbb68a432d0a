package legacy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// unfitTable has columns of types that not every value is of, one that has to have a
// value, and conditions of one column, with a name and without, and of two.
func unfitTable(engine string) []string {
	types := map[string][]any{
		"postgres": {"uuid", "u_soort", "date", "boolean"},
		"mariadb":  {"uuid", "enum('auto', 'fiets')", "date", "tinyint"},
		"sqlite":   {"text", "text CHECK (soort IN ('auto', 'fiets'))", "text CHECK (date(dag) IS dag)", "integer CHECK (vlag IN (0, 1))"},
	}[engine]
	statements := []string{fmt.Sprintf(`CREATE TABLE u_rel (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL, guid %s, soort %s, dag %s, vlag %s,
		voor varchar(20) NOT NULL, initialen varchar(10), tussen varchar(10) CHECK (tussen <> 'YY'), btw varchar(20),
		CONSTRAINT ck_u_init CHECK (initialen <> 'XX'), CONSTRAINT ck_u_twee CHECK (btw <> naam))`, types...),
		"INSERT INTO u_rel (id, adm, naam, voor) VALUES (1, 1, 'One', 'A')"}
	if engine == "postgres" {
		return append([]string{"CREATE TYPE u_soort AS ENUM ('auto', 'fiets')"}, statements...)
	}
	return statements
}

// unfitTriggers do nothing that fails.
var unfitTriggers = map[string][]string{
	"postgres": {
		"CREATE FUNCTION u_none() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
		"CREATE TRIGGER u_none BEFORE INSERT OR UPDATE ON u_rel FOR EACH ROW EXECUTE FUNCTION u_none()",
	},
	"mariadb": {"CREATE TRIGGER u_new BEFORE INSERT ON u_rel FOR EACH ROW SET @u = 1", "CREATE TRIGGER u_none BEFORE UPDATE ON u_rel FOR EACH ROW SET @u = 1"},
	"sqlite":  {"CREATE TRIGGER u_new AFTER INSERT ON u_rel BEGIN SELECT 1; END", "CREATE TRIGGER u_none AFTER UPDATE ON u_rel BEGIN SELECT 1; END"},
}

const unfitSheet = `client: adm
resources:
  contact:
    table: u_rel
    key: {columns: id, generated: max+1}
    fields:
      kind: {constant: person}
      name: naam
      note: guid
      company_number: soort
      language: dag
      payment_days: vlag
      first_name: voor
      initials: initialen
      infix: tussen
      vat_number: btw
`

// unfitValues are what the database refuses of each field. Where its table has triggers,
// only these engines still tell it beyond doubt.
var unfitValues = []struct {
	name           string
	field, value   string
	create, update mapping.Reason
	without        string // engines that take it
	triggers       string
}{
	{"no uuid", "note", "abc", mapping.VarcharInvalid, mapping.VarcharInvalid, "sqlite", "postgres mariadb"},
	{"none of the enumeration", "company_number", "trein", mapping.VarcharInvalid, mapping.VarcharInvalid, "", "postgres mariadb"},
	{"no date", "language", "2026-13-45", mapping.VarcharInvalid, mapping.VarcharInvalid, "", "postgres mariadb"},
	{"no boolean", "payment_days", "1000", mapping.Int4Invalid, mapping.Int4Invalid, "", "postgres mariadb"},
	{"null", "first_name", "null", mapping.FieldRequired, mapping.FieldEmpty, "", "postgres sqlite mariadb"},
	{"a condition", "initials", "XX", mapping.VarcharInvalid, mapping.VarcharInvalid, "", "mariadb"},
	{"a condition without a name", "infix", "YY", mapping.VarcharInvalid, mapping.VarcharInvalid, "", "mariadb"},
	{"a condition of two", "vat_number", "One", mapping.InternalError, mapping.InternalError, "", ""},
	{"letters", "initials", "✓", mapping.VarcharInvalid, mapping.VarcharInvalid, "postgres sqlite", "mariadb"},
}

// requireUnfit wants a field to be told of, or nothing.
func requireUnfit(t *testing.T, err error, reason mapping.Reason, field, value string) {
	t.Helper()
	switch reason {
	case mapping.InternalError:
		require.True(t, mapping.Is(err, reason), "%v", err)
	case mapping.FieldRequired, mapping.FieldEmpty:
		requireTold(t, err, reason, []string{field})
	default:
		requireTold(t, err, reason, []string{field, value})
	}
}

// TestValuesThatOnlyTheDatabaseJudges: before, each was Internal server error, but for
// what MariaDB names the column of and SQLite a condition without a name. Where a table
// has triggers, nothing is told that may be what a statement of theirs met.
func TestValuesThatOnlyTheDatabaseJudges(t *testing.T) {
	for engine := range engines {
		for _, triggers := range []bool{false, true} {
			statements := unfitTable(engine)
			if triggers {
				statements = append(statements, unfitTriggers[engine]...)
			}
			t.Run(fmt.Sprintf("%s/triggers %t", engine, triggers), func(t *testing.T) {
				x := onTables(t, engine, unfitSheet, statements...)
				x.update(one, 1, x.record("contact", "note", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "company_number", "auto", "language", "2026-01-02",
					"payment_days", "1", "initials", "X", "infix", "Y", "vat_number", "Two"))
				for _, v := range unfitValues {
					if strings.Contains(v.without, engine) {
						continue
					}
					t.Log(v.name)
					create, update := v.create, v.update
					if triggers && !strings.Contains(v.triggers, engine) {
						create, update = mapping.InternalError, mapping.InternalError
					}
					x.calls.all = nil
					_, err := x.tryCreate(one, x.record("contact", "name", "One", "first_name", "B", v.field, v.value))
					requireUnfit(t, err, create, v.field, v.value)
					_, err = x.tryUpdate(one, 1, x.record("contact", v.field, v.value))
					requireUnfit(t, err, update, v.field, v.value)
					told := map[bool]backend.Outcome{true: backend.Unexpected, false: backend.Answered}[create == mapping.InternalError]
					require.Equal(t, []backend.Outcome{told, told}, x.calls.all)
				}
				x.create(one, x.record("contact", "name", "Next", "first_name", "C"))
				_, err := x.tryCreate(one, x.record("contact", "name", "Without"))
				requireUnfit(t, err, mapping.FieldRequired, "first_name", "")
				_, err = x.tryUpdate(one, 1, x.record("contact", "note", "abc", "company_number", "trein", "first_name", "D"))
				found, _ := mapping.AsViolations(err)
				require.Len(t, found, map[bool]int{true: 2, false: 1}[engine != "sqlite"], "%v", err) // each was tried
			})
		}
	}
}

// TestValuesBeyondTheirColumns: what is too long, or too large, is told of all fields at once,
// whatever programs run.
func TestValuesBeyondTheirColumns(t *testing.T) {
	for _, engine := range []string{"postgres", "mariadb"} {
		for _, triggers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/triggers %t", engine, triggers), func(t *testing.T) {
				bits, single := "bit(3)", "real"
				if engine == "mariadb" {
					bits, single = "varchar(3)", "float"
				}
				statements := []string{"CREATE TABLE u_rel (id integer NOT NULL PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL, voor varchar(5) NOT NULL, " +
					"guid char(4), soort smallint, dag " + bits + ", vlag smallint, initialen " + single + ", tussen numeric(5, 1), btw json)"}
				if triggers {
					statements = append(statements, unfitTriggers[engine]...)
				}
				x := onTables(t, engine, unfitSheet, statements...)
				values := []string{"name", "One", "first_name", "ABCDE", "note", "é234", "company_number", "-32768", "language", "101", "payment_days", "1", "initials", "1.5", "infix", "9999.94", "vat_number", "{}"}
				x.create(one, x.record("contact", values...))
				_, err := x.tryCreate(one, x.record("contact", "name", "Two", "first_name", "ABCDEF", "note", "é2345", "company_number", "32768", "language", "1011", "payment_days", "40000",
					"initials", "1e39", "infix", "99999", "vat_number", "{"))
				var told []string
				found, _ := mapping.AsViolations(err)
				for _, v := range found {
					told = append(told, v.Args[0]+" "+string(v.Reason))
				}
				want := []string{"company_number varchar_invalid", "first_name varchar_too_long", "infix varchar_invalid", "initials varchar_invalid", "language varchar_invalid", "note text_too_long", "payment_days int4_invalid", "vat_number varchar_invalid"}
				if engine == "mariadb" {
					want[4], want = "language varchar_too_long", want[:7] // whose json is a text with a condition
				}
				slices.Sort(told)
				require.Equal(t, want, told, "%v", err)
			})
		}
	}
}

// TestWhatTriggersMakeOfAValue: what a trigger puts in the place of a client's value is
// not the client's.
func TestWhatTriggersMakeOfAValue(t *testing.T) {
	for engine, trigger := range map[string][]string{
		"postgres": {
			"CREATE FUNCTION u_make() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.initialen := ''XX''; IF NEW.naam = ''empty'' THEN NEW.voor := NULL; END IF; RETURN NEW; END'",
			"CREATE TRIGGER u_make BEFORE UPDATE ON u_rel FOR EACH ROW EXECUTE FUNCTION u_make()",
		},
		"mariadb": {"CREATE TRIGGER u_make BEFORE UPDATE ON u_rel FOR EACH ROW BEGIN SET NEW.initialen = 'XX'; IF NEW.naam = 'empty' THEN SET NEW.voor = NULL; END IF; END"},
		"sqlite": {`CREATE TRIGGER u_make AFTER UPDATE OF naam ON u_rel BEGIN UPDATE u_rel SET voor = NULL WHERE id = NEW.id AND NEW.naam = 'empty'; END`,
			`CREATE TRIGGER u_form AFTER UPDATE OF initialen ON u_rel BEGIN UPDATE u_rel SET initialen = 'XX' WHERE id = NEW.id; END`},
	} {
		t.Run(engine, func(t *testing.T) {
			x := onTables(t, engine, unfitSheet, append(unfitTable(engine), trigger...)...)
			for _, fields := range [][]string{{"initials", "A"}, {"name", "empty"}, {"name", "empty", "first_name", "B"}} {
				_, err := x.tryUpdate(one, 1, x.record("contact", fields...))
				require.True(t, mapping.Is(err, mapping.InternalError), "%v: %v", fields, err)
			}
		})
	}
}

// TestWhatTriggersWriteElsewhere: what a trigger of MariaDB writes to another table may
// fail in words that fit a column, or a condition, of the client's own.
func TestWhatTriggersWriteElsewhere(t *testing.T) {
	tables := []string{
		"CREATE TABLE u_log (soort enum('bus'), voor varchar(20) NOT NULL DEFAULT '', initialen varchar(10), CONSTRAINT ck_u_init CHECK (initialen <> 'A'))",
		"CREATE DATABASE IF NOT EXISTS %[1]s_old",
		"CREATE TABLE %[1]s_old.u_rel (tussen date, initialen varchar(10), CONSTRAINT ck_u_init CHECK (initialen <> 'A'))",
	}
	cases := map[string]struct{ does, field, value string }{
		"another enumeration":                    {"INSERT INTO u_log (soort) VALUES (NEW.soort)", "company_number", "auto"},
		"none in another table":                  {"INSERT INTO u_log VALUES (NULL, NULL, NULL)", "name", "Two"},
		"none where there is one":                {"INSERT INTO u_log VALUES (NULL, NULL, NULL)", "first_name", "B"},
		"another condition of that name":         {"INSERT INTO u_log (initialen) VALUES (NEW.initialen)", "initials", "A"},
		"the table of that name":                 {"INSERT INTO %[1]s_old.u_rel (tussen) VALUES (NEW.tussen)", "infix", "Y"},
		"the condition of that table":            {"INSERT INTO %[1]s_old.u_rel VALUES (NULL, NEW.initialen)", "initials", "A"},
		"the condition, by no name":              {"INSERT INTO %[1]s_old.u_rel VALUES (NULL, 'A')", "initials", "A"},
		"the condition of its own, by a trigger": {"SET NEW.initialen = 'XX'", "initials", "A"},
	}
	x := onTables(t, "mariadb", unfitSheet, unfitTable("mariadb")...)
	known, err := x.inspect(t.Context())
	require.NoError(t, err)
	run := func(statements ...string) {
		for _, statement := range statements {
			x.exec(strings.ReplaceAll(statement, "%[1]s", known.Own))
		}
		x.look(t.Context())
	}
	run(tables...)
	defer run("DROP DATABASE %[1]s_old")
	for name, c := range cases {
		run("CREATE TRIGGER u_make BEFORE UPDATE ON u_rel FOR EACH ROW " + c.does)
		_, err = x.tryUpdate(one, 1, x.record("contact", c.field, c.value))
		require.True(t, mapping.Is(err, mapping.InternalError), "%s: %v", name, err)
		run("DROP TRIGGER u_make")
		x.update(one, 1, x.record("contact", c.field, c.value))
		run("DELETE FROM u_rel", "INSERT INTO u_rel (id, adm, naam, voor) VALUES (1, 1, 'One', 'A')")
	}
	// What is left out the column may fill by itself.
	run("ALTER TABLE u_rel ALTER voor SET DEFAULT 'A'", "CREATE TRIGGER u_make BEFORE INSERT ON u_rel FOR EACH ROW INSERT INTO u_log VALUES (NULL, NULL, NULL)")
	_, err = x.tryCreate(one, x.record("contact", "name", "Next"))
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
}

const lookedForSheet = `without_rules: []
resources:
  article: {table: n_art, key: {columns: id, generated: max+1}, client: "",
    fields: {number: nr, description: oms, article_kind: {constant: part}, unit_type: {constant: piece}, price: {absent: true}, turnover_group_id: {absent: true}}}
`

// TestValuesThatAreLookedForBeforeTheyAreWritten: whether a number is there already is
// asked within the transaction, which PostgreSQL ends where it cannot read it. Before, that
// was Internal server error.
func TestValuesThatAreLookedForBeforeTheyAreWritten(t *testing.T) {
	for name, c := range map[string]struct{ encoding, column, good, bad string }{
		"a uuid":       {"UTF8", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "abc"},
		"a date":       {"UTF8", "date", "2026-01-02", "2026-13-45"},
		"few letters":  {"LATIN1", "varchar(20)", "é", "✓"},
		"many letters": {"UTF8", "varchar(20)", "✓", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := sqltest.PostgresIn(t, c.encoding)
			x := onMade(t, "postgres", dsn, lookedForSheet, "CREATE TABLE n_art (id integer NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, nr "+c.column+")")
			made := x.create(one, x.record("article", "number", c.good, "description", "one"))
			_, err := x.tryCreate(one, x.record("article", "number", c.good, "description", "two"))
			requireTold(t, err, mapping.DuplicateValue, []string{"number", c.good})
			if c.bad == "" {
				return
			}
			_, err = x.tryCreate(one, x.record("article", "number", c.bad, "description", "two"))
			requireTold(t, err, mapping.VarcharInvalid, []string{"number", c.bad})
			_, err = x.tryUpdate(one, made.ID(), x.record("article", "number", c.bad))
			requireTold(t, err, mapping.VarcharInvalid, []string{"number", c.bad})
			require.Equal(t, []backend.Outcome{backend.Answered, backend.Answered, backend.Answered, backend.Answered}, x.calls.all)
		})
	}
}

// TestLettersOfAnotherEncoding: before, é of a database in LATIN1 was read as a byte that
// is no letter, and written as two letters.
func TestLettersOfAnotherEncoding(t *testing.T) {
	dsn := sqltest.PostgresIn(t, "LATIN1")
	x := onMade(t, "postgres", dsn, "accounts: {table: n_art, columns: {username: nr, password: oms, email: oms, client_id: id, client_name: oms}, hash: [bcrypt]}\n"+lookedForSheet,
		"CREATE TABLE n_art (id integer NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, nr varchar(20))", "INSERT INTO n_art VALUES (1, 'one', chr(233))")
	user, err := x.FindUser(t.Context(), "é")
	require.NoError(t, err)
	require.EqualValues(t, 1, user.Client.ID)
	_, err = x.FindUser(t.Context(), "✓")
	require.ErrorIs(t, err, auth.ErrUnknownUser)
	require.Equal(t, "é", x.get(one, "article", 1).Get("number").Text())
	x.create(one, x.record("article", "number", "ü", "description", "two"))
	require.Equal(t, "252", x.one("SELECT ascii(nr) FROM n_art WHERE id = 2"))
}

// TestFiltersOfOtherLetters: no record has letters that the column's character set lacks.
func TestFiltersOfOtherLetters(t *testing.T) {
	for engine, start := range map[string]func(testing.TB) string{"postgres": func(t testing.TB) string { return sqltest.PostgresIn(t, "LATIN1") }, "mariadb": engines["mariadb"]} {
		t.Run(engine, func(t *testing.T) {
			x := onMade(t, engine, start(t), lookedForSheet, "CREATE TABLE n_art (id integer NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, nr varchar(20))", "INSERT INTO n_art VALUES (1, 'één', '1'), (2, 'two', '2')")
			article := x.model.Resource("article")
			named := func(texts ...string) backend.Filter {
				f := backend.Filter{Field: article.Field("description"), Op: mapping.AnyOf}
				for _, text := range texts {
					f.Values = append(f.Values, mapping.TextValue(text))
				}
				return f
			}
			for _, c := range []struct {
				filter backend.Filter
				found  int
			}{{named("✓"), 0}, {named("✓", "één"), 1}, {named("één", "two"), 2}, {backend.Filter{Field: article.Field("description"), Value: mapping.TextValue("✓")}, 0}} {
				q := backend.Query{Client: one, Filters: []backend.Filter{c.filter}, Total: true}
				page, err := x.List(t.Context(), article, q)
				require.NoError(t, err)
				require.Len(t, page.Records, c.found)
				require.EqualValues(t, c.found, page.Total)
				err = x.Write(t.Context(), func(tx backend.Tx) error {
					page, err := tx.List(t.Context(), article, q)
					if err == nil {
						require.Len(t, page.Records, c.found)
					}
					return err
				})
				if slices.ContainsFunc(c.filter.Operands(), func(v mapping.Value) bool { return v.Text() == "✓" }) { // nor can it be written
					require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%v", err)
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
}
