package legacy

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// employeePrograms do all with employees, as a vendor would have them who lets nobody near the
// tables.
var employeePrograms = map[string][]string{
	"mariadb": {
		`CREATE PROCEDURE P_NIEUW (IN P_ADM INT, IN P_LOGIN VARCHAR(20), IN P_NAAM VARCHAR(40), OUT P_NR INT) BEGIN
			SELECT MAX(nr) + 1 INTO P_NR FROM p_mdw WHERE adm = P_ADM; INSERT INTO p_mdw (adm, nr, login, naam) VALUES (P_ADM, P_NR, P_LOGIN, P_NAAM); END`,
		`CREATE PROCEDURE P_NAAM (IN P_ADM INT, IN P_NR INT, INOUT P_NAAM VARCHAR(40), OUT P_KLAAR INT) BEGIN
			UPDATE p_mdw SET naam = P_NAAM WHERE adm = P_ADM AND nr = P_NR; SET P_KLAAR = 1; SELECT 'done'; END`,
		`CREATE PROCEDURE P_UIT (IN P_ADM INT, IN P_NR INT) BEGIN UPDATE p_mdw SET uit = 1 WHERE adm = P_ADM AND nr = P_NR; END`,
	},
	"postgres": {
		`CREATE FUNCTION p_mdws(p_adm bigint) RETURNS SETOF p_mdw LANGUAGE sql AS $$ SELECT * FROM p_mdw WHERE uit = 0 $$`, // forgets the client
		`CREATE FUNCTION p_nieuw(p_adm bigint, p_login text, p_naam text) RETURNS TABLE (mdwnr int) LANGUAGE sql AS $$
			INSERT INTO p_mdw (adm, nr, login, naam) SELECT p_adm, MAX(nr) + 1, p_login, p_naam FROM p_mdw WHERE adm = p_adm RETURNING nr $$`,
		`CREATE PROCEDURE p_naam(p_adm bigint, p_nr bigint, INOUT p_naam text, OUT p_klaar int) LANGUAGE plpgsql AS $$
			BEGIN UPDATE p_mdw SET naam = p_naam WHERE adm = p_adm AND nr = p_nr; p_klaar := 1; END $$`,
		`CREATE PROCEDURE p_uit(p_adm bigint, p_nr bigint) LANGUAGE sql AS $$ UPDATE p_mdw SET uit = 1 WHERE adm = p_adm AND nr = p_nr $$`,
	},
	"sqlite": nil,
}

const employeeSheet = `client: adm
without_rules: []
resources:
  employee:
    table: p_mdw
    key: {columns: nr}
    where: uit = 0
    STATEMENTS
    fields: {username: login, last_name: naam, job_title: functie, hourly_rate: {read: tarief / 100.0, write: {tarief: ":value * 100"}}}
`

// TestEveryOperationByStatements has the vendor's own programs do what clients ask, as far as the
// fields are theirs.
func TestEveryOperationByStatements(t *testing.T) {
	for engine, statements := range map[string]string{
		"mariadb": `create: ["CALL P_NIEUW(:client, :username, :last_name, @nr)", "SELECT @nr", update]
    update: ["SET @naam = :last_name", "CALL P_NAAM(:client, :key, @naam, @klaar)", default]
    delete: "CALL P_UIT(:client, :key)"`,
		"postgres": `read: "(SELECT * FROM p_mdws(1))"
    create: ["SELECT mdwnr FROM p_nieuw(:client, :username, :last_name)", update]
    update: ["CALL p_naam(:client, :key, :last_name, NULL)", default]
    delete: "CALL p_uit(:client, :key)"`,
		"sqlite": `create: ["INSERT INTO p_mdw (adm, nr, login, naam) SELECT :client, MAX(nr) + 1, :username, :last_name FROM p_mdw WHERE adm = :client RETURNING nr", update]
    delete: "UPDATE p_mdw SET uit = 1 WHERE adm = :client AND nr = :key"`,
	} {
		t.Run(engine, func(t *testing.T) {
			x := onTables(t, engine, strings.Replace(employeeSheet, "STATEMENTS", statements, 1), append([]string{
				"CREATE TABLE p_mdw (adm integer NOT NULL, nr integer NOT NULL, login varchar(20) NOT NULL, naam varchar(40) NOT NULL, functie varchar(20), tarief integer, uit integer NOT NULL DEFAULT 0, PRIMARY KEY (adm, nr))",
				"INSERT INTO p_mdw (adm, nr, login, naam, uit) VALUES (1, 1, 'a', 'An', 0), (1, 2, 'b', 'Bo', 1), (2, 7, 'c', 'Ce', 0)",
			}, employeePrograms[engine]...)...)
			require.Equal(t, []int32{1}, ids(x.list(one, "employee")), "whatever a program answers of other clients")
			made := x.create(one, x.record("employee", "username", "n.ieuw", "last_name", "Nieuw", "job_title", "Monteur"))
			require.EqualValues(t, 3, made.ID())
			require.Equal(t, "Monteur", made.Get("job_title").Text(), "what it was not told")
			changed := x.updated(one, 3, x.record("employee", "last_name", "Ouder", "hourly_rate", "40"))
			require.Equal(t, []string{"Ouder", "40"}, []string{changed.Get("last_name").Text(), changed.Get("hourly_rate").String()})
			require.NoError(t, x.tryDelete(one, "employee", 3))
			for _, id := range []int32{2, 3, 7} {
				_, err := x.tryGet(one, "employee", id)
				require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
				require.True(t, mapping.Is(x.tryDelete(one, "employee", id), mapping.RecordNotFound))
			}
			require.Equal(t, "2", x.one("SELECT SUM(uit) FROM p_mdw"))
		})
	}
}

// besideTables have more of a relation in rows of other tables, which refer to it, and its kind in
// two columns.
var besideTables = []string{
	"CREATE TABLE b_rel (adm integer NOT NULL, nr integer NOT NULL, naam varchar(40) NOT NULL, soort smallint NOT NULL, zak smallint NOT NULL, org varchar(20), keren integer, PRIMARY KEY (adm, nr))",
	"CREATE TABLE b_meer (adm integer NOT NULL, rel integer NOT NULL, memo varchar(10), vrij varchar(5) DEFAULT 'vrij', PRIMARY KEY (adm, rel), FOREIGN KEY (adm, rel) REFERENCES b_rel (adm, nr))",
	"CREATE TABLE b_na (naam varchar(40), nog integer)",
	"INSERT INTO b_rel (adm, nr, naam, soort, zak) VALUES (1, 1, 'Een', 8, 0), (1, 2, 'Twee', 100, 1), (1, 3, 'Drie', 2, 1), (2, 1, 'Zuid', 8, 0)",
	"INSERT INTO b_meer VALUES (1, 2, 'was', 'eigen'), (2, 1, 'zuid', NULL)",
}

const besideSheet = `keep: keep.db
client: adm
errors: ERRORS
resources:
  contact:
    table: b_rel
    key: {columns: [adm, nr], generated: max+1}
    constants: {org: "CONCAT(:client_name, ' (', :client, ')')"}
    create: CREATE
    update: UPDATE
    delete: DELETE
    fields:
      name: naam
      number: {column: org, readonly: true}
      payment_days: {column: keren, readonly: true}
      kind:
        read: CASE WHEN soort = 8 AND zak = 0 THEN 'person' ELSE 'company' END
        write: {soort: "CASE :value WHEN 'person' THEN 8 ELSE 100 END", zak: "CASE :value WHEN 'person' THEN 0 ELSE 1 END"}
        find: zak = CASE :value WHEN 'person' THEN 0 ELSE 1 END
      note: {read: "(SELECT memo FROM b_meer WHERE b_meer.adm = b_rel.adm AND rel = nr)"}
`

// upsert writes the note of a relation into the row beside it.
func upsert(engine string) string {
	into := "INSERT INTO b_meer (adm, rel, memo) VALUES (:client, :key.nr, :note) "
	if engine == "mariadb" {
		return into + "ON DUPLICATE KEY UPDATE memo = :note"
	}
	return into + "ON CONFLICT (adm, rel) DO UPDATE SET memo = :note"
}

func besideSheetOf(engine, errors string, create, update, remove []string) string {
	list := func(statements []string) string { return `["` + strings.Join(statements, `", "`) + `"]` }
	return strings.NewReplacer("ERRORS", errors, "CREATE", list(create), "UPDATE", list(update), "DELETE", list(remove)).Replace(besideSheet)
}

// TestRowsBeside writes values that stand in rows of another table, which are the record's own.
func TestRowsBeside(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		write := []string{"default", upsert(engine)}
		x := onTables(t, engine, besideSheetOf(engine, "[]", write, write, []string{"DELETE FROM b_meer WHERE adm = :client AND rel = :key.nr", "default"}), besideTables...)
		id := map[string]int32{}
		for _, rec := range x.list(one, "contact") {
			id[rec.Get("name").Text()] = rec.ID()
		}
		count := func() string { return x.one("SELECT COUNT(*) FROM b_meer") }
		memo := func(nr string) string { return x.one("SELECT memo FROM b_meer WHERE adm = 1 AND rel = " + nr) }

		require.Equal(t, "new", x.updated(one, id["Twee"], x.record("contact", "note", "new")).Get("note").Text())
		require.Equal(t, "eigen", x.one("SELECT vrij FROM b_meer WHERE adm = 1 AND rel = 2"), "what no statement names stays")
		x.update(one, id["Twee"], x.record("contact", "name", "Two"))
		require.Equal(t, "new", memo("2"), "a field that is not changed has its value")
		require.Equal(t, "first", x.updated(one, id["Een"], x.record("contact", "note", "first")).Get("note").Text())
		require.False(t, x.updated(one, id["Een"], x.record("contact", "note", "null")).Get("note").IsSet())
		require.Equal(t, "3", count(), "the row stays")

		made := x.create(one, x.record("contact", "kind", "person", "name", "Nieuw", "note", "made"))
		require.Equal(t, []string{"made", "one (1)"}, []string{made.Get("note").Text(), made.Get("number").Text()})
		require.Equal(t, []int32{made.ID()}, x.by("contact", "note", mapping.Equals, mapping.TextValue("made")))
		byNote := backend.Query{Client: one, Sort: []backend.Order{{Field: x.model.Resource("contact").Field("note"), Descending: true}}}
		require.Equal(t, []int32{id["Twee"], made.ID()}, ids(x.page(byNote, "contact").Records)[:2])

		_, err := x.tryUpdate(one, made.ID(), x.record("contact", "name", "Lost", "note", "longer than it can be"))
		if engine != "sqlite" { // whose columns have no length
			require.Error(t, err)
			require.Equal(t, "Nieuw", x.get(one, "contact", made.ID()).Get("name").Text(), "in one transaction")
		}
		require.NoError(t, x.tryDelete(one, "contact", made.ID()))
		require.Equal(t, "3", count(), "it went with the record")
		_, err = x.tryUpdate(two, id["Een"], x.record("contact", "note", "stolen"))
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
		require.Equal(t, "zuid", x.one("SELECT memo FROM b_meer WHERE adm = 2"), "of the same number of another client")
	})
}

// TestComputedInSQLAndWritten filters by, sorts by and writes a field of two columns.
func TestComputedInSQLAndWritten(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		own := []string{"default"}
		x := onTables(t, engine, strings.Replace(besideSheetOf(engine, "[]", own, own, own), "      note:", "      infix:", 1), besideTables...)
		kind := x.model.Resource("contact").Field("kind")
		of := func(value string) (names []string) {
			q := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: kind, Value: mapping.TextValue(value)}}, Sort: []backend.Order{{Field: kind}}}
			page := x.page(q, "contact")
			require.EqualValues(t, len(page.Records), page.Total)
			for _, rec := range page.Records {
				require.Equal(t, value, rec.Get("kind").Text())
				names = append(names, rec.Get("name").Text())
			}
			return names
		}
		require.Equal(t, []string{"Een"}, of("person"))
		require.Equal(t, []string{"Twee", "Drie"}, of("company"))
		for _, rec := range x.list(one, "contact") {
			x.update(one, rec.ID(), x.record("contact", "kind", rec.Get("kind").Text(), "name", rec.Get("name").Text()))
		}
		require.Equal(t, "2", x.one("SELECT soort FROM b_rel WHERE naam = 'Drie'"), "what does not change is not written")
		for _, rec := range x.list(one, "contact") {
			x.update(one, rec.ID(), x.record("contact", "kind", map[string]string{"person": "company", "company": "person"}[rec.Get("kind").Text()]))
		}
		require.Equal(t, []string{"Twee", "Drie"}, of("person"))
		require.Equal(t, []string{"Een"}, of("company"))
		require.Equal(t, "101", x.one("SELECT SUM(soort + zak) FROM b_rel WHERE naam = 'Een'"))
		x.create(one, x.record("contact", "kind", "person", "name", "Vier"))
		require.Equal(t, []string{"Twee", "Drie", "Vier"}, of("person"))
	})
}

// afterPrograms count how often they were called, and refuse.
var afterPrograms = map[string][]string{
	"mariadb": {
		`CREATE PROCEDURE B_NA (IN P_ADM INT, IN P_NR INT, IN P_NAAM VARCHAR(40), IN P_WAT VARCHAR(10)) BEGIN
			IF P_NAAM = 'Fout' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'B-07 naam'; END IF;
			UPDATE b_rel SET keren = COALESCE(keren, 0) + 1, org = P_WAT WHERE adm = P_ADM AND nr = P_NR; END`,
	},
	"postgres": {
		`CREATE PROCEDURE "B_NA"(p_adm bigint, p_nr bigint, p_naam text, p_wat text) LANGUAGE plpgsql AS $$ BEGIN
			IF p_naam = 'Fout' THEN RAISE EXCEPTION 'B-07 naam' USING ERRCODE = '45000'; END IF;
			UPDATE b_rel SET keren = COALESCE(keren, 0) + 1, org = p_wat WHERE adm = p_adm AND nr = p_nr; END $$`,
	},
}

// TestStatementsAfterAWrite see the record as it was written, and what they do, or refuse, is one
// with the write.
func TestStatementsAfterAWrite(t *testing.T) {
	for engine, programs := range afterPrograms {
		t.Run(engine, func(t *testing.T) {
			call := func(what string) []string {
				text := "CALL B_NA(:client, :key.nr, :name, '" + what + "')"
				if engine == "postgres" {
					text = strings.Replace(text, "B_NA", `\"B_NA\"`, 1)
				}
				return []string{"default", text, "INSERT INTO b_meer (adm, rel, memo) SELECT :client, :key.nr, 'x' WHERE :note IS NOT NULL"}
			}
			told := `[{when: {sqlstate: "45000", message: "^B-07 (\\w+)"}, reason: varchar_invalid, field_from: message}]`
			x := onTables(t, engine, besideSheetOf(engine, told, call("made"), call("changed"), []string{"default", "INSERT INTO b_na SELECT :name, COUNT(*) FROM b_rel WHERE naam = :name"}), slices.Concat(besideTables, programs)...)
			made := x.create(one, x.record("contact", "name", "Vier", "kind", "person"))
			require.Equal(t, []string{"made", "1"}, []string{made.Get("number").Text(), made.Get("payment_days").String()})
			changed := x.updated(one, made.ID(), x.record("contact", "name", "Vijf"))
			require.Equal(t, []string{"changed", "2"}, []string{changed.Get("number").Text(), changed.Get("payment_days").String()})
			_, err := x.tryCreate(one, x.record("contact", "name", "Fout", "kind", "person"))
			requireTold(t, err, mapping.VarcharInvalid, []string{"name", "Fout"})
			_, err = x.tryUpdate(one, made.ID(), x.record("contact", "name", "Fout"))
			requireTold(t, err, mapping.VarcharInvalid, []string{"name", "Fout"})
			require.Equal(t, "0", x.one("SELECT COUNT(*) FROM b_rel WHERE naam = 'Fout'"), "nothing of it stays")
			require.NoError(t, x.tryDelete(one, "contact", made.ID()))
			require.Equal(t, "0", x.one("SELECT nog FROM b_na WHERE naam = 'Vijf'"), "it came after the row had gone")
		})
	}
}
