package reference

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

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
	q := backend.Query{Client: client, Total: rapid.Bool().Draw(t, "total"), Limit: rapid.SampledFrom([]int{1, 3, 50, 1000}).Draw(t, "limit")}
	for range rapid.IntRange(1, 3).Draw(t, "filters") {
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
		q.Offset = rapid.IntRange(0, 5).Draw(t, "offset")
		q.Sort = []backend.Order{{Field: &r.Fields[r.ID], Descending: true}}
		slices.Reverse(want)
		want = want[min(q.Offset, len(want)):]
	}
	page, err := x.front.List(x.t.Context(), r, q)
	require.NoError(t, err)
	require.Equal(t, ids(want[:min(q.Limit, len(want))]), ids(page.Records), "%s: %+v", r.Name, q.Filters)
	require.Equal(t, len(want) > q.Limit, page.More)
	if q.Total {
		require.EqualValues(t, total, page.Total)
	}
	return total
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
