package bounds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

func TestLimitsHeader(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{})
	token := d.Login(rig.FullKey, "demo")
	request := func(size int) string {
		head := "GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\nX-Fill: "
		return head + strings.Repeat("x", size-len(head)-4) + "\r\n\r\n"
	}
	const limit = 16 << 10
	w := d.Socket()
	for range 2 { // also as the second request of a connection
		require.Equal(t, 200, w.Send(request(limit)).Answer("GET").Status)
	}
	for _, size := range []int{limit + 1, limit + 4096, 1 << 20} {
		w := d.Socket().Send(request(size))
		a := w.Answer("GET")
		require.Equal(t, 431, a.Status)
		require.Equal(t, "Request header is too large", a.Failure(t).Message)
		w.RequireClosed("after 431")
	}
	require.Equal(t, 431, w.Send(request(limit+1)).Answer("GET").Status)
}

func TestLimitsBody(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Server: "  body_limit: 64KiB"})
	token := d.Login(rig.FullKey, "demo")
	const limit = 64 << 10
	const mine = "X-Request-Id: mine\r\n"
	sized := func(size int, more string) string { return posting("/contact", token, size, mine+more) }
	chunked := func(size int) string {
		head := strings.TrimSuffix(chunking("/contact", token), "\r\n") + mine
		return fmt.Sprintf("%s\r\n%x\r\n%s\r\n0\r\n\r\n", head, size, padded(size))
	}
	w := d.Socket()
	require.Equal(t, 201, w.Send(sized(limit, "")+padded(limit)).Answer("POST").Status)
	require.Equal(t, 201, w.Send(chunked(limit)).Answer("POST").Status)

	for name, request := range map[string]string{
		"one byte more":            sized(limit+1, "") + padded(limit+1),
		"one byte more, chunked":   chunked(limit + 1),
		"much more":                sized(16<<20, "") + padded(16<<20),
		"much more, chunked":       chunked(16 << 20),
		"begun, and never sent":    sized(1<<30, "") + begun,
		"begun, after it was told": sized(1<<30, "Expect: 100-continue\r\n") + begun,
	} {
		w := d.Socket().Send(request)
		a := w.Answer("POST")
		require.Equal(t, 413, a.Status, name)
		require.Equal(t, "Body is too large", a.Failure(t).Message)
		require.Equal(t, "mine", a.Header.Get("X-Request-Id"), name)
		if strings.HasPrefix(name, "begun") {
			w.RequireClosed(name)
		}
	}
}

// TestLimitsMalformed sends what is no HTTP, or means different things to
// different readers: one answer below 500, in JSON, and the connection ends.
func TestLimitsMalformed(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{})
	const smuggled = "GET /webservice_v2/smuggled HTTP/1.1\r\nHost: desk\r\n\r\n"
	post := "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + d.Login(rig.FullKey, "demo") + "\r\n"
	for _, request := range []string{
		"what?\r\n\r\n",
		"GET /webservice_v2/contact\r\nHost: desk\r\n\r\n",
		"GET  /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/con tact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact\x00 HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nX: a\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + smuggled[:5],
		"GE(T /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET http://[::1/ HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact HTTP/1.1\r\n\r\n",
		"GET /webservice_v2/contact HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		post + "no colon\r\n\r\n",
		"GET /webservice_v2/contact HTTP/9.9\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact HTTP/2.0\r\nHost: desk\r\n\r\n",
		post + "Space : before\r\n\r\n",
		post + "In between: blank\r\n\r\n",
		post + "Folded: a\r\n b: c\r\n\r\n",
		post + "Nul: a\x00b\r\n\r\n",
		post + "Content-Length: many\r\n\r\n",
		post + "Content-Length: -1\r\n\r\n",
		post + "Content-Length: +2\r\n\r\n{}",
		post + "Content-Length: 0x2\r\n\r\n{}",
		post + "Content-Length: 99999999999999999999999\r\n\r\n",
		post + "Content-Length: 2, 2\r\n\r\n{}",
		post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + smuggled,
		post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled,
		post + "transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + smuggled,
		post + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled,
		strings.Replace(post, "POST", "GET", 1) + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled,
		strings.Replace(post, "1.1", "1.0", 1) + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\nnone\r\n{}\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff2\r\n{}\r\n0\r\n\r\n" + smuggled,
	} {
		w := d.Socket().Send(request)
		a := w.Answer(request[:strings.IndexAny(request, " \r")])
		require.Equal(t, 400, a.Status, "%q", request)
		w.RequireClosed(fmt.Sprintf("%q", request))
	}
	require.Equal(t, 401, d.Call("GET", "/contact", "", "").Status)
}

// TestLimitsWire sends what is unusual, but HTTP.
func TestLimitsWire(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{})
	session := d.Login(rig.FullKey, "demo")
	token := "token: " + session + "\r\n"
	get := func(target, version, more string) string {
		return "GET " + target + " HTTP/" + version + "\r\nHost: desk\r\n" + token + more + "\r\n"
	}
	t.Run("pipelining", func(t *testing.T) {
		var all string
		for i := range 20 {
			all += get("/webservice_v2/contact/1", "1.1", fmt.Sprintf("X-Request-Id: r%d\r\n", i))
		}
		w := d.Socket().Send(all)
		for i := range 20 {
			a := w.Answer("GET")
			require.Equal(t, 200, a.Status)
			require.Equal(t, fmt.Sprintf("r%d", i), a.Header.Get("X-Request-Id"))
		}
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		w := d.Socket().Send(get("/webservice_v2/contact/1", "1.0", ""))
		require.Equal(t, 200, w.Answer("GET").Status)
		w.RequireClosed("HTTP/1.0")
		w = d.Socket()
		for range 2 {
			require.Equal(t, 200, w.Send(get("/webservice_v2/contact/1", "1.0", "Connection: keep-alive\r\n")).Answer("GET").Status)
		}
	})
	t.Run("absolute form", func(t *testing.T) {
		w := d.Socket()
		require.Equal(t, 200, w.Send(get("http://elsewhere.example/webservice_v2/contact/1", "1.1", "")).Answer("GET").Status)
		require.Equal(t, "Invalid endpoint: /", w.Send(get("http://elsewhere.example", "1.1", "")).Answer("GET").Failure(t).Message)
		require.Equal(t, "Invalid endpoint: /contact", w.Send(get("http://elsewhere.example/contact", "1.1", "")).Answer("GET").Failure(t).Message)
	})
	t.Run("Expect: 100-continue", func(t *testing.T) {
		require.Equal(t, 201, d.Underway(session, rig.NewContact).Send(rig.NewContact).Answer("POST").Status)
	})
	t.Run("an answer waits for no body behind it", func(t *testing.T) {
		w := d.Socket().Send(rig.ContactAsked(session) + posting("/contact", session, len(rig.NewContact), "") + rig.NewContact[:5])
		require.Equal(t, 200, w.Answer("GET").Status)
		require.Equal(t, 201, w.Send(rig.NewContact[5:]).Answer("POST").Status)
	})
	t.Run("an end as it was asked for", func(t *testing.T) {
		for _, spelling := range []string{"close", "Close", "TE, close", "keep-alive\r\nConnection: CLOSE"} {
			w := d.Socket().Send(get("/webservice_v2/nowhere", "1.1", "Connection: "+spelling+"\r\n"))
			require.Equal(t, 400, w.Answer("GET").Status)
			w.RequireClosed(spelling)
		}
	})
	t.Run("content types", func(t *testing.T) {
		w := d.Socket()
		for _, kind := range []string{"multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain", ""} {
			a := w.Send(posting("/contact", session, len(rig.NewContact), "Content-Type: "+kind+"\r\n") + rig.NewContact).Answer("POST")
			require.Equal(t, 201, a.Status, "%s: %s", kind, a.Body)
		}
	})
	t.Run("methods", func(t *testing.T) {
		w := d.Socket()
		for _, method := range []string{"PATCH", "OPTIONS", "TRACE", "BREW", "get", "PROPFIND", "CONNECT"} {
			a := w.Send(method + " /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n" + token + "\r\n").Answer(method)
			require.Equal(t, 400, a.Status, method)
			require.Equal(t, "Method: "+method+" not supported for endpoint: /contact", a.Failure(t).Message)
		}
		a := w.Send("HEAD /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n" + token + "\r\n").Answer("HEAD")
		require.Equal(t, 400, a.Status)
		require.Empty(t, a.Body)
		require.Equal(t, 200, w.Send(get("/webservice_v2/contact/1", "1.1", "")).Answer("GET").Status)
	})
	require.NotContains(t, d.Log.String(), session, "a token is in the log")
}
