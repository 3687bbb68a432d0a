package gateway

import (
	"context"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
)

// noted is a connection that notes until when its writes may take.
type noted struct {
	net.Conn
	deadlines []time.Time
}

func (n *noted) SetWriteDeadline(t time.Time) error {
	n.deadlines = append(n.deadlines, t)
	return n.Conn.SetWriteDeadline(t)
}

// TestDownloadDeadlines: each piece of a download that was taken gives the next one its
// time, but none beyond the address, and nothing else has any time but its own.
func TestDownloadDeadlines(t *testing.T) { synctest.Test(t, downloadDeadlines) }

func downloadDeadlines(t *testing.T) {
	client, accepted := net.Pipe()
	defer client.Close()
	defer accepted.Close()
	go io.Copy(io.Discard, client)
	at := &noted{Conn: accepted}
	s := &Server{o: ServerOptions{WriteTimeout: time.Minute}}
	c := &conn{Conn: at, server: s}
	d := (&Exchange{conn: c}).download(strings.NewReader("several pieces"), nil).(*download)
	require.Equal(t, time.Now().Add(downloadTimeout), d.until)
	piece := func() error {
		_, err := d.Read(make([]byte, 1))
		require.NoError(t, err)
		_, err = c.Write([]byte("piece"))
		return err
	}
	last := func() time.Time { return at.deadlines[len(at.deadlines)-1] }
	require.NoError(t, piece())
	require.Equal(t, time.Now().Add(time.Minute+latest), last())
	s.o.WriteTimeout = 10 * time.Minute
	require.NoError(t, piece())
	require.Equal(t, time.Now().Add(10*time.Minute+latest), last())
	time.Sleep(downloadTimeout - time.Second)
	require.NoError(t, piece())
	require.Equal(t, d.until.Add(latest), last())
	time.Sleep(time.Second + latest + time.Nanosecond)
	require.ErrorContains(t, piece(), "timeout")
	c.sent()
	must.Have(c.Write([]byte("another answer")))(t)
	require.Equal(t, time.Now().Add(10*time.Minute+latest), last())
	require.Len(t, at.deadlines, 4)
}

type failing struct {
	net.Listener
	with error
}

func (f failing) Accept() (net.Conn, error) { return nil, f.with }

// What ends the listener of fasthttp is only what ends ours.
func TestPatientAccepts(t *testing.T) {
	for cause, want := range map[error]error{
		syscall.EMFILE: os.ErrDeadlineExceeded, syscall.ENFILE: os.ErrDeadlineExceeded, syscall.EINVAL: syscall.EINVAL, net.ErrClosed: net.ErrClosed,
	} {
		l := Patient(failing{with: &net.OpError{Op: "accept", Err: os.NewSyscallError("accept", cause)}}, zap.NewNop(), "connections")
		require.ErrorIs(t, must.Fail(l.Accept()), want)
	}
}

// TestBodyMemoryShares: a client alone gets half, the next half of the rest, and there is always
// something left for one that has nothing. What a client was given beyond its share is counted
// for it, and only that makes it wait with writes.
func TestBodyMemoryShares(t *testing.T) {
	m := newBodyMemory(64)
	for _, step := range []struct {
		client int64
		take   int // given back, if it is below 0
		ok     bool
	}{
		{1, 16, true}, {1, 16, true}, {1, 16, false}, {1, 1, false}, // half of it is enough
		{2, 16, true}, {2, 1, false}, {3, 8, true}, {4, 4, true}, {1, -16, true}, {2, 1, true},
		{1, -16, true}, {2, -16, true}, {2, -1, true}, {3, -8, true}, {4, -4, true},
	} {
		if step.take < 0 {
			m.give(step.client, -step.take)
			continue
		}
		require.Equal(t, step.ok, m.takeNow(step.client, step.take), "%v", step)
	}
	require.Empty(t, m.taken)
	taken, waiting := m.load()
	require.Equal(t, [2]int{}, [2]int{taken, waiting})

	require.True(t, m.takeNow(1, 32))
	require.False(t, m.over(1))
	m.force(1, 40)
	require.Equal(t, [2]bool{true, false}, [2]bool{m.over(1), m.over(2)})
	require.False(t, m.takeNow(2, 1), "there is none left")
	m.give(1, 40)
	require.False(t, m.over(1))
	require.True(t, m.takeNow(2, 16))
}

// TestBodyMemoryWaits: room goes to those that wait, those that came first in
// front, and not to those who gave up, or whose patience ended.
func TestBodyMemoryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBodyMemory(64)
		ok := make([]bool, 5)
		wait := func(n int) (giveUp context.CancelFunc) {
			ctx, giveUp := context.WithCancel(t.Context())
			go func() { _, ok[n] = m.take(ctx, 1, 32, time.Hour) }()
			synctest.Wait()
			return giveUp
		}
		wait(0)
		wait(1)()
		for n := 2; n < 5; n++ {
			wait(n)
		}
		_, waiting := m.load()
		require.Equal(t, 3, waiting)
		for n := 2; n < 4; n++ {
			m.give(1, 32)
			synctest.Wait()
			require.Equal(t, []bool{true, false, n >= 2, n >= 3, false}, ok)
		}
		time.Sleep(time.Hour - time.Nanosecond)
		_, waiting = m.load()
		require.Equal(t, 1, waiting)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		_, waiting = m.load()
		require.Zero(t, waiting, "patience ends")
		require.False(t, ok[4])
	})
}

// TestBodyMemoryKeepsOrder: a small body of a client, for which there is room, does not overtake its
// large one that waits.
func TestBodyMemoryKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, ok := newBodyMemory(64), make([]bool, 3)
		for n, size := range []int{16, 32, 8} {
			go func() { _, ok[n] = m.take(t.Context(), 1, size, time.Hour) }()
			synctest.Wait()
		}
		require.Equal(t, []bool{true, false, false}, ok)
		require.False(t, m.takeNow(1, 8), "nor does what does not wait")
		m.give(1, 16)
		synctest.Wait()
		require.Equal(t, []bool{true, true, false}, ok)
		m.give(1, 32)
		synctest.Wait()
		require.Equal(t, []bool{true, true, true}, ok)
	})
}

// TestBodyMemoryReleases: what was given back is released once.
func TestBodyMemoryReleases(t *testing.T) {
	m := newBodyMemory(64 << 20)
	_, ok := m.take(context.Background(), 1, worthReleasing, 0)
	require.True(t, ok)
	require.Empty(t, m.spent)
	m.give(1, worthReleasing)
	<-m.spent
	m.give(1, 0)
	require.Empty(t, m.spent)
}

func TestRateLimitHeaders(t *testing.T) {
	rooms := func(b auth.Bound, r auth.Room) (s auth.Standing) {
		s.Rooms[b] = r
		return s
	}
	all := rooms(auth.RateBound, auth.Room{Left: 99, More: 20 * time.Millisecond})
	all.Rooms[auth.ConcurrentBound] = auth.Room{Left: 3}
	all.Rooms[auth.DayBound] = auth.Room{Left: 9999, More: time.Hour + 1}
	for _, c := range []struct {
		bounds           auth.Bounds
		standing         auth.Standing
		policy, standsAt string
	}{
		{
			auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}}, rooms(auth.RateBound, auth.Room{Left: 0, More: 1}),
			`"rate";q=100;w=2`, `"rate";r=0;t=1`,
		},
		{
			auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}, Concurrent: 4, PerDay: 10000}, all,
			`"rate";q=100;w=2, "per_day";q=10000;w=86400, "concurrent";q=4;qu="concurrent-requests"`,
			`"rate";r=99;t=1, "per_day";r=9999;t=3601, "concurrent";r=3`,
		},
		{
			auth.Bounds{Concurrent: 1}, auth.Standing{},
			`"concurrent";q=1;qu="concurrent-requests"`, `"concurrent";r=0`,
		},
		{ // what a structured field cannot hold
			auth.Bounds{Rate: auth.Rate{PerSecond: math.SmallestNonzeroFloat64, Burst: 1}, PerDay: math.MaxInt64}, rooms(auth.DayBound, auth.Room{Left: math.MaxInt64}),
			`"rate";q=1;w=999999999999999, "per_day";q=999999999999999;w=86400`, `"rate";r=0, "per_day";r=999999999999999`,
		},
	} {
		require.Equal(t, c.policy, string(appendPolicy(nil, &c.bounds)))
		require.Equal(t, c.standsAt, string(appendStanding(nil, &c.bounds, &c.standing)))
	}
}

func TestTellLimitsDoesNotAllocate(t *testing.T) {
	var resp fasthttp.Response
	key := &auth.Key{Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 50, Burst: 100}, PerDay: 1000, Concurrent: 4}}
	x := &Exchange{response: &resp, Key: key, counted: true}
	x.setRateLimits()
	require.Contains(t, resp.Header.String(), "\r\nRateLimit: \"rate\";r=0, \"per_day\";r=0, \"concurrent\";r=0\r\n")
	require.Contains(t, resp.Header.String(), "\r\nRateLimit-Policy: \"rate\"")
	require.Zero(t, testing.AllocsPerRun(100, x.setRateLimits))

	x = &Exchange{response: new(fasthttp.Response), Key: new(auth.Key)}
	x.setRateLimits()
	require.NotContains(t, x.response.Header.String(), "RateLimit")
}

func TestRetryAfterRoundsUp(t *testing.T) {
	for wait, want := range map[time.Duration]string{1: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Minute: "5400"} {
		require.Equal(t, want, retryAfter(wait))
	}
}
