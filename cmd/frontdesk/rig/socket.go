package rig

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
)

// Resident is how much memory the process has, in bytes.
func (c *Child) Resident() int { return c.memory("VmRSS:") }

// Peak is the most memory that the process ever had, in bytes.
func (c *Child) Peak() int { return c.memory("VmHWM:") }

func (c *Child) memory(which string) int {
	c.T.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Process.Pid))
	require.NoError(c.T, err)
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == which {
			n, err := strconv.Atoi(fields[1])
			require.NoError(c.T, err)
			return n << 10
		}
	}
	c.T.Fatal("the system does not tell")
	return 0
}

// Socket is a connection to a desk that sends what no client library would.
type Socket struct {
	net.Conn
	t      testing.TB
	Reader *bufio.Reader
}

// Socket connects to the desk, and says nothing yet.
func (d *Desk) Socket() *Socket {
	d.T.Helper()
	conn := d.net.connect(d.T, d.Host())
	return &Socket{Conn: conn, t: d.T, Reader: bufio.NewReader(conn)}
}

// Send writes in the background: the desk may answer before all is written, and
// stop reading.
func (w *Socket) Send(text string) *Socket {
	go func() { _, _ = io.WriteString(w, text) }()
	return w
}

// Answer reads the answer to a request of that method.
func (w *Socket) Answer(method string) Answer {
	w.t.Helper()
	resp, err := http.ReadResponse(w.Reader, &http.Request{Method: method})
	require.NoError(w.t, err)
	if resp.StatusCode == http.StatusContinue {
		return w.Answer(method)
	}
	data, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: data}
	a.Judge(w.t, "on the wire")
	return a
}

// RequireClosed checks that nothing comes any more and that the desk has hung up
// in an orderly manner: a reset could have cost the client its answer.
func (w *Socket) RequireClosed(what string) {
	w.t.Helper()
	rest, err := io.ReadAll(w.Reader)
	require.NoError(w.t, err, what)
	require.Empty(w.t, string(rest), what)
}

// OnSQLite starts a desk where the engine does not matter.
func OnSQLite(t testing.TB, o Options) *Desk {
	t.Helper()
	o.DSN = Engines[0].DSN(t)
	return Start(t, o)
}

// Underway is a request whose header the desk has read and whose body it waits
// for: the desk has said so, with 100 Continue.
func (d *Desk) Underway(token, body string) *Socket {
	d.T.Helper()
	w := d.Socket()
	_, err := fmt.Fprintf(w, "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nExpect: 100-continue\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n", token, len(body))
	require.NoError(d.T, err)
	line, err := w.Reader.ReadString('\n')
	require.NoError(d.T, err)
	require.Equal(d.T, "HTTP/1.1 100 Continue\r\n", line)
	_, err = w.Reader.ReadString('\n')
	require.NoError(d.T, err)
	return w
}

// RequireRefusing waits until nobody listens at the desk's address any more.
func (d *Desk) RequireRefusing() {
	d.T.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(d.Base, "http://"), "/webservice_v2")
	await.True(d.T, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}

// RequireAtRest checks that a SQLite file was left complete, with nothing beside
// it that would have to be read into it.
func RequireAtRest(t testing.TB, dsn string) {
	t.Helper()
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return
	}
	for _, beside := range []string{"-wal", "-shm", "-journal"} {
		require.NoFileExists(t, path+beside)
	}
	require.Equal(t, []string{"ok"}, AskSQLite(t, path, "PRAGMA integrity_check"))
}

// Flood opens connections to an address that say nothing.
func Flood(t testing.TB, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue // also where nobody accepts any more
		}
		t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
	return all
}

// HangUp closes connections.
func HangUp(all []net.Conn) {
	for _, conn := range all {
		_ = conn.Close()
	}
}

// Host is where the desk listens.
func (d *Desk) Host() string {
	host, _, _ := strings.Cut(d.Base[strings.Index(d.Base, "://")+3:], "/")
	return host
}

// ContactAsked is a request for a contact, byte for byte.
func ContactAsked(token string) string {
	return "GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n\r\n"
}

// RequireServing waits until a new connection is served.
func (d *Desk) RequireServing(token string) {
	d.T.Helper()
	await.True(d.T, func() bool {
		fresh, err := net.Dial("tcp", d.Host())
		if err != nil {
			return false
		}
		defer fresh.Close()
		_, err = fresh.Write([]byte(ContactAsked(token)))
		status, err2 := readAnswer(bufio.NewReader(fresh))
		return err == nil && err2 == nil && status == 200
	})
}
