package copies

import (
	"database/sql"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// administration is what keeps the records, and what the writers write there.
type administration struct {
	options     rig.Options
	edit        []string // of the configuration
	user, other login    // of two clients
	copied      []copiedResource
	group       int // of articles and lines
	country     int // of addresses
	// next is the record that a writer makes next, and its body.
	next func(w *writer, name string) (made, string)
	// behind writes as others do who know no gateway; nil if the gateways have the records.
	behind func(n int)
	keep   string // the gateways' own database, if behind is not nil
	walks  bool   // it is a service, whose records are walked
}

type login struct{ name, password string }

// copiedResource is one that the writers write, or that has system records, and the field
// that names the record which its list needs.
type copiedResource struct{ name, parent, key string }

func (a *administration) names() (names []string) {
	for _, r := range a.copied {
		names = append(names, r.name)
	}
	return names
}

// builtIn is the administration of frontdesk itself.
func builtIn(t *testing.T, dsn string) *administration {
	a := &administration{options: rig.Options{DSN: dsn}, user: login{"demo", "demo"}, other: login{"other", "other"}}
	a.copied = []copiedResource{
		{"contact", "", ""}, {"contactaddress", "contact", "contact_id"}, {"order", "", ""}, {"orderline", "order", "order_id"},
		{"turnovergroup", "", ""}, {"country", "", ""},
	}
	a.next = func(w *writer, name string) (made, string) {
		parent := w.one()
		switch {
		case parent.resource == "contact" && w.user == a.user.name && w.random.IntN(2) == 0:
			return made{resource: "contactaddress", field: "city", been: name},
				fmt.Sprintf(`{"contact_id":%d,"type":"visit","street":"Kerkstraat","house_number":1,"postcode":"1234 AB","city":%q,"country_id":%d}`, parent.id, name, a.country)
		case parent.resource == "contact" && w.user == a.user.name:
			line := fmt.Sprintf(`{"description":"Line","quantity":2,"price":12.95,"turnover_group_id":%d}`, a.group)
			return made{resource: "order", field: "reference", been: name},
				fmt.Sprintf(rig.NewOrder, parent.id, fmt.Sprintf(`,"reference":%q,"orderlines":[%s,%s]`, name, line, line))
		case parent.resource == "order":
			return made{resource: "orderline", field: "description", been: name},
				fmt.Sprintf(`{"order_id":%d,"description":%q,"quantity":1,"price":9.95,"turnover_group_id":%d}`, parent.id, name, a.group)
		default:
			return person(name)
		}
	}
	return a
}

func person(name string) (made, string) {
	return made{resource: "contact", field: "name", been: name}, fmt.Sprintf(`{"kind":"person","name":%q}`, name)
}

// onMariaDB is a vendor's database that tells nobody of changes.
func onMariaDB(t *testing.T) *administration {
	dsn := legacytest.MariaDB(t)
	db := must.Have(sql.Open("mysql", dsn))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	a := &administration{user: login{"sanne.bos", "Welkom01"}, other: login{"sanne.bos2", "Welkom01"}, keep: sqltest.Postgres(t)}
	a.options = rig.DealerPak(t, "mariadb", dsn, "\nkeep: keep.db\n", fmt.Sprintf("\nkeep: %q\n", a.keep),
		"\nresources:\n", "\nchanges: {by: scan, every: 200ms, pause: 1ms}\nresources:\n")
	a.copied = []copiedResource{{"contact", "", ""}, {"turnovergroup", "", ""}, {"country", "", ""}}
	a.next = func(_ *writer, name string) (made, string) { return person(name) }
	a.behind = func(n int) {
		t.Helper()
		for _, text := range []string{
			fmt.Sprintf("UPDATE REL SET NAAM = 'Behind %d', MUTNR = MUTNR + 1 WHERE BEDRNR = 1 AND RELNR %% 3 = %d", n, n%3),
			fmt.Sprintf("UPDATE REL SET VERVALLEN = IF(RELNR %% 2 = %d, 'J', 'N') WHERE BEDRNR = 1 AND RELNR %% 5 = 0", n%2),
		} {
			must.Have(db.ExecContext(t.Context(), text))(t)
		}
	}
	return a
}

// onPocketBase is a service whose records are found by when they were changed, and what is gone by
// walks.
func onPocketBase(t *testing.T) *administration {
	service := foreigntest.PocketBase(t)
	a := &administration{edit: []string{`"GET /order", "GET /orderline"`, `"GET /contact"`}, user: login{"noord@example.com", foreigntest.Password}, other: login{"zuid@example.com", foreigntest.Password}, keep: sqltest.Postgres(t)}
	a.options, _ = rig.BySheet(t, "remote", rig.Read(t, rig.RemoteSheets(t, "pocketbase.yaml")), "${POCKETBASE_URL}", service.URL, "${POCKETBASE_PASSWORD}", foreigntest.Password,
		"\nkeep: pocketbase-keep.db\n", fmt.Sprintf("\nkeep: %q\ncopy: {every: 500ms}\n", a.keep))
	a.walks = true
	a.copied = []copiedResource{{"contact", "", ""}, {"article", "", ""}, {"turnovergroup", "", ""}}
	a.next = func(w *writer, name string) (made, string) {
		if w.random.IntN(2) == 0 {
			return made{resource: "article", field: "description", been: name},
				fmt.Sprintf(`{"number":%q,"description":%q,"article_kind":"part","unit_type":"piece","turnover_group_id":%d,"price":2.5}`, name, name, a.group)
		}
		return person(name)
	}
	a.behind = func(n int) {
		t.Helper()
		for collection, text := range map[string]string{"contacts": "name", "parts": "title"} {
			records := "/api/collections/" + collection + "/records"
			rows := must.Have(service.Rows(records+"?perPage=4&sort=-@rowid&filter=org%3D1", "items"))(t)
			if len(rows) < 4 {
				continue
			}
			// Writers may have deleted them meanwhile.
			_, _ = service.Try(http.MethodPatch, fmt.Sprint(records, "/", rows[0]["id"]), foreigntest.Object{text: fmt.Sprint("Behind ", n)})
			_, _ = service.Try(http.MethodPatch, fmt.Sprint(records, "/", rows[1]["id"]), foreigntest.Object{"org": 2})
			_, _ = service.Try(http.MethodPatch, fmt.Sprint(records, "/", rows[2]["id"]), foreigntest.Object{"gone": true})
			_, _ = service.Try(http.MethodDelete, fmt.Sprint(records, "/", rows[3]["id"]), nil)
		}
	}
	return a
}
