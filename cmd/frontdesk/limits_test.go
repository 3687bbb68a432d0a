package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// socket is a connection to a desk that sends what no client library would.
type socket struct {
	net.Conn
	t      testing.TB
	reader *bufio.Reader
}

func (d *desk) socket() *socket {
	d.t.Helper()
	base, err := url.Parse(d.base)
	require.NoError(d.t, err)
	conn, err := net.Dial("tcp", base.Host)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(d.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	return &socket{Conn: conn, t: d.t, reader: bufio.NewReader(conn)}
}

// send writes in the background: the desk may answer before all is written, and
// stop reading.
func (w *socket) send(text string) *socket {
	go func() { _, _ = io.WriteString(w, text) }()
	return w
}

// answer reads the answer to a request of that method.
func (w *socket) answer(method string) answer {
	w.t.Helper()
	resp, err := http.ReadResponse(w.reader, &http.Request{Method: method})
	require.NoError(w.t, err)
	if resp.StatusCode == http.StatusContinue {
		return w.answer(method)
	}
	data, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	a := answer{Status: resp.StatusCode, Header: resp.Header, Body: data}
	a.judge(w.t, "on the wire")
	return a
}

// requireClosed checks that nothing comes any more and that the desk has hung up
// in an orderly manner: a reset could have cost the client its answer.
func (w *socket) requireClosed(what string) {
	w.t.Helper()
	rest, err := io.ReadAll(w.reader)
	require.NoError(w.t, err, what)
	require.Empty(w.t, string(rest), what)
}

// onSQLite starts a desk where the engine does not matter.
func onSQLite(t testing.TB, o deskOptions) *desk {
	t.Helper()
	o.dsn = engines[0].dsn(t)
	return startDesk(t, o)
}

func TestLimitsSlowClients(t *testing.T) {
	d := onSQLite(t, deskOptions{server: "  read_timeout: 300ms"})
	token := d.login(fullKey, "demo")
	head := "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n"
	starts := []string{
		"",                                     // says nothing at all
		"P",                                    // stops in the first word
		head,                                   // stops in the header
		head + "X-Slow: ",                      // drips the header on (slowloris)
		head + "Content-Length: 1000\r\n\r\n{", // stops in the body
		head + "Content-Length: 1000\r\n\r\n ", // drips the body on
		head + "Transfer-Encoding: chunked\r\n\r\n3e8\r\n{",    // stops in a chunk
		head + "Content-Length: 2\r\n\r\n{}POST /webservice_v", // stops in its second request
	}
	var slow []*socket
	for range 8 {
		for _, start := range starts {
			w := d.socket()
			_, err := io.WriteString(w, start)
			require.NoError(t, err)
			if strings.HasSuffix(start, " ") {
				go drip(w)
			}
			slow = append(slow, w)
		}
	}
	// The others are served meanwhile.
	require.Equal(t, 200, d.call("GET", "/contact/1", token, "").Status)
	for i, w := range slow {
		start := starts[i%len(starts)]
		if strings.Contains(start, "{}") { // the first request was complete
			require.Equal(t, 403, w.answer("POST").Status)
		}
		if start != "" {
			require.Equal(t, "Invalid request", w.answer("POST").failure(t).Message, "%q", start)
		}
		rest, err := io.ReadAll(w.reader) // one that still drips is reset in the end
		require.Empty(t, rest)
		if !strings.HasSuffix(start, " ") {
			require.NoError(t, err, "%q", start)
		}
	}
}

// drip sends a byte now and then until the other side has had enough.
func drip(w *socket) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := w.Write([]byte(" ")); err != nil {
			return
		}
	}
}

func TestLimitsHeader(t *testing.T) {
	d := onSQLite(t, deskOptions{})
	token := d.login(fullKey, "demo")
	request := func(size int) string {
		head := "GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\nX-Fill: "
		return head + strings.Repeat("x", size-len(head)-4) + "\r\n\r\n"
	}
	const limit = 16 << 10
	w := d.socket()
	for range 2 { // also as the second request of a connection
		require.Equal(t, 200, w.send(request(limit)).answer("GET").Status)
	}
	for _, size := range []int{limit + 1, limit + 4096, 1 << 20} {
		w := d.socket().send(request(size))
		a := w.answer("GET")
		require.Equal(t, 431, a.Status)
		require.Equal(t, "Request header is too large", a.failure(t).Message)
		w.requireClosed("after 431")
	}
	require.Equal(t, 431, w.send(request(limit+1)).answer("GET").Status)
}

func TestLimitsBody(t *testing.T) {
	d := onSQLite(t, deskOptions{server: "  body_limit: 64KiB"})
	token := d.login(fullKey, "demo")
	const limit = 64 << 10
	contact := func(size int) string {
		return newContact[:len(newContact)-1] + strings.Repeat(" ", size-len(newContact)) + "}"
	}
	head := "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nX-Request-Id: mine\r\ntoken: " + token + "\r\n"
	sized := func(size int, more string) string {
		return fmt.Sprintf("%s%sContent-Length: %d\r\n\r\n", head, more, size)
	}
	chunked := func(size int) string {
		return fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, size, contact(size))
	}
	w := d.socket()
	require.Equal(t, 201, w.send(sized(limit, "")+contact(limit)).answer("POST").Status)
	require.Equal(t, 201, w.send(chunked(limit)).answer("POST").Status)

	for name, request := range map[string]string{
		"one byte more":            sized(limit+1, "") + contact(limit+1),
		"one byte more, chunked":   chunked(limit + 1),
		"much more":                sized(16<<20, "") + contact(16<<20),
		"much more, chunked":       chunked(16 << 20),
		"announced and never sent": sized(1<<30, ""),
		"announced, waits for 100": sized(1<<30, "Expect: 100-continue\r\n"),
	} {
		w := d.socket().send(request)
		if name == "announced, waits for 100" { // and is not told to go on
			line, err := w.reader.Peek(12)
			require.NoError(t, err)
			require.Equal(t, "HTTP/1.1 413", string(line))
		}
		a := w.answer("POST")
		require.Equal(t, 413, a.Status, name)
		require.Equal(t, "Body is too large", a.failure(t).Message)
		require.Equal(t, "mine", a.Header.Get("X-Request-Id"), name)
		if name == "announced and never sent" || name == "announced, waits for 100" {
			w.requireClosed(name)
		}
	}
}

// TestLimitsMalformed sends what is no HTTP, or means different things to
// different readers: one answer below 500, in JSON, and the connection ends.
func TestLimitsMalformed(t *testing.T) {
	d := onSQLite(t, deskOptions{})
	const smuggled = "GET /webservice_v2/smuggled HTTP/1.1\r\nHost: desk\r\n\r\n"
	post := "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + d.login(fullKey, "demo") + "\r\n"
	for _, request := range []string{
		"what?\r\n\r\n",
		"GET /webservice_v2/contact\r\nHost: desk\r\n\r\n",
		"GET  /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/con tact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact\x00 HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GE(T /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET http://[::1/ HTTP/1.1\r\nHost: desk\r\n\r\n",
		"GET /webservice_v2/contact HTTP/1.1\r\n\r\n",
		"GET /webservice_v2/contact HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		post + "no colon\r\n\r\n",
		post + "Space : before\r\n\r\n",
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
		w := d.socket().send(request)
		a := w.answer(request[:strings.IndexAny(request, " \r")])
		require.Equal(t, 400, a.Status, "%q", request)
		w.requireClosed(fmt.Sprintf("%q", request))
	}
	require.Equal(t, 401, d.call("GET", "/contact", "", "").Status)
}

// TestLimitsWire sends what is unusual, but HTTP.
func TestLimitsWire(t *testing.T) {
	d := onSQLite(t, deskOptions{})
	token := "token: " + d.login(fullKey, "demo") + "\r\n"
	get := func(target, version, more string) string {
		return "GET " + target + " HTTP/" + version + "\r\nHost: desk\r\n" + token + more + "\r\n"
	}
	t.Run("pipelining", func(t *testing.T) {
		var all string
		for i := range 20 {
			all += get("/webservice_v2/contact/1", "1.1", fmt.Sprintf("X-Request-Id: r%d\r\n", i))
		}
		w := d.socket().send(all)
		for i := range 20 {
			a := w.answer("GET")
			require.Equal(t, 200, a.Status)
			require.Equal(t, fmt.Sprintf("r%d", i), a.Header.Get("X-Request-Id"))
		}
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		w := d.socket().send(get("/webservice_v2/contact/1", "1.0", ""))
		require.Equal(t, 200, w.answer("GET").Status)
		w.requireClosed("HTTP/1.0")
		w = d.socket()
		for range 2 {
			require.Equal(t, 200, w.send(get("/webservice_v2/contact/1", "1.0", "Connection: keep-alive\r\n")).answer("GET").Status)
		}
	})
	t.Run("absolute form", func(t *testing.T) {
		w := d.socket()
		require.Equal(t, 200, w.send(get("http://elsewhere.example/webservice_v2/contact/1", "1.1", "")).answer("GET").Status)
		require.Equal(t, "Invalid endpoint: /", w.send(get("http://elsewhere.example", "1.1", "")).answer("GET").failure(t).Message)
		require.Equal(t, "Invalid endpoint: /contact", w.send(get("http://elsewhere.example/contact", "1.1", "")).answer("GET").failure(t).Message)
	})
	t.Run("Expect: 100-continue", func(t *testing.T) {
		w := d.socket().send("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nExpect: 100-continue\r\n" + token +
			fmt.Sprintf("Content-Length: %d\r\n\r\n", len(newContact)))
		line, err := w.reader.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
		_, err = w.reader.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, 201, w.send(newContact).answer("POST").Status)
	})
	t.Run("content types", func(t *testing.T) {
		w := d.socket()
		for _, kind := range []string{"multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain", ""} {
			a := w.send("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nContent-Type: " + kind + "\r\n" + token +
				fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(newContact), newContact)).answer("POST")
			require.Equal(t, 201, a.Status, "%s: %s", kind, a.Body)
		}
	})
	t.Run("methods", func(t *testing.T) {
		w := d.socket()
		for _, method := range []string{"PATCH", "OPTIONS", "TRACE", "BREW", "get", "PROPFIND", "CONNECT"} {
			a := w.send(method + " /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n" + token + "\r\n").answer(method)
			require.Equal(t, 400, a.Status, method)
			require.Equal(t, "Method: "+method+" not supported for endpoint: /contact", a.failure(t).Message)
		}
		a := w.send("HEAD /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\n" + token + "\r\n").answer("HEAD")
		require.Equal(t, 400, a.Status)
		require.Empty(t, a.Body)
		require.Equal(t, 200, w.send(get("/webservice_v2/contact/1", "1.1", "")).answer("GET").Status)
	})
	require.False(t, bytes.Contains([]byte(d.log.String()), []byte(strings.TrimSpace(token)[7:])), "a token is in the log")
}
