package legacy

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// besideTables have more of a relation in rows of another table, which refer to it, and
// its kind in two columns.
var besideTables = []string{
	"CREATE TABLE b_rel (adm integer NOT NULL, nr integer NOT NULL, naam varchar(40) NOT NULL, soort smallint NOT NULL, zak smallint NOT NULL, org varchar(20), keren integer, PRIMARY KEY (adm, nr))",
	"CREATE TABLE b_meer (adm integer NOT NULL, rel integer NOT NULL, memo varchar(10), tv varchar(20), gram smallint, vrij varchar(5) DEFAULT 'vrij', PRIMARY KEY (adm, rel), FOREIGN KEY (adm, rel) REFERENCES b_rel (adm, nr))",
	"CREATE TABLE b_plus (adm integer NOT NULL, rel integer NOT NULL, dagen integer, vast integer NOT NULL DEFAULT 5, PRIMARY KEY (adm, rel))",
	"INSERT INTO b_rel (adm, nr, naam, soort, zak) VALUES (1, 1, 'Een', 8, 0), (1, 2, 'Twee', 100, 1), (1, 3, 'Drie', 2, 1), (2, 1, 'Zuid', 8, 0)",
	"INSERT INTO b_meer VALUES (1, 2, 'was', NULL, 3, 'eigen'), (2, 1, 'zuid', NULL, NULL, NULL)",
}

const besideSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
accounts: {users: []}
client: adm
resources:
  contact:
    table: b_rel
    key: {columns: [adm, nr], generated: max+1}
    constants: {org: "{client.name} ({client.id})"}
    fields:
      name: naam
      kind:
        sql: CASE WHEN soort = 8 AND zak = 0 THEN 'P' ELSE 'B' END
        codes: {P: person, B: company}
        set: {soort: "value == 'person' ? 8 : 100", zak: "value == 'person' ? 0 : 1"}
      note: {lookup: {table: b_meer, match: {adm: adm, rel: nr}, take: memo, write: true, delete: true}}
      infix: {lookup: {table: b_meer, match: {adm: adm, rel: nr}, take: tv, write: true}, empty: "null"}
      payment_days: {lookup: {table: b_plus, match: {adm: adm, rel: nr}, take: dagen, write: true}}
`

// TestRowsBeside writes values that stand in rows of other tables, which are the record's
// own: before, such a field could only be read.
func TestRowsBeside(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := onTables(t, engine, fmt.Sprintf(besideSheet, engine), besideTables...)
		id := map[string]int32{}
		for _, rec := range x.all(one, "contact") {
			id[rec.Get("name").Text()] = rec.ID()
		}
		count := func(table string) string { return x.row("SELECT COUNT(*) FROM " + table) }
		other := func() string { return x.row("SELECT memo FROM b_meer WHERE adm = 2") }

		changed := x.update(one, id["Twee"], x.record("contact", "note", "new"))
		require.Equal(t, "new", changed.Get("note").Text())
		require.Equal(t, "eigen", x.row("SELECT vrij FROM b_meer WHERE adm = 1 AND rel = 2"), "what the sheet does not name stays")
		require.Equal(t, "3", x.row("SELECT gram FROM b_meer WHERE adm = 1 AND rel = 2"))
		x.update(one, id["Een"], x.record("contact", "note", "null", "infix", "null", "name", "Eén"))
		require.Equal(t, "2", count("b_meer"), "no row of nulls is made")
		changed = x.update(one, id["Een"], x.record("contact", "infix", "van", "payment_days", "14"))
		require.Equal(t, []string{"van", "14", ""}, []string{changed.Get("infix").Text(), changed.Get("payment_days").String(), changed.Get("note").Text()})
		require.Equal(t, "5", x.row("SELECT vast FROM b_plus WHERE adm = 1 AND rel = 1"))
		require.False(t, x.update(one, id["Een"], x.record("contact", "infix", "null")).Get("infix").IsSet())
		require.Equal(t, "3", count("b_meer"), "the row stays")
		require.Equal(t, "zuid", other(), "of the same number of another client")

		made := x.create(one, x.record("contact", "kind", "person", "name", "Nieuw", "note", "made", "payment_days", "30"))
		require.Equal(t, []string{"made", "30"}, []string{made.Get("note").Text(), made.Get("payment_days").String()})
		require.Equal(t, "one (1)", x.row("SELECT org FROM b_rel WHERE naam = 'Nieuw'"), "the client in constants")
		plain := x.create(one, x.record("contact", "kind", "company", "name", "Kaal"))
		require.Equal(t, "4", count("b_meer"))

		_, err := x.tryUpdate(one, made.ID(), x.record("contact", "name", "Lost", "note", "longer than it can be"))
		if engine != "sqlite" { // whose columns have no length
			requireTold(t, err, mapping.TextTooLong, []string{"note", "21", "10"})
			require.Equal(t, "Nieuw", x.get(one, "contact", made.ID()).Get("name").Text(), "in one transaction")
		}
		require.NoError(t, x.tryDelete(one, "contact", made.ID()))
		require.NoError(t, x.tryDelete(one, "contact", plain.ID()))
		require.Equal(t, "3", count("b_meer"), "it went with the record")
		require.Equal(t, "2", count("b_plus"), "which the sheet does not say of this one")
		require.Equal(t, "zuid", other())
		_, err = x.tryUpdate(two, id["Een"], x.record("contact", "note", "stolen"))
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)

		_, err = x.tryCreate(auth.Client{ID: 1}, x.record("contact", "kind", "company", "name", "Nobody"))
		require.True(t, mapping.Is(err, mapping.InternalError), "a constant of the client's name, without one: %v", err)
	})
}

// TestComputedInSQLAndWritten filters by, sorts by and writes a field of two columns.
func TestComputedInSQLAndWritten(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := onTables(t, engine, fmt.Sprintf(besideSheet, engine), besideTables...)
		kind := x.model.Resource("contact").Field("kind")
		of := func(value string) (names []string) {
			q := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: kind, Value: mapping.TextValue(value)}}, Sort: []backend.Order{{Field: kind}}}
			page := x.list(q, "contact")
			require.EqualValues(t, len(page.Records), page.Total)
			for _, rec := range page.Records {
				require.Equal(t, value, rec.Get("kind").Text())
				names = append(names, rec.Get("name").Text())
			}
			return names
		}
		require.Equal(t, []string{"Een"}, of("person"))
		require.Equal(t, []string{"Twee", "Drie"}, of("company"))
		for _, rec := range x.all(one, "contact") {
			x.update(one, rec.ID(), x.record("contact", "kind", rec.Get("kind").Text(), "name", rec.Get("name").Text()))
		}
		require.Equal(t, "2", x.row("SELECT soort FROM b_rel WHERE naam = 'Drie'"), "what does not change is not written")
		for _, rec := range x.all(one, "contact") {
			x.update(one, rec.ID(), x.record("contact", "kind", map[string]string{"person": "company", "company": "person"}[rec.Get("kind").Text()]))
		}
		require.Equal(t, []string{"Twee", "Drie"}, of("person"))
		require.Equal(t, []string{"Een"}, of("company"))
		require.Equal(t, "101", x.row("SELECT SUM(soort + zak) FROM b_rel WHERE naam = 'Een'"))
		x.create(one, x.record("contact", "kind", "person", "name", "Vier"))
		require.Equal(t, []string{"Twee", "Drie", "Vier"}, of("person"))
	})
}

// TestRowsBesideOfEveryClient: a number that each client counts apart does not find the
// client's own row.
func TestRowsBesideOfEveryClient(t *testing.T) {
	dsn := engines["sqlite"](t)
	base := openOn(t, "sqlite", dsn)
	makeTables(t, base, besideTables...)
	require.NoError(t, base.Close())
	open := func(match string) error {
		text := strings.NewReplacer("columns: [adm, nr]", "columns: nr", "match: {adm: adm, rel: nr}", match).Replace(fmt.Sprintf(besideSheet, "sqlite"))
		c := newClock()
		s, err := Open(t.Context(), Options{Sheet: loadText(t, dsn, text, c.Now), IDStore: openIDStore(t, c.Now), Now: c.Now, Random: rand.Reader})
		if err == nil {
			require.NoError(t, s.Close())
		}
		return err
	}
	require.NoError(t, open("match: {adm: adm, rel: nr}"))
	require.ErrorContains(t, open("match: {rel: nr}"), "its row may be another client's: match adm too")
}
