package legacy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// vendorSheet has what InvoiceNinja's tables asked for: whoever makes a row is in it, one column is
// two fields of a resource that is only read, codes that not all rows have, rows with blanks.
const vendorSheet = `client: company_id
without_rules: [prefered_email, postcode]
resources:
  contact: {table: clients, key: {columns: id, generated: max+1}, constants: {user_id: ":user", made_by: ":username"},
    fields: {kind: {column: kind, codes: {P: person, C: company}}, name: name, note: notes}}
  employee: {table: users, key: {columns: id}, operations: {only: [get, list]},
    fields: {username: email, email: email, last_name: name}}
`

var vendorTables = []string{
	"CREATE TABLE clients (id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, kind VARCHAR(5), name VARCHAR(60), notes VARCHAR(60), user_id INTEGER NOT NULL, made_by VARCHAR(40) NOT NULL)",
	"INSERT INTO clients VALUES (1, 1, 'P', 'Jansen', NULL, 9, 'x'), (2, 1, 'NEW', 'de Wit', NULL, 9, 'x'), (3, 1, 'C', NULL, NULL, 9, 'x'), (4, 2, 'C', 'Zuid', NULL, 9, 'x'), (5, 1, 'C', 'Smit', NULL, 9, 'x')",
	"CREATE TABLE users (id INTEGER PRIMARY KEY, company_id INTEGER NOT NULL, email VARCHAR(60), name VARCHAR(60))", "INSERT INTO users VALUES (1, 1, 'anna@noord.nl', 'Anna')",
}

// TestWhoMakesARow (S1): constants know the user who asks.
func TestWhoMakesARow(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, vendorSheet, vendorTables...)
		type asks struct{}
		s, err := Open(t.Context(), Options{Sheet: x.sheet, IDStore: x.ids, Now: time.Now, Hasher: auth.NewHasher(), User: func(ctx context.Context) auth.User {
			user, _ := ctx.Value(asks{}).(auth.User)
			return user
		}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		front, err := backend.NewClient(s, x.model, backend.Options{Timeout: time.Hour})
		require.NoError(t, err)
		for _, user := range []auth.User{{ID: 41, Username: "anna'); --"}, {ID: 42, Username: "piet"}} {
			ctx := context.WithValue(t.Context(), asks{}, user)
			rec, err := front.Create(ctx, one, mapping.BodyOf(x.record("contact", "kind", "person", "name", "N")), backend.Write{})
			require.NoError(t, err)
			id := rec.Get("id").String()
			require.Equal(t, mapping.IntValue(user.ID).String(), x.one("SELECT user_id FROM clients WHERE id = "+id))
			require.Equal(t, user.Username, x.one("SELECT made_by FROM clients WHERE id = "+id))
		}
	})
}

// TestOneUnlistedCode (C6): a row with a code that nothing lists is left out and counted, whatever
// fields are asked for that can tell, and is in nobody's way.
func TestOneUnlistedCode(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, vendorSheet, vendorTables...)
		r := x.model.Resource("contact")
		for _, q := range []backend.Query{{Client: one}, {Client: one, Limit: 2}, {Client: one, After: 1}, {Client: one, Fields: []int{r.ID}}} {
			var ids []int32
			for after, more := q.After, true; more; {
				q.After = after
				page, err := x.front.List(t.Context(), r, q)
				require.NoError(t, err)
				for _, rec := range page.Records {
					ids, after = append(ids, rec.ID()), rec.ID()
				}
				more = page.More && len(page.Records) > 0
			}
			require.Subset(t, []int32{1, 3, 5, 2}, ids)
			require.Contains(t, ids, int32(5), "the walk goes on behind it")
		}
		require.Positive(t, x.LeftOut()[backend.Place{Resource: "contact", Field: "kind"}])
		_, err := x.front.Get(t.Context(), r, backend.Query{Client: one, ID: 2})
		require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
	})
}

// TestSheetsWithAnySQL: quotes, comments, casts and what looks like a parameter in SQL of a sheet are
// the SQL's, and no value of a client is ever read as SQL.
func TestSheetsWithAnySQL(t *testing.T) {
	text := strings.Replace(vendorSheet, "note: notes", `note: {read: "COALESCE(notes, 'it''s $1 :x ? -- not a comment')", write: {notes: ":value"}}, company_number: {read: "CASE WHEN 1 = 1 /* :client $2 ? ' */ THEN 'a' END -- to the end ?\n"}`, 1)
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, text, vendorTables...)
		require.Equal(t, "it's $1 :x ? -- not a comment", x.get(one, "contact", 1).Get("note").Text())
		require.Equal(t, "a", x.get(one, "contact", 1).Get("company_number").Text())
		r := x.model.Resource("contact")
		for _, hostile := range []string{"' OR 1=1 --", `\' OR 1=1 #`, "$1", "?", ":client", "%", "_", `\`, "''", "/*", "x'; DROP TABLE clients; --", "%' OR '1'='1", "\u00b4 OR 1=1"} {
			x.update(one, 1, x.record("contact", "note", hostile, "name", "N"+hostile))
			require.Equal(t, hostile, x.get(one, "contact", 1).Get("note").Text())
			for _, f := range []backend.Filter{
				{Field: r.Field("note"), Value: mapping.TextValue(hostile)}, {Field: r.Field("note"), Op: mapping.AnyOf, Values: []mapping.Value{mapping.TextValue(hostile)}},
				{Field: r.Field("name"), Op: mapping.Contains, Value: mapping.TextValue("N" + hostile)}, {Field: r.Field("name"), Value: mapping.TextValue("N" + hostile)},
			} {
				page, err := x.front.List(t.Context(), r, backend.Query{Client: one, Filters: []backend.Filter{f}, Total: true})
				require.NoError(t, err, "%q", hostile)
				require.Len(t, page.Records, 1, "%s %q", f.Op, hostile)
				require.Equal(t, int32(1), page.Records[0].ID())
				page, err = x.front.List(t.Context(), r, backend.Query{Client: two, Filters: []backend.Filter{f}, Total: true})
				require.NoError(t, err)
				require.Empty(t, page.Records)
				require.Zero(t, page.Total)
			}
		}
		require.Len(t, x.list(two, "contact"), 1)
	})
}

// TestPasswordsAreTheirs: frontdesk sets none, and says where users do.
func TestPasswordsAreTheirs(t *testing.T) {
	x := scripted(t, "accounts.txt", "logins by a table").open(t, "sqlite")
	require.Equal(t, "https://dealer.example/password", x.ForgotPassword())
	require.Error(t, x.SetPassword(t.Context(), "sanne", "x"))
	require.ErrorIs(t, x.Redeem(t.Context(), [32]byte{}, "x", time.Time{}), auth.ErrUnknownReset)
}

// TestFlagsOfUsers: whoever is blocked is so in whatever type the database says it.
func TestFlagsOfUsers(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "2": true, "-1": true, " 1": true, "true": true, "t": true, "TRUE": true, "0": false, "false": false, "f": false, "": false, "00": false} {
		require.Equal(t, want, isYes(mapping.TextValue(text)), "%q", text)
	}
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
