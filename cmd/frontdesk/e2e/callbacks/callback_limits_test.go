package callbacks

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// TestSlowAnswersAreCounted has the administration take its time.
func TestSlowAnswersAreCounted(t *testing.T) {
	t.Parallel()
	var f rig.Faults
	rig.InBubble(t, rig.Options{Wrap: f.Wrap}, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		for n, takes := range []time.Duration{0, 400 * time.Millisecond, 600 * time.Millisecond} {
			f.Set(func(context.Context) error { time.Sleep(takes); return nil })
			require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status)
			metrics := d.OpsText("/metrics")
			const series = `frontdesk_request_duration_seconds_%s{endpoint="/contact",method="POST",status="201"%s} %d`
			require.Contains(t, metrics, fmt.Sprintf(series, "count", "", n+1))
			require.Contains(t, metrics, fmt.Sprintf(series, "bucket", `,le="0.5"`, min(n+1, 2)))
		}
	})
}
