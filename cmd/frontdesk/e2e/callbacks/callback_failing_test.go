package callbacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/webhooktest"
)

// TestCallbacksByReceiver: one receiver fails and another takes its callback. Who looks finds
// the one by receiver, error and age, in the metrics, and after a while on the page, until it
// takes the callback; /readyz is ok all the while.
func TestCallbacksByReceiver(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		var mended atomic.Bool
		authority := webhooktest.NewAuthority(t)
		broken := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !mended.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		sound := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		var clock rig.Clock
		d := rig.Start(t, rig.Options{DSN: dsn, Now: clock.Now, Extra: fmt.Sprintf("webhooks: {allow_hosts: [\"127.0.0.1\"], ports: [443, %d, %d], ca_file: %q}\n",
			webhooktest.Port(t, broken), webhooktest.Port(t, sound), authority.File(t))})
		ask := func(user, to string) (id string) {
			t.Helper()
			return d.Call("POST", "/backup/owner", d.Login(rig.FullKey, user), fmt.Sprintf(`{"webhook_url":%q}`, to+"/hook?secret=Kanarie")).Promise(t)
		}
		failing, fine := ask("demo", broken.URL), ask("other", sound.URL)
		reaches(t, dsn, fine, webhook.CalledBack)
		await.True(t, func() bool { _, tries := storedJob(t, dsn, failing); return len(tries) > 0 })

		list := func(flags ...string) (jobs []string) {
			t.Helper()
			code, out, problems := d.Run(append([]string{"callbacks", "list"}, flags...)...)
			require.Zero(t, code, problems)
			require.NotContains(t, out, "Kanarie")
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "ID ") {
					jobs = append(jobs, strings.TrimSpace(line))
				}
			}
			return jobs
		}
		host := func(address string) string {
			return must.Have(url.Parse(address))(t).Host
		}
		of := func(id string) string { return `^` + id + ` ` }
		require.Len(t, list(), 2)
		shown := list("--failing")
		require.Len(t, shown, 1)
		require.Regexp(t, of(failing)+` *done +backup +Demo Garage +full +`+host(broken.URL)+` +\d+[sm] +not taken: status 500, \d calls?, next \S+ \S+ \S+ +-$`, shown[0])
		require.Regexp(t, of(fine)+` +called_back .* taken +-$`, list("--state", "called_back")[0], "no error")
		for _, c := range []struct {
			flags []string
			want  []string
		}{
			{[]string{"--client", "Demo Garage"}, []string{failing}},
			{[]string{"--client", "Nobody"}, nil},
			{[]string{"--host", host(sound.URL)}, []string{fine}},
			{[]string{"--receiver", "127.0.0.1", "--failing"}, []string{failing}},
			{[]string{"--host", "127.0.0"}, nil},
			{[]string{"--error", "status 500"}, []string{failing}},
			{[]string{"--error", "timeout"}, nil},
			{[]string{"--key", "full", "--state", "called_back"}, []string{fine}},
			{[]string{"--key", "orders"}, nil},
			{[]string{"--older", "1h"}, nil},
			{[]string{"--older", "1ms", "--failing"}, []string{failing}},
			{[]string{"--state", "exhausted"}, nil},
			{[]string{"--limit", "1"}, []string{fine}},
		} {
			found := list(c.flags...)
			require.Len(t, found, len(c.want), "%v", c.flags)
			for i, id := range c.want {
				require.Regexp(t, of(id), found[i], "%v", c.flags)
			}
		}

		var page, filtered, job pageOfCallbacks
		d.OpsJSON("/callbacks", &page)
		require.Len(t, page.Jobs, 2)
		require.Len(t, page.Receivers, 2)
		worst := page.Receivers[0]
		require.Equal(t, host(broken.URL), worst.Host)
		require.Equal(t, 1, worst.Failing)
		require.Equal(t, map[webhook.State]int{webhook.Done: 1}, worst.States)
		require.True(t, worst.NextTry.After(clock.Now().Add(-time.Minute)))
		d.OpsJSON("/callbacks?failing=yes&error=status+500&receiver="+host(broken.URL), &filtered)
		require.Len(t, filtered.Jobs, 1)
		require.Equal(t, "status 500", filtered.Jobs[0].Error)
		d.OpsJSON("/callbacks/"+failing, &job)
		require.NotEmpty(t, job.Calls)
		require.Equal(t, "status 500", job.Calls[0].Error)
		require.Len(t, job.Ahead, webhook.Tries()-len(job.Calls))
		shownPage := d.OpsText("/callbacks") + d.OpsText("/callbacks/"+failing)
		require.Contains(t, shownPage, "frontdesk callbacks replay "+failing+" --config FILE")
		require.NotContains(t, shownPage, "Kanarie")
		require.Equal(t, http.StatusForbidden, d.AskOps("/callbacks/"+failing, "X-Forwarded-For", "192.0.2.7").Status)

		report := func() (r desk.StatusReport) {
			t.Helper()
			require.NoError(t, json.Unmarshal([]byte(d.OpsText("/status.json")), &r))
			return r
		}
		metrics := d.OpsText("/metrics")
		require.Regexp(t, `(?m)^frontdesk_callback_calls_total\{outcome="status"\} [1-9]`, metrics)
		require.Contains(t, metrics, `frontdesk_callback_calls_total{outcome="delivered"} 1`+"\n")
		require.Contains(t, metrics, `frontdesk_callback_calls_total{outcome="circuit open"} 0`+"\n")
		clock.Pass(11 * time.Second) // numbers are counted every ten
		require.Contains(t, d.OpsText("/metrics"), "frontdesk_callbacks_failing 1\n")
		require.Equal(t, "All works.", report().Verdict, "receivers may fail once")

		tried := func(times int) {
			t.Helper()
			await.True(t, func() bool { _, tries := storedJob(t, dsn, failing); return len(tries) == times })
		}
		tried(2) // which was due after 5 s
		clock.Pass(10 * time.Minute)
		tried(3)
		clock.Pass(11 * time.Second)
		r := report()
		require.Equal(t, desk.HealthOK, r.Health.Status, "an upgrade waits for it, and a client names receivers")
		require.Empty(t, r.Health.Reasons)
		require.Equal(t, 1, r.Callbacks.Failing)
		require.Regexp(t, `^It works\. Look at this: callbacks of 1 job\(s\) were tried in vain, the first since \S+Z, most of them those of client Demo Garage: frontdesk callbacks list --failing\.$`, r.Verdict)
		require.Regexp(t, `"look_at":\["callbacks of 1 job`, d.OpsText("/readyz"))
		require.NotContains(t, d.OpsText("/")+d.OpsText("/readyz"), host(broken.URL), "clients name receivers")

		mended.Store(true)
		require.Equal(t, []string{failing}, list("--failing", "--host", host(broken.URL), "--ids"))
		code, out, problems := d.Run("callbacks", "replay", failing)
		require.Zero(t, code, problems)
		require.Contains(t, out, "job "+failing+" is due again")
		reaches(t, dsn, failing, webhook.CalledBack)
		clock.Pass(11 * time.Second)
		require.Equal(t, "All works.", report().Verdict)
		require.Empty(t, list("--failing"))
	})
}
