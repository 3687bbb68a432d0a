package rows

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractAuthenticate is who gets a session.
func contractAuthenticate(t *testing.T, p *rig.Practice) {
	live := p.Login(rig.FullKey, "demo")
	const unknown = "55555555-5555-4555-8555-555555555555"
	const query = `/authenticate?api_key=` + rig.FullKey + `&username=demo&password=demo`
	const no = `Not authorized`
	p.Holds(t, []rig.Wire{
		{What: "without organization_name", Ask: `GET ` + query, Token: rig.NoToken, Status: 200},
		{What: "empty organization_name", Ask: `GET ` + query + `&organization_name=`, Token: rig.NoToken, Status: 200},
		{What: "organization_name, whatever else is missing", Ask: `GET /authenticate?organization_name=x`, Token: rig.NoToken, Status: 400, Message: `Invalid request, query parameter is not supported: organization_name`},
		{What: "no password", Ask: `GET /authenticate?api_key=` + rig.FullKey + `&username=demo`, Token: rig.NoToken, Status: 400, Message: `These parameter(s): password are required`},
		{What: "empty password, though there is a token", Ask: `GET /authenticate?password=`, Token: live, Status: 400, Message: `These parameter(s): api_key , username , password are required`},
		{What: "twice", Ask: `GET ` + query + `&password=x`, Token: rig.NoToken, Status: 400, Message: `Invalid request, query parameter is provided more than once: password`},
		{What: "another parameter", Ask: `GET ` + query + `&x=1`, Token: rig.NoToken, Status: 400, Message: `Invalid request, query parameter is not supported: x`},
		{What: "credentials beside nonsense", Ask: `GET ` + query, Token: "nonsense", Status: 200},
		{What: "wrong credentials beside a live token", Ask: `GET ` + rig.LoginPath(rig.FullKey, "demo", "x"), Token: live, Status: 401, Message: no},
		{What: "the token and organization_name", Ask: `GET /authenticate?organization_name=`, Token: live, Status: 200, Body: `{"token":"$1"}`},
		{What: "a token in capitals", Ask: `GET /authenticate`, Token: strings.ToUpper(live), Status: 200, Body: `{"token":"$1"}`},
		{What: "user in capitals", Ask: `GET ` + rig.LoginPath(rig.FullKey, "DEMO", "demo"), Token: rig.NoToken, Status: 401, Message: no},
		{What: "NUL in the user", Ask: `GET ` + rig.LoginPath(rig.FullKey, "demo%00", "demo"), Token: rig.NoToken, Status: 401, Message: no},
		{What: "invalid UTF-8 in the user", Ask: `GET ` + rig.LoginPath(rig.FullKey, "%FF", "demo"), Token: rig.NoToken, Status: 401, Message: no},
		{What: "wrong password of an external user", Ask: `GET ` + rig.LoginPath(rig.FullKey, "external", "x"), Token: rig.NoToken, Status: 401, Message: no},
		{What: "wrong api_key of a user without e-mail", Ask: `GET ` + rig.LoginPath(unknown, "noemail", "noemail"), Token: rig.NoToken, Status: 401, Message: no},
		{What: "the other client", Ask: `GET ` + rig.LoginPath(rig.OrdersKey, "other", "other"), Token: rig.NoToken, Status: 200},
	}, live)
}

// contractTokenHeader is how the token comes.
func contractTokenHeader(t *testing.T, p *rig.Practice) {
	other := p.Login(rig.FullKey, "other")
	for _, c := range []struct {
		what    string
		headers []string
		status  int
	}{
		{"lower case", []string{"token: " + p.Token}, 200},
		{"upper case", []string{"TOKEN: " + p.Token}, 200},
		{"blanks around", []string{"Token:  " + p.Token + " "}, 200},
		{"empty", []string{"token:"}, 401},
		{"as a bearer", []string{"Authorization: Bearer " + p.Token}, 401},
		{"with more", []string{"token: " + p.Token + "," + p.Token}, 401},
		{"a live one after nonsense", []string{"token: nonsense", "token: " + p.Token}, 401},
		{"a live one before nonsense", []string{"token: " + p.Token, "token: nonsense"}, 401},
		{"two live ones", []string{"token: " + p.Token, "token: " + other}, 401},
	} {
		a := p.Raw(rig.RawRequest("GET", "/contact/1", c.headers...))
		require.Equal(t, c.status, a.Status, c.what)
	}
	a := p.Raw(rig.RawRequest("GET", "/contact/1?token="+p.Token))
	require.Equal(t, 401, a.Status)
	a = p.Raw(rig.RawRequest("GET", "/authenticate", "token:"))
	require.Equal(t, "not_logged_in", a.Failure(t).Reason)
}

// TestContractAllowlist gives a key its endpoints, and hides all others.
func TestContractAllowlist(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		const vehiclesKey = "44444444-4444-4444-8444-444444444444"
		p := &rig.Practice{T: t, Faults: new(rig.Faults), DSN: dsn, Count: new(int)}
		p.Desk = rig.Start(t, rig.Options{DSN: dsn, Keys: rig.KeyConfig("vehicles", vehiclesKey, "    allow: [\"* /vehicle\"]\n") + rig.KeyConfig("nothing", rig.TinyKey, "    allow: []\n")})
		orders, vehicles, nothing := p.Login(rig.OrdersKey, "demo"), p.Login(vehiclesKey, "demo"), p.Login(rig.TinyKey, "demo")
		p.Holds(t, []rig.Wire{
			{Ask: `GET /order`, Token: orders, Status: 200},
			{Ask: `GET /order/1`, Token: orders, Status: 200},
			{Ask: `GET /order?id=1`, Token: orders, Status: 200},
			{Ask: `GET /orderline?order_id=1`, Token: orders, Status: 200},
			{Ask: `GET /model/contact`, Token: orders, Status: 200},
			{Ask: `GET /model/nothing`, Token: orders, Status: 404},
			{Ask: `POST /order {}`, Token: orders, Status: 400, Message: `Method: POST not supported for endpoint: /order`},
			{Ask: `PUT /order/1 {}`, Token: orders, Status: 400, Message: `Method: PUT not supported for endpoint: /order/1`},
			{Ask: `DELETE /order?id=1`, Token: orders, Status: 400, Message: `Method: DELETE not supported for endpoint: /order`},
			{Ask: `GET /contact`, Token: orders, Status: 400, Message: `Invalid endpoint: /contact`},
			{Ask: `GET /contact/1`, Token: orders, Status: 400, Message: `Invalid endpoint: /contact/1`},
			{Ask: `POST /contact {}`, Token: orders, Status: 400, Message: `Invalid endpoint: /contact`},
			{Ask: `GET /contact/checkaddress`, Token: orders, Status: 400, Message: `Invalid endpoint: /contact/checkaddress`},
			{Ask: `GET /util/environment?username=x`, Token: orders, Status: 400, Message: `Invalid endpoint: /util/environment`},
			{Ask: `GET /nothing`, Token: orders, Status: 400, Message: `Invalid endpoint: /nothing`},
			{Ask: `GET /vehicle/1`, Token: vehicles, Status: 200},
			{Ask: `PUT /vehicle/1 {}`, Token: vehicles, Status: 200},
			{Ask: `PUT /vehicle/publishstart?id=1`, Token: vehicles, Status: 400, Message: `Invalid endpoint: /vehicle/publishstart`},
			{Ask: `GET /vehicleroleline?vehicle_id=1`, Token: vehicles, Status: 400, Message: `Invalid endpoint: /vehicleroleline`},
			{Ask: `GET /vehicle`, Token: nothing, Status: 400, Message: `Invalid endpoint: /vehicle`},
			{Ask: `GET /authenticate/acces`, Token: nothing, Status: 200, Body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"nothing","endpoints":[]}}`},
			{Ask: `GET /authenticate/modules`, Token: nothing, Status: 200, Body: `{"data":[]}`},
			{Ask: `GET /authenticate/acces`, Token: orders, Status: 200, Body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"orders","endpoints":[
				{"method":"GET","path":"/order"},{"method":"GET","path":"/orderline"},{"method":"GET","path":"/model/*"}]}}`},
			{Ask: `GET /authenticate/modules`, Token: orders, Status: 200, Body: `{"data":[{"name":"sales","resources":["order","orderline"]}]}`},
			{Ask: `GET /authenticate/acces`, Token: vehicles, Status: 200, Body: `{"data":{"username":"demo","client":"Demo Garage","api_key":"vehicles","endpoints":[
				{"method":"POST","path":"/vehicle"},{"method":"GET","path":"/vehicle"},{"method":"PUT","path":"/vehicle"},{"method":"DELETE","path":"/vehicle"}]}}`},
		})
	})
}

// contractSession is what a session can learn of itself.
func contractSession(t *testing.T, p *rig.Practice) {
	print := func(token string) string {
		a := p.Call("GET", "/authenticate/fingerprint", token, "")
		require.Equal(t, 200, a.Status)
		data := a.Data(t)
		require.Len(t, data, 1)
		require.Regexp(t, `^[0-9a-f]{16,}$`, data["fingerprint"])
		return data["fingerprint"].(string)
	}
	mine := print(p.Token)
	require.Equal(t, mine, print(p.Login(rig.FullKey, "demo")), "of another session of the same user and key")
	require.NotEqual(t, mine, print(p.Login(rig.OrdersKey, "demo")))
	require.NotEqual(t, mine, print(p.Login(rig.FullKey, "other")))

	var components struct {
		Data []struct{ Name, Version, Status string }
	}
	require.NoError(t, json.Unmarshal(p.Call("GET", "/authenticate/component", p.Token, "").Body, &components))
	require.Len(t, components.Data, 3)
	for i, name := range []string{"gateway", "backend", "store"} {
		require.True(t, strings.HasPrefix(components.Data[i].Name, name), components.Data[i].Name)
		require.Equal(t, "ok", components.Data[i].Status)
		require.NotEmpty(t, components.Data[i].Version)
	}
}
