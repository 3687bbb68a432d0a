package several

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// gatheredJSON is what a test reads of the first page.
type gatheredJSON struct {
	Past struct {
		Points   []struct{ Requests, Refused int }
		Gateways []desk.GatewayRow
		There    int `json:"gateways_there"`
		Fault    string
		Busiest  []struct {
			Kind string
			Rows []struct {
				Name     string
				Requests int
			}
		}
		Marks []struct{ Text string }
	}
}

func firstPage(t *testing.T, k *rig.Kept, query string) (of gatheredJSON, requests int) {
	t.Helper()
	k.OpsJSON("/?span=24h&"+query, &of)
	for _, p := range of.Past.Points {
		requests += p.Requests
	}
	return of, requests
}

// TestSumOfGateways: each of several gateways shows the sum of them all, also of one that has
// ended; and says so where the store of sessions is away.
func TestSumOfGateways(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one, other := s.start(), s.start()
	for i, k := range []*rig.Kept{one, other} {
		for range 3 + 4*i {
			k.Call("GET", "/nowhere", "", "")
		}
	}
	other.Round(desk.GatherEvery)
	one.Round(desk.GatherEvery)
	alone, requests := firstPage(t, one, "")
	require.Equal(t, 3, requests)
	require.Equal(t, 2, alone.Past.There)
	require.Empty(t, alone.Past.Gateways)
	sum, requests := firstPage(t, one, "gateways=all")
	require.Equal(t, 3+7, requests)
	require.Len(t, sum.Past.Gateways, 2)
	require.True(t, sum.Past.Gateways[0].Here)
	require.Equal(t, uint32(7), sum.Past.Gateways[1].Requests)
	for _, g := range sum.Past.Gateways { // host and address may be the same
		require.Regexp(t, `^\S* \S+ [A-Z2-7]{6}$`, g.Name)
	}
	_, requests = firstPage(t, other, "gateways=all")
	require.Equal(t, 3+7, requests)

	other.Call("GET", "/nowhere", "", "")
	other.Shutdown() // it tells the last of it
	sum, requests = firstPage(t, one, "gateways=all")
	require.Equal(t, 3+8, requests)
	started := func(m struct{ Text string }) bool { return strings.Contains(m.Text, " started") }
	require.Len(t, slices.DeleteFunc(sum.Past.Marks, func(m struct{ Text string }) bool { return !started(m) }), 2, "of both starts; of the stop, once it is past")
	for _, busy := range sum.Past.Busiest {
		if busy.Kind == "reason" {
			require.Equal(t, 3+8, busy.Rows[0].Requests)
		}
	}

	var ofOne struct {
		Gateways []desk.GatewayRow
		Points   []struct{ Requests int }
	}
	one.OpsJSON("/history?reason=endpoint_unknown&span=24h&gateways=all", &ofOne)
	require.Len(t, ofOne.Gateways, 2)
	for i, requests := range []uint32{3, 8} {
		require.Equal(t, [2]uint32{requests, requests}, [2]uint32{ofOne.Gateways[i].Requests, ofOne.Gateways[i].Refused})
	}
	require.Equal(t, 3+8, func() (sum int) {
		for _, p := range ofOne.Points {
			sum += p.Requests
		}
		return sum
	}(), "the charts too are of all")
	require.True(t, sum.Past.Gateways[1].Stopped)
	require.False(t, sum.Past.Gateways[1].Silent)

	s.redis.Kill()
	sum, requests = firstPage(t, one, "gateways=all")
	require.Contains(t, sum.Past.Fault, "store of sessions does not answer")
	require.Equal(t, 3, requests)
	one.Round(desk.GatherEvery)
	await.True(t, func() bool {
		return strings.Contains(one.Log.String(), "the other gateways cannot be told what this one does")
	})

	memory := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), s.text("sessions: {store: ", "# sessions: {store: "), true)
	sum, _ = firstPage(t, memory, "gateways=all")
	require.Contains(t, sum.Past.Fault, "there is one gateway only")
}

// TestRefusalsOfAllGateways: who is refused a little at each gateway stands out, and is found at any of
// them by what a customer can tell.
func TestRefusalsOfAllGateways(t *testing.T) {
	t.Parallel()
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: redistest.Start(t)}
	one, other := s.start(), s.start()
	one.Call("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "", "X-Request-Id", "told-by-the-customer")
	token := one.Login(rig.FullKey, "demo")
	require.Equal(t, 404, one.Call("GET", "/order/4711", token, "").Status)
	for range 2 {
		other.Call("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "")
	}
	for _, k := range []*rig.Kept{one, other, other} { // nothing is told twice
		k.Round(desk.GatherEvery)
	}
	type list struct {
		Refusals []instrument.Refusal
		Notices  []desk.Notice `json:"stands_out"`
	}
	search := func(k *rig.Kept, text string) []instrument.Refusal {
		t.Helper()
		var found list
		k.OpsJSON("/refusals?search="+url.QueryEscape(text), &found)
		return found.Refusals
	}
	for _, k := range []*rig.Kept{one, other} {
		require.Len(t, search(k, ""), 4)
		require.Len(t, search(k, "wrong_password"), 3)
		require.Equal(t, "wrong_password", search(k, "told-by-the")[0].Cause)
		require.Equal(t, int32(4711), search(k, "get /order/4711")[0].Record)
		require.Len(t, search(k, "Demo Garage"), 4)
		require.Empty(t, search(k, "nowhere"))
		var page list
		k.OpsJSON("/", &page)
		require.Contains(t, page.Notices[0].Text, "3 logins of Demo Garage with the key full were refused: wrong_password")
	}
	require.Len(t, slices.DeleteFunc(search(one, ""), func(r instrument.Refusal) bool { return r.Gateway == "" }), 2, "those of the other one")
}

// TestSilentGateway: of a gateway that was killed the others say so, and since when.
func TestSilentGateway(t *testing.T) {
	server := redistest.Start(t)
	client := must.Have(redis.Open(redis.Options{URL: server.URL()}))(t)
	defer client.Close()
	gone := time.Now().Add(-time.Minute)
	gathering := redis.NewGathering(client)
	require.NoError(t, gathering.Report(t.Context(), "web2 10.0.0.2:8080 ABCDEF", gone, redis.Report{}))
	s := &service{t: t, dsn: rig.Engines[1].DSN(t), redis: server}
	k := s.start()
	var page struct {
		Verdict string
		Notices []desk.Notice `json:"stands_out"`
	}
	k.OpsJSON("/", &page)
	require.Equal(t, "The gateway web2 10.0.0.2:8080 ABCDEF was heard last 1 minute ago, and did not stop", page.Notices[0].Text)
	require.NotContains(t, page.Verdict, "All works")
	require.Contains(t, k.OpsText("/?gateways=all"), `<span class="bad">silent since 1 minute ago</span>`)
	require.NoError(t, gathering.Report(t.Context(), "web2 10.0.0.2:8080 GHIJKL", time.Now(), redis.Report{}))
	page.Notices = nil
	k.OpsJSON("/", &page)
	require.Empty(t, page.Notices, "another one has taken its place")
}
