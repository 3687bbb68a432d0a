package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractPaging walks lists to their end, by page and by keyset.
func contractPaging(t *testing.T, p *practice) {
	whole := p.page("/contact?page_size=1000&total=1")
	all := ids(whole)
	require.Greater(t, len(all), 50)
	require.True(t, slices.IsSorted(all))
	require.Equal(t, len(all), *whole.Total)
	require.Nil(t, whole.Next)

	first := p.page("/contact")
	require.Equal(t, 1, *first.Page)
	require.Equal(t, 100, first.PageSize)
	require.Nil(t, first.Total)
	for _, c := range []struct{ query, next string }{
		{"page_size=7", "/webservice_v2/contact?page_size=7&page=2"},
		{"page=1&page_size=7&total=1&fields=id%2cname", "/webservice_v2/contact?page_size=7&total=1&fields=id%2Cname&page=2"},
		{"sort=id&page_size=7", "/webservice_v2/contact?sort=id&page_size=7&page=2"},
		{"after=0&page_size=7", "/webservice_v2/contact?page_size=7&after=7"},
		{"after=0&sort=id&page_size=7", "/webservice_v2/contact?sort=id&page_size=7&after=7"},
	} {
		pages := p.pages("/contact?" + c.query)
		require.Equal(t, all, ids(pages...), c.query)
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
	keyset := p.page("/contact?after=10&page_size=3&total=1")
	require.Nil(t, keyset.Page)
	require.Equal(t, []int{11, 12, 13}, ids(keyset))
	exact := p.page(fmt.Sprintf("/contact?page_size=%d&page=1", len(all)))
	require.Nil(t, exact.Next, "no page after a full last one")
	filtered := p.pages("/contact?kind=company&page_size=7")
	require.Equal(t, ids(p.page("/contact?kind=company&page_size=1000")), ids(filtered...))
	require.Less(t, len(ids(filtered...)), len(all))
	for _, beyond := range []string{"page=1000", "page=2147483647", "page=2147483648", "page=9223372036854775807", "page=99999999999999999999999", "page=2147483647&page_size=1000", "after=2147483647"} {
		a := p.page("/contact?" + beyond)
		require.Empty(t, a.Data, beyond)
		require.Nil(t, a.Next, beyond)
	}
	p.holds(t, []wire{
		{ask: `GET /contact?after=x`, status: 403, message: `Field: after has an invalid value: x for datatype: int4`},
		{ask: `GET /contact?after=-1`, status: 403, message: `Field: after has an invalid value: -1 for datatype: int4`},
		{ask: `GET /contact?after=1&page=1`, status: 400, message: `Invalid request, query parameter is not supported: page`},
		{ask: `GET /contact?after=1&sort=name`, status: 400, message: `Invalid request, query parameter is not supported: sort`},
		{ask: `GET /contact?total=2`, status: 403, message: `Field: total has an invalid value: 2 for validation: 0|1`},
		{ask: `GET /contact?total=0&page_size=1&fields=id`, status: 200, body: `{"data":[{"id":1}],"page":1,"page_size":1,"next":"/webservice_v2/contact?total=0&page_size=1&fields=id&page=2"}`},
		{ask: `GET /contact?page=%2B1`, status: 400, message: `Parameter invalid page value must be greater than 0`},
		{ask: `GET /contact?page_size=1e2`, status: 400, message: `Parameter invalid page_size value must be from 1 to 1000`},
	})
}

// contractSort is always total, by id in the end.
func contractSort(t *testing.T, p *practice) {
	for range 3 { // with nothing to sort by
		p.vehicle("")
	}
	plain := p.page("/vehicle?page_size=1000").Data
	number := func(rec map[string]any, field string) float64 {
		n, _ := rec[field].(float64)
		return n
	}
	text := func(rec map[string]any, field string) string { return rec[field].(string) }
	id := func(a, b map[string]any) int { return cmp.Compare(number(a, "id"), number(b, "id")) }
	for sort, order := range map[string]func(a, b map[string]any) int{
		"id":  id,
		"-id": func(a, b map[string]any) int { return id(b, a) },
		"brand": func(a, b map[string]any) int {
			return cmp.Or(cmp.Compare(text(a, "brand"), text(b, "brand")), id(a, b))
		},
		"-brand,model": func(a, b map[string]any) int {
			return cmp.Or(cmp.Compare(text(b, "brand"), text(a, "brand")), cmp.Compare(text(a, "model"), text(b, "model")), id(a, b))
		},
		"brand,-id": func(a, b map[string]any) int {
			return cmp.Or(cmp.Compare(text(a, "brand"), text(b, "brand")), id(b, a))
		},
		"publish_status,-brand,-model,id": func(a, b map[string]any) int {
			return cmp.Or(cmp.Compare(text(a, "publish_status"), text(b, "publish_status")), cmp.Compare(text(b, "brand"), text(a, "brand")), cmp.Compare(text(b, "model"), text(a, "model")), id(a, b))
		},
	} {
		want := slices.SortedFunc(slices.Values(plain), order)
		require.Equal(t, ids(page{Data: want}), ids(p.pages("/vehicle?page_size=7&sort="+sort)...), sort)
	}
	for _, field := range []string{"mileage", "-mileage", "sales_price", "first_admission_date", "-published_at", "remark", "-remark,mileage"} {
		got := ids(p.pages("/vehicle?page_size=7&sort=" + field)...)
		slices.Sort(got)
		require.Equal(t, ids(page{Data: plain}), got, "every record once, by %s", field)
	}
	set := func(sort string) (values []float64) {
		for _, rec := range p.page("/vehicle?page_size=1000&sort=" + sort).Data {
			if rec["mileage"] != nil {
				values = append(values, number(rec, "mileage"))
			}
		}
		return values
	}
	up, down := set("mileage"), set("-mileage")
	require.True(t, slices.IsSorted(up))
	slices.Reverse(down)
	require.True(t, slices.IsSorted(down))
	p.holds(t, []wire{
		{ask: `GET /vehicle?sort=colour,-brand,-colour2`, status: 403, errors: []string{`Field: colour not found in model`, `Field: colour2 not found in model`}},
		{ask: `GET /vehicle?sort=--brand`, status: 403, message: `Field: -brand not found in model`},
		{ask: `GET /vehicle?sort=brand,`, status: 403, message: `Field:  not found in model`},
		{ask: `GET /order?sort=orderlines`, status: 403, message: `Field: orderlines not found in model`},
		{ask: `GET /vehicle?sort=`, status: 200},
	})
}

// contractFields chooses fields, which come in model order all the same.
func contractFields(t *testing.T, p *practice) {
	contact := p.contact()
	document := p.post("document", `{"name":"a","resource":"contact","resource_id":%d,"content":"SGVsbG8="}`, contact)
	line := p.line(p.order("open"))
	p.holds(t, []wire{
		{ask: `GET /country/528?fields=name,code,id`, status: 200},
		{ask: `GET /contact/1?fields=colour,name,is_nice`, status: 403, errors: []string{`Field: colour not found in model`, `Field: is_nice not found in model`}},
		{ask: `GET /contact/1?fields=name,`, status: 403, message: `Field:  not found in model`},
		{ask: `GET /contact/1?fields=name,%20id`, status: 403, message: `Field:  id not found in model`},
		{ask: `GET /order?fields=orderlines`, status: 403, message: `Field: orderlines not found in model`},
		{ask: `GET /document/$1?fields=size,content,name`, status: 200, body: `{"data":{"name":"a","size":5,"content":"SGVsbG8="}}`},
		{ask: `GET /document?resource=contact&resource_id=$3&fields=content,size`, status: 200, body: `{"data":[{"size":5,"content":"SGVsbG8="}],"page":1,"page_size":100,"next":null}`},
		{ask: `GET /document?resource=contact&resource_id=$3&content=SGVsbG8=`, status: 400, message: `Invalid request, query parameter is not supported: content`},
		{ask: `GET /orderline/$2?fields=price,price,id`, status: 200, body: `{"data":{"id":$2,"price":10}}`},
	}, document, line, contact)
	a := p.call("GET", "/country/528?fields=name,code,id", p.token, "")
	require.Equal(t, `{"data":{"id":528,"code":"NL","name":"Netherlands"}}`, string(a.Body))
	require.NotContains(t, p.page(fmt.Sprintf("/document?resource=contact&resource_id=%d", contact)).Data[0], "content")
	require.Contains(t, p.get(fmt.Sprintf("/document/%d", document)), "content")
	require.NotContains(t, p.get("/order/1"), "orderlines")
	lines := p.get("/order/1?fields=orderlines,id")["orderlines"].([]any)
	require.NotEmpty(t, lines)
	require.Equal(t, p.page("/orderline?order_id=1&sort=id").Data[0], lines[0])
	empty := p.order("open")
	require.Equal(t, map[string]any{"orderlines": []any{}}, p.get(fmt.Sprintf("/order/%d?fields=orderlines", empty)))
}

// contractFilters has an equality for every datatype.
func contractFilters(t *testing.T, p *practice) {
	note := "a note\nof 'two' lines & more % _"
	contact := p.post("contact", `{"kind":"person","name":"Özgür","note":%q,"payment_days":2147483647,"birth_date":"1980-02-29T23:30:00.125+01:00"}`, note)
	employee := p.post("employee", `{"username":"filtered","last_name":"A","hourly_rate":61.1234}`)
	vehicle := p.vehicle(`,"vin":"WVWZZZ1KZAW000555"`)
	plate := p.get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"].(string)
	esc := url.QueryEscape
	for query, want := range map[string][]int{
		"/contact?name=" + esc("Özgür"):                              {contact},
		"/contact?name=" + esc("özgür"):                              {},
		"/contact?note=" + esc(note):                                 {contact},
		"/contact?payment_days=2147483647":                           {contact},
		"/contact?birth_date=" + esc("1980-02-29T22:30:00.125Z"):     {contact},
		"/contact?birth_date=" + esc("1980-02-29T23:30:00.125+01"):   {contact},
		"/contact?birth_date=" + esc("1980-03-01T00:30:00.125+0200"): {contact},
		"/contact?birth_date=1980-02-29":                             {},
		"/contact?name=" + esc("Özgür") + "&kind=person":             {contact},
		"/contact?name=" + esc("Özgür") + "&kind=company":            {},
		"/employee?hourly_rate=61.1234":                              {employee},
		"/employee?hourly_rate=6.11234e1":                            {employee},
		"/employee?hourly_rate=61.12340":                             {employee},
		"/vehicle?vin=WVWZZZ1KZAW000555":                             {vehicle},
		"/vehicle?license_plate=" + plate:                            {vehicle},
		"/vehicle?license_plate=qq" + plate[3:6] + plate[7:]:         {vehicle},
		"/country?code=NL":                                           {528},
		"/country?code=NL&is_system=1":                               {528},
		"/country?is_system=0":                                       {},
	} {
		require.Equal(t, want, ids(p.page(query)), query)
	}
	p.holds(t, []wire{
		{ask: `GET /contact?payment_days=x&birth_date=x&kind=&name=x`, status: 403, errors: []string{
			`Field: birth_date has an invalid value: x for datatype: timestamp(ISO 8601)`, `Field: payment_days has an invalid value: x for datatype: int4`}},
		{ask: `GET /employee?hourly_rate=NaN`, status: 403, message: `Field: hourly_rate has an invalid value: NaN for datatype: float8`},
		{ask: `GET /contact?payment_days=null`, status: 403, message: `Field: payment_days has an invalid value: null for datatype: int4`},
		{ask: `GET /contact?name=` + letters(200), status: 200, body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{ask: `GET /order?orderlines=1`, status: 400, message: `Invalid request, query parameter is not supported: orderlines`},
		{ask: `GET /orderline?order_id=999999`, status: 200, body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{what: "total is the reserved parameter, not the field", ask: `GET /orderline?order_id=1&total=7`, status: 403, message: `Field: total has an invalid value: 7 for validation: 0|1`},
	})
}

// contractModifiedSince includes the moment itself.
func contractModifiedSince(t *testing.T, p *practice) {
	id := p.contact()
	at := p.get(fmt.Sprintf("/contact/%d", id))["modified_at"].(string)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, at)
	require.Equal(t, []int{id}, ids(p.page("/contact?modified_since="+at)))
	require.Greater(t, len(ids(p.page("/contact?page_size=1000&modified_since=2000-01-01"))), 50)
	require.Empty(t, ids(p.page("/contact?modified_since=2999-01-01")))
	p.put("/contact/5", `{"note":"touched"}`)
	require.Equal(t, []int{5, id}, ids(p.page("/contact?modified_since="+at)))
	p.put("/contact/6", `{}`)
	require.Equal(t, []int{5, id}, ids(p.page("/contact?modified_since="+at)), "an update of nothing is none")
	require.Equal(t, []int{5, id}, ids(p.pages("/contact?page_size=1&modified_since="+at)...))
	p.answers(wire{ask: `GET /contact?modified_since=1`, status: 403, message: `Field: modified_since has an invalid value: 1 for datatype: timestamp(ISO 8601)`})
}

// contractParents wants lists of lines to name what they belong to.
func contractParents(t *testing.T, p *practice) {
	for resource, needs := range map[string]string{
		"orderline": "order_id", "contactcommunication": "contact_id", "contactaddress": "contact_id", "vehicleroleline": "vehicle_id",
		"vehicleadvertisementsite": "vehicle_id", "flatrateline": "flatrate_id", "document": "resource , resource_id",
	} {
		want := "These parameter(s): " + needs + " are required"
		p.answers(wire{ask: "GET /" + resource, status: 400, message: want})
		p.answers(wire{ask: "GET /" + resource + "?total=1&page=1", status: 400, message: want})
	}
	p.answers(wire{ask: "GET /document?resource=order", status: 400, message: "These parameter(s): resource_id are required"})
	for _, path := range []string{"/orderline?order_id=1", "/contactcommunication?contact_id=1", "/vehicleadvertisementsite?vehicle_id=1", "/flatrateline?flatrate_id=1"} {
		require.NotEmpty(t, p.page(path).Data, path)
	}
}
