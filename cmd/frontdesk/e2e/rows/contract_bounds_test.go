package rows

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractPlateAndCountry moves plates between the rules of two countries.
func contractPlateAndCountry(t *testing.T, p *rig.Practice) {
	german := func(plate string) int {
		return p.Post("vehicle", `{"license_plate":"%s","country_id":276,"brand":"A","model":"B"}`, plate)
	}
	first, second := german("y y88 66"), german("YY 8866")
	p.Holds(t, []rig.Wire{
		{What: "the present foreign plate is no change", Ask: `PUT /vehicle/$1 {"license_plate":"y y88 66","color":"red"}`, Status: 200},
		{What: "another foreign plate", Ask: `PUT /vehicle/$1 {"license_plate":"M-GT 77"}`, Status: 409, Message: `The change of the licenseplate is not allowed via put, use /updatelicenseplate.`},
		{What: "becomes Dutch", Ask: `PUT /vehicle/$1 {"country_id":528}`, Status: 200},
		{What: "a second one does not", Ask: `PUT /vehicle/$2 {"country_id":null}`, Status: 409, Message: `Field: license_plate Value: YY-88-66 has a duplicate illegal value`},
		{What: "nor one of no Dutch form", Ask: `PUT /vehicle/$3 {"country_id":528}`, Status: 403, Message: `Field: license_plate has an invalid value: M-GT 4711 for validation: license_plate`},
	}, first, second, german("M-GT 4711"))
	require.Equal(t, "YY-88-66", p.Get(fmt.Sprintf("/vehicle/%d", first))["license_plate"])

	etag := p.Desk.Call("GET", fmt.Sprintf("/vehicle/%d", first), p.Token, "").Header.Get("ETag")
	change := `{"id":$1,"license_plate":"YY-88-67"}`
	p.Answers(rig.Wire{What: "If-Match beside a key", Ask: `POST /updatelicenseplate ` + change, Headers: []string{"Idempotency-Key", "plate-1", "If-Match", `"x"`}, Status: 412, Message: `Record has been changed`}, first)
	once := []string{"Idempotency-Key", "plate-2", "If-Match", etag}
	a := p.Answers(rig.Wire{Ask: `POST /updatelicenseplate ` + change, Headers: once, Status: 200}, first)
	again := p.Answers(rig.Wire{Ask: `POST /updatelicenseplate ` + change, Headers: once, Status: 200}, first)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, a.Body, again.Body)
	require.Equal(t, a.Header.Get("ETag"), again.Header.Get("ETag"))
	require.Equal(t, "private, no-cache", again.Header.Get("Cache-Control"))
	p.Answers(rig.Wire{What: "PUT takes no key", Ask: `PUT /updatelicenseplate ` + change, Headers: []string{"Idempotency-Key", strings.Repeat("k", 300)}, Status: 200}, first)
}

// contractInvoicing has an order take the VAT of the moment it is invoiced.
func contractInvoicing(t *testing.T, p *rig.Practice) {
	group := p.Post("turnovergroup", `{"code":"I%d","description":"A","vat_kind":"high","ledger_account":"8000"}`, p.Next())
	order := p.Order("open")
	p.Post("orderline", `{"order_id":%d,"description":"A","quantity":1,"price":100,"turnover_group_id":%d}`, order, group)
	require.EqualValues(t, 121, p.Get(fmt.Sprintf("/order/%d", order))["total_incl"])
	p.Put(fmt.Sprintf("/turnovergroup/%d", group), `{"vat_kind":"low"}`)
	a := p.Answers(rig.Wire{Ask: `PUT /order/$1 {"order_status":"invoiced"}`, Status: 200}, order)
	require.EqualValues(t, 109, a.Data(t)["total_incl"])
	require.Equal(t, a.Data(t), p.Get(fmt.Sprintf("/order/%d", order)))
}

// contractBounds asks for more than anybody needs.
func contractBounds(t *testing.T, p *rig.Practice) {
	lines := func(n int) string {
		return `POST /flatrate {"number":"$1","description":"A","flatratelines":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}`
	}
	p.Holds(t, []rig.Wire{
		{What: "a sort of very many names", Ask: `GET /order?sort=` + strings.Repeat("kind,-kind,id,", 700) + `kind&page_size=1`, Status: 200},
		{What: "1,000 elements", Ask: lines(1000), Status: 201},
		{What: "one more", Ask: lines(1001), Status: 413, Message: `Body is too large`},
	}, fmt.Sprint("MANY-", p.Next()))
	many := p.Answers(rig.Wire{What: "very many unknown fields", Ask: `POST /order {` + unknownFields(1000) + `}`, Status: 403})
	require.LessOrEqual(t, len(many.Failure(t).Errors), 1010)
	for _, beyond := range []string{`POST /order {` + unknownFields(1001) + `}`, `POST /order/bulk {"records":[{},{` + unknownFields(1001) + `}]}`, `POST /order {"x":[{"y":{` + unknownFields(1001) + `}}]}`} {
		p.Answers(rig.Wire{What: "one more", Ask: beyond, Status: 413, Message: `Body is too large`})
	}

	secret := "Secret&1Word"
	a := p.Desk.Call("GET", "/authenticate?api_key="+rig.FullKey+"&username=demo&password=a&"+strings.TrimPrefix(secret, "Secret&"), "", "")
	require.Equal(t, "Invalid request, query parameter is not supported: …", a.Failure(t).Message)
}

func unknownFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s"x%d":1`, map[bool]string{true: ",", false: ""}[i > 0], i)
	}
	return b.String()
}
