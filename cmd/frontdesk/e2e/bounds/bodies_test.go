package bounds

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// bigBody is as much as a body may be.
const bigBody = 16 << 20

// padded is a contact in a body of that size.
func padded(size int) string {
	return rig.NewContact[:len(rig.NewContact)-1] + strings.Repeat(" ", size-len(rig.NewContact)) + "}"
}

// TestBodiesInChunks: a body in chunks that does not get on takes as much room as
// came of it, and leaves the rest to others. Bodies of one client that are more than its share
// are read one after the other, and none is refused.
func TestBodiesInChunks(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Server: "  body_limit: 1MiB", Bound: bodyMemory(2)})
	token, other := d.Login(rig.FullKey, "demo"), d.Login(rig.FullKey, "other")
	begun := "5000\r\n" + padded(0x5000)
	var all []*rig.Socket
	for range 8 {
		all = append(all, d.Socket().Send(chunking("/contact", token)+begun)) // and no more
	}
	await.True(t, func() bool {
		return strings.Contains(d.OpsText("/metrics"), fmt.Sprintf("frontdesk_body_memory_used_bytes %d\n", 8*32<<10))
	})
	for _, others := range []string{chunking("/contact", other) + begun + "\r\n0\r\n\r\n", posting("/contact", other, 512<<10, "") + padded(512<<10)} {
		require.Equal(t, 201, d.Socket().Send(others).Answer("POST").Status)
	}
	for i := range all {
		require.NoError(t, all[i].Close())
	}
	all = nil
	for range 20 {
		all = append(all, d.Socket().Send(posting("/contact", token, 1<<20, "")+padded(1<<20)))
	}
	for _, w := range all {
		require.Equal(t, 201, w.Answer("POST").Status)
	}
}

// posting is the header of a request that announces a body.
func posting(path, token string, length int, more string) string {
	return fmt.Sprintf("POST /webservice_v2%s HTTP/1.1\r\nHost: desk\r\ntoken: %s\r\nContent-Length: %d\r\n%s\r\n", path, token, length, more)
}

// chunking is the header of a request whose body comes in chunks.
func chunking(path, token string) string {
	return strings.Replace(posting(path, token, 0, ""), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
}

// begun is as much of a body as the server waits for, before it judges the request.
var begun = strings.Repeat(" ", 8<<10)

// TestBodiesMemory takes half a minute: bodies that wait are refused after the
// read time-out, and memory goes back to the system three seconds after. It is
// alone: what is not read in time depends on what the processors have to do beside it.
func TestBodiesMemory(t *testing.T) {
	c := rig.StartChild(t, rig.Options{DSN: rig.Engines[0].DSN(t), Server: "  read_timeout: 5s"})
	token, other := c.Login(rig.FullKey, "demo"), c.Login(rig.FullKey, "other")
	require.Equal(t, 201, c.Call("POST", "/contact", token, padded(bigBody)).Status)
	const clients, growth, left = 100, 128 << 20, 32 << 20
	before := c.Resident()

	for range clients { // which are judged by how they begin
		w := c.Socket().Send(posting("/nowhere", "", bigBody, "") + begun)
		require.Equal(t, "Invalid endpoint: /nowhere", w.Answer("POST").Failure(t).Message)
	}
	var slow []*rig.Socket
	for range clients {
		_ = c.Socket().Send(posting("/contact", token, bigBody, ""))
		slow = append(slow, c.Socket().Send(posting("/contact", token, bigBody, "")+padded(bigBody)[:bigBody-1]))
	}
	for range 50 { // in which a client that behaves is served
		require.Equal(t, 200, c.Call("GET", "/contact/1", token, "").Status)
		require.Equal(t, 201, c.Call("POST", "/contact", token, rig.NewContact).Status)
		require.Equal(t, 201, c.Call("POST", "/contact", other, padded(1<<20)).Status)
		require.Less(t, c.Resident()-before, growth)
	}
	busy := 0
	for _, w := range slow {
		a := w.Answer("POST")
		if a.Status == 400 { // it had room, and was not ready in time
			require.Equal(t, "Invalid request", a.Failure(t).Message)
			continue
		}
		busy++
		require.Equal(t, 503, a.Status)
		require.Equal(t, "Server is busy", a.Failure(t).Message)
		require.Equal(t, "overloaded", a.Failure(t).Reason)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
		require.Less(t, c.Resident()-before, growth)
	}
	require.Greater(t, busy, clients/2)
	await.True(t, func() bool { return c.Resident()-before < left }, "memory is kept")
	quiet := c.Resident()
	for range 4 { // of 19 MiB each
		c.Login(rig.FullKey, "demo")
	}
	await.True(t, func() bool { return c.Resident()-quiet < left/2 }, "the memory of passwords is kept")
	require.Equal(t, 201, c.Call("POST", "/contact", token, padded(bigBody)).Status)
}

// TestBodiesAnswers begins bodies and does not send them: what can be judged without
// them is answered before they have come, in the order of the contract.
func TestBodiesAnswers(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Server: "  read_timeout: 60s"}) // longer than a test waits
	token, orders, dead := d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo"), d.Login(rig.FullKey, "demo")
	require.Equal(t, 200, d.Call("GET", "/authenticate/logout", dead, "").Status)

	for _, c := range []struct {
		method, path, token string
		length              int
		status              int
		message             string
	}{
		{"POST", "/nowhere", token, bigBody, 400, "Invalid endpoint: /nowhere"},
		{"POST", "/nowhere", "", 1 << 40, 400, "Invalid endpoint: /nowhere"},
		{"PATCH", "/contact", token, bigBody, 400, "Method: PATCH not supported for endpoint: /contact"},
		{"OPTIONS", "/contact", "", bigBody, 400, "Method: OPTIONS not supported for endpoint: /contact"},
		{"POST", "/contact/1", token, bigBody, 400, "Method: POST not supported for endpoint: /contact/1"},
		{"POST", "/contact", "", bigBody, 401, "Not authorized"},
		{"POST", "/contact", "", 1 << 40, 401, "Not authorized"},
		{"POST", "/contact", "malformed", bigBody, 401, "Not authorized"},
		{"POST", "/contact", dead, bigBody, 401, "Not authorized"},
		{"PUT", "/contact/1", dead, 1 << 40, 401, "Not authorized"},
		{"POST", "/contact", orders, bigBody, 400, "Invalid endpoint: /contact"},
		{"POST", "/order", orders, 1 << 40, 400, "Method: POST not supported for endpoint: /order"},
		{"POST", "/contact?a=1&a=2", token, bigBody, 400, "Invalid request, query parameter is provided more than once: a"},
		{"POST", "/contact?colour=red", token, 1 << 40, 400, "Invalid request, query parameter is not supported: colour"},
		{"POST", "/contact", token, bigBody + 1, 413, "Body is too large"},
		{"PUT", "/contact/1", token, 1 << 40, 413, "Body is too large"},
		{"GET", "/contact/1", token, bigBody + 1, 413, "Body is too large"},
		{"DELETE", "/contact/1", token, bigBody + 1, 413, "Body is too large"},
		{"GET", "/vehicle/publishstart", token, bigBody + 1, 413, "Body is too large"},
		{"POST", "/authenticate/forgotpassword", "", bigBody, 401, "Token invalid"},
		{"POST", "/authenticate/resetpassword", "", bigBody, 413, "Body is too large"},
	} {
		for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
			what := fmt.Sprint(c, expect)
			head := strings.Replace(posting(c.path, c.token, c.length, expect), "POST", c.method, 1)
			if c.token == "" {
				head = strings.Replace(head, "token: \r\n", "", 1)
			}
			w := d.Socket().Send(head + begun)
			a := w.Answer(c.method)
			require.Equal(t, c.status, a.Status, what)
			require.Equal(t, c.message, a.Failure(t).Message, what)
			w.RequireClosed(what)
		}
	}
	for _, refused := range []string{"", dead} { // a body in chunks could be of any length
		require.Equal(t, 401, d.Socket().Send(chunking("/contact", refused)).Answer("POST").Status)
	}
}

// TestBodiesRefusedThenNext: a body that nobody wanted is read as far as it may be,
// and never taken for a request.
func TestBodiesRefusedThenNext(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{})
	token := d.Login(rig.FullKey, "demo")
	next := rig.ContactAsked(token)
	chunks := func(path string, size int) string {
		return chunking(path, token) + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat("x", size))
	}
	sized := func(path string, size int) string {
		return posting(path, token, size, "") + strings.Repeat("x", size)
	}
	for _, c := range []struct {
		name, request string
		more          bool
	}{
		{"a small body", sized("/nowhere", 10), true},
		{"the largest that is read", sized("/nowhere", 64<<10), true},
		{"one byte more", sized("/nowhere", 64<<10+1), false},
		{"small chunks", chunks("/nowhere", 10), true},
		{"the most in chunks that is read", chunks("/nowhere", 64<<10), true},
		{"more in chunks", chunks("/nowhere", 64<<10+1), false},
		{"one that waits for 100", posting("/nowhere", token, 10, "Expect: 100-continue\r\n") + "xxxxxxxxxx", true},
		{"refused by its query", sized("/contact?colour=red", 10), true},
	} {
		w := d.Socket().Send(c.request + next + next)
		require.Equal(t, 400, w.Answer("POST").Status, c.name)
		if c.more {
			require.Equal(t, 200, w.Answer("GET").Status, c.name)
			require.Equal(t, 200, w.Answer("GET").Status, c.name)
		} else {
			rest, _ := io.ReadAll(w.Reader) // what still came may have reset the connection
			require.Empty(t, string(rest), c.name)
		}
	}
	// What has no use for a body reads it all the same.
	for _, body := range []int{10, 1 << 20} {
		w := d.Socket().Send(strings.Replace(sized("/contact/1", body), "POST", "GET", 1) + next)
		require.Equal(t, 200, w.Answer("GET").Status)
		require.Equal(t, 200, w.Answer("GET").Status)
	}
}

// TestBodiesCutShort: what broke off is never taken for a body.
func TestBodiesCutShort(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{})
	token := d.Login(rig.FullKey, "demo")
	chunked := chunking("/contact", token) + fmt.Sprintf("%x\r\n%s\r\n", len(rig.NewContact), rig.NewContact)
	for request, status := range map[string]int{
		posting("/contact", token, len(rig.NewContact)+1, "") + rig.NewContact: 400,
		chunked:                  400,
		chunked + "0\r\n":        400,
		chunked[:len(chunked)-3]: 400,
		chunked + "0\r\n\r\n":    201,
	} {
		w := d.Socket()
		must.Have(io.WriteString(w, request))(t)
		require.NoError(t, w.Conn.(interface{ CloseWrite() error }).CloseWrite())
		a := w.Answer("POST")
		require.Equal(t, status, a.Status, "%q", request)
		if status == 400 {
			require.Equal(t, "Invalid request", a.Failure(t).Message, "%q", request)
		}
	}
}
