package rows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractPaging walks lists to their end, by page and by keyset.
func contractPaging(t *testing.T, p *rig.Practice) {
	whole := p.Page("/contact?page_size=1000&total=1")
	all := rig.Ids(whole)
	require.Greater(t, len(all), 50)
	require.True(t, slices.IsSorted(all))
	require.Equal(t, len(all), *whole.Total)
	require.Nil(t, whole.Next)

	require.Equal(t, 100, p.Page("/contact").PageSize)
	for _, c := range []struct{ query, next string }{
		{"page_size=7", "/webservice_v2/contact?page_size=7&page=2"},
		{"page=1&page_size=7&total=1&fields=id%2cname", "/webservice_v2/contact?page_size=7&total=1&fields=id%2Cname&page=2"},
		{"sort=id&page_size=7", "/webservice_v2/contact?sort=id&page_size=7&page=2"},
		{"after=0&page_size=7", "/webservice_v2/contact?page_size=7&after=7"},
	} {
		pages := p.Pages("/contact?" + c.query)
		require.Equal(t, all, rig.Ids(pages...), c.query)
		require.Equal(t, c.next, *pages[0].Next, c.query)
		for i, one := range pages {
			require.Equal(t, 7, one.PageSize)
			if one.Page != nil {
				require.Equal(t, i+1, *one.Page)
			}
			if one.Total != nil {
				require.Equal(t, len(all), *one.Total)
			}
		}
	}
	exact := p.Page(fmt.Sprintf("/contact?page_size=%d&page=1", len(all)))
	require.Nil(t, exact.Next, "no page after a full last one")
	filtered := p.Pages("/contact?kind=company&page_size=7")
	require.Equal(t, rig.Ids(p.Page("/contact?kind=company&page_size=1000")), rig.Ids(filtered...))
	require.Less(t, len(rig.Ids(filtered...)), len(all))
}

// contractSort is always total, by id in the end.
func contractSort(t *testing.T, p *rig.Practice) {
	for range 3 { // with nothing to sort by
		p.Vehicle("")
	}
	plain := p.Page("/vehicle?page_size=1000").Data
	by := func(sort string) func(a, b map[string]any) int {
		return func(a, b map[string]any) int {
			for field := range strings.SplitSeq(sort+",id", ",") {
				name, down := strings.CutPrefix(field, "-")
				order := cmp.Compare(fmt.Sprint(a[name]), fmt.Sprint(b[name]))
				if name == "id" {
					order = cmp.Compare(a[name].(float64), b[name].(float64))
				}
				if down {
					order = -order
				}
				if order != 0 {
					return order
				}
			}
			return 0
		}
	}
	for _, sort := range []string{"id", "-id", "brand", "-brand,model", "brand,-id", "publish_status,-brand,-model,id"} {
		want := slices.SortedFunc(slices.Values(plain), by(sort))
		require.Equal(t, rig.Ids(rig.Page{Data: want}), rig.Ids(p.Pages("/vehicle?page_size=7&sort="+sort)...), sort)
	}
	for _, field := range []string{"mileage", "-mileage", "sales_price", "first_admission_date", "-published_at", "remark", "-remark,mileage"} {
		got := rig.Ids(p.Pages("/vehicle?page_size=7&sort=" + field)...)
		slices.Sort(got)
		require.Equal(t, rig.Ids(rig.Page{Data: plain}), got, "every record once, by %s", field)
	}
}

// contractLines has orders with their lines as they are by themselves.
func contractLines(t *testing.T, p *rig.Practice) {
	lines := p.Get("/order/1?fields=orderlines,id")["orderlines"].([]any)
	require.NotEmpty(t, lines)
	require.Equal(t, p.Page("/orderline?order_id=1&sort=id").Data[0], lines[0])
	all := p.Page("/order?fields=orderlines,id&page_size=100").Data
	require.Greater(t, len(all), 40)
	for _, order := range all[:10] {
		require.Equal(t, p.Get(fmt.Sprintf("/order/%.0f?fields=orderlines,id", order["id"])), order)
	}
	require.Equal(t, all[:3], p.Page("/order?fields=orderlines,id&after=0&page_size=3").Data)
}
