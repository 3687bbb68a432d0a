package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// shop is a client with a contact and a turnover group of every VAT kind.
type shop struct {
	*fixture
	contact mapping.Record
	groups  map[string]string // IDs by VAT kind
	begun   string            // a cursor of changes from before
}

func newShop(x *fixture, name string) *shop {
	x.mine = x.client(name)
	s := &shop{fixture: x, groups: map[string]string{}, begun: cursorOfNow(x.t, x.front, x.mine)}
	s.contact = x.create(x.mine, x.record("contact", "kind", "person", "name", "Jansen"))
	for _, kind := range []string{"high", "low", "zero", "margin", "exempt"} {
		g := x.create(x.mine, x.record("turnovergroup", "code", kind, "description", kind, "vat_kind", kind, "ledger_account", "8000"))
		s.groups[kind] = strconv.Itoa(int(g.ID()))
	}
	return s
}

func (s *shop) order(lines ...mapping.Record) mapping.Record {
	s.t.Helper()
	rec := s.record("order", "contact_id", strconv.Itoa(int(s.contact.ID())), "kind", "workshop", "order_status", "open", "order_date", "2026-11-20")
	if len(lines) > 0 {
		f := rec.Resource.Field("orderlines")
		rec.Values[f.Index] = mapping.RecordsValue()
		rec.Children = map[int][]mapping.Record{f.Index: lines}
	}
	return must.Have(s.judged(rec))(s.t)
}

// judged stores a record that has elements, as the rules would after they
// have judged it.
func (s *shop) judged(rec mapping.Record) (mapping.Record, error) {
	rec.FillDefaults()
	return s.Create(bg(), s.mine, rec)
}

func (s *shop) line(kind, quantity, price string, more ...string) mapping.Record {
	s.t.Helper()
	return s.record("orderline", append([]string{"description", "Work", "quantity", quantity, "price", price, "turnover_group_id", s.groups[kind]}, more...)...)
}

// lineOf is a line to be created by itself.
func (s *shop) lineOf(order mapping.Record, kind, quantity, price string) mapping.Record {
	return s.line(kind, quantity, price, "order_id", strconv.Itoa(int(order.ID())))
}

func (s *shop) requireTotals(id int32, excl, incl string) mapping.Record {
	s.t.Helper()
	order := s.get(s.mine, "order", id)
	require.Equal(s.t, excl, order.Get("total_excl").String())
	require.Equal(s.t, incl, order.Get("total_incl").String())
	return order
}

// TestLinesMoveTheirOrder writes lines one by one: the order's totals follow,
// and each time its version and modified_at move once.
func TestLinesMoveTheirOrder(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		o := s.order()
		before := s.get(s.mine, "order", o.ID())
		expect := func(excl, incl string) {
			t.Helper()
			now := s.requireTotals(o.ID(), excl, incl)
			require.Equal(t, before.Version+1, now.Version)
			require.Greater(t, now.Get("modified_at").Int(), before.Get("modified_at").Int())
			before = now
		}
		first := s.create(s.mine, s.lineOf(o, "high", "2", "50"))
		require.Equal(t, "100", first.Get("total").String())
		expect("100", "121")
		second := s.create(s.mine, s.lineOf(o, "low", "1", "10"))
		expect("110", "131.9")
		first = s.update(s.mine, first.ID(), s.record("orderline", "discount_percentage", "50"))
		require.Equal(t, "50", first.Get("total").String())
		expect("60", "71.4")
		s.update(s.mine, first.ID(), s.record("orderline", "turnover_group_id", s.groups["margin"]))
		expect("60", "60.9")
		s.update(s.mine, first.ID(), s.record("orderline", "description", "Other work"))
		expect("60", "60.9")
		require.NoError(t, s.front.Delete(bg(), s.mine, second.Resource, second.ID(), backend.Write{}))
		expect("50", "50")
		require.NoError(t, s.front.Delete(bg(), s.mine, first.Resource, first.ID(), backend.Write{}))
		expect("0", "0")

		s.create(s.mine, s.lineOf(o, "high", "1", "100"))
		expect("100", "121")
		s.update(s.mine, int32(must.Have(strconv.Atoi(s.groups["high"]))(t)), s.record("turnovergroup", "vat_kind", "low"))
		require.Equal(t, before.Version, s.requireTotals(o.ID(), "100", "121").Version, "what was before has the kind of VAT that it had")
		s.create(s.mine, s.lineOf(o, "zero", "1", "0"))
		expect("100", "109")
	})
}

func TestDocumentIsWeighed(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		rec := s.record("document", "name", "a.txt", "resource", "contact", "resource_id", fmt.Sprint(s.contact.ID()))
		rec.Set("content", mapping.BytesValue([]byte("Hello")))
		d := s.create(s.mine, rec)
		sum := sha256.Sum256([]byte("Hello"))
		require.EqualValues(t, 5, d.Get("size").Int())
		require.Equal(t, hex.EncodeToString(sum[:]), d.Get("sha256").Text())
		d = s.update(s.mine, d.ID(), s.record("document", "name", "b.txt"))
		require.EqualValues(t, 5, d.Get("size").Int(), "what does not touch the content leaves its sum")
		patch := mapping.NewRecord(d.Resource)
		patch.Set("content", mapping.BytesValue(nil))
		d = s.update(s.mine, d.ID(), patch)
		require.True(t, d.Get("size").IsSet())
		require.Zero(t, d.Get("size").Int())
		patch = mapping.NewRecord(d.Resource)
		patch.Set("content", mapping.NullValue())
		d = s.update(s.mine, d.ID(), patch)
		require.False(t, d.Get("size").IsSet())
		require.False(t, d.Get("sha256").IsSet())
		require.False(t, s.get(s.mine, "document", d.ID()).Get("sha256").IsSet())
	})
}

func TestFindAddress(t *testing.T) {
	x := open(t, sqliteDSN(t))
	for _, row := range []struct {
		ask   backend.Address
		known bool
		city  string
	}{
		{backend.Address{Postcode: "3811 MH", HouseNumber: 12, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811mh", HouseNumber: 2, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 36, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 13, CountryID: 528}, false, "x"}, // odd
		{backend.Address{Postcode: "3811 MH", HouseNumber: 38, CountryID: 528}, false, "x"}, // too high
		{backend.Address{Postcode: "3811 MH", HouseNumber: 0, CountryID: 528}, false, "x"},
		{backend.Address{Postcode: "9999 ZZ", HouseNumber: 12, CountryID: 528}, false, "x"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 12, CountryID: 56}, false, "x"}, // Belgium
		{backend.Address{Postcode: "8442 AB", HouseNumber: 99, CountryID: 528}, true, "Heerenveen"},
		{backend.Address{Postcode: "8442 AB", HouseNumber: 98, CountryID: 528}, true, "Heerenveen"},
	} {
		row.ask.City = "x"
		found, known, err := x.front.FindAddress(bg(), row.ask)
		require.NoError(t, err)
		require.Equal(t, row.known, known, "%+v", row.ask)
		require.Equal(t, row.city, found.City)
		require.Equal(t, row.ask.Postcode, found.Postcode)
	}
}

func TestOpenRefuses(t *testing.T) {
	model := must.Have(loadModel())(t)
	for _, dsn := range []string{"", "sqlite:", "mysql://root:secret@host/db", "frontdesk.db"} {
		_, err := Open(bg(), Options{DSN: dsn, Model: model, Hasher: hasher, Now: time.Now})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestOrderTotalsTooLarge(t *testing.T) {
	most := mapping.DecimalValue(mostCents-1, moneyScale)
	_, _, ok := orderTotals([]taxed{{most, "zero"}})
	require.True(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "high"}})
	require.False(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "zero"}, {most, "zero"}})
	require.False(t, ok)
}

// oddNames are what patterns, cases and alphabets may trip over.
var oddNames = []string{
	"Özgür Garage", "ÖZGÜR", "Straße", "STRASSE", "STRAẞE", "ſtein", "Kelvin", "ǅungla", "İstanbul", "ıstanbul", "Ωmega", "ώμεγα", "ΜΈΓΑΣ",
	"100% _wild_", "[a-z]*?", "a.b|c(d){2}", `back\slash`, "^start$", "***: x", "(?i)x", "O'Neil & \"Co\"", "  blanks  ", "line\nbreak", "日本語テスト", "🚗🚗🚗", "é", "é",
}

// told is the sample as an oracle has it: all records of a client, as lists tell that ask for nothing.
type told struct {
	*fixture
	client auth.Client
}

// Rows implements drivertest.Oracle.
func (x told) Rows(_ context.Context, resource string) (rows []drivertest.Row, err error) {
	for _, rec := range x.all(x.client, resource) {
		row := drivertest.Row{Key: drivertest.Key(strconv.Itoa(int(rec.ID()))), Client: x.client.ID, Fields: map[string]any{}}
		for i := range rec.Resource.Fields {
			if f := &rec.Resource.Fields[i]; f.Type != mapping.Array && rec.Values[i].IsSet() {
				row.Fields[f.Name] = rec.Values[i]
			} else if f.Type != mapping.Array {
				row.Fields[f.Name] = nil
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TestFiltersAgainstOracle draws lists, with filters and all else that they take, page by page, and holds what both
// engines find to what all records have.
func TestFiltersAgainstOracle(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		for _, name := range oddNames {
			x.create(demo, x.record("contact", "kind", "person", "name", name, "note", "about "+name, "birth_date", "1969-12-31T23:59:59.999Z"))
		}
		(&drivertest.Walk{
			Client: x.front, Oracle: told{x, demo}, Clients: []auth.Client{demo}, Texts: append(oddNames, drivertest.Texts...),
			Resources: []string{"contact", "order", "orderline", "vehicle", "article", "country", "employee"},
		}).Run(t)
		last := backend.Query{Client: demo, Offset: 5, Sort: []backend.Order{{Field: x.model.Resource("order").Field("id"), Descending: true}}}
		found := idsOf(must.Have(x.front.List(bg(), x.model.Resource("order"), last))(t))
		slices.Reverse(found)
		orders := idsOf(backend.Page{Records: x.all(demo, "order")})
		require.Equal(t, orders[:len(orders)-5], found, "all but the last, in a list without an end")
		for _, name := range oddNames {
			x.findsPieces(x.all(demo, "contact"), demo, x.model.Resource("contact").Field("name"), name)
		}
		vehicles := x.all(demo, "vehicle")
		plate := vehicles[0].Get("license_plate").Text()
		for _, written := range []string{plate, strings.ToLower(plate), strings.ReplaceAll(plate, "-", "")} {
			x.findsPieces(vehicles, demo, x.model.Resource("vehicle").Field("license_plate"), written)
		}
	})
}

// findsPieces looks for a text, and for each piece of it, in other cases, among these records.
func (x *fixture) findsPieces(all []mapping.Record, client auth.Client, f *mapping.Field, text string) {
	letters := []rune(strings.Map(otherCase, text))
	filters := []backend.Filter{{Field: f, Value: mapping.TextValue(text)}, {Field: f, Op: mapping.AnyOf, Values: []mapping.Value{mapping.TextValue(string(letters))}}}
	for from := range letters {
		piece := mapping.TextValue(string(letters[from:min(from+3, len(letters))]))
		filters = append(filters, backend.Filter{Field: f, Op: mapping.Contains, Value: piece})
	}
	for _, filter := range filters {
		if !f.FilterableBy(filter.Op) {
			continue
		}
		var want, found []int32
		for _, rec := range all {
			if filter.Matches(rec.Values[f.Index]) {
				want = append(want, rec.ID())
			}
		}
		page := must.Have(x.front.List(bg(), all[0].Resource, backend.Query{Client: client, Filters: []backend.Filter{filter}, Limit: len(all)}))(x.t)
		for _, rec := range page.Records {
			found = append(found, rec.ID())
		}
		require.Equal(x.t, want, found, "%+v", filter)
	}
}

// otherCase is the last of the cases of a letter.
func otherCase(r rune) rune {
	all := mapping.Cases(r)
	return all[len(all)-1]
}
