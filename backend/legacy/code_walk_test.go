package legacy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// codedFields are ways to read columns whose rows have null, an empty text or a code.
var codedFields = map[string]string{
	"language":       `{from: taal, codes: {D: de, N: nl}, empty: "null", readonly: true}`,
	"first_name":     `{from: taal, codes: {D: x, N: a}, empty: "null", readonly: true}`,
	"infix":          `{from: taal, codes: {D: de, N: nl, "": null}, readonly: true}`,
	"initials":       `{from: taal, codes: {D: de, N: nl}, zero: "", readonly: true}`,
	"vat_number":     `{from: taal, codes: {D: de, N: nl}, unknown: "null", empty: "null", readonly: true}`,
	"company_number": `{from: taal, codes: {D: de, N: nl}, unknown: {value: m}, empty: "null", readonly: true}`,
	"note":           `{from: cijfer, codes: {0: de, 1: nl}, empty: "null", readonly: true}`,
	"number":         `{from: wijd, codes: {D: de, N: nl}, trim: right, empty: "null", readonly: true}`,
}

// TestDrawnWalksOfCodes: a list sorted by codes has the records of one value together and by their IDs, whatever the
// database has for it. Before, empty texts that show as null came behind all nulls.
func TestDrawnWalksOfCodes(t *testing.T) {
	fields := "kind: {constant: person}, name: {constant: x}"
	for _, name := range slices.Sorted(maps.Keys(codedFields)) {
		fields += ", " + name + ": " + codedFields[name]
	}
	eachEngine(t, func(t *testing.T, engine string) {
		draw := rand.New(rand.NewPCG(3, 13))
		statements := []string{"CREATE TABLE v_taal (nr integer NOT NULL PRIMARY KEY, taal varchar(4), wijd varchar(4), cijfer integer)"}
		for n := range 40 {
			code := []string{"NULL", "''", "'D'", "'N'"}[draw.IntN(4)]
			wide := strings.Replace(code, "''", "'"+strings.Repeat(" ", draw.IntN(3))+"'", 1)
			statements = append(statements, fmt.Sprintf("INSERT INTO v_taal VALUES (%d, %s, %s, %s)", n+1, code, wide, []string{"NULL", "0", "1"}[draw.IntN(3)]))
		}
		x, _, _ := onTables(t, engine, fmt.Sprintf(shownSheet, engine)+`
  contact:
    table: v_taal
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list]}
    fields: {`+fields+"}\n", statements...)
		for name := range codedFields {
			x.walksInOrder(x.model.Resource("contact").Field(name))
		}
	})
}

// walksInOrder reads all contacts page by page, up and down by a field, and compares them with what the field shows.
func (x *fixture) walksInOrder(f *mapping.Field) {
	x.t.Helper()
	const size = 7
	for _, descending := range []bool{false, true} {
		want := x.all(one, "contact")
		slices.SortStableFunc(want, func(a, b mapping.Record) int {
			c := compareTexts(a.Values[f.Index], b.Values[f.Index])
			if descending {
				c = -c
			}
			return c
		})
		var walked []int32
		for more := true; more; {
			page := x.list(backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: descending}}, Limit: size, Offset: len(walked)}, "contact")
			walked, more = append(walked, ids(page.Records)...), page.More
		}
		require.Equal(x.t, ids(want), walked, "%s, descending %t", f.Name, descending)
	}
}

// compareTexts orders two texts of clients, of which null is the least.
func compareTexts(a, b mapping.Value) int {
	if !a.IsSet() || !b.IsSet() {
		return b2i(a.IsSet()) - b2i(b.IsSet())
	}
	return strings.Compare(a.Text(), b.Text())
}
