package callbacks

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/play"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// refuses plays a section of testdata/refused.txt.
func refuses(d *rig.Desk, h *rig.Hooks, section, id string) {
	d.T.Helper()
	const most = webhook.AddressLength
	play.Part(d, "testdata/refused.txt", section, map[string]string{
		"hooked": rig.HookedKey, "backup": rig.BackupKey, "hook": h.Address(), "in_query": url.QueryEscape(h.Address()), "id": id,
		"most": strconv.Itoa(most), "longer": strconv.Itoa(most + len("https://example.com/")),
	})
}

// TestCallbackAddresses: a job is promised to nobody whose address cannot be called; TestParseCallbackRefuses has
// all kinds of them.
func TestCallbackAddresses(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		options.Extra += "callbacks: [\"GET /order\", \"POST /order\", \"DELETE /order\"]\n"
		d := rig.Start(t, options)
		refuses(d, h, "addresses", "")
		rig.OnJobs(t, dsn, func(s *jobstore.Store) {
			require.Empty(t, must.Have(s.List(t.Context(), webhook.Filter{}))(t), "nothing was promised")
		})
	})
}

// TestCallbackLongRunning marks direct endpoints as long-running.
func TestCallbackLongRunning(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		plain := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
		want := plain.Call("GET", "/order?page_size=5&fields=id,number", plain.Login(rig.FullKey, "demo"), "")
		options.Extra += "callbacks: [\"GET /order\", \"POST /order\", \"PUT /order\"]\n"
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		result := func(a rig.Answer, status int) rig.Answer {
			t.Helper()
			id := a.Promise(t)
			require.Equal(t, id, h.Next(t))
			return d.Answered(token, id, status)
		}
		in := "&webhook_url=" + url.QueryEscape(h.Address())
		got := result(d.Call("GET", "/order?page_size=5&fields=id,number"+in, token, ""), 200)
		require.Equal(t, string(want.Body), string(got.Body), "the direct answer, byte for byte")

		contact := d.Create(token, "contact", rig.NewContact)
		order := func(reference string) string {
			return fmt.Sprintf(rig.NewOrder, contact, fmt.Sprintf(`,"reference":%q,"webhook_url":%q`, reference, h.Address()))
		}
		created := result(d.Call("POST", "/order", token, order("once")), 201)
		require.Equal(t, "once", created.Data(t)["reference"])
		one := fmt.Sprintf("/order/%d", created.ID(t))
		got = result(d.Call("GET", "/order?reference=once&fields=id"+in, token, ""), 200)
		require.Equal(t, 1, strings.Count(string(got.Body), `{"id":`), "%s", got.Body)

		// What the backend refuses is a result like any other.
		got = result(d.Call("POST", "/order", token, fmt.Sprintf(rig.NewOrder, 999999, fmt.Sprintf(`,"webhook_url":%q`, h.Address()))), 404)
		require.Equal(t, "Field: contact_id value: 999999 ID not found", got.Failure(t).Message)
		result(d.Call("GET", "/order/999999?"+in[1:], token, ""), 404)
		change := fmt.Sprintf(`{"reference":"changed","webhook_url":%q}`, h.Address())
		result(d.Call("PUT", one, token, change, "If-Match", `"another"`), 412)
		result(d.Call("PUT", one, token, change), 200)

		refuses(d, h, "long", "")
		require.Empty(t, h.Calls)
	})
}

// TestCallbackAllowlist keeps an api_key to what it may: the two endpoints are
// granted one by one, the download needs nothing but its address.
func TestCallbackAllowlist(t *testing.T) {
	t.Parallel()
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[0].DSN(t)
	d := rig.Start(t, options)
	refuses(d, h, "allowlist", "")
	backups := d.Login(rig.BackupKey, "demo")
	id := d.Call("POST", "/backup/owner", backups, h.Body()).Promise(t)
	d.Call("GET", "/webhook?id="+id, backups, "").Refused(t, 400, "Invalid endpoint: /webhook", "not granted")
	r := <-h.Calls
	require.Empty(t, r.Header.Get("webhook-signature"), "the api_key has no secret")
	require.Equal(t, id, r.Header.Get("webhook-id"))
	require.Equal(t, 200, d.Download(d.Collect(d.Login(rig.FullKey, "demo"), id)).Status)
}

func TestCallbackCommands(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		fail := true
		h, options := rig.NewHooks(t, func(w http.ResponseWriter, _ *http.Request) {
			if fail {
				fail = false
				w.WriteHeader(http.StatusGone)
			}
		})
		options.DSN = dsn
		d := rig.Start(t, options)
		callbacks := func(args ...string) (int, string, string) { return d.Run(append([]string{"callbacks"}, args...)...) }
		token := d.Login(rig.HookedKey, "demo")
		id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
		require.Equal(t, id, h.Next(t))
		reaches(t, dsn, id, webhook.CalledBack)

		code, out, problems := callbacks("list")
		require.Zero(t, code, problems)
		require.Regexp(t, `(?m)^`+id+` +called_back +backup .* hooked .* wants no more: status 410 +-$`, out)
		code, _, _ = callbacks("list", "--state", "nonsense")
		require.Equal(t, 2, code)

		code, out, problems = callbacks("show", id)
		require.Zero(t, code, problems)
		require.Regexp(t, `(?m)^state +called_back$`, out)
		require.Regexp(t, `(?m)^receiver +127\.0\.0\.1:\d+$`, out)
		require.NotContains(t, out, "%2F1", "what may be secret in an address")
		require.Regexp(t, `(?m)^result +backup-\d{8}-\d{6}\.zip, \d+ bytes, sha256 [0-9a-f]{64}$`, out)
		require.Regexp(t, `(?m)^1 +\S+ \S+ \S+ +410 `, out)

		for range 2 { // also one that was collected
			code, out, problems = callbacks("replay", id)
			require.Zero(t, code, problems)
			require.Contains(t, out, "job "+id+" is due again")
			require.Equal(t, id, h.Next(t))
			reaches(t, dsn, id, webhook.CalledBack)
			d.Collect(token, id)
		}
		_, out, _ = callbacks("show", id)
		require.Len(t, regexp.MustCompile(`(?m)^1 +\S+ \S+ \S+ +(410|200) `).FindAllString(out, -1), 3, "a replay counts anew: %s", out)
		for _, command := range []string{"show", "replay"} {
			code, _, problems = callbacks(command, "none")
			require.Equal(t, 1, code)
			require.Regexp(t, `there is no job none in \S+; frontdesk callbacks list shows those there are`, problems)
		}
	})
}
