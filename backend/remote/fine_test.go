package remote

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

const fineSheet = `
resources:
  country:
    key: {columns: nr}
    client: ""
    operations: {list: {path: /list, query: {OPERATORS}, result: items, paging: {style: none}}}
    fields: {code: code, name: {constant: x}, created_at: {from: made, type: timestamp}}
`

// fineTimes is a service that keeps times to the microsecond, and filters by them.
var fineTimes = []string{
	"2026-07-01T10:00:00.122999Z", "2026-07-01T10:00:00.123Z", "2026-07-01T10:00:00.123456Z", "2026-07-01T10:00:00.123999Z", "2026-07-01T10:00:00.124Z", "2026-07-01T10:00:00.125Z",
}

func listFineTimes(w http.ResponseWriter, r *http.Request) {
	var items []string
	for i, made := range fineTimes {
		at, _ := time.Parse(time.RFC3339Nano, made)
		holds := r.URL.Query().Get("eq") == "" || r.URL.Query().Get("eq") == made
		if in := r.URL.Query()["in"]; len(in) > 0 {
			holds = holds && slices.Contains(in, made)
		}
		for o, lets := range map[string]func(int) bool{"gte": func(n int) bool { return n >= 0 }, "gt": func(n int) bool { return n > 0 }, "lte": func(n int) bool { return n <= 0 }, "lt": func(n int) bool { return n < 0 }} {
			if bound, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get(o)); err == nil {
				holds = holds && lets(at.Compare(bound))
			}
		}
		if holds {
			items = append(items, fmt.Sprintf(`{"nr":%d,"code":"%02d","made":%q}`, i+1, i, made))
		}
	}
	_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
}

// TestRangesFindWhatIsShown: before, [lte], = and [in] missed what a service keeps finer than
// clients see, though both show the same time.
func TestRangesFindWhatIsShown(t *testing.T) {
	for _, names := range [][]string{{"gte", "gt", "lte", "lt"}, {"gt", "lte"}, {"gte", "lt"}, {"gte", "lte"}, {"in"}} {
		has := []string{`eq: "{filter.created_at}"`}
		for _, name := range names {
			has = append(has, name+`: "{filter.created_at.`+name+`}"`)
		}
		s := served(t, strings.Replace(fineSheet, "OPERATORS", strings.Join(has, ", "), 1), http.HandlerFunc(listFineTimes))
		r := s.Sheet.Model.Resource("country")
		f := r.Field("created_at")
		list := func(filters ...backend.Filter) (shown []mapping.Value) {
			page, err := s.List(bg(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 10, Total: true, Filters: filters})
			require.NoError(t, err)
			require.EqualValues(t, len(page.Records), page.Total)
			for _, rec := range page.Records {
				shown = append(shown, rec.Values[f.Index])
			}
			return shown
		}
		all := list()
		require.Len(t, all, len(fineTimes))
		var filters []backend.Filter
		for _, o := range []mapping.Operator{mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
			for _, v := range all {
				filters = append(filters, backend.Filter{Field: f, Op: o, Value: v})
			}
		}
		for _, v := range all {
			filters = append(filters, backend.Filter{Field: f, Value: v}, backend.Filter{Field: f, Op: mapping.AnyOf, Values: []mapping.Value{v, all[0]}})
		}
		for _, one := range filters {
			for _, other := range filters { // both may be sent as the same
				var want []mapping.Value
				for _, v := range all {
					if one.Matches(v) && other.Matches(v) {
						want = append(want, v)
					}
				}
				require.Equal(t, want, list(one, other), "%v: %v %s, %v %s", names, one.Op, one.Value, other.Op, other.Value)
			}
		}
	}
}

// TestPartsOfSeconds has a service with fractions of a second since 1970. Before, what changed
// after the time of modified_since, in the same second, was missed, and = found nothing.
func TestPartsOfSeconds(t *testing.T) {
	times := []string{"1690000000", "1690000000.25", "1690000000.5", "1690000001"}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var items []string
		for i, made := range times {
			at, _ := strconv.ParseFloat(made, 64)
			holds := true
			for o, lets := range map[string]func(by float64) bool{"eq": func(by float64) bool { return at == by }, "gte": func(by float64) bool { return at >= by }, "lt": func(by float64) bool { return at < by }, "since": func(by float64) bool { return at >= by }} {
				if by, err := strconv.ParseFloat(r.URL.Query().Get(o), 64); err == nil {
					holds = holds && lets(by)
				}
			}
			if holds {
				items = append(items, fmt.Sprintf(`{"nr":%d,"code":"%02d","made":%s,"changed":%[3]s}`, i+1, i, made))
			}
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	})
	query := `since: "{modified_since}", eq: "{filter.created_at}", gte: "{filter.created_at.gte}", lt: "{filter.created_at.lt}"`
	s := served(t, strings.NewReplacer("OPERATORS", query, "type: timestamp}", "format: epoch_seconds}, modified_at: {from: changed, format: epoch_seconds}").Replace(fineSheet), service)
	r := s.Sheet.Model.Resource("country")
	f := r.Field("created_at")
	list := func(q backend.Query) (ids []int32) {
		q.Client, q.Limit = auth.Client{ID: 1}, 10
		page, err := s.List(bg(), r, q)
		require.NoError(t, err)
		for _, rec := range page.Records {
			ids = append(ids, rec.ID())
		}
		return ids
	}
	at := func(ms int64) mapping.Value { return mapping.MilliValue(1_690_000_000_000 + ms) }
	by := func(o mapping.Operator, ms int64) []int32 {
		return list(backend.Query{Filters: []backend.Filter{{Field: f, Op: o, Value: at(ms)}}})
	}
	require.Equal(t, []int32{1}, by(mapping.Equals, 0))
	require.Equal(t, []int32{3}, by(mapping.Equals, 500))
	require.Empty(t, by(mapping.Equals, 300))
	require.Equal(t, []int32{3, 4}, by(mapping.AtLeast, 300))
	require.Equal(t, []int32{2, 3, 4}, by(mapping.Above, 0))
	require.Equal(t, []int32{1, 2}, by(mapping.AtMost, 300))
	require.Equal(t, []int32{1, 2}, by(mapping.Below, 500))
	require.Subset(t, list(backend.Query{ModifiedSince: at(300)}), []int32{3, 4})
	require.Equal(t, []int32{4}, list(backend.Query{ModifiedSince: at(1000)}))
}

// TestDecimalsFindWhatIsShown has a service that keeps more decimals than clients see. Before, it
// was asked for what it does not have, and =, [in] and bounds missed what clients see, or found what
// they see otherwise.
func TestDecimalsFindWhatIsShown(t *testing.T) {
	prices := []string{"9.99", "9.994", "9.995", "9.999", "10", "10.004", "10.005", "0.004", "0", "-0.004", "-0.005", "-9.995", "-9.994", "-10.005", "-10"}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var items []string
		for i, text := range prices {
			price, _ := strconv.ParseFloat(text, 64)
			holds := true
			for o, lets := range map[string]func(by float64) bool{"eq": func(by float64) bool { return price == by }, "gte": func(by float64) bool { return price >= by }, "gt": func(by float64) bool { return price > by }, "lte": func(by float64) bool { return price <= by }, "lt": func(by float64) bool { return price < by }} {
				if by, err := strconv.ParseFloat(r.URL.Query().Get(o), 64); err == nil {
					holds = holds && lets(by)
				}
			}
			if in := r.URL.Query()["in"]; len(in) > 0 {
				holds = holds && slices.Contains(in, text)
			}
			if holds {
				items = append(items, fmt.Sprintf(`{"nr":%d,"price":%s}`, i+1, text))
			}
		}
		_, _ = fmt.Fprintf(w, `[%s]`, strings.Join(items, ","))
	})
	for _, bounds := range []string{"", `, gte: "{filter.price.gte}", gt: "{filter.price.gt}", lte: "{filter.price.lte}", lt: "{filter.price.lt}"`} {
		s := served(t, strings.Replace(decimalSheet, "BOUNDS", bounds, 1), service)
		r := s.Sheet.Model.Resource("article")
		f := r.Field("price")
		list := func(filters ...backend.Filter) (ids []int32) {
			page, err := s.List(bg(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 100, Total: true, Filters: filters})
			require.NoError(t, err)
			require.EqualValues(t, len(page.Records), page.Total)
			for _, rec := range page.Records {
				ids = append(ids, rec.ID())
			}
			return ids
		}
		page, err := s.List(bg(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 100})
		require.NoError(t, err)
		require.Len(t, page.Records, len(prices))
		operators := []mapping.Operator{mapping.Equals, mapping.AnyOf}
		if bounds != "" {
			operators = append(operators, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below)
		}
		for _, o := range operators {
			for _, rec := range page.Records {
				by := backend.Filter{Field: f, Op: o, Value: rec.Values[f.Index]}
				if o == mapping.AnyOf {
					by.Value, by.Values = mapping.Value{}, []mapping.Value{by.Value}
				}
				var want []int32
				for _, other := range page.Records {
					if by.Matches(other.Values[f.Index]) {
						want = append(want, other.ID())
					}
				}
				require.Equal(t, want, list(by), "%q: %v %s", bounds, o, rec.Values[f.Index])
			}
		}
	}
}

const decimalSheet = `
resources:
  article:
    key: {columns: nr}
    client: ""
    operations: {list: {path: /list, query: {eq: "{filter.price}", in: "{filter.price.in}"BOUNDS}, paging: {style: none}}}
    fields: {number: {constant: x}, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: {from: price, scale: 2}}
`
