package bounds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestIdentityIsInItsHeader: whose a request is, and where it comes from, is said by one
// header each. No other spelling, no other place and no hop's header stands in for it or
// takes it away.
func TestIdentityIsInItsHeader(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{
		Server: "  trusted_proxies: [127.0.0.1]",
		Keys:   bound("addresses: [192.0.2.0/24]") + "\n",
	})
	full, orders := d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo")
	// chunks is a POST whose header may be followed by more of it, after the body.
	chunks := func(path, header, trailer string) string {
		return "POST /webservice_v2" + path + " HTTP/1.1\r\nHost: desk\r\nConnection: close\r\n" + header + "Transfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n%s\r\n", len(rig.NewContact), rig.NewContact, trailer)
	}
	require.Equal(t, 201, d.Raw(chunks("/contact", "token: "+full+"\r\n", "")).Status)

	for _, alias := range []string{
		"X-Token: ", "To-ken: ", "To_ken: ", "_token: ", "token_: ", "token-: ", "HTTP_TOKEN: ", "X-Forwarded-Token: ", "X-Original-Token: ", "X-Auth-Token: ",
		"tokеn: " /* with a Cyrillic е */, "Authorization: ", "Authorization: Bearer ", "Proxy-Authorization: Bearer ", "Cookie: token=", "X-Api-Key: ", "api_key: ", "Session: ",
	} {
		a := d.Raw(rig.RawRequest("GET", "/contact/1", alias+full))
		require.Contains(t, []int{400, 401}, a.Status, alias)
		a = d.Raw(rig.RawRequest("GET", "/contact/1", alias+full, "token: "+orders))
		require.Equal(t, 400, a.Status, "%s beside another's token", alias)
		require.Equal(t, 400, d.Raw(rig.RawRequest("GET", "/contact/1", "token: "+orders, alias+full)).Status, "%s behind another's token", alias)
	}
	for _, trailer := range []string{"token: " + full, "Token: " + full, "TOKEN: " + full} {
		for _, announced := range []string{"", "Trailer: token\r\n", "TE: trailers\r\nTrailer: Token, X-Forwarded-For\r\n"} {
			require.Contains(t, []int{400, 401}, d.Raw(chunks("/contact", announced, trailer+"\r\n")).Status, "%s %q", trailer, announced)
			require.Equal(t, 400, d.Raw(chunks("/contact", announced+"token: "+orders+"\r\n", trailer+"\r\n")).Status, "%s %q", trailer, announced)
			require.Equal(t, 400, d.Raw(chunks("/contact", announced+"token: "+full+"\r\n", trailer+"\r\n")).Status, "a trailer at all: %s %q", trailer, announced)
		}
	}
	for _, hop := range []string{"token", "close, Token", "X-Forwarded-For, token", "keep-alive, TOKEN"} {
		a := d.Raw("GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\nConnection: " + hop + ", close\r\ntoken: " + orders + "\r\nX-Token: " + full + "\r\n\r\n")
		require.Contains(t, []int{400, 401}, a.Status, hop)
	}
	identityByAddress(t, d, chunks)
}

// identityByAddress: the api_key is good for 192.0.2.0/24, and the proxy says which address.
func identityByAddress(t *testing.T, d *rig.Desk, chunks func(path, header, trailer string) string) {
	const near, far = "192.0.2.7", "198.51.100.7"
	a := d.Gets(200, "GET", rig.LoginPath(boundKey, "demo", "demo"), "", "", "X-Forwarded-For", near)
	token := strings.Split(string(a.Body), `"`)[3]
	from := func(headers ...string) int {
		return d.Raw(rig.RawRequest("GET", "/contact/1", append(headers, "token: "+token)...)).Status
	}
	require.Equal(t, 200, from("X-Forwarded-For: "+near))
	require.Equal(t, 401, from("X-Forwarded-For: "+far))
	require.Equal(t, 401, from(), "the proxy's own")
	for _, alias := range []string{
		"X_Forwarded_For: ", "X-Forwarded_For: ", "X-Forwarded-For-: ", "Forwarded: for=", "X-Real-IP: ", "True-Client-IP: ", "CF-Connecting-IP: ", "X-Client-IP: ",
		"X-Originating-IP: ", "Via: ", "X-Forwarded: for=", "X-Cluster-Client-IP: ",
	} {
		require.Contains(t, []int{400, 401}, from(alias+near), alias)
		require.Contains(t, []int{400, 401}, from(alias+near, "X-Forwarded-For: "+far), alias)
		require.Contains(t, []int{400, 401}, from("X-Forwarded-For: "+far, alias+near), alias)
	}
	for _, hop := range []string{"X-Forwarded-For", "close, x-forwarded-for", "X-Forwarded-For, X-Real-IP"} {
		require.Equal(t, 401, from("Connection: "+hop, "X-Forwarded-For: "+far, "X-Real-IP: "+near), hop)
	}
	for _, trailer := range []string{"X-Forwarded-For: " + near, "x-forwarded-for: " + near} {
		head := "X-Forwarded-For: " + far + "\r\ntoken: " + token + "\r\n"
		for _, header := range []string{head, head + "Trailer: X-Forwarded-For\r\n", "token: " + token + "\r\n"} {
			require.Contains(t, []int{400, 401}, d.Raw(chunks("/contact", header, trailer+"\r\n")).Status, "%s %q", trailer, header)
		}
	}
}
