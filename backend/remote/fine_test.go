package remote

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

const fineSheet = `
format: 1
source: {http: {url: "${GARAGE_URL}"}}
rules: backend
keep: keep.db
accounts: {users: []}
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
		holds := true
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

// TestRangesFindWhatIsShown: before, [lte] missed what a service keeps finer than clients see,
// though both show the same time.
func TestRangesFindWhatIsShown(t *testing.T) {
	for _, names := range [][]string{{"gte", "gt", "lte", "lt"}, {"gt", "lte"}, {"gte", "lt"}, {"gte", "lte"}} {
		var has []string
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
