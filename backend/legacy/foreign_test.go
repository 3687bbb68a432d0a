package legacy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// openForeign puts the driver before a system that nobody here wrote.
func openForeign(t *testing.T, s *foreigntest.System) *fixture {
	t.Helper()
	of := load(t, s.Sheet, s.DSN)
	x := &fixture{t: t, engine: of.Source.SQL.Engine, dsn: s.DSN, model: of.Model}
	var err error
	x.Store, err = Open(t.Context(), Options{Sheet: of, IDStore: openIDStore(t, time.Now), Now: time.Now, Hasher: auth.NewHasher()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	x.Single = drivertest.Single{Driver: x.Store}
	x.front, err = backend.NewClient(x.Store, of.Model, backend.Options{Timeout: time.Hour})
	require.NoError(t, err)
	return x
}

// byNumber is the order of keys that are numbers.
func byNumber(_ string, a, b drivertest.Key) int {
	x, _ := strconv.Atoi(string(a))
	y, _ := strconv.Atoi(string(b))
	return cmp.Compare(x, y)
}

// idOf draws a row of a system.
func idOf(t *rapid.T, s *foreigntest.System, resource, what string) int {
	rows, err := s.Rows(t.Context(), resource)
	require.NoError(t, err)
	id, err := strconv.Atoi(string(rapid.SampledFrom(rows).Draw(t, what).Key))
	require.NoError(t, err)
	return id
}

// walkForeign walks a foreign system: once, and in the soak three rounds in each of ten
// systems that nobody has touched yet. In one and the same the records would become ever
// more, where a walk is to try much and not to read much.
func walkForeign(t *testing.T, walk func(t *testing.T, rounds int)) {
	t.Helper()
	if !sqltest.Soak() {
		walk(t, 1)
		return
	}
	for n := range 10 {
		t.Run(strconv.Itoa(n), func(t *testing.T) { walk(t, 3) })
	}
}

var (
	shortTexts  = rapid.OneOf(rapid.SampledFrom(drivertest.Texts[2:]), rapid.StringMatching(`[A-Za-z']{1,8}`))
	decimalText = rapid.Custom(func(t *rapid.T) any {
		return strconv.FormatFloat(float64(rapid.IntRange(-99999, 999999).Draw(t, "ten thousandths"))/10000, 'f', 4, 64)
	})
)

// orNull is null now and then.
func orNull[V any](of *rapid.Generator[V]) *rapid.Generator[any] {
	return rapid.OneOf(rapid.Just[any](nil), of.AsAny())
}

// order draws the fields of an order that both systems have. A day is as clients see it:
// midnight, in the time zone of the sheet.
func order(t *rapid.T, zone *time.Location, pick func(resource string) drivertest.Key) map[string]any {
	ordered := rapid.IntRange(0, 12).Draw(t, "ordered")
	day := func(n int) string { return time.Date(2026, 3, 20+n, 0, 0, 0, 0, zone).Format(time.RFC3339) }
	var delivered any
	if rapid.Bool().Draw(t, "delivered") {
		delivered = day(ordered + rapid.IntRange(1, 5).Draw(t, "days later"))
	}
	return map[string]any{
		"contact_id": pick("contact"), "order_status": "open", "order_date": day(ordered), "delivery_date": delivered,
		"reference": orNull(shortTexts).Draw(t, "reference"), "description": orNull(shortTexts).Draw(t, "description"),
	}
}

// orderLine draws the fields of an order's line that both have.
func orderLine(t *rapid.T, pick func(resource string) drivertest.Key) map[string]any {
	return map[string]any{
		"order_id": pick("order"), "article_id": pick("article"), "description": shortTexts.Draw(t, "description"), "quantity": decimalText.Draw(t, "quantity"),
		"unit_type": rapid.SampledFrom([]any{nil, "piece", "kg", "hour"}).Draw(t, "unit"), "price": decimalText.Draw(t, "price"),
	}
}

// drawOfTryton draws what a client writes.
func drawOfTryton(t *rapid.T, resource string, pick func(resource string) drivertest.Key) map[string]any {
	switch resource {
	case "contact":
		return map[string]any{"name": shortTexts.Draw(t, "name")}
	case "contactaddress":
		return map[string]any{
			"contact_id": pick("contact"), "street": shortTexts.Draw(t, "street"), "postcode": rapid.SampledFrom([]string{"3811 MH", "b-1000", "B-1000"}).Draw(t, "postcode"),
			"city": shortTexts.Draw(t, "city"), "country_id": pick("country"),
		}
	case "contactcommunication":
		return map[string]any{
			"contact_id": pick("contact"), "type": rapid.IntRange(1, 6).Draw(t, "type"), "value": shortTexts.Draw(t, "value"), "description": orNull(shortTexts).Draw(t, "description"),
		}
	case "order":
		values := order(t, time.UTC, pick)
		values["order_status"] = rapid.SampledFrom([]string{"concept", "open"}).Draw(t, "status")
		return values
	default:
		values := orderLine(t, pick)
		values["unit_type"] = rapid.SampledFrom([]string{"piece", "kg", "hour"}).Draw(t, "unit of the article")
		values["sort_order"] = orNull(rapid.IntRange(0, 3)).Draw(t, "sort order")
		return values
	}
}

// meddleInTryton has one of its own users do something.
func meddleInTryton(s *foreigntest.System) func(t *rapid.T) {
	made := 0
	return func(t *rapid.T) {
		one := func(resource, what string) int { return idOf(t, s, resource, what) }
		switch what := rapid.SampledFrom([]string{"party", "hide", "show", "rename", "sale", "sale", "cancel", "quote", "delete", "line"}).Draw(t, "meddling"); what {
		case "party":
			made++
			s.Do(t, "party", map[string]any{"name": shortTexts.Draw(t, "name"), "code": fmt.Sprintf("m%d", made), "addresses": 1, "contacts": [][]string{{"other", "door"}}})
		case "hide", "show":
			s.Do(t, "change", map[string]any{"model": "party.party", "id": one("contact", "party"), "values": map[string]any{"active": what == "show"}})
		case "rename":
			s.Do(t, "change", map[string]any{"model": "party.party", "id": one("contact", "party"), "values": map[string]any{"name": orNull(shortTexts).Draw(t, "name")}})
		case "sale":
			s.Do(t, "sale", map[string]any{
				"company": rapid.IntRange(1, 2).Draw(t, "company"), "party": one("contact", "party"), "reference": orNull(shortTexts).Draw(t, "reference"),
				"lines": [][]any{{1, "2", "9.99"}, {4, "1", "0"}}, "date": rapid.SampledFrom([]any{nil, "2026-03-29"}).Draw(t, "date"),
			})
		case "line":
			s.Do(t, "delete", map[string]any{"model": "sale.line", "id": one("orderline", "line")})
		case "delete":
			s.Do(t, "delete", map[string]any{"model": "sale.sale", "id": one("order", "sale")})
		default:
			s.Do(t, "state", map[string]any{"sale": one("order", "sale"), "to": what})
		}
	}
}

// TestForeignTryton walks a Tryton while its users work in it. Afterwards it has to make
// something of all that was written.
func TestForeignTryton(t *testing.T) { walkForeign(t, walkTryton) }

func walkTryton(t *testing.T, rounds int) {
	t.Helper()
	s := foreigntest.Tryton(t)
	c := openForeign(t, s).front
	(&drivertest.Walk{
		Client: c, Oracle: s, Clients: []auth.Client{one, two},
		Resources: []string{"country", "contact", "contactaddress", "contactcommunication", "article", "employee", "order", "orderline"},
		ByKey:     byNumber, Draw: drawOfTryton, Meddle: meddleInTryton(s), Rounds: rounds,
		Refusals: []mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.DateNotAfter, mapping.FieldRequired, mapping.StatusForbidsChange, mapping.ValidationFailed},
	}).Run(t)
	drivertest.Injection{Client: c, Clients: []auth.Client{one, two}, Oracle: s}.Run(t)
	for resource, model := range map[string]string{
		"contact": "party.party", "contactaddress": "party.address", "contactcommunication": "party.contact_mechanism", "order": "sale.sale", "orderline": "sale.line",
	} {
		rows, err := s.Rows(t.Context(), resource)
		require.NoError(t, err)
		domain := [][]any{}
		if resource == "orderline" {
			domain = append(domain, []any{"type", "=", "line"})
		}
		var read [][]any
		s.Ask(t, "read", map[string]any{"model": model, "fields": []string{"rec_name"}, "domain": domain}, &read)
		require.Len(t, read, len(rows), "what Tryton itself makes of its %s", resource)
	}
}

func amsterdam() *time.Location {
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		panic(err)
	}
	return zone
}

// drawOfLedger draws what a client writes.
func drawOfLedger(t *rapid.T, resource string, pick func(resource string) drivertest.Key) map[string]any {
	switch resource {
	case "turnovergroup":
		return map[string]any{"code": rapid.StringMatching(`[a-cA-C]`).Draw(t, "code"), "description": shortTexts.Draw(t, "description")}
	case "contact":
		return map[string]any{
			"name": shortTexts.Draw(t, "name"), "vat_number": orNull(rapid.StringMatching(`NL[0-9]{2}`)).Draw(t, "VAT number"), "language": rapid.SampledFrom([]any{nil, "nl", "EN"}).Draw(t, "language"),
			"payment_days": orNull(rapid.IntRange(-1, 90)).Draw(t, "days"), "note": orNull(shortTexts).Draw(t, "note"),
		}
	case "contactaddress":
		return map[string]any{"contact_id": pick("contact"), "street": shortTexts.Draw(t, "street"), "postcode": "3811 MH", "city": shortTexts.Draw(t, "city")}
	case "article":
		return map[string]any{
			"number": rapid.StringMatching(`[aA'][0-9]{1,2}`).Draw(t, "number"), "description": shortTexts.Draw(t, "description"), "unit_type": rapid.SampledFrom([]string{"piece", "hour", "set"}).Draw(t, "unit"),
			"turnover_group_id": pick("turnovergroup"), "purchase_price": orNull(decimalText).Draw(t, "cost"), "price": decimalText.Draw(t, "price"),
		}
	case "order":
		values := order(t, amsterdam(), pick)
		values["employee_id"] = rapid.SampledFrom([]any{nil, pick("employee")}).Draw(t, "employee")
		return values
	default:
		values := orderLine(t, pick)
		values["discount_percentage"] = rapid.SampledFrom([]any{nil, "0", "15", "33.3", "12.3457", "100"}).Draw(t, "discount")
		return values
	}
}

// meddleInLedger has somebody work in it by its own pages' modules.
func meddleInLedger(s *foreigntest.System) func(t *rapid.T) {
	return func(t *rapid.T) {
		one := func(resource, what string) int { return idOf(t, s, resource, what) }
		// Its modules put some values into their SQL as they are.
		words := rapid.SampledFrom([]string{"O'Neil", "anna", "ANNA", "%"})
		switch what := rapid.SampledFrom([]string{"customer", "part", "part", "order", "order", "delete order", "delete part", "end", "obsolete"}).Draw(t, "meddling"); what {
		case "customer":
			s.Do(t, what, map[string]any{"name": words.Draw(t, "name"), "terms": rapid.IntRange(0, 30).Draw(t, "terms"), "notes": words.Draw(t, "notes")})
		case "part":
			s.Do(t, what, map[string]any{"description": words.Draw(t, "description"), "number": rapid.StringMatching(`[bB][0-9]{3}`).Draw(t, "number"), "item": "part",
				"unit": "box", "sellprice": decimalText.Draw(t, "price"), "onhand": "0.33335"})
		case "order":
			s.Do(t, what, map[string]any{"customer_id": one("contact", "customer"), "department": rapid.IntRange(0, 2).Draw(t, "department"), "date": "2026-03-29", "notes": words.Draw(t, "notes"),
				"closed": rapid.IntRange(0, 1).Draw(t, "closed"), "lines": [][]any{{one("article", "part"), "2", "9.99999", 10}, {one("article", "part"), "0.33333", "1", 0}}})
		case "end":
			s.Do(t, "sql", map[string]any{"statement": "UPDATE customer SET enddate = current_date - ?::int WHERE id = ?", "values": []int{rapid.IntRange(0, 1).Draw(t, "days"), one("contact", "customer")}})
		case "obsolete":
			s.Do(t, "sql", map[string]any{"statement": "UPDATE parts SET obsolete = NOT obsolete WHERE id = ?", "values": []int{one("article", "part")}})
		default:
			of := strings.TrimPrefix(what, "delete ")
			s.Do(t, "delete", map[string]any{"of": of, "id": one(map[string]string{"order": "order", "part": "article"}[of], of)})
		}
	}
}

// TestForeignSQLLedger walks an SQL-Ledger while somebody works in it.
func TestForeignSQLLedger(t *testing.T) { walkForeign(t, walkSQLLedger) }

func walkSQLLedger(t *testing.T, rounds int) {
	t.Helper()
	s := foreigntest.SQLLedger(t)
	c := openForeign(t, s).front
	(&drivertest.Walk{
		Client: c, Oracle: s, Clients: []auth.Client{one, two},
		Resources: []string{"turnovergroup", "contact", "contactaddress", "employee", "article", "order", "orderline"},
		ByKey:     byNumber, Draw: drawOfLedger, Meddle: meddleInLedger(s), Rounds: rounds,
		Refusals: []mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.DateNotAfter, mapping.FieldRequired, mapping.DuplicateValue, mapping.StatusForbidsChange},
	}).Run(t)
	drivertest.Injection{Client: c, Clients: []auth.Client{one, two}, Oracle: s}.Run(t)
}
