package mapping_test

import (
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

func TestInterfaceRows(t *testing.T) {
	rows := interfaceRows(t)
	perTable, messages := map[string]int{}, map[string]bool{}
	for _, r := range rows {
		perTable[r.table]++
		messages[r.message] = true
	}
	assert.Len(t, rows, 100, "one per row of the tables, also where a row repeats a message of another table")
	assert.Len(t, messages, 64, "texts that differ in any character")
	assert.Equal(t, map[string]int{
		"General (all methods)": 5, "POST (add one)": 18, "GET (single record)": 4, "PUT (update one)": 23,
		"GET (multiple records)": 4, "DELETE": 5, "Endpoint-specific errors": 41,
	}, perTable)
}

func TestCatalogueHoldsInterface(t *testing.T) {
	c := mapping.NewCatalogue()
	documented := map[string]mapping.Entry{}
	for _, e := range c.Entries() {
		if c.Documented(e) {
			key := string(e.Scope) + " " + string(e.Reason)
			assert.NotContains(t, documented, key, "two entries for one scope and reason")
			documented[key] = e
		}
	}
	met := map[string]bool{}
	for _, row := range interfaceRows(t) {
		message := row.message
		if message == dutchRow {
			message = dutchMessage
		}
		for _, code := range row.codes {
			key := string(row.scope) + " " + code
			e, ok := documented[key]
			if !assert.Truef(t, ok, "no entry for row %q of %s %s", row.reason, row.table, row.endpoint) {
				continue
			}
			met[key] = true
			assert.Equalf(t, row.status, e.Status, "status of %s", key)
			assert.Equalf(t, message, e.Message, "message of %s", key)
		}
	}
	for key := range documented {
		assert.Containsf(t, met, key, "an entry that is no row of the interface")
	}
	assert.Len(t, documented, 103, "four rows stand for two reasons, two rows share one")
}

// TestCatalogueOrder holds the entries to the order of the interface's rows:
// it is the order in which violations are answered.
func TestCatalogueOrder(t *testing.T) {
	c := mapping.NewCatalogue()
	var want, got []string
	for _, row := range interfaceRows(t) {
		for _, code := range row.codes {
			if key := string(row.scope) + " " + code; !slices.Contains(want, key) {
				want = append(want, key)
			}
		}
	}
	for _, e := range c.Entries() {
		if c.Documented(e) {
			got = append(got, string(e.Scope)+" "+string(e.Reason))
		}
	}
	assert.Empty(t, cmp.Diff(want, got), "order (-interface +catalogue)")
}

func TestLookup(t *testing.T) {
	tests := []struct {
		name    string
		reason  mapping.Reason
		scopes  []mapping.Scope
		status  int
		message string
	}{
		{"the scope's own row", mapping.PrimaryIDInvalid, []mapping.Scope{mapping.OpGet}, 403, "Primary ID is invalid"},
		{"another scope's words", mapping.PrimaryIDInvalid, []mapping.Scope{mapping.OpUpdate}, 400, "Primary ID is not an valid ID"},
		{"value on POST", mapping.DuplicateValue, []mapping.Scope{mapping.OpCreate}, 409, "Field: <x> value: <x> has a duplicate illegal value"},
		{"Value on PUT", mapping.DuplicateValue, []mapping.Scope{mapping.OpUpdate}, 409, "Field: <x> Value: <x> has a duplicate illegal value"},
		{"system record on PUT", mapping.SystemRecord, []mapping.Scope{mapping.OpUpdate}, 409, "This is a system record, fields cannot be changed"},
		{"system-record on DELETE", mapping.SystemRecord, []mapping.Scope{mapping.OpDelete}, 409, "This is a system-record, record cannot be deleted"},
		{"the first scope wins", mapping.TokenInvalid, []mapping.Scope{"GET /authenticate/logout", mapping.OpGet}, 200, "Not authorized"},
		{"fingerprint without a login", mapping.NotLoggedIn, []mapping.Scope{"GET /authenticate/fingerprint"}, 401, "Missing authorization"},
		{"forgotpassword", mapping.NotLoggedIn, []mapping.Scope{"POST /authenticate/forgotpassword"}, 401, "Token invalid"},
		{"an endpoint without a row", mapping.TokenInvalid, []mapping.Scope{"GET /order", mapping.OpList}, 401, "Not authorized"},
		{"a POST row on PUT", mapping.ByteaInvalid, []mapping.Scope{mapping.OpUpdate}, 403, "Field: <x> has an invalid value: <x> for datatype: bytea"},
		{"a datatype row in a list", mapping.Int4Invalid, []mapping.Scope{mapping.OpList}, 403, "Field: <x> has an invalid value: <x> for datatype: int4"},
		{"the contract's own", mapping.PageSizeInvalid, []mapping.Scope{mapping.OpList}, 400, "Parameter invalid page_size value must be from 1 to <x>"},
		{"no such reason", "no_such_reason", nil, 500, "Internal server error"},
	}
	c := mapping.NewCatalogue()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := c.Lookup(tt.reason, tt.scopes...)
			assert.Equal(t, tt.status, e.Status)
			assert.Equal(t, tt.message, e.Message)
		})
	}
}

func TestWord(t *testing.T) {
	tests := []struct {
		name  string
		err   *mapping.Error
		scope mapping.Scope
		want  string
		field string
	}{
		{"nothing to fill in", mapping.Fail(mapping.EmptyBody), mapping.OpCreate, "Empty body", ""},
		{"a field", mapping.Fail(mapping.FieldNotInModel, "colour"), mapping.OpCreate, "Field: colour not found in model", "colour"},
		{"four values", mapping.Fail(mapping.DateNotAfter, "a", "1", "b", "2"), mapping.OpCreate, "Field: a value: 1 date must be after Field: b value: 2", "a"},
		{"two values of no field", mapping.Fail(mapping.MethodUnsupported, "PATCH", "/order"), mapping.General, "Method: PATCH not supported for endpoint: /order", ""},
		{"a list of one", mapping.Fail(mapping.ParametersRequired, "id"), mapping.OpGet, "These parameter(s): id are required", ""},
		{"a list of two", mapping.Fail(mapping.ParametersRequired, "username", "password"), mapping.General, "These parameter(s): username , password are required", ""},
		{"a list of three", mapping.Fail(mapping.ParametersRequired, "a", "b", "c"), mapping.OpList, "These parameter(s): a , b , c are required", ""},
		{"the vendor", mapping.Fail(mapping.ExternalUser, "Example"), "GET /authenticate", "An external user cannot login, contact the Example servicedesk", ""},
		{"the Dutch one", mapping.Fail(mapping.EmailMissing, "noemail"), "GET /authenticate", "Er is geen e-mailadres bekend voor gebruiker: noemail", ""},
		{"a field the message names", mapping.Fail(mapping.PreferredEmailNotAllowed), "/contactcommunication", "Field: is_prefered_email value: 1 is not alowed", "is_prefered_email"},
		{"a field without the word", mapping.Fail(mapping.CannotUpdate, "orderlines"), mapping.OpUpdate, "Cannot update orderlines", "orderlines"},
		{"numbers", mapping.Fail(mapping.VarcharTooLong, mapping.Literal("reference"), 51, 50), mapping.OpCreate, "Field: reference valuelength: 51 too long for datatype: varchar: 50", "reference"},
		{"type and limit", mapping.Fail(mapping.AddressPartTooLong, "Huisnummer", 11, "varchar", 10), "GET /contact/checkaddress", "Field: Huisnummer valuelength: 11 too long for type varchar (10)", "Huisnummer"},
		{"an order's status", mapping.Fail(mapping.StatusForbidsChange, "order_status", "invoiced"), "/order", "order_status is invoiced, cannot add/update/delete", ""},
		{"a value that looks like a placeholder", mapping.Fail(mapping.RecordNotFound, "id", "<x> <vendor>"), mapping.OpGet, "Field: id value: <x> <vendor> not found", "id"},
	}
	c := mapping.NewCatalogue()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := c.Lookup(tt.err.Reason, tt.scope)
			assert.Equal(t, tt.want, e.Word(tt.err.Args))
			assert.Equal(t, tt.field, e.Field(tt.err.Args))
		})
	}
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
}

// TestSortPutsOwnRowsFirst keeps rows that another table lends to an operation
// behind the operation's own.
func TestSortPutsOwnRowsFirst(t *testing.T) {
	v := mapping.Violations{
		mapping.Fail(mapping.ByteaInvalid, "content", "x"),
		mapping.Fail(mapping.FieldNotInModel, "colour"),
	}
	mapping.NewCatalogue().Sort(v, mapping.OpUpdate)
	assert.Equal(t, "field_not_in_model: colour; bytea_invalid: content, x", v.Error())
}
