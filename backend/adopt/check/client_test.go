package check

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const whoseSheet = `
format: 2
source: {sql: {engine: mariadb, dsn: "${DSN}"}}
keep: keep.db
client: adm
without_rules: [postcode, prefered_email]
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    fields: {kind: {constant: person}, name: name, birth_date: {read: "STR_TO_DATE(born, '%Y%m%d')", write: {born: "DATE_FORMAT(:value, '%Y%m%d')"}}}
  order:
    table: w_order
    read: w_orders
    key: {columns: id, generated: max+1}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  contactaddress:
    table: w_address
    key: {columns: id, generated: max+1}
    client: {through: contact_id}
    fields: {contact_id: contact, type: {constant: postal}, street: street, house_number: {constant: "1"}, postcode: {constant: "1"}, city: {constant: x}, country_id: {absent: true}}
  contactcommunication:
    table: w_address
    key: {columns: id, generated: max+1}
    client: ""
    where: "contact IN (SELECT id FROM w_contact WHERE adm = :client)"
    fields: {contact_id: contact, type: {constant: 1}, value: {column: street, codes: {A: a}}, modified_at: {read: "CONCAT(LEFT(born, 4), '-', SUBSTR(born, 5, 2), '-', RIGHT(born, 2))", write: {born: "DATE_FORMAT(:value, '%Y%m%d')"}}}
`

// TestWhoseRows: before, a sheet whose client is a column of the view alone passed
// the check and failed at every write, rows of nobody were not told of, and rows
// behind :client were looked at for no client at all.
func TestWhoseRows(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, contact int NOT NULL)",
		"CREATE VIEW w_orders AS SELECT o.id, o.contact, c.adm FROM w_order o JOIN w_contact c ON c.id = o.contact",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"INSERT INTO w_contact VALUES (1, 1, 'A', '20000101'), (2, 7, 'B', '20000101'), (3, NULL, 'C', '20000101')",
		"INSERT INTO w_address VALUES (1, 1, 'A', '20000101'), (2, 2, 'A', '20000199'), (3, 99, 'A', '20000101'), (4, 3, 'A', '20000101')")
	path := filepath.Join(t.TempDir(), "whose.yaml")
	require.NoError(t, os.WriteFile(path, []byte(whoseSheet), 0o600))
	report := checked(t, path, dsn)
	missing := report.has("sql.column-missing", "resources.order.client")
	require.Len(t, missing, 1, "%+v", report.Findings)
	require.Equal(t, "w_order has no column adm", missing[0].Seen)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(whoseSheet, "    read: w_orders\n", "    read: w_orders\n    operations: {only: [get, list]}\n", 1)), 0o600))
	report = checked(t, path, dsn)
	nobody := report.has("data.nobody", "resources.contact.client")
	require.Len(t, nobody, 1, words(t, report))
	require.Equal(t, "1 of 3 row(s) belong to no client that a user works for", nobody[0].Seen)
	nobody = report.has("data.nobody", "resources.contactaddress.client")
	require.Len(t, nobody, 1, words(t, report))
	require.Equal(t, "2 of 4 row(s) belong to no client that a user works for", nobody[0].Seen)
	unfit := report.has("data.unfit", "resources.contactcommunication.fields.modified_at")
	require.Len(t, unfit, 1, "%+v", report.Findings)
	require.Contains(t, unfit[0].Seen, "1 of 2 row(s)")
	require.Contains(t, strings.Join(report.Looked, "\n"), "contactcommunication: all 2 row(s)")
}

// TestUseBeyondTheSheet: before, foreign keys of tables that the sheet does not name were
// read and not told of, and clients learnt that the backend is unavailable.
func TestUseBeyondTheSheet(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	db := opened(t, dsn)
	execute(t, db,
		"CREATE TABLE w_contact (id int PRIMARY KEY, adm int, name varchar(100) NOT NULL, born varchar(8), KEY (adm, id))",
		"CREATE TABLE w_order (id int PRIMARY KEY, adm int, contact int NOT NULL, CONSTRAINT fk_order FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE VIEW w_orders AS SELECT * FROM w_order",
		"CREATE TABLE w_address (id int PRIMARY KEY, contact int NOT NULL, street varchar(100) NOT NULL, born varchar(8))",
		"CREATE TABLE w_memo (id int PRIMARY KEY, contact int, CONSTRAINT fk_memo FOREIGN KEY (contact) REFERENCES w_contact (id))",
		"CREATE TABLE w_log (id int PRIMARY KEY, contact int, CONSTRAINT fk_log FOREIGN KEY (contact) REFERENCES w_contact (id) ON DELETE SET NULL)")
	path := filepath.Join(t.TempDir(), "use.yaml")
	require.NoError(t, os.WriteFile(path, []byte(whoseSheet), 0o600))
	report := checked(t, path, dsn)
	found := report.has("sql.in-use", "resources.contact.table")
	require.Len(t, found, 1, "%+v", report.Findings)
	require.Equal(t, "fk_memo of w_memo refers to w_contact, and no resource is of it: clients are told of what it refers to that it is in use elsewhere", found[0].Seen)
	const entry = `{when: {code: "1451", constraint: fk_memo}, reason: in_use, at: NAME, on: [contact.delete]}`
	require.Equal(t, "say under errors what clients call it: "+entry, found[0].Remedy)

	said := "errors: [" + strings.Replace(entry, "NAME", "memo", 1) + "]\nresources:"
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(whoseSheet, "resources:", said, 1)), 0o600))
	require.Empty(t, checked(t, path, dsn).has("sql.in-use", "resources.contact.table"))
}

// TestAnswersThatDoNotTellWhoseTheyAre is of a service that leaves the client out of
// some answers, and of those of get.
func TestAnswersThatDoNotTellWhoseTheyAre(t *testing.T) {
	row := func(id int) map[string]any {
		out := map[string]any{"id": id, "name": "x"}
		if id < 3 {
			out["org"] = 1
		}
		return out
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = []any{row(1), row(2), row(3)}
		if r.URL.Path != "/c" {
			answer = map[string]any{"id": 1, "name": "x"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	report := checkedService(t, `
client: org
resources:
  contact:
    key: {columns: id}
    operations: {list: {path: /c}, get: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name}
`, server.URL)
	missing := report.has("http.client-missing", "resources.contact.client")
	require.Len(t, missing, 1, "%+v", report.Findings)
	require.Equal(t, "org is missing, or no number, in 1 of 3 answers, which are nobody's", missing[0].Seen)
	require.Equal(t, Warning, missing[0].Severity)
	require.Len(t, report.has("http.get", "resources.contact.operations"), 1, "%+v", report.Findings)
}

// checkedService is what a check says of a service.
func checkedService(t *testing.T, text, url string) *Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	const head = "format: 1\nsource: {http: {url: \"${URL}\"}}\nrules: backend\naccounts: {users: []}\n"
	require.NoError(t, os.WriteFile(path, []byte(head+text), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	s, err := sheet.Load(path, model, sheet.Options{Env: func(string) (string, bool) { return url, true }})
	require.NoError(t, err)
	store, err := remote.Open(remote.Options{Sheet: s, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	report, err := HTTP(t.Context(), store, auth.Client{ID: 1, Name: "one"}, Options{Sheet: s, Model: model})
	require.NoError(t, err)
	return report
}

// TestWhatListsDoNotHave: before, a list that leaves out the member that is filtered by
// answered nothing to that filter, and nobody was told; nor of one that is in another order
// than the sheet says.
func TestWhatListsDoNotHave(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `[{"id": 2, "first": "a"}, {"id": 1}, {"id": 3}]`
		if r.URL.Path != "/c" {
			answer = `{"id": 2, "name": "A", "first": "a", "memo": "m"}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	report := checkedService(t, `
resources:
  contact:
    key: {columns: id}
    client: ""
    order: [id]
    operations: {list: {path: /c, query: {name: "{filter.name}", first: "{filter.first_name}"}}, get: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name, first_name: first, note: memo}
`, server.URL)
	missing := report.has("http.filter-missing", "resources.contact.fields.name")
	require.Len(t, missing, 1, "%+v", report.Findings)
	require.Equal(t, Error, missing[0].Severity)
	require.Equal(t, "get answers it and list does not: a filter by name finds nothing", missing[0].Seen)
	require.Empty(t, report.has("http.filter-missing", "resources.contact.fields.first_name"))
	require.Empty(t, report.has("http.filter-missing", "resources.contact.fields.note"), "nobody filters by it")
	require.Len(t, report.has("http.order", "resources.contact.order"), 1, "%+v", report.Findings)
}
