package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// row reads one value past the driver.
func (x *fixture) row(query string) string {
	x.t.Helper()
	row, err := queryOne(x.t.Context(), x.db, newStatement(x.d).add(query))
	require.NoError(x.t, err)
	require.Len(x.t, row, 1, query)
	return row[0].String()
}

func (x *fixture) quoted(name string) string { return x.d.quote(name) }

func TestProceduresAndTriggers(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		numbers := `SELECT ` + x.quoted("LAATST") + ` FROM ` + x.quoted("NUMMERS") + ` WHERE ` + x.quoted("BEDRNR") + ` = 1 AND ` + x.quoted("SRT") + ` = `
		order := x.create(one, records["order"][0])
		require.Equal(t, x.row(numbers+"'ORD'"), order.Get("number").Text(), "the procedure gave the number")
		require.Equal(t, "open", order.Get("order_status").Text(), "what the procedure is not told is written after it")
		require.Equal(t, "70000", order.Get("mileage").String())
		contact := x.create(one, records["contact"][0])
		require.Equal(t, x.row(numbers+"'REL'"), contact.Get("number").Text(), "this one gives the number only")

		line := records["orderline"][0]
		line.Set("order_id", order.Values[order.Resource.ID])
		line = x.create(one, line)
		require.Equal(t, "17", line.Get("total").String(), "1.5 × 12.95 less 12.5 %, by a trigger") // 16.996875
		require.Equal(t, "17", x.get(one, "order", order.ID()).Get("total_excl").String())

		invoiced := x.update(one, order.ID(), x.record("order", "order_status", "invoiced"))
		require.Equal(t, x.row(numbers+"'FAC'"), invoiced.Get("invoice_number").Text())
		_, err := x.tryUpdate(one, line.ID(), x.record("orderline", "price", "1"))
		require.True(t, mapping.Is(err, mapping.StatusForbidsChange), "%v", err)

		// What the rules cannot know, the sheet translates.
		x.update(one, contact.ID(), x.record("contact", "is_blocked", "1"))
		refused := records["order"][0]
		refused.Set("contact_id", contact.Values[contact.Resource.ID])
		_, err = x.tryCreate(one, refused)
		require.True(t, mapping.Is(err, mapping.BlockedRecord), "%v", err)

		// What it does not, stays a failure whose words nobody is told.
		_, err = x.Update(t.Context(), one, x.get(one, "orderline", line.ID()), x.record("orderline", "price", "1"))
		require.ErrorIs(t, err, backend.ErrUnexpected)
		_, worded := mapping.AsViolations(err)
		require.False(t, worded)
	})
}

func TestChildrenAreCreatedWithTheirParent(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		order, line := records["order"][0], records["orderline"][0]
		line.Set("order_id", mapping.Value{})
		lines := order.Resource.Field("orderlines").Index
		order.Values[lines] = mapping.RecordsValue()
		order.Children = map[int][]mapping.Record{lines: {line.Clone(), line.Clone()}}
		stored := x.create(one, order)
		got, err := x.front.Get(t.Context(), order.Resource, backend.Query{Client: one, ID: stored.ID(), Fields: []int{order.Resource.ID, lines}})
		require.NoError(t, err)
		require.Len(t, got.Children[lines], 2)
		for _, l := range got.Children[lines] {
			require.Equal(t, int64(stored.ID()), l.Get("order_id").Int())
			require.Equal(t, "1.5", l.Get("quantity").String())
		}

		if x.engine == "sqlite" {
			return // takes anything
		}
		before := len(x.all(one, "order"))
		order.Children[lines][1].Set("sort_order", mapping.IntValue(100_000)) // a SMALLINT
		_, err = x.tryCreate(one, order)
		require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
		require.ErrorContains(t, err, "orderlines[1].sort_order")
		require.Len(t, x.all(one, "order"), before, "all of it or nothing")
	})
}

func TestDeletedRowsStay(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		vehicle := newRecords(x)["vehicle"][0]
		vehicle.Set("vin", mapping.NullValue())
		stored := x.create(one, vehicle)
		require.NoError(t, x.tryDelete(one, "vehicle", stored.ID()))
		gone := `SELECT ` + x.quoted("WISDAT") + ` FROM ` + x.quoted("VTG") + ` WHERE ` + x.quoted("VTGID") + ` = ` + id(stored)
		require.Equal(t, "20261120", x.row(gone))
		_, err := x.tryCreate(one, vehicle) // its plate keeps its place in the unique key
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
		require.ErrorContains(t, err, "license_plate")
	})
}

func TestStoredValues(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		vehicle := x.create(one, records["vehicle"][0])
		column := func(name string) string {
			return x.row(`SELECT ` + x.quoted(name) + ` FROM ` + x.quoted("VTG") + ` WHERE ` + x.quoted("VTGID") + ` = ` + id(vehicle))
		}
		require.Equal(t, "GT-123-B", vehicle.Get("license_plate").Text())
		zero := map[string]string{"mariadb": "0000-00-00", "postgres": "0001-01-01T00:00:00.000"}[x.engine]
		for name, want := range map[string]string{
			"KENT": "GT123B", "DAT1": "20200301", "BPM": "10001", "VKPR": "1095050", "BTWSRT": "M", "CARR": "STA", "WISDAT": "00000000", "APKDAT": "2027-03-01T00:00:00.000",
		} {
			require.Equal(t, want, trimmed(column(name)), name)
		}
		x.update(one, vehicle.ID(), records["vehicle"][1])
		for name, want := range map[string]string{"DAT1": "00000000", "APKDAT": zero, "BTWSRT": ""} {
			require.Equal(t, want, trimmed(column(name)), name)
		}
		contact := x.create(one, records["contact"][0])
		stamp := x.row(`SELECT ` + x.quoted("WIJDAT") + ` FROM ` + x.quoted("REL") + ` WHERE ` + x.quoted("BEDRNR") + ` = 1 AND ` + x.quoted("RELNR") + ` = ` + id(contact))
		require.Equal(t, "20261120", stamp)
		require.Equal(t, "2026-11-20T09:00:00.000Z", contact.Get("modified_at").String())
		name := x.row(`SELECT ` + x.quoted("NAAM") + ` FROM ` + x.quoted("REL") + ` WHERE ` + x.quoted("BEDRNR") + ` = 1 AND ` + x.quoted("RELNR") + ` = ` + id(contact))
		require.Equal(t, "Garage Één", name)
	})
}

func trimmed(s string) string {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

func TestAChangeByAnotherIsNoticed(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		before := x.create(one, newRecords(x)["contact"][0])
		x.update(one, before.ID(), x.record("contact", "note", "by another"))
		_, err := x.Update(t.Context(), one, before, x.record("contact", "note", "mine"))
		require.ErrorIs(t, err, backend.ErrStale)
		require.ErrorIs(t, x.Delete(t.Context(), one, before), backend.ErrStale)
		require.Equal(t, "by another", x.get(one, "contact", before.ID()).Get("note").Text())
	})
}
