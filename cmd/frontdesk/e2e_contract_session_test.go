package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractAuthenticate is who gets a session.
func contractAuthenticate(t *testing.T, p *practice) {
	live, ended := p.login(fullKey, "demo"), p.ended()
	const malformed, unknown = "nonsense", "55555555-5555-4555-8555-555555555555"
	const query = `/authenticate?api_key=` + fullKey + `&username=demo&password=demo`
	const no = `Not authorized`
	p.holds(t, []wire{
		{what: "without organization_name", ask: `GET ` + query, token: noToken, status: 200},
		{what: "empty organization_name", ask: `GET ` + query + `&organization_name=`, token: noToken, status: 200},
		{what: "organization_name", ask: `GET ` + query + `&organization_name=x`, token: noToken, status: 400, message: `Invalid request, query parameter is not supported: organization_name`},
		{what: "organization_name, whatever else is missing", ask: `GET /authenticate?organization_name=x`, token: noToken, status: 400, message: `Invalid request, query parameter is not supported: organization_name`},
		{what: "nothing", ask: `GET /authenticate`, token: noToken, status: 400, message: `These parameter(s): api_key , username , password are required`},
		{what: "no password", ask: `GET /authenticate?api_key=` + fullKey + `&username=demo`, token: noToken, status: 400, message: `These parameter(s): password are required`},
		{what: "empty password, though there is a token", ask: `GET /authenticate?password=`, token: live, status: 400, message: `These parameter(s): api_key , username , password are required`},
		{what: "twice", ask: `GET ` + query + `&password=x`, token: noToken, status: 400, message: `Invalid request, query parameter is provided more than once: password`},
		{what: "another parameter", ask: `GET ` + query + `&x=1`, token: noToken, status: 400, message: `Invalid request, query parameter is not supported: x`},
		{what: "credentials beside a stale token", ask: `GET ` + query, token: ended, status: 200},
		{what: "credentials beside nonsense", ask: `GET ` + query, token: "nonsense", status: 200},
		{what: "wrong credentials beside a live token", ask: `GET ` + loginPath(fullKey, "demo", "x"), token: live, status: 401, message: no},
		{what: "the token alone", ask: `GET /authenticate`, token: live, status: 200, body: `{"token":"$1"}`},
		{what: "the token and organization_name", ask: `GET /authenticate?organization_name=`, token: live, status: 200, body: `{"token":"$1"}`},
		{what: "a stale token alone", ask: `GET /authenticate`, token: ended, status: 401, message: no},
		{what: "a token in capitals", ask: `GET /authenticate`, token: strings.ToUpper(live), status: 401, message: no},
		{what: "malformed api_key", ask: `GET ` + loginPath(malformed, "demo", "demo"), token: noToken, status: 401, message: no},
		{what: "unknown api_key", ask: `GET ` + loginPath(unknown, "demo", "demo"), token: noToken, status: 401, message: no},
		{what: "unknown user", ask: `GET ` + loginPath(fullKey, "nobody", "demo"), token: noToken, status: 401, message: no},
		{what: "user in capitals", ask: `GET ` + loginPath(fullKey, "DEMO", "demo"), token: noToken, status: 401, message: no},
		{what: "NUL in the user", ask: `GET ` + loginPath(fullKey, "demo%00", "demo"), token: noToken, status: 401, message: no},
		{what: "invalid UTF-8 in the user", ask: `GET ` + loginPath(fullKey, "%FF", "demo"), token: noToken, status: 401, message: no},
		{what: "wrong password of an external user", ask: `GET ` + loginPath(fullKey, "external", "x"), token: noToken, status: 401, message: no},
		{what: "wrong api_key of a user without e-mail", ask: `GET ` + loginPath(unknown, "noemail", "noemail"), token: noToken, status: 401, message: no},
		{what: "the other client", ask: `GET ` + loginPath(ordersKey, "other", "other"), token: noToken, status: 200},
	}, live)
	a := p.call("GET", query, "", "")
	var body map[string]string
	require.NoError(t, json.Unmarshal(a.Body, &body))
	require.Len(t, body, 1)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, body["token"])
	require.NotEqual(t, live, body["token"])
	for _, token := range []string{live, body["token"]} { // several live at once
		require.Equal(t, 200, p.call("GET", "/contact/1", token, "").Status)
	}
}

// contractAlike wants nothing to tell a wrong key from a wrong user or
// password.
func contractAlike(t *testing.T, p *practice) {
	var first string
	for _, path := range []string{
		loginPath(fullKey, "demo", "x"), loginPath(fullKey, "nobody", "x"), loginPath("nonsense", "demo", "demo"),
		loginPath("55555555-5555-4555-8555-555555555555", "demo", "demo"), loginPath(fullKey, "noemail", "x"),
	} {
		a := p.call("GET", path, "", "", "X-Request-Id", "same")
		if first == "" {
			first = string(a.Body)
		}
		require.Equal(t, first, string(a.Body))
	}
}

// contractTokenHeader is how the token comes.
func contractTokenHeader(t *testing.T, p *practice) {
	other := p.login(fullKey, "other")
	for _, c := range []struct {
		what    string
		headers []string
		status  int
	}{
		{"lower case", []string{"token: " + p.token}, 200},
		{"upper case", []string{"TOKEN: " + p.token}, 200},
		{"blanks around", []string{"Token:  " + p.token + " "}, 200},
		{"empty", []string{"token:"}, 401},
		{"as a bearer", []string{"Authorization: Bearer " + p.token}, 401},
		{"with more", []string{"token: " + p.token + "," + p.token}, 401},
		{"a live one after nonsense", []string{"token: nonsense", "token: " + p.token}, 401},
		{"a live one before nonsense", []string{"token: " + p.token, "token: nonsense"}, 401},
		{"two live ones", []string{"token: " + p.token, "token: " + other}, 401},
	} {
		a := p.raw(rawRequest("GET", "/contact/1", c.headers...))
		require.Equal(t, c.status, a.Status, c.what)
	}
	a := p.raw(rawRequest("GET", "/contact/1?token="+p.token))
	require.Equal(t, 401, a.Status)
	a = p.raw(rawRequest("GET", "/authenticate", "token:"))
	require.Equal(t, "not_logged_in", a.failure(t).Reason)
}

// contractLogout ends one session and no other.
func contractLogout(t *testing.T, p *practice) {
	token := p.login(fullKey, "demo")
	const no = `Not authorized`
	p.holds(t, []wire{
		{ask: `GET /authenticate/logout?x=1`, token: token, status: 400, message: `Invalid request, query parameter is not supported: x`},
		{ask: `GET /authenticate/logout`, token: token, status: 200, body: `{"successCode":200}`},
		{ask: `GET /contact/1`, token: token, status: 401, message: no},
		{ask: `GET /authenticate`, token: token, status: 401, message: no},
		{ask: `GET /authenticate/logout`, token: token, status: 200, message: no},
		{ask: `GET /authenticate/logout`, token: "nonsense", status: 200, message: no},
		{ask: `GET /authenticate/logout`, token: noToken, status: 401, message: no},
		{ask: `GET /contact/1`, status: 200},
	})
}

// TestContractAllowlist gives a key its endpoints, and hides all others.
func TestContractAllowlist(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		const vehiclesKey = "44444444-4444-4444-8444-444444444444"
		p := &practice{t: t, faults: new(faults), dsn: dsn, count: new(int)}
		p.desk = startDesk(t, deskOptions{dsn: dsn, keys: keyConfig("vehicles", vehiclesKey, "    allow: [\"* /vehicle\"]\n") + keyConfig("nothing", tinyKey, "    allow: []\n")})
		orders, vehicles, nothing := p.login(ordersKey, "demo"), p.login(vehiclesKey, "demo"), p.login(tinyKey, "demo")
		p.holds(t, []wire{
			{ask: `GET /order`, token: orders, status: 200},
			{ask: `GET /order/1`, token: orders, status: 200},
			{ask: `GET /order?id=1`, token: orders, status: 200},
			{ask: `GET /orderline?order_id=1`, token: orders, status: 200},
			{ask: `GET /model/contact`, token: orders, status: 200},
			{ask: `GET /model/nothing`, token: orders, status: 404},
			{ask: `POST /order {}`, token: orders, status: 400, message: `Method: POST not supported for endpoint: /order`},
			{ask: `PUT /order/1 {}`, token: orders, status: 400, message: `Method: PUT not supported for endpoint: /order/1`},
			{ask: `DELETE /order?id=1`, token: orders, status: 400, message: `Method: DELETE not supported for endpoint: /order`},
			{ask: `GET /contact`, token: orders, status: 400, message: `Invalid endpoint: /contact`},
			{ask: `GET /contact/1`, token: orders, status: 400, message: `Invalid endpoint: /contact/1`},
			{ask: `POST /contact {}`, token: orders, status: 400, message: `Invalid endpoint: /contact`},
			{ask: `GET /contact/checkaddress`, token: orders, status: 400, message: `Invalid endpoint: /contact/checkaddress`},
			{ask: `GET /util/environment?username=x`, token: orders, status: 400, message: `Invalid endpoint: /util/environment`},
			{ask: `GET /nothing`, token: orders, status: 400, message: `Invalid endpoint: /nothing`},
			{ask: `GET /vehicle/1`, token: vehicles, status: 200},
			{ask: `PUT /vehicle/1 {}`, token: vehicles, status: 200},
			{ask: `PUT /vehicle/publishstart?id=1`, token: vehicles, status: 400, message: `Invalid endpoint: /vehicle/publishstart`},
			{ask: `GET /vehicleroleline?vehicle_id=1`, token: vehicles, status: 400, message: `Invalid endpoint: /vehicleroleline`},
			{ask: `GET /vehicle`, token: nothing, status: 400, message: `Invalid endpoint: /vehicle`},
			{ask: `GET /authenticate/acces`, token: nothing, status: 200, body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"nothing","endpoints":[]}}`},
			{ask: `GET /authenticate/modules`, token: nothing, status: 200, body: `{"data":[]}`},
			{ask: `GET /authenticate/acces`, token: orders, status: 200, body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"orders","endpoints":[
				{"method":"GET","path":"/order"},{"method":"GET","path":"/orderline"},{"method":"GET","path":"/model/*"}]}}`},
			{ask: `GET /authenticate/modules`, token: orders, status: 200, body: `{"data":[{"name":"sales","resources":["order","orderline"]}]}`},
			{ask: `GET /authenticate/acces`, token: vehicles, status: 200, body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"vehicles","endpoints":[
				{"method":"POST","path":"/vehicle"},{"method":"GET","path":"/vehicle"},{"method":"PUT","path":"/vehicle"},{"method":"DELETE","path":"/vehicle"}]}}`},
		})
	})
}

// contractSession is what a session can learn of itself.
func contractSession(t *testing.T, p *practice) {
	print := func(token string) string {
		a := p.call("GET", "/authenticate/fingerprint", token, "")
		require.Equal(t, 200, a.Status)
		data := a.data(t)
		require.Len(t, data, 1)
		require.Regexp(t, `^[0-9a-f]{16,}$`, data["fingerprint"])
		return data["fingerprint"].(string)
	}
	mine := print(p.token)
	require.Equal(t, mine, print(p.login(fullKey, "demo")), "of another session of the same user and key")
	require.NotEqual(t, mine, print(p.login(ordersKey, "demo")))
	require.NotEqual(t, mine, print(p.login(fullKey, "other")))

	var components struct {
		Data []struct{ Name, Version, Status string }
	}
	require.NoError(t, json.Unmarshal(p.call("GET", "/authenticate/component", p.token, "").Body, &components))
	require.Len(t, components.Data, 3)
	for i, name := range []string{"gateway", "backend", "store"} {
		require.True(t, strings.HasPrefix(components.Data[i].Name, name), components.Data[i].Name)
		require.Equal(t, "ok", components.Data[i].Status)
		require.NotEmpty(t, components.Data[i].Version)
	}
	var modules struct {
		Data []struct {
			Name      string
			Resources []string
		}
	}
	require.NoError(t, json.Unmarshal(p.call("GET", "/authenticate/modules", p.token, "").Body, &modules))
	count := 0
	for _, m := range modules.Data {
		count += len(m.Resources)
	}
	require.Equal(t, 16, count)
}
