package rows

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
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
	keyset := p.Page("/contact?after=10&page_size=3&total=1")
	require.Nil(t, keyset.Page)
	require.Equal(t, []int{11, 12, 13}, rig.Ids(keyset))
	exact := p.Page(fmt.Sprintf("/contact?page_size=%d&page=1", len(all)))
	require.Nil(t, exact.Next, "no page after a full last one")
	filtered := p.Pages("/contact?kind=company&page_size=7")
	require.Equal(t, rig.Ids(p.Page("/contact?kind=company&page_size=1000")), rig.Ids(filtered...))
	require.Less(t, len(rig.Ids(filtered...)), len(all))
	for _, beyond := range []string{"page=1000", "page=2147483647", "page=2147483647&page_size=1000", "after=2147483647"} {
		a := p.Page("/contact?" + beyond)
		require.Empty(t, a.Data, beyond)
		require.Nil(t, a.Next, beyond)
	}
	p.Holds(t, []rig.Wire{
		{Ask: `GET /contact?after=x`, Status: 403, Message: `Field: after has an invalid value: x for datatype: int4`},
		{Ask: `GET /contact?after=-1`, Status: 403, Message: `Field: after has an invalid value: -1 for datatype: int4`},
		{Ask: `GET /contact?after=0&page=1&fields=zz`, Status: 403, Errors: []string{`Field: zz not found in model`, `Parameter after cannot be combined with page`}},
		{Ask: `GET /contact?sort=-id&after=1&page=2`, Status: 400, Errors: []string{`Parameter after cannot be combined with page`, `Parameter after cannot be combined with sort`}},
		{Ask: `GET /contact?total=0&page_size=1&fields=id`, Status: 200, Body: `{"data":[{"id":1}],"page":1,"page_size":1,"next":"/webservice_v2/contact?total=0&page_size=1&fields=id&page=2"}`},
	})
}

// contractSort is always total, by id in the end.
func contractSort(t *testing.T, p *rig.Practice) {
	for range 3 { // with nothing to sort by
		p.Vehicle("")
	}
	plain := p.Page("/vehicle?page_size=1000").Data
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
		require.Equal(t, rig.Ids(rig.Page{Data: want}), rig.Ids(p.Pages("/vehicle?page_size=7&sort="+sort)...), sort)
	}
	for _, field := range []string{"mileage", "-mileage", "sales_price", "first_admission_date", "-published_at", "remark", "-remark,mileage"} {
		got := rig.Ids(p.Pages("/vehicle?page_size=7&sort=" + field)...)
		slices.Sort(got)
		require.Equal(t, rig.Ids(rig.Page{Data: plain}), got, "every record once, by %s", field)
	}
	p.Holds(t, []rig.Wire{
		{Ask: `GET /vehicle?sort=colour,-brand,-colour2`, Status: 403, Errors: []string{`Field: colour not found in model`, `Field: colour2 not found in model`}},
		{Ask: `GET /vehicle?sort=--brand`, Status: 403, Message: `Field: -brand not found in model`},
		{Ask: `GET /vehicle?sort=brand,`, Status: 403, Message: `Field:  not found in model`},
		{Ask: `GET /order?sort=orderlines`, Status: 403, Message: `Field: orderlines not found in model`},
		{Ask: `GET /vehicle?sort=`, Status: 200},
	})
}

// contractFields chooses fields, which come in model order all the same.
func contractFields(t *testing.T, p *rig.Practice) {
	contact := p.Contact()
	document := p.Post("document", `{"name":"a","resource":"contact","resource_id":%d,"content":"SGVsbG8="}`, contact)
	line := p.Line(p.Order("open"))
	p.Holds(t, []rig.Wire{
		{Ask: `GET /country/528?fields=name,code,id`, Status: 200},
		{Ask: `GET /contact/1?fields=colour,name,is_nice`, Status: 403, Errors: []string{`Field: colour not found in model`, `Field: is_nice not found in model`}},
		{Ask: `GET /country?%69d=528&f%69elds=id%2Ccode`, Status: 200, Body: `{"data":{"id":528,"code":"NL"}}`},
		{Ask: `GET /country?page=1&p%61ge=2`, Status: 400, Message: `Invalid request, query parameter is provided more than once: page`},
		{Ask: `GET /contact/1?fields=name,`, Status: 403, Message: `Field:  not found in model`},
		{Ask: `GET /contact/1?fields=name,%20id`, Status: 403, Message: `Field:  id not found in model`},
		{Ask: `GET /order?fields=orderlines&page_size=101`, Status: 400, Message: `Parameter invalid page_size value must be from 1 to 100`},
		{Ask: `GET /order?fields=orderlines&page_size=1001`, Status: 400, Message: `Parameter invalid page_size value must be from 1 to 1000`},
		{Ask: `GET /document/$1?fields=size,content,name`, Status: 200, Body: `{"data":{"name":"a","size":5,"content":"SGVsbG8="}}`},
		{Ask: `GET /document?resource=contact&resource_id=$3&fields=content,size`, Status: 200, Body: `{"data":[{"size":5,"content":"SGVsbG8="}],"page":1,"page_size":100,"next":null}`},
		{Ask: `GET /document?resource=contact&resource_id=$3&content=SGVsbG8=`, Status: 400, Message: `Invalid request, query parameter is not supported: content`},
		{Ask: `GET /orderline/$2?fields=price,price,id`, Status: 200, Body: `{"data":{"id":$2,"price":10}}`},
	}, document, line, contact)
	a := p.Call("GET", "/country/528?fields=name,code,id", p.Token, "")
	require.Equal(t, `{"data":{"id":528,"code":"NL","name":"Netherlands"}}`, string(a.Body))
	require.NotContains(t, p.Page(fmt.Sprintf("/document?resource=contact&resource_id=%d", contact)).Data[0], "content")
	require.Contains(t, p.Get(fmt.Sprintf("/document/%d", document)), "content")
	require.NotContains(t, p.Get("/order/1"), "orderlines")
	lines := p.Get("/order/1?fields=orderlines,id")["orderlines"].([]any)
	require.NotEmpty(t, lines)
	require.Equal(t, p.Page("/orderline?order_id=1&sort=id").Data[0], lines[0])
	withLines := p.Page("/order?fields=orderlines,id&page_size=100")
	require.Greater(t, len(withLines.Data), 40)
	for _, order := range withLines.Data[:10] {
		require.Equal(t, p.Get(fmt.Sprintf("/order/%.0f?fields=orderlines,id", order["id"])), order)
	}
	require.Equal(t, withLines.Data[:3], p.Page("/order?fields=orderlines,id&after=0&page_size=3").Data)
	empty := p.Order("open")
	require.Equal(t, map[string]any{"orderlines": []any{}}, p.Get(fmt.Sprintf("/order/%d?fields=orderlines", empty)))
}

// contractFilters has an equality for every datatype.
func contractFilters(t *testing.T, p *rig.Practice) {
	note := "a note\nof 'two' lines & more % _"
	contact := p.Post("contact", `{"kind":"person","name":"Özgür","first_name":"'Ann' & more %% _","note":%q,"payment_days":2147483647,"birth_date":"1980-02-29T23:30:00.125+01:00"}`, note)
	employee := p.Post("employee", `{"username":"filtered","last_name":"A","hourly_rate":61.1234}`)
	vehicle := p.Vehicle(`,"vin":"WVWZZZ1KZAW000555"`)
	plate := p.Get(fmt.Sprintf("/vehicle/%d", vehicle))["license_plate"].(string)
	esc := url.QueryEscape
	for query, want := range map[string][]int{
		"/contact?name=" + esc("Özgür"):                                                              {contact},
		"/contact?name=" + esc("özgür"):                                                              {},
		"/contact?note=" + esc(note):                                                                 {contact},
		"/contact?payment_days=2147483647":                                                           {contact},
		"/contact?birth_date=" + esc("1980-02-29T22:30:00.125Z"):                                     {contact},
		"/contact?birth_date=" + esc("1980-02-29T23:30:00.125+01"):                                   {contact},
		"/contact?birth_date=" + esc("1980-03-01T00:30:00.125+0200"):                                 {contact},
		"/contact?birth_date=1980-02-29":                                                             {},
		"/contact?name=" + esc("Özgür") + "&kind=person":                                             {contact},
		"/contact?name=" + esc("Özgür") + "&kind=company":                                            {},
		"/employee?hourly_rate=61.1234":                                                              {employee},
		"/employee?hourly_rate=6.11234e1":                                                            {employee},
		"/employee?hourly_rate=61.12340":                                                             {employee},
		"/vehicle?vin=WVWZZZ1KZAW000555":                                                             {vehicle},
		"/vehicle?license_plate=" + plate:                                                            {vehicle},
		"/vehicle?license_plate=qq" + plate[3:6] + plate[7:]:                                         {vehicle},
		"/country?code=NL":                                                                           {528},
		"/country?code=NL&is_system=1":                                                               {528},
		"/country?is_system=0":                                                                       {},
		"/contact?name[contains]=" + esc("ÖZGÜR"):                                                    {contact},
		"/contact?note[contains]=" + esc("& MORE % _"):                                               {contact},
		"/contact?note[contains]=" + esc("two%lines"):                                                {},
		"/contact?first_name[contains]=" + esc("NN' & MORE % _"):                                     {contact},
		"/contact?first_name[contains]=" + esc("Ann%more"):                                           {},
		"/contact?birth_date[gte]=1980-02-29T22:30:00.125Z&birth_date[lte]=1980-02-29T22:30:00.125Z": {contact},
		"/contact?birth_date[gt]=1980-02-29T22:30:00.125Z&birth_date[lt]=1980-03-01T00:00:00Z":       {},
		"/contact?name[in]=nobody," + esc("Özgür"):                                                   {contact},
		"/contact?payment_days[gte]=2147483647":                                                      {contact},
		"/contact?note[null]=1&name=" + esc("Özgür"):                                                 {},
		"/contact?note[null]=0&name=" + esc("Özgür"):                                                 {contact},
		"/vehicle?vin[contains]=zzz1kzaw000555":                                                      {vehicle},
		"/vehicle?license_plate[in]=" + plate + ",XX-99-99":                                          {vehicle},
		"/employee?hourly_rate[gt]=61.12339&hourly_rate[lt]=61.12341":                                {employee},
	} {
		require.Equal(t, want, rig.Ids(p.Page(query)), query)
	}
	p.Holds(t, []rig.Wire{
		{Ask: `GET /contact?payment_days=x&birth_date=x&kind=&name=x`, Status: 403, Errors: []string{
			`Field: birth_date has an invalid value: x for datatype: timestamp(ISO 8601)`, `Field: payment_days has an invalid value: x for datatype: int4`,
			`Field: kind has an invalid value:  for validation: person|company`}},
		{Ask: `GET /employee?hourly_rate=NaN`, Status: 403, Message: `Field: hourly_rate has an invalid value: NaN for datatype: float8`},
		{Ask: `GET /contact?payment_days=null`, Status: 403, Message: `Field: payment_days has an invalid value: null for datatype: int4`},
		{Ask: `GET /contact?name=` + letters(100), Status: 200, Body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{Ask: `GET /order?orderlines=1`, Status: 400, Message: `Invalid request, query parameter is not supported: orderlines`},
		{Ask: `GET /orderline?order_id=999999`, Status: 200, Body: `{"data":[],"page":1,"page_size":100,"next":null}`},
		{What: "total is the reserved parameter, not the field", Ask: `GET /orderline?order_id=1&total=7`, Status: 403, Message: `Field: total has an invalid value: 7 for validation: 0|1`},
	})
}

// contractModifiedSince includes the moment itself.
func contractModifiedSince(t *testing.T, p *rig.Practice) {
	id := p.Contact()
	at := p.Get(fmt.Sprintf("/contact/%d", id))["modified_at"].(string)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, at)
	require.Equal(t, []int{id}, rig.Ids(p.Page("/contact?modified_since="+at)))
	require.Greater(t, len(rig.Ids(p.Page("/contact?page_size=1000&modified_since=2000-01-01"))), 50)
	require.Empty(t, rig.Ids(p.Page("/contact?modified_since=2999-01-01")))
	p.Put("/contact/5", `{"note":"touched"}`)
	require.Equal(t, []int{5, id}, rig.Ids(p.Page("/contact?modified_since="+at)))
	p.Put("/contact/6", `{}`)
	require.Equal(t, []int{5, id}, rig.Ids(p.Page("/contact?modified_since="+at)), "an update of nothing is none")
	require.Equal(t, []int{5, id}, rig.Ids(p.Pages("/contact?page_size=1&modified_since="+at)...))
	p.Put("/contact/7", `{"note":"touched"}`)
	until := p.Page("/contact?name=" + letters(100) + "&modified_since=" + at).Until
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, until, "whatever the filter finds")
	later := p.Contact()
	require.Contains(t, rig.Ids(p.Page("/contact?modified_since="+until)), later)
	require.Empty(t, p.Page("/contact").Until, "only answers to modified_since have it")
	p.Answers(rig.Wire{Ask: `GET /contact?modified_since=1`, Status: 403, Message: `Field: modified_since has an invalid value: 1 for datatype: timestamp(ISO 8601)`})
}
