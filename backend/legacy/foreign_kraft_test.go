package legacy

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/mapping"
)

// cents are amounts as Kraft keeps them.
var cents = rapid.Custom(func(t *rapid.T) any {
	return strconv.FormatFloat(float64(rapid.IntRange(-999, 99999).Draw(t, "cents"))/100, 'f', 2, 64)
})

// drawOfKraft draws what a client writes.
func drawOfKraft(t *rapid.T, resource string, pick func(resource string) drivertest.Key) map[string]any {
	units := rapid.SampledFrom([]string{"piece", "hour", "litre", "kg", "metre", "set"})
	switch resource {
	case "turnovergroup":
		return map[string]any{"description": shortTexts.Draw(t, "description")}
	case "article":
		return map[string]any{
			"description": shortTexts.Draw(t, "description"), "unit_type": units.Draw(t, "unit"), "turnover_group_id": pick("turnovergroup"),
			"purchase_price": orNull(cents).Draw(t, "cost"), "price": cents.Draw(t, "price"),
		}
	case "order":
		day := time.Date(2026, 3, 20+rapid.IntRange(0, 12).Draw(t, "day"), 0, 0, 0, 0, amsterdam())
		return map[string]any{
			"order_status": rapid.SampledFrom([]string{"concept", "open", "ready"}).Draw(t, "status"), "order_date": day.Format(time.RFC3339),
			"reference": orNull(shortTexts).Draw(t, "reference"), "description": orNull(shortTexts).Draw(t, "description"),
		}
	default:
		return map[string]any{
			"order_id": pick("order"), "description": shortTexts.Draw(t, "description"), "quantity": cents.Draw(t, "quantity"), "unit_type": orNull(units).Draw(t, "unit"), "price": cents.Draw(t, "price"),
		}
	}
}

// meddleInKraft has somebody work in it.
func meddleInKraft(s *foreigntest.System) func(t *rapid.T) {
	return func(t *rapid.T) {
		one := func(resource, what string) int { return idOf(t, s, resource, what) }
		tables := map[string]string{"turnovergroup": "CatalogChapters", "article": "stockMaterial", "orderline": "docposition"}
		what := rapid.SampledFrom([]string{"chapter", "material", "document", "document", "save", "delete"}).Draw(t, "meddling")
		if rows, err := s.Rows(t.Context(), "order"); what == "document" && len(rows) > 120 {
			require.NoError(t, err)
			what = "throw away" // a walk that goes on for long is to try much, and not to read much
		}
		switch what {
		case "chapter":
			s.Do(t, what, map[string]any{"set": rapid.IntRange(1, 2).Draw(t, "set"), "name": orNull(shortTexts).Draw(t, "name")})
		case "material":
			s.Do(t, what, map[string]any{"chapter": one("turnovergroup", "chapter"), "name": orNull(shortTexts).Draw(t, "name"), "unit": rapid.IntRange(0, 9).Draw(t, "unit"),
				"in": nil, "out": cents.Draw(t, "price"), "entered": "2026-10-25 03:30:00", "changed": "2026-10-25 00:30:00"})
		case "document":
			s.Do(t, what, map[string]any{
				"type": rapid.SampledFrom([]string{"Offer", "Rechnung", "Anfrage"}).Draw(t, "type"), "customer": rapid.SampledFrom([]any{"1", "2", "1x", "02", nil}).Draw(t, "customer"),
				"description": shortTexts.Draw(t, "description"), "project": orNull(shortTexts).Draw(t, "project"), "date": "2026-03-29", "changed": nil,
				"lines": [][]any{{"bolt", cents.Draw(t, "amount"), 6, "9.99"}, {nil, nil, nil, nil}},
			})
		case "save", "throw away":
			s.Do(t, what, map[string]any{"document": one("order", "document")})
		default:
			of := rapid.SampledFrom([]string{"turnovergroup", "article", "orderline"}).Draw(t, "of")
			s.Do(t, what, map[string]any{"table": tables[of], "id": one(of, "row")})
		}
	}
}

// TestForeignKraft walks a Kraft on MariaDB while somebody works in it.
func TestForeignKraft(t *testing.T) { walkForeign(t, walkKraft) }

func walkKraft(t *testing.T, rounds int) {
	t.Helper()
	s := foreigntest.Kraft(t)
	c := openForeign(t, s).front
	(&drivertest.Walk{
		Client: c, Oracle: s, Clients: []auth.Client{one, two}, Resources: []string{"turnovergroup", "article", "order", "orderline"},
		ByKey: byNumber, Weigh: s.Weigh, Draw: drawOfKraft, Meddle: meddleInKraft(s), Rounds: rounds,
		Refusals: []mapping.Reason{mapping.InUse, mapping.RelatedIDNotFound, mapping.FieldRequired, mapping.StatusForbidsChange},
	}).Run(t)
	drivertest.Injection{Client: c, Clients: []auth.Client{one, two}, Oracle: s, Weigh: s.Weigh}.Run(t)
}
