package legacy

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"strconv"
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
	"frontdesk/mapping/sheet"
)

// openForeign puts the driver before a system that nobody here wrote.
func openForeign(t *testing.T, s *foreigntest.System) *fixture {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	of, err := sheet.Load(s.Sheet, model, sheet.Options{
		Env: func(string) (string, bool) { return s.DSN, true },
		RuleFields: func(rule string) []string {
			fields, _ := backend.RuleFields(rule)
			return fields
		},
		Now: time.Now,
	})
	require.NoError(t, err)
	x := &fixture{t: t, engine: "postgres", dsn: s.DSN, model: of.Model}
	x.Store, err = Open(t.Context(), Options{Sheet: of, Keep: openKeep(t, time.Now), Now: time.Now, Random: rand.Reader, Passwords: passwordsOf(t, of)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	x.Single = drivertest.Single{Driver: x.Store}
	x.front, err = backend.NewClient(x.Store, of.Model, backend.Options{Timeout: 30 * time.Second})
	require.NoError(t, err)
	return x
}

// byNumber is the order of keys that are numbers.
func byNumber(_ string, a, b drivertest.Key) int {
	x, _ := strconv.Atoi(string(a))
	y, _ := strconv.Atoi(string(b))
	return cmp.Compare(x, y)
}

// walked is how much of a foreign system is walked.
func walked() (rounds int) {
	if sqltest.Soak() {
		return 30
	}
	return 1
}

var (
	shortTexts = rapid.OneOf(rapid.SampledFrom(drivertest.Texts[2:]), rapid.StringMatching(`[A-Za-z']{1,8}`))
	decimals   = rapid.Custom(func(t *rapid.T) any {
		return strconv.FormatFloat(float64(rapid.IntRange(-99999, 999999).Draw(t, "ten thousandths"))/10000, 'f', 4, 64)
	})
)

// orNull is null now and then.
func orNull[V any](of *rapid.Generator[V]) *rapid.Generator[any] {
	return rapid.OneOf(rapid.Just[any](nil), of.AsAny())
}

// day is a day as clients see it: midnight, in the time zone of the sheet.
func day(n int) string {
	return time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n).Format(time.RFC3339)
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
		ordered := rapid.IntRange(0, 12).Draw(t, "ordered")
		var delivered any
		if rapid.Bool().Draw(t, "delivered") {
			delivered = day(ordered + rapid.IntRange(1, 5).Draw(t, "days later"))
		}
		return map[string]any{
			"contact_id": pick("contact"), "order_status": rapid.SampledFrom([]string{"concept", "open"}).Draw(t, "status"), "order_date": day(ordered),
			"delivery_date": delivered, "reference": orNull(shortTexts).Draw(t, "reference"), "description": orNull(shortTexts).Draw(t, "description"),
		}
	default:
		return map[string]any{
			"order_id": pick("order"), "sort_order": orNull(rapid.IntRange(0, 3)).Draw(t, "sort order"), "article_id": pick("article"), "description": shortTexts.Draw(t, "description"),
			"quantity": decimals.Draw(t, "quantity"), "unit_type": rapid.SampledFrom([]any{nil, "piece", "kg", "hour"}).Draw(t, "unit"), "price": decimals.Draw(t, "price"),
		}
	}
}

// meddleInTryton has one of its own users do something.
func meddleInTryton(s *foreigntest.System) func(t *rapid.T) {
	made := 0
	return func(t *rapid.T) {
		one := func(resource, what string) int {
			rows, err := s.Rows(t.Context(), resource)
			require.NoError(t, err)
			id, err := strconv.Atoi(string(rapid.SampledFrom(rows).Draw(t, what).Key))
			require.NoError(t, err)
			return id
		}
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

// TestSoakTryton walks a Tryton while its users work in it.
func TestSoakTryton(t *testing.T) {
	s := foreigntest.Tryton(t)
	(&drivertest.Walk{
		Client: openForeign(t, s).front, Oracle: s, Clients: []auth.Client{one, two},
		Resources: []string{"country", "contact", "contactaddress", "contactcommunication", "article", "employee", "order", "orderline"},
		ByKey:     byNumber, Draw: drawOfTryton, Meddle: meddleInTryton(s), Rounds: walked(),
		Refusals: []mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.DateNotAfter, mapping.FieldRequired},
	}).Run(t)
}
