package rows

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractPaths wants paths to be exactly what they look like.
func contractPaths(t *testing.T, p *rig.Practice) {
	for _, path := range []string{
		"/nothing", "/orders", "/ORDER", "/Order", "/order/", "/order/1/", "/order//1", "//order", "/./order", "/order/.", "/order/..", "/order/../contact",
		"/order/1/2", "/order/1/orderline", "/order%2F1", "/order/1%2f2", "/order%5C1", "/order\\1", "/order;x=1", "/order/1;x", "/order/%31", "/%6frder", "/order/1%00",
		"/order+1", "/model", "/model/", "/model/order/1", "/authenticate/", "/authenticate/access", "/vehicle/publishstart/", "/employee/email/x", "/webservice_v2/order", "/order#x", "/healthz", "/readyz", "/metrics",
	} {
		t.Run(strings.ReplaceAll(path, "/", "∕"), func(t *testing.T) {
			d := p.In(t)
			for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
				a := d.Raw(rig.RawRequest(method, path+"?fields=id", "token: "+p.Token))
				require.Equal(t, 400, a.Status)
				if method != "HEAD" {
					require.Equal(t, "Invalid endpoint: "+path, a.Failure(t).Message)
					require.Equal(t, "endpoint_unknown", a.Failure(t).Reason)
				}
			}
		})
	}
	for _, target := range []string{"/", "/order", "/webservice_v2x/order", "/webservice_V2/order", "//webservice_v2/order", "/webservice%5Fv2/order"} {
		a := p.Raw("GET " + target + " HTTP/1.1\r\nHost: desk\r\nConnection: close\r\ntoken: " + p.Token + "\r\n\r\n")
		require.Equal(t, 400, a.Status, target)
		require.Equal(t, "Invalid endpoint: "+target, a.Failure(t).Message)
	}
	for path, want := range map[string]int{"contact/1": 200, "nothing?http://x/webservice_v2/order": 400} {
		a := p.Raw("GET http://desk/webservice_v2/" + path + " HTTP/1.1\r\nHost: desk\r\nConnection: close\r\ntoken: " + p.Token + "\r\n\r\n")
		require.Equal(t, want, a.Status, "%s", a.Body)
		require.Equal(t, want == 400, strings.Contains(string(a.Body), `"Invalid endpoint: /nothing"`), "%s", a.Body)
	}
	for line, status := range map[string]int{"GET / ": 302, "POST / ": 400, "GET /index.html ": 400, "GET // ": 400, "GET /order ": 400} { // a browser finds the test page, and nothing else
		a := p.Raw(line + "HTTP/1.1\r\nHost: desk\r\nConnection: close\r\nAccept: text/html,*/*;q=0.8\r\n\r\n")
		require.Equal(t, status, a.Status, line)
		require.Equal(t, map[bool]string{true: "/webservice_v2/"}[status == 302], a.Header.Get("Location"), line)
	}
	long := "/" + strings.Repeat("é", 101)
	a := p.Raw(rig.RawRequest("GET", long))
	require.Equal(t, "Invalid endpoint: "+string([]rune(long)[:100])+"…", a.Failure(t).Message)
}

// contractUnreadable sends what is hardly HTTP: every answer is an error in
// JSON all the same.
func contractUnreadable(t *testing.T, p *rig.Practice) {
	for what, bytes := range map[string]string{
		"NUL in the path":        rig.RawRequest("GET", "/order\x001", "token: "+p.Token),
		"invalid UTF-8 in path":  rig.RawRequest("GET", "/order\xff", "token: "+p.Token),
		"blank in the path":      rig.RawRequest("GET", "/order 1", "token: "+p.Token),
		"no version":             "GET /webservice_v2/order\r\n\r\n",
		"a bad header":           rig.RawRequest("GET", "/order", "no colon here"),
		"a bad length":           "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\nContent-Length: x\r\n\r\n",
		"two lengths":            "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
		"length and chunked":     "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a bad chunk":            "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"a coding that is none":  "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\nTransfer-Encoding: identity\r\n\r\n",
		"that and a length":      "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\nContent-Length: 2\r\nTransfer-Encoding: identity\r\n\r\n{}",
		"a trailer":              "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nIf-Match: x\r\n\r\n",
		"an unknown coding":      "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\nTransfer-Encoding: nonsense\r\n\r\n0\r\n\r\n",
		"a header over 16 KiB":   rig.RawRequest("GET", "/order", "X-Long: "+letters(17<<10)),
		"many headers over that": rig.RawRequest("GET", "/order", strings.Repeat("X-Short: "+letters(90)+"\r\n", 200)+"X: y"),
		"a target over 16 KiB":   rig.RawRequest("GET", "/order?x="+letters(17<<10)),
		"a body over the limit":  "POST /webservice_v2/order HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\nTransfer-Encoding: chunked\r\n\r\n50000\r\n" + letters(0x50000) + "\r\n0\r\n\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			a := p.In(t).Raw(bytes)
			require.Contains(t, []int{400, 413, 431}, a.Status, "%s", a.Body)
			require.Contains(t, []string{"request_malformed", "body_too_large", "header_too_large", "endpoint_unknown"}, a.Failure(t).Reason)
		})
	}
}

// contractMethods names the methods that no endpoint has.
func contractMethods(t *testing.T, p *rig.Practice) {
	for _, method := range []string{"HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "BREW", "get", "Get"} {
		for _, path := range []string{"/order", "/order/1", "/authenticate", "/model/order", "/vehicle/publishstart"} {
			a := p.Raw(rig.RawRequest(method, path, "token: "+p.Token))
			require.Equal(t, 400, a.Status, "%s %s", method, path)
			if method == "HEAD" {
				require.Empty(t, a.Body)
				continue
			}
			require.Equal(t, "Method: "+method+" not supported for endpoint: "+path, a.Failure(t).Message)
			require.Equal(t, "method_unsupported", a.Failure(t).Reason)
		}
	}
}

// TestAddressesBehindAProxy: what an answer names below the base path is where clients reach it.
func TestAddressesBehindAProxy(t *testing.T) {
	t.Parallel()
	h, o := rig.NewHooks(t, nil)
	o.Server = `  public_url: "https://api.example.nl/acme/webservice_v2"`
	address := rig.FreeAddress(t)
	o.Edit = strings.NewReplacer("listen: 127.0.0.1:0", "listen: "+address)
	d := rig.OnSQLite(t, o)
	d.Base = "http://" + address + "/webservice_v2" // what it printed is the proxy's
	token := d.Login(rig.HookedKey, "demo")
	created := d.Call("POST", "/contact", token, rig.NewContact)
	require.Regexp(t, `^/acme/webservice_v2/contact/\d+$`, created.Header.Get("Location"))
	promised := d.Call("POST", "/backup/owner", token, `{"webhook_url":"`+h.Address()+`"}`)
	require.Regexp(t, `^/acme/webservice_v2/webhook\?id=`, promised.Header.Get("Location"))
	require.Contains(t, string(d.Call("GET", "/contact?page_size=1", token, "").Body), `"next":"/acme/webservice_v2/contact?`)
	root := d.Raw("GET / HTTP/1.1\r\nHost: desk\r\nAccept: text/html\r\nConnection: close\r\n\r\n")
	require.Equal(t, "/acme/webservice_v2/", root.Header.Get("Location"))
	require.Equal(t, 400, d.Raw("GET / HTTP/1.1\r\nHost: desk\r\nAccept: text/html;q=0\r\nConnection: close\r\n\r\n").Status)
}
