package several

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
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
	req, err := http.NewRequest("GET", "http://"+k.Ops+"/?span=24h&"+query, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json")
	resp, err := k.HTTP.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&of))
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
	met := func(k *rig.Kept) {
		t.Helper()
		held := func() bool { return k.Timers.Held(desk.GatherEvery) == 1 }
		require.Eventually(t, held, rig.Patience, time.Millisecond)
		k.Timers.Pass(desk.GatherEvery)
		require.Eventually(t, held, rig.Patience, time.Millisecond)
	}
	for i, k := range []*rig.Kept{one, other} {
		for range 3 + 4*i {
			k.Call("GET", "/nowhere", "", "")
		}
	}
	met(other)
	met(one)
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
	require.Len(t, sum.Past.Marks, 2, "of both starts")
	for _, busy := range sum.Past.Busiest {
		if busy.Kind == "reason" {
			require.Equal(t, 3+8, busy.Rows[0].Requests)
		}
	}

	var ofOne struct{ Gateways []desk.GatewayRow }
	one.OpsJSON("/history?reason=endpoint_unknown&span=24h&gateways=all", &ofOne)
	require.Len(t, ofOne.Gateways, 2)
	for i, requests := range []uint32{3, 8} {
		require.Equal(t, [2]uint32{requests, requests}, [2]uint32{ofOne.Gateways[i].Requests, ofOne.Gateways[i].Refused})
	}
	require.Contains(t, one.OpsText("/history?reason=endpoint_unknown&gateways=all"), "The charts, and what follows, are of this gateway.")

	s.redis.Kill()
	sum, requests = firstPage(t, one, "gateways=all")
	require.Contains(t, sum.Past.Fault, "store of sessions does not answer")
	require.Equal(t, 3, requests)
	met(one)
	require.Eventually(t, func() bool {
		return strings.Contains(one.Log.String(), "the other gateways cannot be told what this one does")
	}, rig.Patience, time.Millisecond)

	memory := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), s.text("sessions: {store: ", "# sessions: {store: "), true)
	sum, _ = firstPage(t, memory, "gateways=all")
	require.Contains(t, sum.Past.Fault, "there is one gateway only")
}
