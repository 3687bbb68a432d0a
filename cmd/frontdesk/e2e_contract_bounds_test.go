package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractPlateAndCountry moves plates between the rules of two countries.
func contractPlateAndCountry(t *testing.T, p *practice) {
	german := func(plate string) int {
		return p.post("vehicle", `{"license_plate":"%s","country_id":276,"brand":"A","model":"B"}`, plate)
	}
	first, second := german("y y88 66"), german("YY 8866")
	p.holds(t, []wire{
		{what: "the present foreign plate is no change", ask: `PUT /vehicle/$1 {"license_plate":"y y88 66","color":"red"}`, status: 200},
		{what: "another foreign plate", ask: `PUT /vehicle/$1 {"license_plate":"M-GT 77"}`, status: 409, message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{what: "becomes Dutch", ask: `PUT /vehicle/$1 {"country_id":528}`, status: 200},
		{what: "a second one does not", ask: `PUT /vehicle/$2 {"country_id":null}`, status: 409, message: `Field: license_plate Value: YY-88-66 has a duplicate illegal value`},
		{what: "nor one of no Dutch form", ask: `PUT /vehicle/$3 {"country_id":528}`, status: 403, message: `Field: license_plate has an invalid value: M-GT 4711 for validation: license_plate`},
	}, first, second, german("M-GT 4711"))
	require.Equal(t, "YY-88-66", p.get(fmt.Sprintf("/vehicle/%d", first))["license_plate"])

	etag := p.desk.call("GET", fmt.Sprintf("/vehicle/%d", first), p.token, "").Header.Get("ETag")
	change := `{"id":$1,"license_plate":"YY-88-67"}`
	p.answers(wire{what: "If-Match beside a key", ask: `POST /updatelicenseplate ` + change, headers: []string{"Idempotency-Key", "plate-1", "If-Match", `"x"`}, status: 412, message: `Record has been changed`}, first)
	once := []string{"Idempotency-Key", "plate-2", "If-Match", etag}
	a := p.answers(wire{ask: `POST /updatelicenseplate ` + change, headers: once, status: 200}, first)
	again := p.answers(wire{ask: `POST /updatelicenseplate ` + change, headers: once, status: 200}, first)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, a.Body, again.Body)
	require.Equal(t, a.Header.Get("ETag"), again.Header.Get("ETag"))
	require.Equal(t, "private, no-cache", again.Header.Get("Cache-Control"))
	p.answers(wire{what: "PUT takes no key", ask: `PUT /updatelicenseplate ` + change, headers: []string{"Idempotency-Key", strings.Repeat("k", 300)}, status: 200}, first)
}

// contractInvoicing has an order take the VAT of the moment it is invoiced.
func contractInvoicing(t *testing.T, p *practice) {
	group := p.post("turnovergroup", `{"code":"I%d","description":"A","vat_kind":"high","ledger_account":"8000"}`, p.next())
	order := p.order("open")
	p.post("orderline", `{"order_id":%d,"description":"A","quantity":1,"price":100,"turnover_group_id":%d}`, order, group)
	require.EqualValues(t, 121, p.get(fmt.Sprintf("/order/%d", order))["total_incl"])
	p.put(fmt.Sprintf("/turnovergroup/%d", group), `{"vat_kind":"low"}`)
	a := p.answers(wire{ask: `PUT /order/$1 {"order_status":"invoiced"}`, status: 200}, order)
	require.EqualValues(t, 109, a.data(t)["total_incl"])
	require.Equal(t, a.data(t), p.get(fmt.Sprintf("/order/%d", order)))
}

// contractBounds asks for more than anybody needs.
func contractBounds(t *testing.T, p *practice) {
	lines := func(n int) string {
		return `POST /flatrate {"number":"$1","description":"A","flatratelines":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}`
	}
	p.holds(t, []wire{
		{what: "a sort of very many names", ask: `GET /order?sort=` + strings.Repeat("kind,-kind,id,", 700) + `kind&page_size=1`, status: 200},
		{what: "1,000 elements", ask: lines(1000), status: 201},
		{what: "one more", ask: lines(1001), status: 413, message: `Body is too large`},
	}, fmt.Sprint("MANY-", p.next()))
	many := p.answers(wire{what: "very many unknown fields", ask: `POST /order {` + unknownFields(3000) + `}`, status: 403})
	require.LessOrEqual(t, len(many.failure(t).Errors), 1010)

	secret := "Secret&1Word"
	a := p.desk.call("GET", "/authenticate?api_key="+fullKey+"&username=demo&password=a&"+strings.TrimPrefix(secret, "Secret&"), "", "")
	require.Equal(t, "Invalid request, query parameter is not supported: …", a.failure(t).Message)
}

func unknownFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s"x%d":1`, map[bool]string{true: ",", false: ""}[i > 0], i)
	}
	return b.String()
}
