// The walks before services that nobody here wrote.
package foreigntest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(sqltest.Run(m))) }

// foreign is a service that nobody here wrote, and how the records of its sheet are said
// there. It is its own oracle.
type foreign struct {
	*foreigntest.System
	rows   string // address of all rows of a collection
	at     string // where they are in its answer
	one    string // address of one of them
	of     map[string]collection
	client string // member that tells whose a row is; "" for no resource but shared ones
	hidden string // member that hides it
}

// collection is a resource of the service.
type collection struct {
	name   string
	fields map[string]func(row foreigntest.Object) any // by field
	// says are the members that fields are said by; others are the Rest of a row.
	says map[string]string
}

// Rows implements drivertest.Oracle.
func (f *foreign) Rows(_ context.Context, resource string) ([]drivertest.Row, error) {
	c := f.of[resource]
	found, err := f.System.Rows(fmt.Sprintf(f.rows, c.name), f.at)
	var rows []drivertest.Row
	for _, o := range found {
		row := drivertest.Row{Key: keyOf(o["id"]), Client: mapping.OfAll, Hidden: o[f.hidden] == true, Fields: map[string]any{}, Rest: map[string]string{}}
		if owner, owned := o[f.client]; owned {
			row.Client = mapping.IntValue(int64(wholeOf(owner))).Int()
		}
		for name, of := range c.fields {
			row.Fields[name] = of(o)
		}
		for member, v := range o {
			name := member
			for field, says := range c.says {
				if says == member {
					name = field
				}
			}
			row.Rest[name] = fmt.Sprint(v)
		}
		delete(row.Rest, "updated") // which is a field
		rows = append(rows, row)
	}
	return rows, err
}

func keyOf(v any) drivertest.Key { return drivertest.Key(fmt.Sprint(v)) }

func wholeOf(v any) (n int) {
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

// as is a member as it is, null where it is not there.
func as(member string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any { return o[member] }
}

// refers is a member that refers to a row, or nothing.
func refers(member string) func(foreigntest.Object) any {
	return func(o foreigntest.Object) any {
		if o[member] == nil || o[member] == "" {
			return nil
		}
		return keyOf(o[member])
	}
}

// meddle changes something beside frontdesk: it inserts, hides, shows, changes and
// deletes rows of a resource. made makes one.
func (f *foreign) meddle(resource string, made func(n int) foreigntest.Object) func(t *rapid.T) {
	n := 0
	return func(t *rapid.T) {
		c := f.of[resource]
		rows, err := f.System.Rows(fmt.Sprintf(f.rows, c.name), f.at)
		require.NoError(t, err)
		what := rapid.SampledFrom([]string{"insert", "hide", "delete"}).Draw(t, "meddling")
		if what == "insert" && len(rows) < 80 || len(rows) < 20 {
			n++
			_, err := f.Try(http.MethodPost, fmt.Sprintf(f.one, c.name), made(n))
			require.NoError(t, err)
			return
		}
		row := rapid.SampledFrom(rows).Draw(t, "row")
		address := fmt.Sprintf(f.one, c.name) + "/" + fmt.Sprint(row["id"])
		if what == "hide" {
			_, err = f.Try(http.MethodPatch, address, foreigntest.Object{f.hidden: row[f.hidden] != true})
		} else {
			_, err = f.Try(http.MethodDelete, address, nil)
		}
		require.NoError(t, err)
	}
}

// open opens the driver before the service, with the sheet of that name.
func (f *foreign) open(t *testing.T, file string) *remote.Store {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	url := f.URL
	env := map[string]string{"JSONSERVER_URL": url, "LOOPBACK_URL": url, "POCKETBASE_URL": url, "POCKETBASE_PASSWORD": foreigntest.Password, "FOREIGN_PASSWORD_HASH": foreigntest.PasswordHash}
	s, err := sheet.Load("../testdata/"+file, model, sheet.Options{
		Env:        func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	require.NoError(t, err)
	s.Source.HTTP.Timeout = time.Minute // which no test is to meet
	db, err := sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	ids, err := idstore.Open(t.Context(), db, idstore.Options{Now: time.Now})
	require.NoError(t, err)
	store, err := remote.Open(remote.Options{Sheet: s, IDStore: ids})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// users logs in as one of the service's users, and finds them by their names alone.
func (f *foreign) users(t *testing.T, file, suffix string) {
	s := f.open(t, file)
	user, err := s.Verify(t.Context(), auth.Credentials{Username: "noord" + suffix, Password: foreigntest.Password})
	require.NoError(t, err)
	require.EqualValues(t, 1, user.Client.ID)
	for i, name := range []string{"noord", "zuid"} {
		user, err = s.FindUser(t.Context(), name+suffix)
		require.NoError(t, err)
		require.EqualValues(t, i+1, user.Client.ID)
	}
	for _, name := range []string{"oost" + suffix, "' || email != '", "%" + suffix, ""} {
		_, err = s.FindUser(t.Context(), name)
		require.ErrorIs(t, err, auth.ErrUnknownUser, name)
	}
}

// walk walks a service behind its sheet.
func (f *foreign) walk(t *testing.T, file string, w drivertest.Walk) {
	s := f.open(t, file)
	client, err := backend.NewClient(s, s.Sheet.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	w.Client, w.Oracle = client, f
	w.Clients = []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}
	w.Refusals = []mapping.Reason{mapping.DuplicateValue, mapping.InUse, mapping.RelatedIDNotFound}
	if w.Steps = 2; sqltest.Soak() {
		w.Steps, w.Rounds = 6, 10
	}
	w.Run(t)
	drivertest.Injection{Client: w.Client, Clients: w.Clients, Oracle: f}.Run(t)
}

var (
	someNumbers = rapid.StringMatching(`N[0-9]{3}`)
	someTexts   = rapid.SampledFrom(slices.Concat(drivertest.Texts[2:], []string{"Oil filter", "a b"}))
	somePrices  = rapid.Map(rapid.IntRange(0, 400), func(n int) any { return fmt.Sprintf("%.2f", float64(n)/4) })
)

// article draws an article. It takes the fields that all services have.
func article(t *rapid.T, pick func(string) drivertest.Key) map[string]any {
	return map[string]any{
		"number": someNumbers.Draw(t, "number"), "description": someTexts.Draw(t, "description"), "article_kind": "part", "unit_type": "piece",
		"turnover_group_id": pick("turnovergroup"), "price": somePrices.Draw(t, "price"),
	}
}

// TestForeignJSONServer walks json-server: pages, offsets, parameters as filters.
func TestForeignJSONServer(t *testing.T) {
	f := &foreign{
		System: foreigntest.JSONServer(t), rows: "/%s?_sort=id", one: "/%s", client: "tenant", hidden: "gone",
		of: map[string]collection{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("text")}},
			"contact": {name: "contacts", fields: map[string]func(foreigntest.Object) any{
				"kind": func(o foreigntest.Object) any { return map[any]string{"P": "person", "B": "company"}[o["type"]] },
				"name": as("name"), "first_name": as("first"), "payment_days": as("terms"), "note": as("memo"),
			}, says: map[string]string{"kind": "type", "name": "name", "first_name": "first", "payment_days": "terms", "note": "memo"}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("nr"), "description": as("title"), "article_kind": as("kind"), "unit_type": as("unit"), "turnover_group_id": refers("groupId"),
				"price": as("price"), "supplier_id": refers("vendor"),
			}, says: map[string]string{"number": "nr", "description": "title", "turnover_group_id": "groupId", "price": "price", "supplier_id": "vendor", "article_kind": "kind", "unit_type": "unit"}},
		},
	}
	f.walk(t, "jsonserver.yaml", drivertest.Walk{
		Resources: []string{"turnovergroup", "contact", "article"},
		Draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			if resource == "article" {
				drawn := article(t, pick)
				if rapid.Bool().Draw(t, "supplied") {
					drawn["supplier_id"] = pick("contact")
				}
				return drawn
			}
			drawn := map[string]any{"kind": rapid.SampledFrom([]string{"person", "company"}).Draw(t, "kind"), "name": someTexts.Draw(t, "name"), "note": someTexts.Draw(t, "note")}
			if rapid.Bool().Draw(t, "more") {
				drawn["payment_days"] = rapid.IntRange(0, 30).Draw(t, "days")
			}
			return drawn
		},
		Meddle: f.meddle("article", func(n int) foreigntest.Object {
			return foreigntest.Object{"tenant": 1 + n%2, "nr": fmt.Sprintf("M%04d", n), "title": foreigntest.Name(n), "kind": "part", "unit": "piece", "groupId": 1, "cost": "1,00", "price": n, "vendor": nil, "stock": 0, "gone": false, "shelf": "T"}
		}),
	})
}

// TestForeignLoopBack walks LoopBack: filters as members of one parameter, a count of its own,
// changes that answer nothing.
func TestForeignLoopBack(t *testing.T) {
	f := &foreign{
		System: foreigntest.LoopBack(t), rows: "/%s?filter[order]=id%%20ASC", one: "/%s", client: "tenant", hidden: "deleted",
		of: map[string]collection{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("label")}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("sku"), "description": as("label"), "article_kind": as("sort"), "unit_type": as("per"), "turnover_group_id": refers("groupId"), "price": as("list"),
			}, says: map[string]string{"number": "sku", "description": "label", "turnover_group_id": "groupId", "price": "list", "article_kind": "sort", "unit_type": "per"}},
		},
	}
	f.walk(t, "loopback.yaml", drivertest.Walk{
		Resources: []string{"turnovergroup", "article"},
		Draw:      func(t *rapid.T, _ string, pick func(string) drivertest.Key) map[string]any { return article(t, pick) },
		Meddle: f.meddle("article", func(n int) foreigntest.Object {
			return foreigntest.Object{"tenant": 1 + n%2, "sku": fmt.Sprintf("M%04d", n), "label": foreigntest.Name(n), "sort": "part", "per": "piece", "groupId": 1, "list": n}
		}),
	})
}

// TestForeignPocketBase walks PocketBase: ids that are texts, one filter expression, rules of
// its own.
func TestForeignPocketBase(t *testing.T) {
	at := func(member string) func(foreigntest.Object) any {
		return func(o foreigntest.Object) any {
			text, _ := o[member].(string)
			return text[:10] + "T" + text[11:]
		}
	}
	none := func(member string, nothing any) func(foreigntest.Object) any {
		return func(o foreigntest.Object) any {
			if fmt.Sprint(o[member]) == nothing {
				return nil
			}
			return o[member]
		}
	}
	f := &foreign{
		System: foreigntest.PocketBase(t), rows: "/api/collections/%s/records?perPage=1000&sort=@rowid", at: "items", one: "/api/collections/%s/records", client: "org", hidden: "gone",
		of: map[string]collection{
			"turnovergroup": {name: "groups", fields: map[string]func(foreigntest.Object) any{"code": as("code"), "description": as("text"), "vat_kind": as("vat"), "ledger_account": as("ledger"), "modified_at": at("updated")},
				says: map[string]string{"code": "code", "description": "text", "vat_kind": "vat", "ledger_account": "ledger"}},
			"contact": {name: "contacts", fields: map[string]func(foreigntest.Object) any{
				"kind": func(o foreigntest.Object) any { return map[any]string{"P": "person", "B": "company"}[o["type"]] },
				"name": as("name"), "payment_days": none("days", "0"), "note": none("memo", ""), "modified_at": at("updated"),
			}, says: map[string]string{"kind": "type", "name": "name", "payment_days": "days", "note": "memo"}},
			"article": {name: "parts", fields: map[string]func(foreigntest.Object) any{
				"number": as("nr"), "description": as("title"), "turnover_group_id": refers("grp"), "price": as("price"), "modified_at": at("updated"),
			}, says: map[string]string{"number": "nr", "description": "title", "turnover_group_id": "grp", "price": "price"}},
		},
	}
	f.users(t, "pocketbase.yaml", "@example.com")
	f.walk(t, "pocketbase.yaml", drivertest.Walk{
		Resources: []string{"turnovergroup", "contact", "article"},
		Draw: func(t *rapid.T, resource string, pick func(string) drivertest.Key) map[string]any {
			switch resource {
			case "article":
				drawn := article(t, pick)
				delete(drawn, "article_kind")
				delete(drawn, "unit_type")
				return drawn
			case "turnovergroup":
				return map[string]any{"code": rapid.StringMatching(`[A-F]{2}`).Draw(t, "code"), "description": someTexts.Draw(t, "description"), "vat_kind": "high", "ledger_account": "1"}
			default:
				return map[string]any{
					"kind": rapid.SampledFrom([]string{"person", "company"}).Draw(t, "kind"), "name": someTexts.Draw(t, "name"),
					"note": rapid.SampledFrom([]any{nil, "O'Neil", `"`}).Draw(t, "note"), "payment_days": rapid.SampledFrom([]any{nil, 1, 30}).Draw(t, "days"),
				}
			}
		},
		Meddle: f.meddle("contact", func(n int) foreigntest.Object {
			return foreigntest.Object{"org": 1 + n%2, "type": "P", "name": foreigntest.Name(n), "days": n % 3, "customer": true}
		}),
	})
}
