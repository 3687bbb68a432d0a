package legacy

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/mapping"
)

// TestHostileFilters asks DEALERPAK by texts that would be more than values, on each engine.
func TestHostileFilters(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		drivertest.Injection{Client: x.front, Clients: []auth.Client{one, two}}.Run(t)
	})
}

// TestForeignHostileFilters asks Northwind, which has no walk: the other databases of the tree
// are asked so at the end of theirs.
func TestForeignHostileFilters(t *testing.T) {
	drivertest.Injection{Client: openForeign(t, foreigntest.Northwind(t)).front, Clients: []auth.Client{one}}.Run(t)
}

// TestChildrenWithTheirParent: lines that are made with an order are whose it is, and exports have
// nobody else's.
func TestChildrenWithTheirParent(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, name := range []string{"children belong to whom their parent does", "by the rules of the backend"} {
			x := scripted(t, "owners.txt", name).open(t, engine)
			p := &play{tables: x, t: t, who: one}
			order := x.record("order", p.pairs("contact_id=@contact name=Noord, order_status=open")...)
			field := order.Resource.Field("orderlines").Index
			line := x.record("orderline", p.pairs("description=new, quantity=1, price=1")...)
			order.Values[field], order.Children = mapping.RecordsValue(), map[int][]mapping.Record{field: {line}}
			stored := x.create(one, order)
			got, err := x.front.Get(t.Context(), order.Resource, backend.Query{Client: one, ID: stored.ID(), Fields: []int{field}})
			require.NoError(t, err)
			require.Len(t, got.Children[field], 1)
			_, err = x.tryGet(two, "orderline", got.Children[field][0].ID())
			require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)

			var file bytes.Buffer
			m, err := x.front.Export(t.Context(), two, &file)
			require.NoError(t, err)
			for _, part := range m.Parts {
				require.EqualValues(t, 1, part.Count, part.Resource)
			}
		}
	})
}

// isNobodys tries everything with a record that is not the client's.
func (x *tables) isNobodys(resource string, id int32) {
	t, r := x.t, x.model.Resource(resource)
	t.Helper()
	notFound := func(err error) {
		t.Helper()
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%s %d: %v", resource, id, err)
	}
	patch := mapping.NewRecord(r)
	patch.Set(map[string]string{"order": "order_status", "orderline": "description"}[resource], mapping.TextValue("ready"))
	_, err := x.tryGet(one, resource, id)
	notFound(err)
	_, err = x.tryUpdate(one, id, patch)
	notFound(err)
	notFound(x.tryDelete(one, resource, id))
	forged := mapping.NewRecord(r)
	forged.Values[r.ID] = mapping.IntValue(int64(id))
	_, err = x.Update(t.Context(), one, forged, patch)
	require.ErrorIs(t, err, backend.ErrNotFound, "the driver itself")
	require.ErrorIs(t, x.Delete(t.Context(), one, forged), backend.ErrNotFound, "the driver itself")
	// Even with the record in hand, the statement finds no row.
	require.ErrorIs(t, x.inTx(t.Context(), func(tx *txn) error {
		w := tx.newWrite(x.view.Load().tables[r], one, mapping.OpDelete, forged, forged, id)
		w.key = []mapping.Value{mapping.IntValue(int64(id))}
		return w.remove(t.Context())
	}), backend.ErrStale)
}
