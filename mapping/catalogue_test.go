package mapping_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// interfaceRow is one line of testdata/interface_rows.tsv: a row of the error
// tables as the interface prints it, with the scope and the reason codes that
// this project gives it.
type interfaceRow struct {
	table, endpoint, reason string
	status                  int
	message                 string
	scope                   mapping.Scope
	codes                   []string
}

func interfaceRows(t *testing.T) []interfaceRow {
	t.Helper()
	src, err := os.ReadFile("testdata/interface_rows.tsv")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	require.Equal(t, "table\tendpoint\treason\tstatus\tmessage\tscope\tcodes", lines[0])
	var rows []interfaceRow
	for n, line := range lines[1:] {
		c := strings.Split(line, "\t")
		require.Lenf(t, c, 7, "line %d", n+2)
		status, err := strconv.Atoi(c[3])
		require.NoErrorf(t, err, "line %d", n+2)
		scope := mapping.Scope(c[5])
		if scope == "general" {
			scope = mapping.General
		}
		rows = append(rows, interfaceRow{c[0], c[1], c[2], status, c[4], scope, strings.Split(c[6], ",")})
	}
	return rows
}

// dutchRow is how the interface describes the one message it does not print,
// dutchMessage how that message reads.
const (
	dutchRow     = "Message in Dutch saying no e-mail address is known for the user id"
	dutchMessage = "Er is geen e-mailadres bekend voor gebruiker: <x>"
)

// TestCatalogueHoldsInterface: the entries are the rows of the interface, with their status and
// message, in their order, which is that in which violations are answered.
func TestCatalogueHoldsInterface(t *testing.T) {
	perTable, messages := map[string]int{}, map[string]bool{}
	var want, got []string
	for _, row := range interfaceRows(t) {
		perTable[row.table]++
		messages[row.message] = true
		if row.message == dutchRow {
			row.message = dutchMessage
		}
		for _, code := range row.codes {
			if line := fmt.Sprint(row.scope, " ", code, " ", row.status, " ", row.message); !slices.Contains(want, line) {
				want = append(want, line)
			}
		}
	}
	c := mapping.NewCatalogue()
	for _, e := range c.Entries() {
		if c.Documented(e) {
			got = append(got, fmt.Sprint(e.Scope, " ", e.Reason, " ", e.Status, " ", e.Message))
		}
	}
	assert.Empty(t, cmp.Diff(want, got), "(-interface +catalogue)")
	assert.Len(t, got, 103, "four rows stand for two reasons, two rows share one")
	assert.Len(t, messages, 64, "texts that differ in any character")
	assert.Equal(t, map[string]int{
		"General (all methods)": 5, "POST (add one)": 18, "GET (single record)": 4, "PUT (update one)": 23,
		"GET (multiple records)": 4, "DELETE": 5, "Endpoint-specific errors": 41,
	}, perTable, "one per row of the tables, also where a row repeats a message of another table")
}

// TestSort follows the order of checks: rows in table order, one row's
// violations in the order they came in.
func TestSort(t *testing.T) {
	v := mapping.Violations{
		mapping.Fail(mapping.ValidationFailed, "kind", "x", "a|b"),
		mapping.Fail(mapping.Int4Invalid, "mileage", "x"),
		mapping.Fail(mapping.FieldRequired, "order_date"),
		mapping.Fail(mapping.FieldRequired, "kind"),
		mapping.Fail(mapping.FieldNotInModel, "colour"),
		mapping.Fail(mapping.FieldReadonly, "number"),
	}
	mapping.NewCatalogue().Sort(v, "POST /order", mapping.OpCreate)
	assert.Equal(t, "field_not_in_model: colour; field_readonly: number; field_required: order_date; "+
		"field_required: kind; int4_invalid: mileage, x; custom_validation_failed: kind, x, a|b",
		v.Error())

	v = mapping.Violations{mapping.Fail(mapping.ByteaInvalid, "content", "x"), mapping.Fail(mapping.FieldNotInModel, "colour")}
	mapping.NewCatalogue().Sort(v, mapping.OpUpdate)
	assert.Equal(t, "field_not_in_model: colour; bytea_invalid: content, x", v.Error(), "rows that another table lends come behind the operation's own")
}
