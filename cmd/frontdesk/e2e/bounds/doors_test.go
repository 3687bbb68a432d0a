package bounds

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestNoSecondDoor asks for contacts, which the api_key has not been granted, by every way
// that leads somewhere: each is judged like the first.
func TestNoSecondDoor(t *testing.T) {
	t.Parallel()
	h, o := rig.NewHooks(t, nil)
	o.DSN, o.Extra = rig.Engines[0].DSN(t), o.Extra+"callbacks: [\"GET /contact\", \"POST /contact\"]\n"
	d := rig.Start(t, o)
	full, orders := d.Login(rig.HookedKey, "demo"), d.Login(rig.OrdersKey, "demo")
	hidden := func(a rig.Answer, what string) {
		t.Helper()
		require.Equal(t, 400, a.Status, "%s: %s", what, a.Body)
		require.Contains(t, []string{"endpoint_unknown", "method_unsupported"}, a.Failure(t).Reason, what)
	}
	one := d.Gets(200, "GET", "/order/1?fields=id", orders, "")

	// Headers that elsewhere lead to another path, or mean another method.
	for _, header := range []string{
		"X-Original-URL: /webservice_v2/contact", "X-Rewrite-URL: /webservice_v2/contact", "X-Forwarded-Uri: /webservice_v2/contact", "X-Forwarded-Path: /contact",
		"X-Forwarded-Prefix: /webservice_v2/contact", "X-Original-Path: /contact", "X-Envoy-Original-Path: /contact", "Destination: /webservice_v2/contact",
		"X-HTTP-Method-Override: DELETE", "X-HTTP-Method: PUT", "X-Method-Override: POST", "_method: DELETE", "Upgrade: websocket\r\nConnection: Upgrade",
		"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__", "Host: desk.internal", "X-Forwarded-Host: 127.0.0.1",
	} {
		if host, ok := strings.CutPrefix(header, "Host: "); ok {
			a := d.Raw("GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\ntoken: " + orders + "\r\n\r\n")
			hidden(a, header)
			continue
		}
		a := d.Raw(rig.RawRequest("GET", "/order/1?fields=id", "token: "+orders, header))
		require.Equal(t, 200, a.Status, header)
		require.Equal(t, string(one.Body), string(a.Body), header)
		hidden(d.Raw(rig.RawRequest("GET", "/contact/1", "token: "+orders, header)), header)
	}
	for _, target := range []string{
		"http://desk/webservice_v2/contact/1", "HTTP://127.0.0.1:9090/webservice_v2/contact/1", "http://desk/webservice_v2/order/../contact/1",
		"http://desk/webservice_v2/order?/../contact/1", "/webservice_v2/order/1?/webservice_v2/contact/1", "/webservice_v2/order/1#/webservice_v2/contact/1",
	} {
		a := d.Raw("GET " + target + " HTTP/1.1\r\nHost: desk\r\nConnection: close\r\ntoken: " + orders + "\r\n\r\n")
		require.Equal(t, 400, a.Status, "%s: %s", target, a.Body)
	}

	// What is done later, or was done before.
	in := url.QueryEscape(h.Address())
	hidden(d.Call("GET", "/contact?webhook_url="+in, orders, ""), "as long-running work")
	hidden(d.Call("POST", "/contact", orders, h.Body()), "as long-running work")
	hidden(d.Call("POST", "/backup/owner", orders, h.Body()), "in a backup")
	id := d.Call("GET", "/contact?webhook_url="+in, full, "").Promise(t)
	require.Equal(t, id, h.Next(t))
	link := d.Collect(full, id)
	hidden(d.Call("GET", "/webhook?id="+id, orders, ""), "another's result")
	cut, _, _ := strings.Cut(strings.TrimPrefix(link, d.Base), "?")
	for _, query := range []string{"", "?id=" + id, "?token=" + orders} {
		require.Contains(t, []int{400, 404}, d.Call("GET", cut+query, orders, "").Status, "a result without its signature")
	}
	order := fmt.Sprintf(rig.NewOrder, 1, "")
	require.Equal(t, 201, d.Call("POST", "/order", full, order, "Idempotency-Key", "door").Status)
	hidden(d.Call("POST", "/order", orders, order, "Idempotency-Key", "door"), "a kept answer")

	// What tells of records without being their endpoint.
	for _, path := range []string{"/document?resource=contact&resource_id=1", "/document/info?id=1", "/contact/checkaddress?Postcode=1234+AB&CountryId=1", "/empoyee/email?username=demo", "/util/environment?username=demo", "/vehicle/publishstart?id=1"} {
		hidden(d.Call("GET", path, orders, ""), path)
	}
	d.Refuses(orders, "GET", "/order/1?fields=contact", "", 403, "Field: contact not found in model")
	d.Refuses(orders, "GET", "/order?fields=contact_id.name", "", 403, "Field: contact_id.name not found in model")
	require.Equal(t, 403, d.Call("GET", "/order?sort=contact.name", orders, "").Status)
	require.Equal(t, 400, d.Call("GET", "/order?contact.name=x", orders, "").Status)
	described := string(d.Call("GET", "/openapi.json?api_key="+rig.OrdersKey, "", "").Body)
	require.Contains(t, described, `"/order"`)
	require.NotContains(t, described, `"/contact"`)

	// The operators' door has none of it, and the clients' none of theirs.
	for _, path := range []string{"/webservice_v2/contact/1", "/webservice_v2/order/1", "/contact/1"} {
		require.Equal(t, 404, d.AskOps(path).Status, path)
	}
	for _, path := range []string{"/metrics", "/readyz", "/status.json", "/debug/pprof/"} {
		hidden(d.Call("GET", path, full, ""), path)
	}
}
