package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

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
	x := scripted(t, "unfit.txt", "values that only the database judges").open(t, "mariadb")
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

// TestFiltersOfOtherLetters: no record has letters that the column's character set lacks, and within
// a transaction, which ends where they cannot be read, they are told as what cannot be written either.
func TestFiltersOfOtherLetters(t *testing.T) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) {
			x := scripted(t, "unfit.txt", "letters that are looked for").open(t, engine)
			x.exec("INSERT INTO n_art VALUES (1, 'één', '1'), (2, 'two', '2')")
			article := x.model.Resource("article")
			for texts, found := range map[string]int{"✓": 0, "✓ één": 1, "één two": 2} {
				f := backend.Filter{Field: article.Field("description"), Op: mapping.AnyOf}
				for _, text := range strings.Fields(texts) {
					f.Values = append(f.Values, mapping.TextValue(text))
				}
				if len(f.Values) == 1 {
					f = backend.Filter{Field: f.Field, Value: f.Values[0]}
				}
				q := backend.Query{Client: one, Filters: []backend.Filter{f}, Total: true}
				page, err := x.List(t.Context(), article, q)
				require.NoError(t, err)
				require.Len(t, page.Records, found)
				require.EqualValues(t, found, page.Total)
				err = x.Write(t.Context(), func(tx backend.Tx) error {
					page, err := tx.List(t.Context(), article, q)
					require.True(t, err != nil || len(page.Records) == found)
					return err
				})
				require.Equal(t, strings.Contains(texts, "✓"), mapping.Is(err, mapping.VarcharInvalid), "%v", err)
				require.True(t, err == nil || strings.Contains(texts, "✓"), "%v", err)
			}
		})
	}
}
