package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestEveryResourceIsCreatedChangedAndDeleted(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		for name, records := range newRecords(x) {
			t.Run(name, func(t *testing.T) {
				y := x.in(t)
				stored := y.create(one, records[0])
				require.Positive(t, stored.ID())
				requireHas(t, stored, records[0])
				require.Equal(t, shown(stored), shown(y.get(one, name, stored.ID())))
				require.Equal(t, []int32{stored.ID()}, y.by(name, "id", mapping.Equals, mapping.IntValue(int64(stored.ID()))))

				changed := y.updated(one, stored.ID(), records[1])
				require.Equal(t, stored.ID(), changed.ID())
				requireHas(t, changed, records[1])
				require.NotEqual(t, stored.Version, changed.Version)
				for i, v := range stored.Values {
					f := &stored.Resource.Fields[i]
					if records[1].Values[i].IsAbsent() && !f.Readonly && f.Type != mapping.Array {
						require.Equal(t, v, changed.Values[i], "%s was not changed", f.Name)
					}
				}
				require.Equal(t, shown(changed), shown(y.get(one, name, stored.ID())))

				require.NoError(t, y.tryDelete(one, name, stored.ID()))
				_, err := y.tryGet(one, name, stored.ID())
				require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
			})
		}
	})
}

// requireHas compares what was supplied with what is stored.
func requireHas(t *testing.T, stored, supplied mapping.Record) {
	t.Helper()
	for i, v := range supplied.Values {
		f := &stored.Resource.Fields[i]
		if v.IsAbsent() {
			continue
		}
		want, got := v.String(), stored.Values[i].String()
		switch {
		case f.IgnoreDashes:
			want, got = mapping.BarePlate(want), mapping.BarePlate(got)
		case v.Kind() == mapping.KindNull && f.Type == mapping.Int4 && len(f.OneOf) > 0, v.Kind() == mapping.KindNull && f.Name == "discount_percentage":
			continue // the column takes no null
		}
		require.Equal(t, want, got, f.Name)
	}
}

// TestChangingHalfOfAReferenceKeepsTheOther: a PUT of a number alone keeps the resource that it
// is of: both are written.
func TestChangingHalfOfAReferenceKeepsTheOther(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		records := newRecords(x)
		stored := x.create(one, records["document"][0])
		other := x.create(one, records["vehicle"][0])
		changed := x.updated(one, stored.ID(), x.record("document", "resource_id", id(other)))
		require.Equal(t, "vehicle", changed.Get("resource").Text())
		require.Equal(t, int64(other.ID()), changed.Get("resource_id").Int())
		require.Equal(t, shown(changed), shown(x.get(one, "document", stored.ID())))
	})
}

func TestProceduresAndTriggers(t *testing.T) {
	onServers(t, func(t *testing.T, x *tables) {
		records := newRecords(x)
		last := func(kind string) string {
			return x.cell("SELECT #LAATST# FROM #NUMMERS# WHERE #BEDRNR# = 1 AND #SRT# = '" + kind + "'")
		}
		order := x.create(one, records["order"][0])
		require.Equal(t, last("ORD"), order.Get("number").Text(), "the procedure gave the number")
		require.Equal(t, "open", order.Get("order_status").Text(), "what the procedure is not told is written after it")
		require.Equal(t, "70000", order.Get("mileage").String())
		contact := x.create(one, records["contact"][0])
		require.Equal(t, last("REL"), contact.Get("number").Text(), "this one gives the number only")

		line := records["orderline"][0]
		line.Set("order_id", order.Values[order.Resource.ID])
		line = x.create(one, line)
		require.Equal(t, "17", line.Get("total").String(), "1.5 × 12.95 less 12.5 %, by a trigger") // 16.996875
		require.Equal(t, "17", x.get(one, "order", order.ID()).Get("total_excl").String())

		invoiced := x.updated(one, order.ID(), x.record("order", "order_status", "invoiced"))
		require.Equal(t, last("FAC"), invoiced.Get("invoice_number").Text())
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
	onDealerpak(t, func(t *testing.T, x *tables) {
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
		before := len(x.list(one, "order"))
		order.Children[lines][1].Set("sort_order", mapping.IntValue(100_000)) // a SMALLINT
		_, err = x.tryCreate(one, order)
		require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
		require.ErrorContains(t, err, "orderlines[1].sort_order")
		require.Len(t, x.list(one, "order"), before, "all of it or nothing")
	})
}

func TestDeletedRowsStay(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		vehicle := newRecords(x)["vehicle"][0]
		vehicle.Set("vin", mapping.NullValue())
		stored := x.create(one, vehicle)
		require.NoError(t, x.tryDelete(one, "vehicle", stored.ID()))
		require.NotEqual(t, "00000000", x.cell("SELECT #WISDAT# FROM #VTG# WHERE #VTGID# = "+id(stored)))
		_, err := x.tryCreate(one, vehicle) // its plate keeps its place in the unique key
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
		require.ErrorContains(t, err, "license_plate")
	})
}

func TestStoredValues(t *testing.T) {
	onServers(t, func(t *testing.T, x *tables) {
		records := newRecords(x)
		vehicle := x.create(one, records["vehicle"][0])
		require.Equal(t, "GT-123-B", vehicle.Get("license_plate").Text())
		stored := func(want map[string]string) {
			for name, value := range want {
				require.Equal(t, value, x.cell("SELECT #"+name+"# FROM #VTG# WHERE #VTGID# = "+id(vehicle)), name)
			}
		}
		stored(map[string]string{"KENT": "GT123B", "DAT1": "20200301", "BPM": "10001", "VKPR": "1095050", "BTWSRT": "M", "CARR": "STA", "WISDAT": "00000000", "APKDAT": "2027-03-01"})
		x.update(one, vehicle.ID(), records["vehicle"][1])
		stored(map[string]string{"DAT1": "00000000", "APKDAT": map[string]string{"mariadb": "0000-00-00", "postgres": "0001-01-01"}[x.engine], "BTWSRT": ""})
		contact := x.create(one, records["contact"][0])
		row := " FROM #REL# WHERE #BEDRNR# = 1 AND #RELNR# = " + id(contact)
		require.Equal(t, "20261120", x.cell("SELECT #WIJDAT#"+row))
		require.Equal(t, "2026-11-20T09:00:00.000Z", contact.Get("modified_at").String())
		require.Equal(t, "Garage Één", x.cell("SELECT #NAAM#"+row))
	})
}

func TestAChangeByAnotherIsNoticed(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		before := x.create(one, newRecords(x)["contact"][0])
		x.update(one, before.ID(), x.record("contact", "note", "by another"))
		_, err := x.Update(t.Context(), one, before, x.record("contact", "note", "mine"))
		require.ErrorIs(t, err, backend.ErrStale)
		require.ErrorIs(t, x.Delete(t.Context(), one, before), backend.ErrStale)
		require.Equal(t, "by another", x.get(one, "contact", before.ID()).Get("note").Text())
	})
}
