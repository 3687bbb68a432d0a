package main

import (
	"bufio"
	"cmp"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flood opens connections to an address that say nothing.
func flood(t testing.TB, address string, n int) (all []net.Conn) {
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

func hangUp(all []net.Conn) {
	for _, conn := range all {
		_ = conn.Close()
	}
}

// host is where the desk listens.
func (d *desk) host() string {
	return strings.TrimSuffix(strings.TrimPrefix(d.base, "http://"), "/webservice_v2")
}

func contactAsked(token string) string {
	return "GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n\r\n"
}

// TestConnectionsFlood: silent connections, more than the process may open, cost
// nobody anything who is connected already, nor anybody once they are gone.
func TestConnectionsFlood(t *testing.T) {
	c := startChild(t, deskOptions{dsn: engines[0].dsn(t), descriptors: 1024, server: "  read_timeout: 60s"})
	token := c.login(fullKey, "demo")
	before := c.socket()
	require.Equal(t, 200, before.send(contactAsked(token)).answer("GET").Status)
	silent := flood(t, c.host(), 1200)
	for range 20 {
		require.Equal(t, 200, before.send(contactAsked(token)).answer("GET").Status)
		require.Equal(t, 200, c.askOps("/healthz").Status)
		require.Equal(t, 200, c.askOps("/readyz").Status)
	}
	a := c.socket().answer("GET")
	require.Equal(t, 503, a.Status)
	require.Equal(t, "Server is busy", a.failure(t).Message)
	require.Equal(t, "overloaded", a.failure(t).Reason)
	require.Equal(t, "2", a.Header.Get("Retry-After"))
	require.Contains(t, c.opsText("/metrics"), "frontdesk_connections_open 192\n") // a quarter of three quarters
	c.requireLogged("connections refused")
	hangUp(silent)
	c.requireServing(token)
}

// requireServing waits until a new connection is served.
func (d *desk) requireServing(token string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		fresh, err := net.Dial("tcp", d.host())
		if err != nil {
			return false
		}
		defer fresh.Close()
		_, err = fresh.Write([]byte(contactAsked(token)))
		status, err2 := readAnswer(bufio.NewReader(fresh))
		return err == nil && err2 == nil && status == 200
	}, patience, 20*time.Millisecond)
}

// TestConnectionsWithoutDescriptors: where none are left, connections wait until
// there are.
func TestConnectionsWithoutDescriptors(t *testing.T) {
	c := startChild(t, deskOptions{
		dsn: engines[0].dsn(t), descriptors: 200, server: "  read_timeout: 60s\n  connections: {max: 10000, per_address: 10000}",
	})
	token := c.login(fullKey, "demo")
	before := c.socket()
	require.Equal(t, 200, before.send(contactAsked(token)).answer("GET").Status)
	c.requireLogged("server.connections.max is more than the process may open")
	others := flood(t, c.ops, 120) // which are not counted
	silent := flood(t, c.host(), 120)
	c.requireLogged("none can be accepted now")
	for range 20 {
		require.Equal(t, 200, before.send(contactAsked(token)).answer("GET").Status)
	}
	hangUp(others)
	hangUp(silent)
	c.requireServing(token)
}

// requireLogged waits until a line was logged, and checks that it was once.
func (c *child) requireLogged(line string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return strings.Contains(c.log.String(), line) }, patience, 10*time.Millisecond)
	require.Equal(c.t, 1, strings.Count(c.log.String(), line), "the log is flooded")
}

// TestConnectionsPerAddress: one address has so many, a trusted proxy any number.
func TestConnectionsPerAddress(t *testing.T) {
	for _, c := range []struct {
		server string
		most   int // of one address; 0 for any number
	}{
		{"  connections: {per_address: 5}", 5},
		{"  connections: {max: 5, per_address: 100}", 5},
		{"  connections: {per_address: 5}\n  trusted_proxies: [127.0.0.1]", 0},
		{"  connections: {max: 5, per_address: 1}\n  trusted_proxies: [127.0.0.1]", 5},
	} {
		d := onSQLite(t, deskOptions{server: c.server})
		token := d.login(fullKey, "demo") // by a connection that stays
		var all []*socket
		for range cmp.Or(c.most, 40) - 1 {
			w := d.socket()
			require.Equal(t, 200, w.send(contactAsked(token)).answer("GET").Status, c.server)
			all = append(all, w)
		}
		if c.most == 0 {
			continue
		}
		for range 3 {
			w := d.socket()
			require.Equal(t, "Server is busy", w.answer("GET").failure(t).Message, c.server)
			w.requireClosed(c.server)
		}
		require.Contains(t, d.opsText("/metrics"), "frontdesk_connections_refused_total 3\n")
		for _, w := range all { // they go on
			require.Equal(t, 200, w.send(contactAsked(token)).answer("GET").Status, c.server)
		}
		require.NoError(t, all[0].Close())
		d.requireServing(token)
	}
}
