package remotetest_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
)

func TestJSONLogOn(t *testing.T) {
	g := newGarage(t)
	assert.Equal(t, 200, g.call("GET", "/v3/customers?limit=1", "").status)

	g.clock.advance(5 * time.Minute)
	expired := g.call("GET", "/v3/customers?limit=1", "")
	assert.Equal(t, 401, expired.status)
	assert.Equal(t, "TOKEN_EXPIRED", expired.text("error.code"))
	assert.Contains(t, expired.header.Get("WWW-Authenticate"), "invalid_token")

	g.logOn()
	assert.Equal(t, 200, g.call("GET", "/v3/customers?limit=1", "").status)
	g.ExpireTokens()
	assert.Equal(t, 401, g.call("GET", "/v3/customers?limit=1", "").status)
	assert.Equal(t, 2, g.Calls("POST /oauth/token"))
	assert.Equal(t, 4, g.Calls("GET /v3/{collection}"))

	g.token = "gc_made_up"
	assert.Equal(t, "TOKEN_INVALID", g.call("GET", "/v3/customers", "").text("error.code"))
}

func TestJSONTenants(t *testing.T) {
	g := newGarage(t)
	mine := g.first("customers")
	g.tenant = "garage-zuid"
	assert.Equal(t, 404, g.call("GET", "/v3/customers/"+mine, "").status)
	assert.EqualValues(t, 100, g.call("GET", "/v3/customers/count", "").at("count"))
	g.tenant = "garage-leeg"
	assert.EqualValues(t, 0, g.call("GET", "/v3/customers/count", "").at("count"))
	assert.EqualValues(t, 6, g.call("GET", "/v3/countries/count", "").at("count"))
	g.tenant = ""
	assert.Equal(t, "TENANT_REQUIRED", g.call("GET", "/v3/customers", "").text("error.code"))
	g.tenant = "elsewhere"
	assert.Equal(t, "TENANT_FORBIDDEN", g.call("GET", "/v3/customers", "").text("error.code"))
}

func TestJSONUsers(t *testing.T) {
	g := newGarage(t)
	g.tenant = "" // users are those of all tenants
	for _, c := range []struct{ login, tenant, email string }{
		{"demo", "garage-noord", "demo@garage.example"}, {"other", "garage-zuid", "other@garage.example"}, {"noemail", "garage-noord", ""},
	} {
		r := g.call("POST", "/v3/users/verify", fmt.Sprintf(`{"login":%q,"password":%q}`, c.login, c.login))
		require.Equal(t, 200, r.status, r.raw)
		assert.Equal(t, c.tenant, r.text("tenant.id"))
		assert.Equal(t, c.email, r.text("email"))
	}
	assert.Equal(t, true, g.call("GET", "/v3/users/external", "").at("external"))
	assert.Equal(t, 404, g.call("GET", "/v3/users/nobody", "").status)
	wrong := g.call("POST", "/v3/users/verify", `{"login":"demo","password":"x"}`)
	assert.Equal(t, 401, wrong.status)
	assert.Equal(t, "INVALID_CREDENTIALS", wrong.text("error.code"))
}

func TestJSONPages(t *testing.T) {
	g := newGarage(t)
	seen, pages, query := map[string]bool{}, 0, url.Values{"limit": {"50"}}
	for more := true; more; pages++ {
		r := g.call("GET", "/v3/orders?"+query.Encode(), "")
		require.Equal(t, 200, r.status, r.raw)
		for i := range r.items() {
			seen[r.text(fmt.Sprintf("items.%d.id", i))] = true
		}
		query.Set("cursor", r.text("nextCursor"))
		more = r.at("nextCursor") != nil
		// What comes in between moves nothing to another page.
		if pages == 0 {
			c := g.first("customers")
			require.Equal(t, 201, g.call("POST", "/v3/orders", `{"customer":{"id":"`+c+`"},"type":"SALE","status":"OPEN","orderDate":"2026-07-01T10:00:00+02:00"}`).status)
		}
	}
	assert.Equal(t, 3, pages)
	assert.Len(t, seen, 121)
}

func TestJSONParameters(t *testing.T) {
	g := newGarage(t)
	for query, code := range map[string]string{
		"customers?colour=red": "UNKNOWN_PARAMETER", "customers?limit=0": "BAD_PARAMETER", "customers?limit=201": "BAD_PARAMETER",
		"customers?limit=1&limit=2": "BAD_PARAMETER", "customers?cursor=x": "BAD_PARAMETER",
		"contact-points": "PARAMETER_REQUIRED", "documents?entityType=ORDER": "PARAMETER_REQUIRED",
	} {
		r := g.call("GET", "/v3/"+query, "")
		assert.Equal(t, 400, r.status, query)
		assert.Equal(t, code, r.text("error.code"), query)
	}
	order := g.call("GET", "/v3/orders?limit=1&status=INVOICED", "")
	assert.Equal(t, "INVOICED", order.text("items.0.status"))
	id := order.text("items.0.customer.id")
	for i := range g.call("GET", "/v3/orders?customerId="+id, "").items() {
		assert.Equal(t, id, g.call("GET", "/v3/orders?customerId="+id, "").text(fmt.Sprintf("items.%d.customer.id", i)))
	}
	assert.Nil(t, order.at("items.0.lines"))
	assert.NotEmpty(t, g.call("GET", "/v3/orders/"+order.text("items.0.id"), "").at("lines"))
}

func TestJSONOrder(t *testing.T) {
	g := newGarage(t)
	customer, group := g.first("customers"), g.call("GET", "/v3/turnover-groups?code=PARTS", "").text("items.0.id")
	line := `{"position":10,"description":"Filter","quantity":"2","unitPrice":"12.95","discountPercent":"10.00","turnoverGroupId":"` + group + `"}`
	head := `{"customer":{"id":"` + customer + `"},"type":"WORKSHOP","status":"OPEN","orderDate":"2026-07-01T10:00:00+02:00","deliveryAt":1782997200000,"lines":[`

	before := g.call("GET", "/v3/orders/count", "").at("count")
	half := g.call("POST", "/v3/orders", head+line+`,{"position":20}]}`)
	assert.Equal(t, 422, half.status)
	assert.Equal(t, "lines[1].description", half.text("error.field"))
	assert.Equal(t, before, g.call("GET", "/v3/orders/count", "").at("count"), "nothing of it stays")

	made := g.call("POST", "/v3/orders", head+line+`]}`, "Idempotency-Key", "one")
	require.Equal(t, 201, made.status, made.raw)
	assert.Equal(t, "2026-000121", made.text("orderNumber"))
	assert.Equal(t, "23.31", made.text("totals.net"))
	assert.Equal(t, "28.21", made.text("totals.gross")) // 23.31 × 1.21
	assert.Equal(t, "2026-07-01T10:00:00+02:00", made.text("orderDate"))
	assert.EqualValues(t, 1782997200000, made.at("deliveryAt"))
	again := g.call("POST", "/v3/orders", head+line+`]}`, "Idempotency-Key", "one")
	assert.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	assert.Equal(t, made.text("id"), again.text("id"))

	at := made.header.Get("Location")
	added := g.call("POST", at+"/lines", line)
	require.Equal(t, 201, added.status, added.raw)
	lineAt := at + "/lines/" + added.text("id")
	assert.Equal(t, "46.62", g.call("GET", at, "").text("totals.net"))
	assert.Equal(t, 200, g.call("PATCH", lineAt, `{"quantity":"1"}`).status)
	assert.Equal(t, "34.97", g.call("GET", at, "").text("totals.net"))
	assert.Equal(t, 204, g.call("DELETE", lineAt, "").status)
	assert.Equal(t, 404, g.call("GET", lineAt, "").status)

	done := g.call("PATCH", at, `{"status":"INVOICED"}`)
	require.Equal(t, 200, done.status, done.raw)
	assert.NotEmpty(t, done.text("invoice.number"))
	for _, r := range []reply{g.call("PATCH", at, `{"notes":"late"}`), g.call("POST", at+"/lines", line), g.call("DELETE", at, "")} {
		assert.Equal(t, 409, r.status)
		assert.Equal(t, "ORDER_CLOSED", r.text("error.code"))
	}
}

func TestJSONRefusals(t *testing.T) {
	g := newGarage(t)
	plate := g.call("GET", "/v3/vehicles?limit=1", "").text("items.0.licensePlate")
	for _, c := range []struct {
		path, body  string
		status      int
		code, field string
	}{
		{"vehicles", `{"licensePlate":"` + plate + `","make":{"brand":"Opel","model":"Corsa"}}`, 409, "DUPLICATE", "licensePlate"},
		{"vehicles", `{"licensePlate":"GT123B","make":{"brand":"Opel"}}`, 422, "REQUIRED", "make.model"},
		{"vehicles", `{"make":7}`, 422, "INVALID", "make"},
		{"vehicles", `{"wheels":4}`, 422, "UNKNOWN_FIELD", "wheels"},
		{"vehicles", `{"advertising":{"active":true}}`, 422, "READ_ONLY", "advertising.active"},
		{"vehicles", `{"licensePlate":"GT123B","make":{"brand":"Opel","model":"Corsa"},"registrationCountry":"XX"}`, 422, "UNKNOWN_REFERENCE", "registrationCountry"},
		{"vehicles", `{"prices":{"sales":12.5}}`, 422, "INVALID", "prices.sales"},
		{"customers", `{"type":"person","lastNameOrCompany":"x"}`, 422, "INVALID", "type"},
		{"customers", `{"customerNumber":"K-1"}`, 422, "READ_ONLY", "customerNumber"},
		{"customers", `{"id":"c_1"}`, 422, "READ_ONLY", "id"},
		{"customers", `[]`, 400, "MALFORMED_JSON", ""},
		{"countries", `{}`, 403, "READ_ONLY", ""},
		{"wheels", `{}`, 404, "NO_SUCH_ENDPOINT", ""},
	} {
		r := g.call("POST", "/v3/"+c.path, c.body)
		assert.Equal(t, c.status, r.status, c.body)
		assert.Equal(t, c.code, r.text("error.code"), c.body)
		assert.Equal(t, c.field, r.text("error.field"), c.body)
	}
}

func TestJSONVersionsAndDeletion(t *testing.T) {
	g := newGarage(t)
	made := g.call("POST", "/v3/customers", `{"type":"PRIVATE","lastNameOrCompany":"Boer","person":{"firstName":"Jan","infix":"de"}}`)
	require.Equal(t, 201, made.status, made.raw)
	assert.Equal(t, "K-100102", made.text("customerNumber"))
	assert.Equal(t, false, made.at("blocked"))
	at := made.header.Get("Location")

	g.clock.advance(time.Minute)
	changed := g.call("PATCH", at, `{"person":{"infix":null},"remarks":"Pays cash"}`, "If-Match", `"v1"`)
	assert.EqualValues(t, 2, changed.at("version"))
	assert.Nil(t, changed.at("person.infix"))
	assert.Equal(t, "Jan", changed.text("person.firstName"))
	assert.Equal(t, "VERSION_CONFLICT", g.call("PATCH", at, `{}`, "If-Match", `"v1"`).text("error.code"))
	assert.Nil(t, g.call("PATCH", at, `{"person":null}`).at("person"))

	assert.Equal(t, 204, g.call("DELETE", at, "").status)
	gone := g.call("GET", at, "")
	assert.Equal(t, 200, gone.status)
	assert.NotEmpty(t, gone.text("deletedAt"))
	assert.Equal(t, 410, g.call("PATCH", at, `{}`).status)
	assert.Empty(t, g.call("GET", "/v3/customers?customerNumber=K-100102", "").items())
	since := "?updatedSince=2026-07-01T10:01:00%2B02:00"
	assert.Equal(t, made.text("id"), g.call("GET", "/v3/customers"+since, "").text("items.0.id"), "deletions are told")

	used := g.call("GET", "/v3/orders?limit=1", "").text("items.0.customer.id")
	assert.Equal(t, "IN_USE", g.call("DELETE", "/v3/customers/"+used, "").text("error.code"))
}

func TestJSONContactPoints(t *testing.T) {
	g := newGarage(t)
	c := g.first("customers")
	preferred := `{"customerId":"` + c + `","channel":"EMAIL","value":"a@b.example","preferred":true}`
	assert.Equal(t, "DUPLICATE", g.call("POST", "/v3/contact-points", preferred).text("error.code"))
	assert.Len(t, g.call("GET", "/v3/contact-points?channel=EMAIL&customerId="+c, "").items(), 1)
	house := g.call("GET", "/v3/addresses?customerId="+c, "")
	assert.IsType(t, "", house.at("items.0.houseNumber"))
	bad := g.call("PATCH", "/v3/addresses/"+house.text("items.0.id"), `{"postalCode":"12"}`)
	assert.Equal(t, "postalCode", bad.text("error.field"))
}

func TestJSONDocuments(t *testing.T) {
	g := newGarage(t)
	order := g.first("orders")
	made := g.call("POST", "/v3/documents", `{"fileName":"a.txt","category":"QUOTE","entity":{"type":"ORDER","id":"`+order+`"},"contentBase64":"SGVsbG8="}`)
	require.Equal(t, 201, made.status, made.raw)
	assert.EqualValues(t, 5, made.at("sizeBytes"))
	assert.Equal(t, "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969", made.text("sha256"))
	at := made.header.Get("Location")
	assert.Nil(t, g.call("GET", at, "").at("contentBase64"))
	assert.Equal(t, "SGVsbG8=", g.call("GET", at+"?include=content", "").text("contentBase64"))
}

func TestJSONAdvertising(t *testing.T) {
	g := newGarage(t)
	at := g.call("POST", "/v3/vehicles", `{"licensePlate":"GT-123-B","make":{"brand":"Opel","model":"Corsa"}}`)
	require.Equal(t, 201, at.status, at.raw)
	assert.Equal(t, "GT123B", at.text("licensePlate"))
	assert.Equal(t, 204, g.call("DELETE", at.header.Get("Location"), "").status)
	assert.Equal(t, "ADVERTISED", g.call("DELETE", "/v3/vehicles/"+g.first("vehicles"), "").text("error.code"))
}

func TestJSONThrottle(t *testing.T) {
	g := newGarage(t)
	g.Throttle(1, 7*time.Second)
	r := g.call("GET", "/v3/customers", "")
	assert.Equal(t, 429, r.status)
	assert.Equal(t, "7", r.header.Get("Retry-After"))
	assert.Equal(t, 200, g.call("GET", "/v3/customers", "").status)
}

func TestSampleIsTheSame(t *testing.T) {
	a, b := newGarage(t), newGarage(t)
	for _, collection := range []string{"customers", "vehicles", "orders", "articles", "employees", "countries"} {
		assert.Equal(t, a.call("GET", "/v3/"+collection+"?limit=200", "").raw, b.call("GET", "/v3/"+collection+"?limit=200", "").raw)
	}
	large := remotetest.NewJSON(remotetest.Options{Orders: 600})
	assert.NotNil(t, large)
}
