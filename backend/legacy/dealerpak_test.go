package legacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
)

// dealerpaks make a database with DEALERPAK on each engine.
var dealerpaks = map[string]func(testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres, "sqlite": legacytest.SQLite}

// onDealerpak runs f against DEALERPAK on each engine.
func onDealerpak(t *testing.T, f func(t *testing.T, x *tables)) {
	eachEngine(t, func(t *testing.T, engine string) { f(t, dealerpak(t, engine)) })
}

// onServers runs f against DEALERPAK where it has triggers and procedures.
func onServers(t *testing.T, f func(t *testing.T, x *tables)) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) { f(t, dealerpak(t, engine)) })
	}
}

func dealerpak(t *testing.T, engine string) *tables {
	t.Helper()
	return onDealerpakAt(t, engine, dealerpaks[engine](t))
}

func onDealerpakAt(t *testing.T, engine, dsn string) *tables {
	t.Helper()
	dir, err := legacytest.Files()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, engine+".yaml"))
	require.NoError(t, err)
	return onMade(t, engine, dsn, string(text))
}

// in is the fixture within a part of its test.
func (x *tables) in(t *testing.T) *tables {
	base, y := *x.fixture, *x
	base.t, y.fixture = t, &base
	return &y
}

// spelled has # in SQL stand for the quote that DEALERPAK's names in capitals need.
func (x *tables) spelled(sql string) string {
	return strings.ReplaceAll(sql, "#", map[string]string{"postgres": `"`}[x.engine])
}

// cell is one value in the database, without the blanks that pad it.
func (x *tables) cell(query string) string {
	x.t.Helper()
	return strings.TrimRight(x.one(x.spelled(query)), " ")
}

func (x *tables) tryGet(client auth.Client, resource string, id int32) (mapping.Record, error) {
	return x.front.Get(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, ID: id})
}

// updated is update, and what it answers.
func (x *tables) updated(client auth.Client, id int32, patch mapping.Record) mapping.Record {
	x.t.Helper()
	stored, err := x.tryUpdate(client, id, patch)
	require.NoError(x.t, err)
	return stored
}

func (x *tables) page(q backend.Query, resource string) backend.Page {
	x.t.Helper()
	page, err := x.front.List(x.t.Context(), x.model.Resource(resource), q)
	require.NoError(x.t, err)
	return page
}

// by lists the records of a filter.
func (x *tables) by(resource, field string, o mapping.Operator, v mapping.Value) []int32 {
	x.t.Helper()
	by := backend.Filter{Field: x.model.Resource(resource).Field(field), Op: o, Value: v}
	if o == mapping.AnyOf {
		by.Value, by.Values = mapping.Value{}, []mapping.Value{v}
	}
	page := x.page(backend.Query{Client: one, Total: true, Filters: []backend.Filter{by}}, resource)
	require.EqualValues(x.t, len(page.Records), page.Total)
	return ids(page.Records)
}

func ids(records []mapping.Record) (all []int32) {
	for _, rec := range records {
		all = append(all, rec.ID())
	}
	return all
}

// shown is a record as clients see it.
func shown(rec mapping.Record) string {
	return string(rec.AppendJSON(nil, rec.Resource.RecordFields()))
}

func id(rec mapping.Record) string { return mapping.IntValue(int64(rec.ID())).String() }

// some is the first record of a resource for which is holds.
func (x *tables) some(resource string, is func(mapping.Record) bool) mapping.Record {
	x.t.Helper()
	for _, rec := range x.list(one, resource) {
		if is == nil || is(rec) {
			return rec
		}
	}
	x.t.Fatal("no such " + resource)
	return mapping.Record{}
}

// newRecords are one record of every resource that can be created, with all that
// clients may supply, and what a change of them supplies.
func newRecords(x *tables) map[string][2]mapping.Record {
	active := func(rec mapping.Record) bool {
		return rec.Get("is_blocked").Int() == 0 && rec.Get("is_archived").Int() == 0
	}
	contact, vehicle := x.some("contact", active), x.some("vehicle", active)
	group, article := x.some("turnovergroup", nil), x.some("article", nil)
	employee := x.some("employee", nil)
	order := x.some("order", func(rec mapping.Record) bool { return rec.Get("order_status").Text() == "open" })
	return map[string][2]mapping.Record{
		"turnovergroup": {
			x.record("turnovergroup", "code", "0999", "description", "Diversen", "vat_kind", "low", "ledger_account", "8999", "ledger_account_eu", "8998"),
			x.record("turnovergroup", "description", "Überig", "vat_kind", "exempt", "ledger_account_eu", "null"),
		},
		"employee": {
			x.record("employee", "number", "XY", "username", "x.y", "first_name", "Xandra", "last_name", "Ypma", "email", "x@example.nl", "job_title", "Monteur", "is_external", "1", "hourly_rate", "61.25"),
			x.record("employee", "number", "null", "hourly_rate", "null", "is_external", "0"),
		},
		"contact": {
			x.record("contact", "kind", "company", "name", "Garage Één", "first_name", "Zoë", "infix", "van", "initials", "Z.", "company_number", "01234567", "vat_number", "NL001234567B01",
				"language", "en", "birth_date", "1980-02-29T00:00:00+01:00", "payment_days", "8", "is_customer", "0", "is_supplier", "1", "note", "Regel\nTwee"),
			x.record("contact", "birth_date", "null", "initials", "null", "note", "null", "name", "Garage Twee", "is_blocked", "1"),
		},
		"contactcommunication": {
			x.record("contactcommunication", "contact_id", id(contact), "type", "1", "value", "0318-123456", "description", "werk", "is_prefered_email", "0"),
			x.record("contactcommunication", "type", "2", "value", "06-12345678", "description", "null"),
		},
		"contactaddress": {
			x.record("contactaddress", "contact_id", id(contact), "type", "delivery", "street", "Dorpsstraat", "house_number", "12", "house_number_addition", "bis", "postcode", "6711 AB", "city", "Ede", "country_id", "528"),
			x.record("contactaddress", "house_number_addition", "null", "type", "visit", "house_number", "14"),
		},
		"article": {
			x.record("article", "number", "000777", "description", "Bougie", "article_kind", "part", "unit_type", "set", "turnover_group_id", id(group), "purchase_price", "3.10", "price", "7.5", "supplier_id", id(contact), "ean", "8717717327475"),
			x.record("article", "price", "8.05", "purchase_price", "null", "supplier_id", "null", "ean", "null"),
		},
		"vehicle": {
			x.record("vehicle", "license_plate", "gt-123-b", "country_id", "528", "vin", "WVWZZZ1KZAW000001", "brand", "Opel", "model", "Astra", "version", "1.6", "body_kind", "estate", "fuel_kind", "petrol",
				"transmission_kind", "manual", "color", "rood", "first_admission_date", "2020-03-01T00:00:00+01:00", "apk_expiry_date", "2027-03-01T00:00:00+01:00", "mileage", "12345", "power_kw", "85",
				"tax_kind", "margin", "bpm_amount", "100.01", "purchase_price", "9000", "sales_price", "10950.5", "remark", "schade rechts"),
			x.record("vehicle", "first_admission_date", "null", "apk_expiry_date", "null", "tax_kind", "null", "vin", "null", "body_kind", "null"),
		},
		"vehicleroleline": {
			x.record("vehicleroleline", "vehicle_id", id(vehicle), "contact_id", id(contact), "role", "driver", "start_date", "2026-01-01T00:00:00+01:00"),
			x.record("vehicleroleline", "role", "payer", "start_date", "null", "end_date", "2026-05-01T00:00:00+02:00"),
		},
		"order": {
			x.record("order", "contact_id", id(contact), "vehicle_id", id(vehicle), "employee_id", id(employee), "kind", "workshop", "order_status", "open",
				"order_date", "2026-11-20T09:15:30+01:00", "delivery_date", "2026-11-21T17:00:00+01:00", "mileage", "70000", "reference", "PO 1", "description", "Grote beurt"),
			x.record("order", "order_status", "in_progress", "vehicle_id", "null", "delivery_date", "null", "reference", "null"),
		},
		"orderline": {
			x.record("orderline", "order_id", id(order), "sort_order", "10", "article_id", id(article), "article_number", "00041042", "description", "Oliefilter", "quantity", "1.5", "unit_type", "piece",
				"price", "12.95", "discount_percentage", "12.5", "turnover_group_id", id(group), "employee_id", id(employee)),
			x.record("orderline", "quantity", "2", "discount_percentage", "null", "article_id", "null", "article_number", "null", "unit_type", "null"),
		},
		"document": {
			x.record("document", "name", "offerte.pdf", "kind", "quotation", "mime_type", "application/pdf", "content", "AAECAwT/", "resource", "vehicle", "resource_id", id(vehicle)),
			x.record("document", "kind", "other", "mime_type", "null", "resource", "contact", "resource_id", id(contact)),
		},
	}
}
