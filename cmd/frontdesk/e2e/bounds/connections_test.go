package bounds

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestConnectionsFlood: silent connections, more than the process may open, cost
// nobody anything who is connected already, nor anybody once they are gone.
func TestConnectionsFlood(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Options{DSN: rig.Engines[0].DSN(t), Descriptors: 1024, Server: "  read_timeout: 60s"})
	token := c.Login(rig.FullKey, "demo")
	before := c.Socket()
	require.Equal(t, 200, before.Send(rig.ContactAsked(token)).Answer("GET").Status)
	silent := rig.Flood(t, c.Host(), 1200)
	for range 20 {
		require.Equal(t, 200, before.Send(rig.ContactAsked(token)).Answer("GET").Status)
		require.Equal(t, 200, c.AskOps("/healthz").Status)
		require.Equal(t, 200, c.AskOps("/readyz").Status)
	}
	a := c.Socket().Answer("GET")
	require.Equal(t, 503, a.Status)
	require.Equal(t, "Server is busy", a.Failure(t).Message)
	require.Equal(t, "overloaded", a.Failure(t).Reason)
	require.Equal(t, "2", a.Header.Get("Retry-After"))
	require.Contains(t, c.OpsText("/metrics"), "frontdesk_connections_open 192\n") // a quarter of three quarters
	c.RequireLogged("connections refused")
	rig.HangUp(silent)
	c.RequireServing(token)
}

// TestConnectionsWithoutDescriptors: where none are left, connections wait until
// there are.
func TestConnectionsWithoutDescriptors(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Options{
		DSN: rig.Engines[0].DSN(t), Descriptors: 200, Server: "  read_timeout: 60s\n  trusted_proxies: [127.0.0.1]", // which may have all connections
	})
	token := c.Login(rig.FullKey, "demo")
	before := c.Socket()
	require.Equal(t, 200, before.Send(rig.ContactAsked(token)).Answer("GET").Status)
	others := rig.Flood(t, c.Ops, 120) // which are not counted
	await.True(t, func() bool {
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Process.Process.Pid))
		return len(open) > len(others)
	}, "they are not accepted before the others come")
	silent := rig.Flood(t, c.Host(), 120)
	c.RequireLogged("connections wait: none can be accepted now")
	for range 20 {
		require.Equal(t, 200, before.Send(rig.ContactAsked(token)).Answer("GET").Status)
	}
	rig.HangUp(others)
	rig.HangUp(silent)
	c.RequireServing(token)
}

// TestConnectionsPerAddress: one address has so many, a trusted proxy any number.
func TestConnectionsPerAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		all, perAddress int
		server          string
		most            int // of one address; 0 for any number
	}{
		{4096, 5, "", 5},
		{5, 100, "", 5},
		{4096, 5, "  trusted_proxies: [127.0.0.1]", 0},
		{5, 1, "  trusted_proxies: [127.0.0.1]", 5},
	} {
		d := rig.OnSQLite(t, rig.Options{Server: c.server, Bound: func(b *desk.Bounds) { b.Connections, b.PerAddress = c.all, c.perAddress }})
		token := d.Login(rig.FullKey, "demo") // by a connection that stays
		var all []*rig.Socket
		for range cmp.Or(c.most, 40) - 1 {
			w := d.Socket()
			require.Equal(t, 200, w.Send(rig.ContactAsked(token)).Answer("GET").Status, c.server)
			all = append(all, w)
		}
		if c.most == 0 {
			continue
		}
		for range 3 {
			w := d.Socket()
			require.Equal(t, "Server is busy", w.Answer("GET").Failure(t).Message, c.server)
			w.RequireClosed(c.server)
		}
		require.Contains(t, d.OpsText("/metrics"), "frontdesk_connections_refused_total 3\n")
		for _, w := range all { // they go on
			require.Equal(t, 200, w.Send(rig.ContactAsked(token)).Answer("GET").Status, c.server)
		}
		require.NoError(t, all[0].Close())
		d.RequireServing(token)
	}
}

// TestPipelinesTakeTurns: connections that send request upon request without waiting for
// answers have no more answered at a time than others. What is counted does not depend on
// how fast the machine is: how many of theirs are answered for one of somebody else's.
func TestPipelinesTakeTurns(t *testing.T) {
	c := rig.StartChild(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: "log: {access: false}\n"})
	token := c.Login(rig.FullKey, "demo")
	const pipelines, own, fair = 60, 30, 100
	var answered atomic.Int64
	var all []net.Conn
	var running sync.WaitGroup
	asks := []byte(strings.Repeat("GET /webservice_v2/nowhere HTTP/1.1\r\nHost: desk\r\n\r\n", 300))
	for range pipelines {
		w := c.Socket()
		all = append(all, w)
		running.Go(func() {
			for err := error(nil); err == nil; {
				_, err = w.Write(asks)
			}
		})
		running.Go(func() {
			for {
				line, err := w.Reader.ReadSlice('\n')
				if err != nil {
					return
				}
				if bytes.Contains(line, []byte("HTTP/1.1 400")) { // behind the body of the one before
					answered.Add(1)
				}
			}
		})
	}
	waits := c.Socket()
	ask := func() { require.Equal(t, 200, waits.Send(rig.ContactAsked(token)).Answer("GET").Status) }
	ask()
	await.True(t, func() bool { return answered.Load() > 100*pipelines })
	before := answered.Load()
	for range own {
		ask()
	}
	theirs := answered.Load() - before
	rig.HangUp(all)
	running.Wait()
	t.Logf("%d of theirs for one", theirs/own)
	require.Less(t, theirs, int64(own*pipelines*fair), "they were answered many at a time")
}
