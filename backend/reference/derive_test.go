package reference

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
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

// TestFiltersAgainstOracle draws filters, alone and with all else that a list takes, and
// holds what both engines find to backend.Filter.Matches over all records.
func TestFiltersAgainstOracle(t *testing.T) {
	onSample(t, func(t *testing.T, x *fixture, demo, _ auth.Client) {
		for _, name := range oddNames {
			x.create(demo, x.record("contact", "kind", "person", "name", name, "note", "about "+name, "birth_date", "1969-12-31T23:59:59.999Z"))
		}
		all := map[string][]mapping.Record{}
		resources := []string{"contact", "order", "orderline", "vehicle", "article", "country", "employee"}
		for _, name := range resources {
			all[name] = x.all(demo, name)
		}
		found := 0
		rapid.Check(t, func(rt *rapid.T) {
			name := rapid.SampledFrom(resources).Draw(rt, "resource")
			found += listed(rt, x, demo, all[name])
		})
		require.NotZero(t, found)
	})
}

// listed draws a list of these records, and holds it to the oracle; it returns how many
// records it has.
func listed(t *rapid.T, x *fixture, client auth.Client, all []mapping.Record) int {
	r := all[0].Resource
	q := backend.Query{Client: client, Total: rapid.Bool().Draw(t, "total"), Limit: rapid.SampledFrom([]int{0, 1, 3, 50, 1000}).Draw(t, "limit")}
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		q.Filters = append(q.Filters, drawFilter(t, r, all))
	}
	if rapid.IntRange(0, 3).Draw(t, "since") == 3 {
		q.ModifiedSince = rapid.SampledFrom(all).Draw(t, "modified_since").Values[r.ModifiedAt]
	}
	want := slices.DeleteFunc(slices.Clone(all), func(rec mapping.Record) bool {
		return q.ModifiedSince.IsSet() && rec.Values[r.ModifiedAt].Int() < q.ModifiedSince.Int() ||
			slices.ContainsFunc(q.Filters, func(f backend.Filter) bool { return !f.Matches(rec.Values[f.Field.Index]) })
	})
	total := len(want)
	switch rapid.IntRange(0, 2).Draw(t, "page") {
	case 0:
		q.Keyset, q.After = true, rapid.SampledFrom(all).Draw(t, "after").ID()
		want = slices.DeleteFunc(want, func(rec mapping.Record) bool { return rec.ID() <= q.After })
	case 1:
		q.Offset, q.Sort = rapid.IntRange(0, 5).Draw(t, "offset"), drawSort(t, r)
		slices.SortStableFunc(want, func(a, b mapping.Record) int { return sorted(q.Sort, a, b) })
		want = want[min(q.Offset, len(want)):]
	}
	page, err := x.front.List(x.t.Context(), r, q)
	require.NoError(t, err)
	shown := want
	if q.Limit > 0 {
		shown = want[:min(q.Limit, len(want))]
	}
	require.Equal(t, ids(shown), ids(page.Records), "%s: %+v", r.Name, q)
	require.Equal(t, len(want) > len(shown), page.More)
	if q.Total {
		require.EqualValues(t, total, page.Total)
	}
	return total
}

// drawSort draws up to three fields to sort by, or the ID alone, which pages are skipped by.
func drawSort(t *rapid.T, r *mapping.Resource) (by []backend.Order) {
	var fields []*mapping.Field
	if rapid.IntRange(0, 2).Draw(t, "by ID") == 0 {
		return []backend.Order{{Field: &r.Fields[r.ID], Descending: rapid.Bool().Draw(t, "descending")}}
	}
	for i := range r.Fields {
		if r.Fields[i].Sortable() {
			fields = append(fields, &r.Fields[i])
		}
	}
	for _, f := range rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 0, 3, rapid.ID).Draw(t, "sort") {
		by = append(by, backend.Order{Field: f, Descending: rapid.Bool().Draw(t, "descending")})
	}
	return by
}

// sorted compares records by what a list is sorted by; texts by their bytes.
func sorted(by []backend.Order, a, b mapping.Record) int {
	for _, o := range by {
		x, y := a.Values[o.Field.Index], b.Values[o.Field.Index]
		c := cmp.Or(cmp.Compare(x.Kind(), y.Kind()), cmp.Compare(x.Int(), y.Int()), cmp.Compare(x.Text(), y.Text()))
		if o.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func ids(records []mapping.Record) []int32 {
	all := []int32{}
	for _, rec := range records {
		all = append(all, rec.ID())
	}
	return all
}

// drawFilter draws a filter by what some record has, or nearly has.
func drawFilter(t *rapid.T, r *mapping.Resource, all []mapping.Record) backend.Filter {
	operators := append([]mapping.Operator{mapping.Equals}, mapping.AllOperators[:]...)
	for {
		f := &r.Fields[rapid.IntRange(0, len(r.Fields)-1).Draw(t, "field")]
		filter := backend.Filter{Field: f, Op: rapid.SampledFrom(operators).Draw(t, "operator")}
		if !f.FilterableBy(filter.Op) {
			continue
		}
		with := slices.DeleteFunc(slices.Clone(all), func(rec mapping.Record) bool { return !rec.Values[f.Index].IsSet() })
		if len(with) == 0 && filter.Op != mapping.IsNull {
			continue
		}
		value := func() mapping.Value { return nearly(t, f, rapid.SampledFrom(with).Draw(t, "value of").Values[f.Index]) }
		switch filter.Op {
		case mapping.IsNull:
			filter.Value = mapping.IntValue(int64(rapid.IntRange(0, 1).Draw(t, "null")))
		case mapping.AnyOf:
			for range rapid.IntRange(1, 5).Draw(t, "values") {
				filter.Values = append(filter.Values, value())
			}
		case mapping.Contains:
			filter.Value = mapping.TextValue(pieceOf(t, rapid.SampledFrom(with).Draw(t, "part of").Values[f.Index].Text()))
		default:
			filter.Value = value()
		}
		return filter
	}
}

// nearly is a value, or the one right beside it.
func nearly(t *rapid.T, f *mapping.Field, v mapping.Value) mapping.Value {
	by := int64(rapid.IntRange(-1, 1).Draw(t, "beside"))
	switch v.Kind() {
	case mapping.KindInt:
		return mapping.IntValue(v.Int() + by)
	case mapping.KindDecimal:
		return mapping.DecimalValue(v.Int()+by, v.Scale())
	case mapping.KindTime:
		return mapping.MilliValue(v.Int() + by)
	case mapping.KindText:
		if by > 0 {
			return mapping.TextValue(v.Text() + " ")
		}
		if by < 0 {
			return mapping.TextValue(strings.ToLower(v.Text()))
		}
	}
	return v
}

// pieceOf is a piece of a text, with some letters in another case.
func pieceOf(t *rapid.T, text string) string {
	letters := []rune(text)
	from := rapid.IntRange(0, len(letters)).Draw(t, "from")
	letters = letters[from:rapid.IntRange(from, len(letters)).Draw(t, "to")]
	for i, r := range letters {
		letters[i] = rapid.SampledFrom(mapping.Cases(r)).Draw(t, "case")
	}
	part := string(letters)
	if utf8.RuneCountInString(part) == 0 {
		return rapid.SampledFrom([]string{"%%%", "___", "***", "...", `\\\`, "[a]", "zzz"}).Draw(t, "nothing of it")
	}
	return part
}
