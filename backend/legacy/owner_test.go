package legacy

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// shopTables are those of a shop whose orders and lines do not say whose they
// are: a line belongs to its order, that to its relation, and this to a client.
// 30 is of all clients; 40 is of a relation that is gone, 50 of none, 60 of one of
// nobody.
const shopTables = `
CREATE TABLE s_rel (reg varchar(4) NOT NULL, nr integer NOT NULL, adm smallint, naam varchar(40) NOT NULL, weg varchar(1) NOT NULL, PRIMARY KEY (reg, nr));
CREATE TABLE s_ord (id integer NOT NULL PRIMARY KEY, reg varchar(4), nr integer, st varchar(10) NOT NULL, dat varchar(8) NOT NULL);
CREATE TABLE s_lijn (id integer NOT NULL PRIMARY KEY, ord integer, oms varchar(40) NOT NULL, aantal integer NOT NULL, prijs integer NOT NULL);
INSERT INTO s_rel VALUES ('N', 1, 1, 'Noord', 'N'), ('Z', 1, 2, 'Zuid', 'N'), ('A', 1, 0, 'Allen', 'N'), ('N', 2, 1, 'Gone', 'J'), ('N', 3, NULL, 'Nobody', 'N'), ('N', 4, 1, 'Other', 'N');
INSERT INTO s_ord VALUES (10, 'N', 1, 'open', '20260101'), (20, 'Z', 1, 'open', '20260101'), (30, 'A', 1, 'open', '20260101'), (40, 'N', 2, 'open', '20260101'), (50, NULL, NULL, 'open', '20260101'), (60, 'N', 3, 'open', '20260101');
INSERT INTO s_lijn VALUES (1, 10, 'one', 1, 100), (2, 20, 'two', 1, 100), (3, 30, 'all', 1, 100), (4, 40, 'gone', 1, 100), (5, 50, 'none', 1, 100), (6, NULL, 'lost', 1, 100), (7, 99, 'dangling', 1, 100), (8, 60, 'nobody', 1, 100)`

// shopSheet is its sheet; %s are the engine, the rules, and whose lines are.
const shopSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
rules: %s
without_rules: [order_status]
accounts: {users: []}
resources:
  contact:
    table: s_rel
    key: {columns: [reg, nr], generated: supplied}
    client: adm
    system_client: "0"
    where: weg <> 'J'
    fields: {kind: {constant: person}, name: naam}
    operations: {only: [get, list, update]}
  order:
    table: s_ord
    key: {columns: id, generated: max+1}
    client: {through: contact_id}
    fields:
      contact_id: [reg, nr]
      kind: {constant: sales}
      order_status: st
      order_date: {from: dat, format: yyyyMMdd}
      orderlines: {}
  orderline:
    table: s_lijn
    key: {columns: id, generated: max+1}
    %s
    list_requires: []
    fields:
      order_id: ord
      description: oms
      quantity: aantal
      price: prijs
      turnover_group_id: {absent: true}
`

func openShop(t *testing.T, engine, rules, whose string, more ...string) *fixture {
	t.Helper()
	x, o := shop(t, engine, rules, whose, more...)
	var err error
	x.Store, err = Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	x.Single = drivertest.Single{Driver: x.Store}
	x.front, err = backend.NewClient(x.Store, x.model, backend.Options{Timeout: 30 * time.Second})
	require.NoError(t, err)
	return x
}

// shop makes the tables, with more statements, and what the driver is opened with.
func shop(t *testing.T, engine, rules, whose string, more ...string) (*fixture, Options) {
	t.Helper()
	dsn := engines[engine](t)
	c := newClock()
	base := openOn(t, engine, dsn)
	makeTables(t, base, append(strings.Split(shopTables, ";"), more...)...)
	require.NoError(t, base.Close())
	sh := loadText(t, dsn, fmt.Sprintf(shopSheet, engine, rules, whose), c.Now)
	return &fixture{t: t, engine: engine, dsn: dsn, clock: c, model: sh.Model}, Options{Sheet: sh, IDStore: openIDStore(t, c.Now), Now: c.Now, Random: rand.Reader}
}

func ids(records []mapping.Record) (all []int32) {
	for _, rec := range records {
		all = append(all, rec.ID())
	}
	return all
}

// TestChildrenBelongToWhomTheirParentDoes: before, the sheet could say client: ""
// alone, and every client saw and changed all lines.
func TestChildrenBelongToWhomTheirParentDoes(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		for _, rules := range []string{"gateway", "backend"} {
			t.Run(engine+"/"+rules, func(t *testing.T) {
				x := openShop(t, engine, rules, "client: {through: order_id}")
				require.Equal(t, []int32{10, 30}, ids(x.all(one, "order")))
				require.Equal(t, []int32{20, 30}, ids(x.all(two, "order")))
				require.Equal(t, []int32{1, 3}, ids(x.all(one, "orderline")))
				require.Equal(t, []int32{2, 3}, ids(x.all(two, "orderline")))
				require.EqualValues(t, 1, x.get(one, "orderline", 3).Get("is_system").Int())
				page := x.list(backend.Query{Client: one, Limit: 1, Total: true}, "orderline")
				require.EqualValues(t, 2, page.Total)
				require.True(t, page.More)
				lines := x.model.Resource("orderline")
				for _, of := range []int64{20, 40, 50, 60, 99} {
					page := x.list(backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: lines.Field("order_id"), Value: mapping.IntValue(of)}}}, "orderline")
					require.Empty(t, page.Records)
					require.Zero(t, page.Total)
				}
				before := x.row("SELECT COUNT(*) FROM " + x.quoted("s_lijn"))
				for _, id := range []int32{2, 4, 5, 6, 7, 8} {
					x.isNobodys(t, "orderline", id)
				}
				for _, id := range []int32{20, 40, 50, 60} {
					x.isNobodys(t, "order", id)
					x.refusesLines(t, id)
				}
				require.Equal(t, before, x.row("SELECT COUNT(*) FROM "+x.quoted("s_lijn")))

				// What is its own, it writes.
				line := x.create(one, x.line(10))
				require.Equal(t, "new", x.get(one, "orderline", line.ID()).Get("description").Text())
				require.Equal(t, "changed", x.update(one, line.ID(), x.record("orderline", "description", "changed")).Get("description").Text())
				require.NoError(t, x.tryDelete(one, "orderline", line.ID()))
				x.refusesLines(t, 30) // of all clients

				// Nor does an order move to the contact of another client.
				contacts := map[string]int32{}
				for _, who := range []auth.Client{one, two} {
					for _, rec := range x.all(who, "contact") {
						contacts[rec.Get("name").Text()] = rec.ID()
					}
				}
				moved := x.record("order", "contact_id", fmt.Sprint(contacts["Zuid"]))
				_, err := x.tryUpdate(one, 10, moved)
				require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
				moved = x.record("order", "contact_id", fmt.Sprint(contacts["Other"]))
				x.update(one, 10, moved)
				require.Equal(t, "4", x.row("SELECT "+x.quoted("nr")+" FROM "+x.quoted("s_ord")+" WHERE "+x.quoted("id")+" = 10"))

				order := x.record("order", "contact_id", fmt.Sprint(contacts["Noord"]), "order_status", "open", "order_date", "2026-01-01T00:00:00+01:00")
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
	}
}

func (x *fixture) line(order int32) mapping.Record {
	return x.record("orderline", "order_id", fmt.Sprint(order), "description", "new", "quantity", "1", "price", "1")
}

// isNobodys tries everything with a record that is not the client's.
func (x *fixture) isNobodys(t *testing.T, resource string, id int32) {
	t.Helper()
	r := x.model.Resource(resource)
	notFound := func(err error) {
		t.Helper()
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%s %d: %v", resource, id, err)
	}
	_, err := x.tryGet(one, resource, id)
	notFound(err)
	patch := mapping.NewRecord(r)
	if resource == "order" {
		patch.Set("order_status", mapping.TextValue("ready"))
	} else {
		patch.Set("description", mapping.TextValue("stolen"))
	}
	_, err = x.tryUpdate(one, id, patch)
	notFound(err)
	notFound(x.tryDelete(one, resource, id))
	forged := mapping.NewRecord(r)
	forged.Values[r.ID] = mapping.IntValue(int64(id))
	_, err = x.Update(t.Context(), one, forged, patch)
	require.ErrorIs(t, err, backend.ErrNotFound, "the driver itself")
	require.ErrorIs(t, x.Delete(t.Context(), one, forged), backend.ErrNotFound, "the driver itself")
	// Even with the record in hand, the statement finds no row.
	tab, err := x.table(r)
	require.NoError(t, err)
	err = x.inTx(t.Context(), func(tx *txn) error {
		w := tx.newWrite(tab, one, mapping.OpUpdate, patch, id)
		return w.change(t.Context(), w.deleteText([]sheet.Raw{intRaw(int64(id))}, sheet.Raw{}))
	})
	require.ErrorIs(t, err, backend.ErrStale)
}

func (x *fixture) refusesLines(t *testing.T, order int32) {
	t.Helper()
	line := x.line(order)
	_, err := x.tryCreate(one, line)
	require.Error(t, err)
	err = x.Write(context.Background(), func(tx backend.Tx) error { // past the rules
		_, err := tx.Create(t.Context(), one, line)
		return err
	})
	require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
}

// TestProceduresDoNotTellWhoseARowIs reads lines by procedures that know no clients.
func TestProceduresDoNotTellWhoseARowIs(t *testing.T) {
	x := openShop(t, "postgres", "backend", `client: {through: order_id}
    operations: {get: {procedure: line_of, arguments: [id]}, list: {procedure: lines}}`,
		`CREATE FUNCTION line_of(n integer) RETURNS SETOF s_lijn LANGUAGE sql AS 'SELECT * FROM s_lijn WHERE id = n'`,
		`CREATE FUNCTION lines() RETURNS SETOF s_lijn LANGUAGE sql AS 'SELECT * FROM s_lijn'`)
	page := x.list(backend.Query{Client: one, Total: true}, "orderline")
	require.Equal(t, []int32{1, 3}, ids(page.Records))
	require.EqualValues(t, 2, page.Total)
	require.EqualValues(t, 1, x.get(one, "orderline", 3).Get("is_system").Int())
	for _, id := range []int32{2, 4, 5, 6, 7, 8} {
		_, err := x.tryGet(one, "orderline", id)
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%d: %v", id, err)
	}
}

// TestNumbersOfEachClientTellNoOwner is of orders that every client numbers from 1:
// the number alone is one of several orders.
func TestNumbersOfEachClientTellNoOwner(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		_, o := shop(t, engine, "backend", "client: {through: order_id}",
			"DROP TABLE s_rel", "CREATE TABLE s_rel (adm integer NOT NULL, reg varchar(4) NOT NULL, nr integer NOT NULL, naam varchar(40), weg varchar(1), PRIMARY KEY (adm, reg, nr))")
		_, err := Open(t.Context(), o)
		require.ErrorContains(t, err, "resource order: client through contact_id: the key of contact, [reg nr], is unique for each client only")
	})
}

// TestClientOfTheViewAlone: before, such a sheet started, and every write failed.
func TestClientOfTheViewAlone(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		const view = "CREATE VIEW s_lijnen AS SELECT l.id, l.ord, l.oms, l.aantal, l.prijs, r.adm FROM s_lijn l JOIN s_ord o ON o.id = l.ord JOIN s_rel r ON r.reg = o.reg AND r.nr = o.nr"
		_, o := shop(t, engine, "gateway", "read: s_lijnen\n    client: adm", view)
		_, err := Open(t.Context(), o)
		require.ErrorContains(t, err, "resource orderline: client: every write names adm, and s_lijn has no such column")

		x := openShop(t, engine, "gateway", "read: s_lijnen\n    client: adm\n    operations: {only: [get, list]}", view)
		require.Equal(t, []int32{1, 4}, ids(x.all(one, "orderline")))
	})
}

const textClientSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
without_rules: [prefered_email]
accounts: {users: []}
resources:
  contact:
    table: o_rel
    key: {columns: id, generated: max+1}
    client: klant
    fields: {kind: {constant: person}, name: naam}
  contactcommunication:
    table: o_tel
    key: {columns: id, generated: max+1}
    client: {through: contact_id}
    list_requires: []
    fields: {contact_id: rel, type: {constant: 1}, value: nr}
`

// TestClientInAColumnOfTexts: before, MariaDB took 1x and 1.0 for 1, so that these rows
// were in the page and the total until they were read, and then were left out.
func TestClientInAColumnOfTexts(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := onTables(t, engine, fmt.Sprintf(textClientSheet, engine),
			"CREATE TABLE o_rel (id integer NOT NULL PRIMARY KEY, klant varchar(10), naam varchar(40) NOT NULL)",
			"CREATE TABLE o_tel (id integer NOT NULL PRIMARY KEY, rel integer NOT NULL, nr varchar(40) NOT NULL)",
			"INSERT INTO o_rel VALUES (1, '1', 'a'), (2, '1x', 'b'), (3, '1.0', 'c'), (4, '1', 'd'), (5, '01', 'e'), (6, NULL, 'f'), (7, '', 'g'), (8, '1', 'h')",
			"INSERT INTO o_tel SELECT id, id, naam FROM o_rel")
		for _, resource := range []string{"contact", "contactcommunication"} {
			page, err := x.front.List(t.Context(), x.model.Resource(resource), backend.Query{Client: one, Limit: 2, Total: true})
			require.NoError(t, err)
			require.Len(t, page.Records, 2, resource)
			require.True(t, page.More)
			require.EqualValues(t, 3, page.Total)
			require.EqualValues(t, 4, page.Records[1].ID())
			for _, id := range []int32{2, 3, 5, 6, 7} {
				require.True(t, mapping.Is(x.tryDelete(one, resource, id), mapping.RecordNotFound))
			}
		}
		made := x.create(one, x.record("contact", "name", "new"))
		x.update(one, made.ID(), x.record("contact", "name", "newer"))
		require.NoError(t, x.tryDelete(one, "contact", made.ID()))
	})
}

const boundClientSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
without_rules: [order_status]
accounts: {users: []}
resources:
  order:
    table: b_ord
    key: {columns: id, generated: max+1}
    client: ""
    where: "b_ord.id IN (SELECT ord FROM b_wie WHERE adm = :client)"
    fields:
      contact_id: {absent: true}
      kind: {constant: sales}
      order_status: st
      order_date: {from: dat, format: yyyyMMdd}
      orderlines: {}
    operations: {only: [get, list, delete]}
  orderline:
    table: b_lijn
    key: {columns: id, generated: max+1}
    client: {through: order_id}
    list_requires: []
    fields:
      order_id: ord
      description: oms
      quantity: aantal
      price: prijs
      turnover_group_id: {absent: true}
`

// TestChildrenOfWhatAConditionBinds: before, every answer with a line of such an order was an
// internal error.
func TestChildrenOfWhatAConditionBinds(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x, _, _ := onTables(t, engine, fmt.Sprintf(boundClientSheet, engine),
			"CREATE TABLE b_ord (id integer NOT NULL PRIMARY KEY, st varchar(10) NOT NULL, dat varchar(8) NOT NULL)",
			"CREATE TABLE b_wie (ord integer NOT NULL PRIMARY KEY, adm integer NOT NULL)",
			"CREATE TABLE b_lijn (id integer NOT NULL PRIMARY KEY, ord integer NOT NULL, oms varchar(40) NOT NULL, aantal integer NOT NULL, prijs integer NOT NULL)",
			"INSERT INTO b_ord VALUES (10, 'open', '20260101'), (20, 'open', '20260101'), (30, 'open', '20260101')",
			"INSERT INTO b_wie VALUES (10, 1), (20, 2), (30, 1)",
			"INSERT INTO b_lijn VALUES (1, 10, 'one', 1, 100), (2, 20, 'two', 1, 100)")
		require.Equal(t, []int32{10, 30}, ids(x.all(one, "order")))
		require.Equal(t, []int32{1}, ids(x.all(one, "orderline")))
		require.Equal(t, []int32{2}, ids(x.all(two, "orderline")))
		require.Equal(t, one.ID, x.get(one, "orderline", 1).Owner)
		x.isNobodys(t, "orderline", 2)
		line := x.create(one, x.line(10))
		x.update(one, line.ID(), x.record("orderline", "description", "changed"))
		require.NoError(t, x.tryDelete(one, "orderline", line.ID()))
		require.True(t, mapping.Is(x.tryDelete(one, "order", 10), mapping.InUse))
		require.NoError(t, x.tryDelete(one, "order", 30))
		require.True(t, mapping.Is(x.tryDelete(one, "order", 20), mapping.RecordNotFound))
	})
}
