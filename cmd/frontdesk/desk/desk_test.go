package desk

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// TestDrivers holds what a configuration can name to the drivers that there are.
func TestDrivers(t *testing.T) {
	named, _ := reflect.TypeFor[config.Backend]().FieldByName("Driver")
	require.ElementsMatch(t, strictyaml.Constraints(named.Tag.Get("schema"))[0].Words(), slices.Collect(maps.Keys(drivers())))
	for name, d := range drivers() {
		require.Equal(t, config.Backend{Driver: name}.BySheet(), d.judge != nil, "%s: a mapping sheet, and what judges it", name)
	}
}

// TestCertificateEndsSoon: two weeks ahead, and later of those that live for days: they are renewed
// often, and all is well until they ought to have been.
func TestCertificateEndsSoon(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		life, left time.Duration
		want       bool
	}{{365 * day, 15 * day, false}, {365 * day, 14 * day, true}, {90 * day, 22 * day, false}, {45 * day, 12 * day, false}, {45 * day, 11 * day, true}, {6 * day, 2 * day, false}, {6 * day, day, true}} {
		leaf := &x509.Certificate{NotBefore: now.Add(c.left - c.life), NotAfter: now.Add(c.left)}
		require.Equal(t, c.want, CertificateEndsSoon(leaf, now), "%v of %v left", c.left, c.life)
	}
}

// TestSpareRoomIsWhole: of spare room that a crash left unfinished, or that was taken in
// part, the rest is made again, and what is there is left alone.
func TestSpareRoomIsWhole(t *testing.T) {
	s := reserveOf(t.TempDir() + "/records.db")
	require.NoError(t, os.WriteFile(string(s), []byte("begun"), 0o600))
	require.NoError(t, s.keep())
	first := must.Have(os.ReadFile(string(s)))(t)
	require.Len(t, first, reserveSize)
	require.NoError(t, s.keep())
	again := must.Have(os.ReadFile(string(s)))(t)
	require.Equal(t, first, again)

	require.True(t, s.release())
	require.NoError(t, s.keep())
	again = must.Have(os.ReadFile(string(s)))(t)
	require.Len(t, again, reserveSize)
	require.Equal(t, first[:reserveSize-reservePart], again[:reserveSize-reservePart])
	for range reserveSize / reservePart {
		require.True(t, s.release())
	}
	require.NoFileExists(t, string(s))
	require.False(t, s.release())
}

// TestReloadSurvivesAFault of the program itself, here for want of a loader.
func TestReloadSurvivesAFault(t *testing.T) {
	c := config.Default()
	h := &Desk{
		basis:  &basis{now: time.Now, log: zap.NewNop()},
		config: c, started: c, live: new(atomic.Pointer[snapshot]), past: &past{Instrument: instrument.New(time.Now)},
	}
	h.live.Store(&snapshot{config: c})
	k := &reloader{desk: h}
	k.reload(bySignal)
	state := h.reloads.state()
	require.EqualValues(t, 1, state.failures)
	require.ErrorContains(t, state.fault, "a fault of the program")
}

// TestStampOverGo: what deploy/build says of a tree stands over what Go recorded, which
// stands where the program was built otherwise.
func TestStampOverGo(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "426e"}, {Key: "vcs.time", Value: "2026-11-23T06:40:54Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for built, want := range map[string]BuildFacts{
		"":                                    {Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty", Commit: "426e", Time: "2026-11-23T06:40:54Z", Modified: true},
		"v2.0.0 abcd 2026-12-01T00:00:00Z":    {Version: "v2.0.0", Commit: "abcd", Time: "2026-12-01T00:00:00Z"},
		"v2.0.0-dirty abcd 2026-12-01T00:00Z": {Version: "v2.0.0-dirty", Commit: "abcd", Time: "2026-12-01T00:00Z", Modified: true},
	} {
		var facts BuildFacts
		facts.record(info)
		facts.stamp(built)
		require.Equal(t, want, facts, built)
	}
	facts := BuildFacts{Version: "dev"}
	facts.record(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}})
	require.Equal(t, BuildFacts{Version: "dev"}, facts)
	facts.stamp("v0.0.0-unknown")
	require.Equal(t, BuildFacts{Version: "v0.0.0-unknown"}, facts)
}

// TestUnavailableStays: what is wrong besides does not have requests sent to who cannot serve
// them. Before, /readyz said 200 where the administration was away and the store of sessions took
// no writes.
func TestUnavailableStays(t *testing.T) {
	now := Health{Status: HealthOK}
	now.refuses(healthUnavailable, "the administration does not answer")
	now.degraded("the store of sessions takes no writes: %s", "it is full")
	require.Equal(t, healthUnavailable, now.Status)
	require.Equal(t, []string{"the administration does not answer", "the store of sessions takes no writes: it is full"}, now.Reasons)
}

// TestQueuesThatFill: a queue is told of once it was full for half a minute, and until it was
// not for a minute, so that /readyz does not change with each burst.
func TestQueuesThatFill(t *testing.T) {
	used := 0
	one := &queue{full: halfFull, load: func() (int, int) { return used, 10 }, words: func(worst, most, now int) string { return fmt.Sprint(worst, " of ", most, ", now ", now) }}
	all := &queues{all: []*queue{one}}
	after := func(is, looks int) []string {
		used = is
		for range looks {
			all.look()
		}
		now := Health{Status: HealthOK}
		all.judge(&now)
		require.Equal(t, now.Status != HealthOK, len(now.Reasons) > 0)
		return now.Reasons
	}
	require.Empty(t, after(4, 20), "less than half")
	require.Empty(t, after(10, 4), "a burst")
	require.Empty(t, after(0, 1))
	require.Empty(t, after(5, 4), "another: they do not add up")
	require.Equal(t, []string{"5 of 10, now 5"}, after(5, 1))
	require.Equal(t, []string{"5 of 10, now 4"}, after(4, 9), "what it was, and is now")
	require.Equal(t, []string{"9 of 10, now 9"}, after(9, 1))
	require.Equal(t, []string{"9 of 10, now 0"}, after(0, 9))
	require.Empty(t, after(0, 1))
	require.Empty(t, after(10, 4))
	require.Empty(t, after(0, 1))
	require.Equal(t, []string{"6 of 10, now 6"}, after(6, 5), "what was before is over")

	require.True(t, allTaken(4, 4))
	require.False(t, allTaken(3, 4), "half of a pool is taken by day")
	require.False(t, allTaken(0, 0), "a pool that tells no limit")
	require.False(t, halfFull(0, 0), "nobody may wait")
}

// TestReceiversOfOneClient: what one client's receivers do is told, and is no reason to call the
// gateway degraded, for as long as other clients' callbacks are made.
func TestReceiversOfOneClient(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	of := func(client int64, jobs int, ago time.Duration) webhook.OfClient {
		return webhook.OfClient{Client: client, Jobs: jobs, Since: now.Add(-ago), Job: string(rune('A' + client))}
	}
	name := func(job string) string { return "of " + job }
	for _, row := range []struct {
		name            string
		pending         webhook.Pending
		reasons, lookAt []string
	}{
		{name: "nothing"},
		{name: "for a while", pending: webhook.Pending{Due: []webhook.OfClient{of(1, 9, 5*time.Minute-1), of(2, 9, time.Second)}, Failing: []webhook.OfClient{of(1, 9, 10*time.Minute-1)}}},
		{
			name:    "receivers that fail",
			pending: webhook.Pending{Failing: []webhook.OfClient{of(3, 9, time.Minute), of(2, 8, 10*time.Minute), of(1, 1, time.Hour)}},
			lookAt:  []string{"callbacks of 9 job(s) were tried in vain, the first since 2026-11-02T11:00:00Z, most of them those of client of C: frontdesk callbacks list --failing"},
		},
		{
			name:    "one client's pile up, and others' are called at once",
			pending: webhook.Pending{Due: []webhook.OfClient{of(1, 500, time.Hour), of(2, 3, 2*time.Second)}},
			lookAt:  []string{"callbacks of client of B alone are due faster than they are made: 500 are, the oldest since 2026-11-02T11:00:00Z"},
		},
		{
			name:    "those of several do",
			pending: webhook.Pending{Due: []webhook.OfClient{of(1, 500, time.Hour), of(2, 3, 5*time.Minute)}},
			reasons: []string{"callbacks of 2 clients are due faster than they are made: 503 are, the oldest since 2026-11-02T11:00:00Z"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			reasons, lookAt := overdue(row.pending, now, name)
			require.Equal(t, row.reasons, reasons)
			require.Equal(t, row.lookAt, lookAt)
		})
	}
}

// The name that a listener is opened by is its own, also where it is the machine's.
func TestOwnHost(t *testing.T) {
	app := fiber.New()
	app.Use(newProbes(config.Ops{Listen: "Gateway1:9090"}, nil).ownHost)
	for host, want := range map[string]int{"gateway1": 404, "gateway1:80": 404, "GATEWAY1.": 404, "gateway2": 421, "gateway1.example": 421} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		answer := must.Have(app.Test(r))(t)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, host)
	}
}

// A panic is answered and logged, and says nothing of itself to who asked.
func TestOpsPanic(t *testing.T) {
	core, logged := observer.New(zap.ErrorLevel)
	s := newOpsServer(nil, time.Minute, zap.New(core))
	s.Get("/", func(*fiber.Ctx) error { panic("a secret") })
	answer := must.Have(s.Test(httptest.NewRequest("GET", "/", nil), -1))(t)
	defer answer.Body.Close()
	body := must.Have(io.ReadAll(answer.Body))(t)
	require.Equal(t, http.StatusInternalServerError, answer.StatusCode)
	require.NotContains(t, string(body), "secret")
	require.Equal(t, 1, logged.FilterField(zap.Any("cause", "a secret")).Len())
}

// A connection that has not asked when the server stops is closed once it does: what it would be
// answered has ended.
func TestOpsLate(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newOpsServer(at, time.Minute, zap.NewNop())
	s.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.serve() })
	ask := func(c net.Conn) error {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	late, err := net.Dial("tcp", at.Addr().String())
	require.NoError(t, err)
	defer late.Close()
	early, err := net.Dial("tcp", at.Addr().String()) // accepted after the other
	require.NoError(t, err)
	defer early.Close()
	require.NoError(t, ask(early))
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	s.stop(stopped)
	serving.Wait()
	require.Error(t, ask(late))
}

// TestNotices: what stands out is said once it is enough, of whom it is, and no more than a few.
// What the night brings about, TestNight has.
func TestNotices(t *testing.T) {
	at := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)
	h := instrument.New(func() time.Time { return at })
	texts := func() (all []string) {
		of := func(name string) *instrument.View {
			v := instrument.NewView(instrument.Spans[name], at)
			minutes, steps := h.Steps(v.At)
			v.Add(minutes)
			v.Add(steps)
			return v
		}
		for _, n := range notices(&gathered{View: of(noticeSpan), Refusals: h.Refusals()}, of("24h"), at) {
			all = append(all, n.Text)
		}
		return all
	}
	note := func(times int, a gateway.Answer) {
		a.At, a.Method, a.Took = at, "GET", max(a.Took, time.Millisecond)
		for range times {
			h.Answered(a)
		}
	}
	for range 70 { // an hour and more as usual
		note(20, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 200})
		note(30, gateway.Answer{Key: "planner", Endpoint: "/order", Status: 200})
		for range 6 {
			at = at.Add(instrument.Short)
			h.Take(instrument.Levels{})
		}
	}
	note(2, gateway.Answer{Key: "webshop", Endpoint: "/authenticate", Status: 401, Reason: "credentials_invalid", Cause: "wrong_password"})
	note(9, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 401, Reason: "token_invalid", Cause: "expired"})
	note(9, gateway.Answer{Endpoint: "/order", Status: 401, Reason: "token_invalid", Cause: "none"})
	note(9, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 404, Reason: "record_not_found"})
	require.Empty(t, texts(), "that is usual")

	note(1, gateway.Answer{Key: "webshop", Endpoint: "/authenticate", Status: 401, Reason: "credentials_invalid", Cause: "wrong_password", Address: "192.0.2.7"})
	require.Equal(t, []string{"3 logins of the key webshop were refused: wrong_password, the first now, the last now from 2 addresses"}, texts())
	at = at.Add(noticed + instrument.Short)
	h.Take(instrument.Levels{})
	require.Empty(t, texts(), "it is over")

	note(3000, gateway.Answer{Key: "webshop", Endpoint: "/vehicle", Status: 200})
	require.Equal(t, []string{"The key webshop makes 3000 of 3000 requests, 300 a minute; it makes 20 usually"}, texts())
	note(9, gateway.Answer{Key: "planner", Endpoint: "/authenticate", Status: 200, Took: 4 * time.Second, Backend: 60 * time.Millisecond})
	require.Len(t, texts(), 1, "a login is delayed after failed ones")
	note(2, gateway.Answer{Key: "planner", Client: "Garage", Endpoint: "/order", Status: 500, Reason: "backend_timeout", Took: 3 * time.Second, Backend: time.Second})
	note(1, gateway.Answer{Key: "planner", Client: "Autos", Endpoint: "/order", Status: 500, Reason: "backend_timeout", Took: 3 * time.Second, Backend: time.Second})
	require.Equal(t, "3 requests of 2 clients failed: backend_timeout, the first now, the last now at GET /order", texts()[0])
	require.Equal(t, "GET /order took up to 3.08 s (p95), the backend only 33 % of it", texts()[2])
	note(90, gateway.Answer{Key: "planner", Endpoint: "/authenticate", Status: 200, Took: 4 * time.Second, Backend: 4 * time.Second})
	require.Equal(t, "GET /authenticate took up to 4 s (p95), the backend nearly all of it; so did 1 more", texts()[2])
	for i := range 10 {
		note(3, gateway.Answer{Status: 500, Endpoint: "/order", Reason: fmt.Sprint("reason", i)})
	}
	require.Len(t, texts(), noticesMost+2)
}
