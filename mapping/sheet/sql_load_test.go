package sheet_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// columns are how a database has the mapped fields of a resource.
func columns(r *sheet.Resource) map[string]sheet.Column {
	all := map[string]sheet.Column{}
	for i, c := range r.SQL.Fields {
		if f := r.Fields[i].Field; !f.Primary && c.Constant.IsAbsent() {
			all[f.Name] = c
		}
	}
	return all
}

func plain(name string) sheet.Column {
	return sheet.Column{Names: []string{name}, Write: []sheet.Assign{{Column: name, SQL: ":value"}}}
}

func yesNo(stored string, shown int64) sheet.Code {
	return sheet.Code{Stored: stored, Plain: true, Shown: mapping.IntValue(shown)}
}

func TestLoadTables(t *testing.T) {
	s := load(t, "testdata/tables.yaml")
	contact := s.Resource("contact")
	code := func(stored, shown string) sheet.Code {
		return sheet.Code{Stored: stored, Plain: true, Shown: mapping.TextValue(shown)}
	}

	with := func(c sheet.Column, change func(*sheet.Column)) sheet.Column {
		change(&c)
		return c
	}
	assert.Equal(t, map[string]sheet.Column{
		"name": plain("NAAM"),
		"kind": with(plain("SRT"), func(c *sheet.Column) {
			c.Codes = []sheet.Code{code("P", "person"), code("B", "company"), code("X", "company"), {Stored: "", Shown: mapping.NullValue()}}
		}),
		"number":   {Read: "RTRIM(CODE)", Write: []sheet.Assign{{Column: "CODE", SQL: ":value"}}, Find: "CODE LIKE CONCAT(:value, '%')"},
		"initials": with(plain("VRLT"), func(c *sheet.Column) { c.EmptyIsNull = true }),
		"language": with(plain("TAAL"), func(c *sheet.Column) {
			c.Codes, c.UnknownIsNull = []sheet.Code{code("N", "nl"), code("D", "de"), code("E", "en")}, true
		}),
		"payment_days": with(plain("BETTRM"), func(c *sheet.Column) { c.Default = mapping.IntValue(14) }),
		"is_customer":  with(plain("KLANT"), func(c *sheet.Column) { c.Codes = []sheet.Code{yesNo("J", 1), yesNo("N", 0)} }),
		"note":         {Names: []string{"MEMO"}},
		"vat_number":   {Read: "(SELECT v FROM META WHERE nr = RELNR AND b = :client)", ByStatement: true},
		"birth_date": {
			Read:  "STR_TO_DATE(NULLIF(GEBDAT, '00000000'), '%Y%m%d')",
			Write: []sheet.Assign{{Column: "GEBDAT", SQL: "COALESCE(DATE_FORMAT(:value, '%Y%m%d'), '00000000')"}}, Ordered: true,
			Conversion: sheet.Conversion{Kind: sheet.KindDate, Zone: s.Location},
		},
		"created_at": with(plain("AANTS"), func(c *sheet.Column) { c.Kind, c.Zone, c.Stamp = sheet.KindEpoch, time.UTC, sheet.StampCreate }),
		"modified_at": {
			Read:  "TIMESTAMP(WIJDAT, WIJTIJD)",
			Write: []sheet.Assign{{Column: "WIJDAT", SQL: "DATE(:value)"}, {Column: "WIJTIJD", SQL: "TIME(:value)"}}, Conversion: sheet.Conversion{Zone: time.UTC}, Stamp: sheet.StampChange,
		},
	}, columns(contact))
	assert.Equal(t, mapping.IntValue(0), contact.SQL.Fields[contact.IsBlocked].Constant)
	assert.Equal(t, []sheet.Assign{{Column: "SOORT", SQL: "'W'"}, {Column: "DATUM", SQL: "CURRENT_DATE"}, {Column: "MDW", SQL: ":user"}, {Column: "WIE", SQL: ":username"}, {Column: "VAN", SQL: "CONCAT(:client, :client_name)"}}, contact.SQL.Constants)
	assert.Equal(t, sheet.Expr{Column: "BEDRNR"}, contact.SQL.Client)
	assert.Equal(t, sheet.Expr{Column: "MUTNR"}, contact.SQL.Version)
	assert.Equal(t, []string{"default", "UPDATE META SET v = :vat_number WHERE nr = :key.RELNR"}, contact.SQL.Statements[mapping.OpUpdate])
	assert.Equal(t, "REL V_REL ALLEN max+1 BEDRNR RELNR", strings.Join(append([]string{contact.Table, contact.Read, contact.SystemClient, contact.Key.Generated}, contact.Key.Places...), " "))
	require.True(t, contact.Key.Kept && contact.Key.ByClient && contact.Key.IgnoresCase && !contact.IsShared())
	assert.Equal(t, "MUT NR", contact.Changes.Table+" "+contact.Changes.Sequence)

	vehicle := s.Resource("vehicle")
	assert.Equal(t, sheet.Expr{SQL: "(SELECT BEDRNR FROM VESTIGING v WHERE v.NR = VESTNR)"}, vehicle.SQL.Client)
	assert.Equal(t, sheet.Expr{SQL: "MUTNR + :client"}, vehicle.SQL.Version)
	assert.Equal(t, "none", vehicle.SQL.Fields[vehicle.Field("publish_status").Index].Constant.Text())
	assert.Equal(t, []string{"0000-00-00", "1900-01-01"}, columns(vehicle)["apk_expiry_date"].Nulls)
	assert.EqualValues(t, []sheet.Assign{{Column: "INKPR", SQL: "ROUND(:value * 100)"}, {Column: "GEWIJZIGD", SQL: "'J'"}}, columns(vehicle)["purchase_price"].Write)
	require.True(t, !vehicle.IsShared() && !s.Supports(vehicle.Resource, mapping.OpDelete) && s.Supports(vehicle.Resource, mapping.OpUpdate))

	order := s.Resource("order")
	assert.Equal(t, []string{"CALL SP_NUMMER(:client, @n)", "SELECT @n"}, order.SQL.NewKey)
	assert.Equal(t, sheet.Column{Names: []string{"BEDRNR", "RELNR"}, Write: []sheet.Assign{{Column: "BEDRNR", SQL: ":value"}, {Column: "RELNR", SQL: ":value"}}, ByStatement: true}, columns(order)["contact_id"])
	assert.Equal(t, contact, order.Fields[order.Field("contact_id").Index].Target)
	assert.Equal(t, "contact_id sql", order.Through.Name+" "+order.Key.Generated)
	assert.Equal(t, plain("ORDNR"), columns(s.Resource("orderline"))["order_id"])
}

// TestClientsKept takes text for what identifies a client, where clients are kept.
func TestClientsKept(t *testing.T) {
	s := load(t, "testdata/tables.yaml")
	facts := s.Accounts.Facts
	require.True(t, s.ClientsKept && s.NeedsKeep())
	assert.Equal(t, []sheet.Column{
		{Conversion: sheet.Conversion{Constant: mapping.IntValue(1)}}, {Names: []string{"LOGIN"}}, {Names: []string{"WW"}}, {Read: "NULLIF(EMAIL, '')"}, {Names: []string{"BEDRNR"}},
		{Read: "(SELECT NAAM FROM BEDR WHERE BEDR.NR = BEDRNR)"},
		{Names: []string{"EXTERN"}, Conversion: sheet.Conversion{Codes: []sheet.Code{yesNo("J", 1), yesNo("N", 0)}}},
		{Names: []string{"GEBLOK"}, Conversion: sheet.Conversion{Codes: []sheet.Code{yesNo("J", 1), yesNo("N", 0)}}},
	}, facts)

	const users = `
format: 2
source: {sql: {engine: sqlite, dsn: "file:x.db"}}
keep: k.db
rules: backend
accounts: {CLIENTS users: [{username: jan, password_hash: $argon2id$x, client: {id: ID, name: Noord}}]}
resources: {contact: {table: REL, key: {columns: ID}, fields: {kind: {constant: person}, name: NAAM}}}
`
	of := func(clients, id string) sheet.User {
		return parse(t, strings.NewReplacer("CLIENTS", clients, "ID,", id+",").Replace(users)).Accounts.Users[0]
	}
	assert.Equal(t, "01", of("clients: kept,", `"01"`).ClientKey)
	assert.Equal(t, int64(7), of("", "7").Client.ID)
}

// TestFiltersOfTables leaves all comparisons to the database, but for those of IDs that it does
// not have.
func TestFiltersOfTables(t *testing.T) {
	s := load(t, "testdata/tables.yaml")
	for name, want := range map[string]mapping.Operators{"number": 0, "kind": 0, "language": 0, "birth_date": 0} {
		f := s.Model.Resource("contact").Field(name)
		assert.Equal(t, want, f.Unfiltered, name)
	}
	assert.NotZero(t, s.Model.Resource("order").Field("contact_id").Unfiltered)
	assert.False(t, s.Model.Resource("contact").Undated)
}

func parse(t *testing.T, src string) *sheet.Sheet {
	t.Helper()
	s, err := sheet.Parse("testdata/inline.yaml", []byte(src), model(t), options)
	require.NoError(t, err)
	return s
}
