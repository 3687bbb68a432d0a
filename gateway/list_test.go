package gateway

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListIsRefused for filters by more than equality.
func TestListIsRefused(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	for query, want := range map[string][]fault{
		"/order?kind[in]=sales,x,y":                        {{403, "Field: kind has an invalid value: x for validation: workshop|sales|parts|lease", "custom_validation_failed", "kind"}, {403, "Field: kind has an invalid value: y for validation: workshop|sales|parts|lease", "custom_validation_failed", "kind"}},
		"/order?mileage[in]=":                              {{403, "Field: mileage has an invalid value:  for datatype: int4", "int4_invalid", "mileage"}},
		"/order?mileage[in]=1,,2":                          {{403, "Field: mileage has an invalid value:  for datatype: int4", "int4_invalid", "mileage"}},
		"/order?mileage[in]=1" + strings.Repeat(",1", 100): {{403, "Field: mileage has an invalid value: 1" + strings.Repeat(",1", 49) + ",… for validation: at most 100 values", "custom_validation_failed", "mileage"}},
		"/order?order_date[gte]=x":                         {{403, "Field: order_date has an invalid value: x for datatype: timestamp(ISO 8601)", "timestamp_invalid", "order_date"}},
		"/order?order_date[null]=":                         {{403, "Field: order_date has an invalid value:  for validation: 0|1", "custom_validation_failed", "order_date"}},
		"/order?reference[contains]=ab":                    {{403, "Field: reference has an invalid value: ab for validation: 3 to 255 characters", "custom_validation_failed", "reference"}},
		"/vehicle?license_plate[contains]=a-b":             {{403, "Field: license_plate has an invalid value: a-b for validation: 3 to 255 characters", "custom_validation_failed", "license_plate"}},
		"/orderline?order_id[in]=1":                        {{400, "These parameter(s): order_id are required", "parameters_required", ""}},
		"/order?kind[in]=sales&kind%5Bin%5D=lease":         {{400, "Invalid request, query parameter is provided more than once: kind[in]", "query_parameter_repeated", ""}},
	} {
		refused(t, demo.ask("GET", query, ""), want...)
	}
	for _, query := range []string{
		"/order?order_date[after]=2026-01-01", "/order?order_date[]=2026-01-01", "/order?order_date[GTE]=2026-01-01", "/order?order_date[gte=2026-01-01", "/order?order_date[contains]=2026",
		"/order?contact_id[gte]=1", "/order?kind[gte]=sales", "/order?orderlines[null]=1", "/order?page[gte]=1", "/orderline?order_id=1&total[gte]=1",
	} {
		name := query[strings.LastIndexAny(query, "?&")+1 : strings.LastIndexByte(query, '=')]
		refused(t, demo.ask("GET", query, ""), fault{400, "Invalid request, query parameter is not supported: " + name, "query_parameter_unsupported", ""})
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
