package callbacks

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestCallbackFullSpace fills what results may take, and a disk that is too small for it:
// what there is no room for is not promised, and nothing else suffers.
func TestCallbackFullSpace(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]struct {
		bound func(*desk.Bounds)
		mount bool
	}{
		"all their space": {func(b *desk.Bounds) { b.ResultSpace = 1 << 20 }, false},
		"a full disk":     {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			h, options := rig.NewHooks(t, nil)
			options.DSN = rig.Engines[0].DSN(t)
			if full.mount {
				options.TinyResults(t, "1m")
			}
			options.Bound = full.bound
			options.Extra += "callbacks: [\"GET /order\"]\n"
			d := rig.Start(t, options)
			token := d.Login(rig.HookedKey, "demo")
			ask := func(token string) rig.Answer {
				return d.Call("GET", "/order?page_size=1000&webhook_url="+url.QueryEscape(h.Address()), token, "")
			}
			kept := func(a rig.Answer) (id string) {
				id = a.Promise(t)
				require.Equal(t, id, h.Next(t))
				return id
			}
			first := kept(ask(token))
			whole := d.Download(d.Collect(token, first))
			all, a := 1, ask(token)
			for ; a.Status == 202; a = ask(token) {
				require.Equal(t, 200, d.Call("GET", "/webhook?id="+kept(a), token, "").Status, "what was promised is there")
				all++
				require.Less(t, all*len(whole.Body), 1<<20, "the room never ends")
			}
			a.Refused(t, 503, "Server is busy", "no room")
			require.Equal(t, "60", a.Header.Get("Retry-After"))
			require.Greater(t, all*len(whole.Body), 1<<19, "one client alone has most of it")
			ready := d.OpsText("/readyz")
			require.Contains(t, ready, "results of callbacks that were not fetched take")
			require.Contains(t, ready, "most of it those of client Demo Garage")
			require.Contains(t, d.OpsText("/"), "… most of the rest: Demo Garage")
			require.Contains(t, d.OpsText("/metrics"), fmt.Sprintf("frontdesk_callback_space_bytes{stage=\"kept\"} %d\n", all*len(whole.Body)))
			require.Contains(t, d.OpsText("/metrics"), `frontdesk_refusals_total{key="hooked",reason="space",status="503"} 1`)
			await.True(t, func() bool { return strings.Contains(d.Log.String(), "results take most of their space") })

			require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status, "the server goes on")
			require.Equal(t, whole.Body, d.Download(d.Collect(token, first)).Body)
			other := d.Login(rig.HookedKey, "other")
			d.Collect(other, kept(ask(other)))
		})
	}
}

// TestSlowAnswersAreCounted has writes wait for a lock that the test holds.
func TestSlowAnswersAreCounted(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status)
		slow := func() int {
			text, counts := d.OpsText("/metrics"), [2]int{}
			for i, series := range []string{`count{endpoint="/contact",method="POST",status="201"}`, `bucket{endpoint="/contact",method="POST",status="201",le="0.5"}`} {
				match := regexp.MustCompile(`(?m)^frontdesk_request_duration_seconds_` + regexp.QuoteMeta(series) + ` (\d+)$`).FindStringSubmatch(text)
				require.NotNil(t, match, text)
				_, err := fmt.Sscan(match[1], &counts[i])
				require.NoError(t, err)
			}
			return counts[0] - counts[1]
		}
		before := slow()
		// How long a request is on its way before it is timed is nobody's
		// business, so that the lock is held for longer until it was long enough.
		for held := 600 * time.Millisecond; slow() == before; held *= 2 {
			require.Less(t, held, 10*time.Second)
			release := lockWrites(t, dsn)
			done := make(chan int)
			go func() {
				a, _ := d.Try("POST", "/contact", token, rig.NewContact)
				done <- a.Status
			}()
			<-time.After(held)
			release()
			require.Equal(t, 201, <-done)
		}
	})
}

// lockWrites keeps contacts from being written until it is released.
func lockWrites(t *testing.T, dsn string) (release func()) {
	t.Helper()
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
		return func() { require.NoError(t, conn.Close()) }
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "BEGIN; LOCK TABLE contact IN EXCLUSIVE MODE")
	require.NoError(t, err)
	return func() { require.NoError(t, conn.Close(ctx)) }
}
