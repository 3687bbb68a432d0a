package gateway

import (
	"encoding/json"
	"fmt"
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

func TestParamsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][][2]string{
		"":                     nil,
		"&&":                   nil,
		"a":                    {{"a", ""}},
		"=":                    {{"", ""}},
		"a=1&&b=2=3":           {{"a", "1"}, {"b", "2=3"}},
		"%61=%2541&a+b=c%20+d": {{"a", "%41"}, {"a b", "c  d"}},
		"a=%c3%A9%":            {{"a", "é%"}},
		"a=%4&b=%zz":           {{"a", "%4"}, {"b", "%zz"}},
	} {
		var got [][2]string
		for _, p := range appendParams(nil, []byte(raw)) {
			got = append(got, [2]string{p.Name, p.Value})
		}
		require.Equal(t, want, got, raw)
	}
}

// TestLists: a comma separates, also as %2C, which URL libraries write for one; within a value it
// is \,. So it is in the address of the next page and in a stored request.
func TestLists(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"F1480%2CF878": {"F1480", "F878"}, "F1480,F878": {"F1480", "F878"}, "a%5C%2Cb,c+d,,%25": {"a,b", "c d", "", "%"},
		"a%5C,b": {"a,b"}, "%5C%5C,x%5Cy%5C": {`\,x\y\`}, "": {""}, "Jans%C3%A9n,%CE%A9": {"Jansén", "Ω"},
	} {
		params := appendParams(nil, []byte("name[in]="+raw+"&name=a,b"))
		require.Equal(t, want, params[0].list(), raw)
		require.Equal(t, want, appendParams(nil, []byte(encodeParams(params)))[0].list(), raw)
	}
}

// TestManyParameters: comparing each with each other ends where it would take long.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	var query strings.Builder
	for n := range maxParams + 1 {
		fmt.Fprintf(&query, "&p%d=", n)
	}
	refused(t, demo.ask("GET", "/order?"+query.String(), ""),
		fault{400, fmt.Sprintf("Invalid request, query parameter is not supported: p%d", maxParams), "query_parameter_unsupported", ""})
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int32{
		"1": 1, "2147483647": 1<<31 - 1, "2147483648": 0, "9999999999": 0, "12345678901": 0,
		"": 0, "0": 0, "01": 0, "-1": 0, "+1": 0, "1.0": 0, " 1": 0, "1e3": 0, "٣": 0,
	} {
		id, ok := parseID(s)
		require.Equal(t, want != 0, ok, s)
		if ok {
			require.Equal(t, want, id, s)
		}
	}
}
