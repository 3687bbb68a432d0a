package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

var opsPaths = []string{"/", "/refusals", "/backends", "/status.json", "/metrics", "/healthz", "/readyz"}

// TestOpsHosts: the operators' listener answers those who ask for it by a name of its own,
// and none of its answers is for the pages of others. A name that somebody else owns may
// lead here as well.
func TestOpsHosts(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Edit: strings.NewReplacer("ops: {", "ops: {hosts: [Gateway.internal], ")})
	_, port, _ := strings.Cut(d.Ops, ":")
	ask := func(path, host string, headers ...string) rig.Answer {
		t.Helper()
		a := d.AskOps(path, append(headers, "Host", host)...)
		require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "same-origin", a.Header.Get("Cross-Origin-Resource-Policy"), path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		return a
	}
	for _, path := range opsPaths {
		for _, host := range []string{
			d.Ops, "127.0.0.1", "10.1.2.3:9090", "[::1]:" + port, "[::1]", "localhost:" + port, "LOCALHOST", "localhost.:9090", "gateway.internal", "GATEWAY.internal.:" + port, "[2001:db8::1]",
		} {
			require.Equal(t, 200, ask(path, host).Status, "%s of %s", path, host)
		}
		for _, host := range []string{
			"evil.example", "evil.example:" + port, "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost", "gateway", "internal", "0x7f.1", "2130706433", "gateway.internal:1:2",
		} {
			a := ask(path, host)
			if path == "/healthz" || path == "/readyz" { // as a load balancer asks that sends the name of its group
				require.Equal(t, 200, a.Status, "%s of %s", path, host)
				require.JSONEq(t, `{"status": "ok"}`, string(a.Body))
				continue
			}
			require.Equal(t, http.StatusMisdirectedRequest, a.Status, "%s of %s", path, host)
			require.NotContains(t, string(a.Body), "frontdesk_")
			require.Contains(t, string(a.Body), "ops.hosts")
		}
	}
	require.Equal(t, 404, ask("/nowhere", d.Ops).Status)
	require.Equal(t, http.StatusMisdirectedRequest, ask("/nowhere", "evil.example").Status)

	// As HAProxy asks.
	conn, err := net.Dial("tcp", d.Ops)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /readyz HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.0 200 OK\r\n", line)

	for _, test := range []struct {
		status  int // of what is for programs; the page may be come to from anywhere
		headers []string
	}{
		{200, []string{"Sec-Fetch-Site", "same-origin"}},
		{200, []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Dest", "document"}},
		{200, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}}, // a link
		{200, []string{"Origin", "http://" + d.Ops}},
		{403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}},
		{403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}},
		{403, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Dest", "empty"}}, // another port of this machine
		{403, []string{"Origin", "https://evil.example"}},
		{403, []string{"Origin", "http://127.0.0.1:1"}},
		{403, []string{"Origin", "null"}},
	} {
		for _, path := range opsPaths {
			want := test.status
			if path == "/" {
				want = 200
			}
			a := ask(path, d.Ops, test.headers...)
			require.Equal(t, want, a.Status, "%s with %s", path, test.headers)
			require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
		}
	}
}
