package webhook

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"code.dny.dev/ssrf"
	"github.com/stretchr/testify/require"
)

func TestDialerJudges(t *testing.T) {
	d := newDialer(Rules{AllowHosts: []string{"intranet"}, Ports: []uint16{8443}}, net.Dialer{})
	for address, want := range map[string]error{
		"93.184.216.34:443":        nil,
		"93.184.216.34:8443":       nil,
		"[2606:2800:220:1::1]:443": nil,
		"93.184.216.34:80":         ssrf.ErrProhibitedPort,
		"127.0.0.1:443":            ssrf.ErrProhibitedIP,
		"[::ffff:127.0.0.1]:443":   ssrf.ErrProhibitedIP,
		"[64:ff9b::7f00:1]:443":    ssrf.ErrProhibitedIP,
		"[fe80::1%eth0]:443":       ssrf.ErrProhibitedIP,
	} {
		require.ErrorIs(t, d.guarded.Control("tcp4", address, nil), want, address)
	}
	require.NoError(t, d.exempt.Control("tcp4", "127.0.0.1:443", nil))
	require.NoError(t, d.exempt.Control("tcp6", "[::1]:8443", nil))
	require.ErrorIs(t, d.exempt.Control("tcp4", "127.0.0.1:22", nil), ssrf.ErrProhibitedPort)
}

func TestCircuitOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHosts(10, 1)
		calls := 0
		fail := func() error { calls++; return errFailing }
		for range breakerFailures {
			require.ErrorIs(t, h.call(target{1, "a.example"}, fail), errFailing)
		}
		require.ErrorIs(t, h.call(target{1, "a.example"}, fail), errOpen)
		require.Equal(t, breakerFailures, calls, "an open circuit makes no call")
		require.NoError(t, h.call(target{1, "b.example"}, func() error { return nil }), "another host has its own")
		require.NoError(t, h.call(target{2, "a.example"}, func() error { return nil }), "so has another client")

		time.Sleep(breakerPause + time.Second)
		require.ErrorIs(t, h.call(target{1, "a.example"}, func() error { return errAbandoned }), errAbandoned)
		require.NoError(t, h.call(target{1, "a.example"}, func() error {
			require.ErrorIs(t, h.call(target{1, "a.example"}, fail), errBusy)
			return nil
		}), "an abandoned probe says nothing, so there is another")
		require.ErrorIs(t, h.call(target{1, "a.example"}, fail), errFailing, "the circuit is closed again")
	})
}

func TestHostsAreBounded(t *testing.T) {
	h := newHosts(3, 2)
	fail := func() error { return errFailing }
	for range breakerFailures {
		require.ErrorIs(t, h.call(target{1, "first.example"}, fail), errFailing)
	}
	for n := range 100 {
		require.ErrorIs(t, h.call(target{1, "first.example"}, fail), errOpen, "what is used stays")
		require.NoError(t, h.call(target{1, fmt.Sprintf("%d.example", n)}, func() error { return nil }))
		require.LessOrEqual(t, h.recent.Len(), 3)
	}
	var deep func(n int) error
	deep = func(n int) error {
		if n == 0 {
			return errors.New("the end")
		}
		return h.call(target{1, fmt.Sprintf("deep%d.example", n)}, func() error { return deep(n - 1) })
	}
	require.EqualError(t, deep(10), "the end", "hosts under way are kept, though they be more")
	require.LessOrEqual(t, h.recent.Len(), 3)
}

// TestRoomIsSharedInTheEnd: those who want all have the same once what they had is gone.
func TestRoomIsSharedInTheEnd(t *testing.T) {
	r := Room{Space: 1 << 20}
	has := map[int64]int64{1: 700_000}
	for range 200 {
		for client := range int64(10) {
			has[client+1] -= has[client+1] / 10 // is fetched, and gives way
			r.All = nil
			for c, bytes := range has {
				r.All = append(r.All, Taken{Client: c, Stage: Kept, Bytes: bytes})
			}
			has[client+1] += r.more(client + 1)
		}
	}
	for client, bytes := range has {
		require.InDelta(t, 3*(1<<20)/31, bytes, 10_000, "client %d", client)
	}
}

// TestSlotsAreShared: a client gets one more as long as it has fewer than are free, whatever it was told before.
func TestSlotsAreShared(t *testing.T) {
	p := newSlots(6)
	for _, step := range []struct {
		client int64
		enters bool
		free   int
	}{{1, true, 5}, {1, true, 4}, {1, true, 3}, {1, false, 3}, {2, true, 2}, {2, true, 1}, {2, false, 1}, {3, true, 0}, {4, false, 0}} {
		require.Equal(t, step.enters, p.enter(step.client), step)
		free, _ := p.left()
		require.Equal(t, step.free, free, step)
	}
	p.leave(3)
	free, full := p.left()
	require.Equal(t, 1, free)
	require.ElementsMatch(t, []int64{1, 2}, full)
}
