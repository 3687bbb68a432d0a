package legacy

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// shopTables are those of a shop whose orders and lines do not say whose they are: a line belongs
// to its order, that to its relation, and this to a client. 30 is of all clients; 40 is of a
// relation that is gone, 50 of none, 60 of one of nobody.
var shopTables = []string{
	"CREATE TABLE s_rel (reg varchar(4) NOT NULL, nr integer NOT NULL, adm smallint, naam varchar(40) NOT NULL, weg varchar(1) NOT NULL, PRIMARY KEY (reg, nr))",
	"CREATE TABLE s_ord (id integer NOT NULL PRIMARY KEY, reg varchar(4), nr integer, st varchar(10) NOT NULL)",
	"CREATE TABLE s_lijn (id integer NOT NULL PRIMARY KEY, ord integer, oms varchar(40) NOT NULL, aantal integer NOT NULL, prijs integer NOT NULL)",
	"INSERT INTO s_rel VALUES ('N', 1, 1, 'Noord', 'N'), ('Z', 1, 2, 'Zuid', 'N'), ('A', 1, 0, 'Allen', 'N'), ('N', 2, 1, 'Gone', 'J'), ('N', 3, NULL, 'Nobody', 'N'), ('N', 4, 1, 'Other', 'N')",
	"INSERT INTO s_ord VALUES (10, 'N', 1, 'open'), (20, 'Z', 1, 'open'), (30, 'A', 1, 'open'), (40, 'N', 2, 'open'), (50, NULL, NULL, 'open'), (60, 'N', 3, 'open')",
	"INSERT INTO s_lijn VALUES (1, 10, 'one', 1, 100), (2, 20, 'two', 1, 100), (3, 30, 'all', 1, 100), (4, 40, 'gone', 1, 100), (5, 50, 'none', 1, 100), (6, NULL, 'lost', 1, 100), (7, 99, 'dangling', 1, 100), (8, 60, 'nobody', 1, 100)",
}

const shopSheet = `keep: keep.db
rules: RULES
without_rules: [order_status]
resources:
  contact: {table: s_rel, key: {columns: [reg, nr], generated: supplied}, client: adm, system_client: "0", where: weg <> 'J', operations: {only: [get, list, update]},
    fields: {kind: {constant: person}, name: naam}}
  order: {table: s_ord, key: {columns: id, generated: max+1}, client: {through: contact_id},
    fields: {contact_id: [reg, nr], kind: {constant: sales}, order_status: st, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {}}}
  orderline:
    table: s_lijn
    key: {columns: id, generated: max+1}
    WHOSE
    list_requires: []
    fields: {order_id: ord, description: oms, quantity: aantal, price: prijs, turnover_group_id: {absent: true}}
`

func shop(rules, whose string) string {
	return strings.NewReplacer("RULES", rules, "WHOSE", whose).Replace(shopSheet)
}

// TestChildrenBelongToWhomTheirParentDoes: lines say whose they are by their order alone.
func TestChildrenBelongToWhomTheirParentDoes(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, rules := range []string{"gateway", "backend"} {
			t.Run(rules, func(t *testing.T) {
				x := onTables(t, engine, shop(rules, "client: {through: order_id}"), shopTables...)
				require.Equal(t, []int32{10, 30}, ids(x.list(one, "order")))
				require.Equal(t, []int32{20, 30}, ids(x.list(two, "order")))
				require.Equal(t, []int32{1, 3}, ids(x.list(one, "orderline")))
				require.Equal(t, []int32{2, 3}, ids(x.list(two, "orderline")))
				require.EqualValues(t, 1, x.get(one, "orderline", 3).Get("is_system").Int())
				page := x.page(backend.Query{Client: one, Limit: 1, Total: true}, "orderline")
				require.EqualValues(t, 2, page.Total)
				require.True(t, page.More)
				for _, of := range []int64{20, 40, 50, 60, 99} {
					require.Empty(t, x.by("orderline", "order_id", mapping.Equals, mapping.IntValue(of)))
				}
				for _, id := range []int32{2, 4, 5, 6, 7, 8} {
					x.isNobodys("orderline", id)
				}
				for _, id := range []int32{20, 40, 50, 60} {
					x.isNobodys("order", id)
					x.refusesLines(id)
				}
				require.Equal(t, "8", x.one("SELECT COUNT(*) FROM s_lijn"))

				// What is its own, it writes.
				line := x.create(one, x.line(10))
				require.Equal(t, "new", x.get(one, "orderline", line.ID()).Get("description").Text())
				require.Equal(t, "changed", x.updated(one, line.ID(), x.record("orderline", "description", "changed")).Get("description").Text())
				require.NoError(t, x.tryDelete(one, "orderline", line.ID()))
				x.refusesLines(30) // of all clients

				// Nor does an order move to the contact of another client.
				contacts := map[string]string{}
				for _, who := range []auth.Client{one, two} {
					for _, rec := range x.list(who, "contact") {
						contacts[rec.Get("name").Text()] = id(rec)
					}
				}
				_, err := x.tryUpdate(one, 10, x.record("order", "contact_id", contacts["Zuid"]))
				require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
				x.update(one, 10, x.record("order", "contact_id", contacts["Other"]))
				require.Equal(t, "4", x.one("SELECT nr FROM s_ord WHERE id = 10"))

				order := x.record("order", "contact_id", contacts["Noord"], "order_status", "open")
				field := order.Resource.Field("orderlines").Index
				child := x.line(10)
				child.Set("order_id", mapping.Value{})
				order.Values[field], order.Children = mapping.RecordsValue(), map[int][]mapping.Record{field: {child}}
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
			})
		}
	})
}

func (x *tables) line(order int32) mapping.Record {
	return x.record("orderline", "order_id", fmt.Sprint(order), "description", "new", "quantity", "1", "price", "1")
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

func (x *tables) refusesLines(order int32) {
	x.t.Helper()
	line := x.line(order)
	_, err := x.tryCreate(one, line)
	require.Error(x.t, err)
	err = x.Write(context.Background(), func(tx backend.Tx) error { // past the rules
		_, err := tx.Create(x.t.Context(), one, line)
		return err
	})
	require.True(x.t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
}

// TestClientOfTheViewAlone can be read by.
func TestClientOfTheViewAlone(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, shop("gateway", "read: s_lijnen\n    client: adm\n    operations: {only: [get, list]}"), append(shopTables,
			"CREATE VIEW s_lijnen AS SELECT l.id, l.ord, l.oms, l.aantal, l.prijs, r.adm FROM s_lijn l JOIN s_ord o ON o.id = l.ord JOIN s_rel r ON r.reg = o.reg AND r.nr = o.nr")...)
		require.Equal(t, []int32{1, 4}, ids(x.list(one, "orderline")))
	})
}
