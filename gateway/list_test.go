package gateway

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestSortOfWhatTheSystemCannot refuses what a mapping sheet says cannot be
// sorted by, and takes what can be sorted by but not filtered.
func TestSortOfWhatTheSystemCannot(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	narrowed := model.Narrow(map[string]mapping.Narrowing{"country": {Fields: map[string]mapping.FieldNarrowing{
		"code": {Unsortable: true}, "name": {Unfilterable: true},
	}}})
	x := &Exchange{Endpoint: &Endpoint{Resource: narrowed.Resource("country")}}
	v := parseSort(x, "-name,code")
	require.Len(t, v, 1)
	require.True(t, mapping.Is(v[0], mapping.FieldNotInModel))
	require.Len(t, x.Query.Sort, 1)
	require.True(t, x.Query.Sort[0].Descending)
}

// TestPages: the other client of the sample data has 25 orders, of the IDs 5 to 29.
func TestPages(t *testing.T) {
	t.Parallel()
	other := newFixture(t).as("other")
	const base = "/webservice_v2"
	for _, c := range []struct {
		query, next string // "" for the last page
		page        int    // 0 for none
		size, total int    // -1 for none
		ids         []any
	}{
		{"?fields=id&page_size=3", base + "/order?fields=id&page_size=3&page=2", 1, 3, -1, []any{5., 6., 7.}},
		{"?page=2&fields=id&page_size=3", base + "/order?fields=id&page_size=3&page=3", 2, 3, -1, []any{8., 9., 10.}},
		{"?page=9&page_size=3&total=1", "", 9, 3, 25, []any{29.}},
		{"?page=10&page_size=3&total=0", "", 10, 3, -1, []any{}},
		{"?page=2147483647&page_size=1000", "", 1<<31 - 1, 1000, -1, []any{}},
		{"?after=0&page_size=2", base + "/order?page_size=2&after=6", 0, 2, -1, []any{5., 6.}},
		{"?page_size=2&after=27", "", 0, 2, -1, []any{28., 29.}},
		{"?page_size=2&sort=-id", base + "/order?page_size=2&sort=-id&page=2", 1, 2, -1, []any{29., 28.}},
		{"?after=7&page_size=1", base + "/order?page_size=1&after=8", 0, 1, -1, []any{8.}},
		{"?modified_since=2200-01-01", "", 1, 100, -1, []any{}},
		{"?number=O000006&total=1", "", 1, 100, -1, nil},
		{"?number[in]=O000006,O000007,O000008&fields=id&page_size=2", base + "/order?number%5Bin%5D=O000006,O000007,O000008&fields=id&page_size=2&page=2", 1, 2, -1, nil},
		{"?reference[in]=a%2cb,c&number[gt]=O&page_size=1&after=0", "", 0, 1, -1, []any{}},
	} {
		a := other.ask("GET", "/order"+c.query, "")
		require.Equal(t, 200, a.status, a.body)
		got := decode[many](t, a)
		if c.ids != nil {
			ids := []any{}
			for _, rec := range got.Data {
				ids = append(ids, rec["id"])
			}
			require.Equal(t, c.ids, ids, c.query)
		}
		require.Equal(t, c.size, got.PageSize, c.query)
		require.Equal(t, c.page == 0, got.Page == nil, c.query)
		if c.page != 0 {
			require.Equal(t, c.page, *got.Page, c.query)
		}
		require.Equal(t, c.next == "", got.Next == nil, c.query)
		if c.next != "" {
			require.Equal(t, c.next, *got.Next, c.query)
		}
		if c.total >= 0 {
			require.Equal(t, c.total, *got.Total, c.query)
		}
	}
}

// TestEveryRecordIsOnOnePage, whichever way the client pages.
func TestEveryRecordIsOnOnePage(t *testing.T) {
	t.Parallel()
	other := newFixture(t).as("other")
	for _, query := range []string{"?page_size=7", "?page_size=7&after=0", "?page_size=4&sort=kind,-order_date&fields=id,kind"} {
		seen, target := map[any]int{}, "/order"+query
		for pages := 0; target != ""; pages++ {
			require.Less(t, pages, 10)
			page := decode[many](t, other.ask("GET", target, ""))
			for _, rec := range page.Data {
				seen[rec["id"]]++
			}
			target = ""
			if page.Next != nil {
				target = (*page.Next)[len("/webservice_v2"):]
			}
		}
		require.Len(t, seen, 25, query)
		for id, times := range seen {
			require.Equal(t, 1, times, "%s: %v", query, id)
		}
	}
}

// TestFilters narrow by what the model says a field is.
func TestFilters(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	for query, total := range map[string]int{
		"/country?code=NL":                                       1,
		"/country?code=nl":                                       0,
		"/country?name=C%C3%B4te+d%27Ivoire":                     1,
		"/country?is_eu=1":                                       27,
		"/orderline?order_id=1":                                  3,
		"/orderline?order_id=1&price=72.5":                       1,
		"/order?order_date=2023-10-31T12:50%2B01:00":             1,
		"/order?kind=workshop&order_status=open":                 1,
		"/order?modified_since=2023-10-31T11:50:00Z":             4,
		"/order?modified_since=2023-10-31T11:50:00.1Z":           3,
		"/country?code[in]=NL,BE,XX":                             2,
		"/country?code%5Bin%5D=NL":                               1,
		"/country?id[in]=528,56,1":                               2,
		"/country?id[in]=528%2C56,1":                             2,
		"/country?name[in]=C%C3%B4te+d%27Ivoire,Bonaire%2C+Sint": 1,
		"/country?name[contains]=%C3%94TE+D":                     1,
		"/country?name[contains]=%25te":                          0,
		"/country?name[gte]=Z":                                   3,
		"/country?name[gte]=Neth&name[lt]=Neti":                  1,
		"/country?is_system[in]=1,0&is_eu=1&code[in]=NL,US":      1,
		"/country?postcode_pattern[null]=0&code=NL":              1,
		"/country?postcode_pattern[null]=1&code=NL":              0,
		"/order?order_date[gte]=2023-10-31T11:50:00Z&order_status[in]=open,ready&kind=workshop": 1,
		"/orderline?order_id=1&price[gte]=72.5":                                                 1,
		"/orderline?order_id=1&price[gt]=72.5":                                                  0,
		"/orderline?order_id=1&price[gte]=72.49999":                                             1,
		"/orderline?order_id=1&price[gt]=72.49999&price[lt]=72.50001":                           1,
		"/orderline?order_id=1&price[gte]=72.50001&price[lte]=73":                               0,
		"/orderline?order_id=1&price[in]=72.5,72.50001":                                         1,
		"/orderline?order_id=1&price[in]=72.50001":                                              0,
	} {
		a := demo.ask("GET", query+"&total=1&page_size=1", "")
		require.Equal(t, 200, a.status, a.body)
		require.Equal(t, total, *decode[many](t, a).Total, query)
	}
}

func TestListIsRefused(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	page := fault{400, "Parameter invalid page value must be greater than 0", "page_invalid", ""}
	size := fault{400, "Parameter invalid page_size value must be from 1 to 1000", "page_size_invalid", ""}
	for query, want := range map[string][]fault{
		"/order?page=0":                                    {page},
		"/order?page=-1":                                   {page},
		"/order?page=":                                     {page},
		"/order?page=1.5":                                  {page},
		"/order?page_size=0":                               {size},
		"/order?page_size=1001":                            {size},
		"/order?page_size=x":                               {size},
		"/order?colour=1":                                  {{400, "Invalid request, query parameter is not supported: colour", "query_parameter_unsupported", ""}},
		"/order?orderlines=1":                              {{400, "Invalid request, query parameter is not supported: orderlines", "query_parameter_unsupported", ""}},
		"/order?fields=id,colour":                          {{403, "Field: colour not found in model", "field_not_in_model", "colour"}},
		"/order?sort=-colour":                              {{403, "Field: colour not found in model", "field_not_in_model", "colour"}},
		"/order?sort=orderlines":                           {{403, "Field: orderlines not found in model", "field_not_in_model", "orderlines"}},
		"/order?mileage=x":                                 {{403, "Field: mileage has an invalid value: x for datatype: int4", "int4_invalid", "mileage"}},
		"/order?total_excl=x":                              {{403, "Field: total_excl has an invalid value: x for datatype: float8", "float8_invalid", "total_excl"}},
		"/order?order_date=x":                              {{403, "Field: order_date has an invalid value: x for datatype: timestamp(ISO 8601)", "timestamp_invalid", "order_date"}},
		"/order?modified_since=x":                          {{403, "Field: modified_since has an invalid value: x for datatype: timestamp(ISO 8601)", "timestamp_invalid", "modified_since"}},
		"/order?after=-1":                                  {{403, "Field: after has an invalid value: -1 for datatype: int4", "int4_invalid", "after"}},
		"/order?total=2":                                   {{403, "Field: total has an invalid value: 2 for validation: 0|1", "custom_validation_failed", "total"}},
		"/orderline":                                       {{400, "These parameter(s): order_id are required", "parameters_required", ""}},
		"/document?page=0":                                 {{400, "These parameter(s): resource , resource_id are required", "parameters_required", ""}},
		"/document?resource_id=":                           {{400, "These parameter(s): resource , resource_id are required", "parameters_required", ""}},
		"/document?resource=a&resource_id=":                {{400, "These parameter(s): resource_id are required", "parameters_required", ""}},
		"/order?order_status=opened":                       {{403, "Field: order_status has an invalid value: opened for validation: concept|open|in_progress|ready|invoiced|cancelled", "custom_validation_failed", "order_status"}},
		"/order?order_status=open,ready":                   {{403, "Field: order_status has an invalid value: open,ready for validation: concept|open|in_progress|ready|invoiced|cancelled", "custom_validation_failed", "order_status"}},
		"/order?is_blocked=7":                              {{403, "Field: is_blocked has an invalid value: 7 for validation: 0|1", "custom_validation_failed", "is_blocked"}},
		"/order?is_system=7":                               {{403, "Field: is_system has an invalid value: 7 for validation: 0|1", "custom_validation_failed", "is_system"}},
		"/order?kind[in]=sales,x,y":                        {{403, "Field: kind has an invalid value: x for validation: workshop|sales|parts|lease", "custom_validation_failed", "kind"}, {403, "Field: kind has an invalid value: y for validation: workshop|sales|parts|lease", "custom_validation_failed", "kind"}},
		"/order?mileage[in]=":                              {{403, "Field: mileage has an invalid value:  for datatype: int4", "int4_invalid", "mileage"}},
		"/order?mileage[in]=1,,2":                          {{403, "Field: mileage has an invalid value:  for datatype: int4", "int4_invalid", "mileage"}},
		"/order?mileage[in]=1" + strings.Repeat(",1", 100): {{403, "Field: mileage has an invalid value: 1" + strings.Repeat(",1", 49) + ",… for validation: at most 100 values", "custom_validation_failed", "mileage"}},
		"/order?order_date[gte]=x":                         {{403, "Field: order_date has an invalid value: x for datatype: timestamp(ISO 8601)", "timestamp_invalid", "order_date"}},
		"/order?order_date[null]=":                         {{403, "Field: order_date has an invalid value:  for validation: 0|1", "custom_validation_failed", "order_date"}},
		"/order?reference[contains]=ab":                    {{403, "Field: reference has an invalid value: ab for validation: 3 to 255 characters", "custom_validation_failed", "reference"}},
		"/vehicle?license_plate[contains]=a-b":             {{403, "Field: license_plate has an invalid value: a-b for validation: 3 to 255 characters", "custom_validation_failed", "license_plate"}},
		"/order?order_date[after]=2026-01-01":              {{400, "Invalid request, query parameter is not supported: order_date[after]", "query_parameter_unsupported", ""}},
		"/order?order_date[]=2026-01-01":                   {{400, "Invalid request, query parameter is not supported: order_date[]", "query_parameter_unsupported", ""}},
		"/order?order_date[GTE]=2026-01-01":                {{400, "Invalid request, query parameter is not supported: order_date[GTE]", "query_parameter_unsupported", ""}},
		"/order?order_date[gte=2026-01-01":                 {{400, "Invalid request, query parameter is not supported: order_date[gte", "query_parameter_unsupported", ""}},
		"/order?order_date[contains]=2026":                 {{400, "Invalid request, query parameter is not supported: order_date[contains]", "query_parameter_unsupported", ""}},
		"/order?contact_id[gte]=1":                         {{400, "Invalid request, query parameter is not supported: contact_id[gte]", "query_parameter_unsupported", ""}},
		"/order?kind[gte]=sales":                           {{400, "Invalid request, query parameter is not supported: kind[gte]", "query_parameter_unsupported", ""}},
		"/order?orderlines[null]=1":                        {{400, "Invalid request, query parameter is not supported: orderlines[null]", "query_parameter_unsupported", ""}},
		"/order?page[gte]=1":                               {{400, "Invalid request, query parameter is not supported: page[gte]", "query_parameter_unsupported", ""}},
		"/orderline?order_id=1&total[gte]=1":               {{400, "Invalid request, query parameter is not supported: total[gte]", "query_parameter_unsupported", ""}},
		"/orderline?order_id[in]=1":                        {{400, "These parameter(s): order_id are required", "parameters_required", ""}},
		"/order?kind[in]=sales&kind%5Bin%5D=lease":         {{400, "Invalid request, query parameter is provided more than once: kind[in]", "query_parameter_repeated", ""}},
		"/order?page_size=0&page=0&fields=x":               {{403, "Field: x not found in model", "field_not_in_model", "x"}, page, size},
	} {
		refused(t, demo.ask("GET", query, ""), want...)
	}
	for name, value := range map[string]string{"page": "2", "sort": "-id"} {
		refused(t, demo.ask("GET", "/order?after=1&"+name+"="+value, ""), fault{400, "Parameter after cannot be combined with " + name, "after_combined", ""})
	}
}

// TestFiltersAreNotRounded: before, price=0.00001 found what has 0, and a time of nine
// tenths of a millisecond what has none.
func TestFiltersAreNotRounded(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	var answer struct {
		Data struct {
			OrderDate string  `json:"order_date"`
			TotalExcl float64 `json:"total_excl"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(demo.ask("GET", "/order/1", "").body), &answer))
	date, total := strings.TrimSuffix(answer.Data.OrderDate, "Z"), strconv.FormatFloat(answer.Data.TotalExcl, 'f', 4, 64)
	for query, found := range map[string]bool{
		"order_date=" + date + "000Z": true, "order_date=" + date + "0009Z": false,
		"total_excl=" + total + "00": true, "total_excl=" + total + "01": false,
	} {
		var page struct {
			Data  []any
			Total int
		}
		a := demo.ask("GET", "/order?total=1&"+query, "")
		require.NoError(t, json.Unmarshal([]byte(a.body), &page), a.body)
		require.Equal(t, found, len(page.Data) > 0, query)
		require.Equal(t, found, page.Total > 0, query)
		require.NotNil(t, page.Data)
	}
}
