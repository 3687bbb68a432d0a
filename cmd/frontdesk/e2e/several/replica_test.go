package several

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
)

// replicated is a desk whose lists are answered by a standby.
type replicated struct {
	*rig.Desk
	primary, standby *sqltest.Node
	token            string
}

func startReplicated(t *testing.T, wait time.Duration) *replicated {
	t.Helper()
	r := &replicated{primary: sqltest.Primary(t)}
	require.NoError(t, rig.SeedDatabase(r.primary.DSN("postgres"), rig.SampleOrders))
	r.standby = r.primary.Standby(t, "standby")
	r.Desk = rig.Start(t, rig.Options{
		DSN:     r.primary.DSN("postgres"),
		Backend: fmt.Sprintf(`, replica: %q, replica_wait: %s, circuit: {pause: 20ms}`, r.standby.DSN("postgres"), wait),
	})
	r.token = r.Login(rig.FullKey, "demo")
	return r
}

// list returns the total of a list of contacts, and asks for it in both ways.
func (r *replicated) list() int {
	r.T.Helper()
	one := r.Call("GET", "/contact?page_size=1000", r.token, "")
	require.Equal(r.T, 200, one.Status)
	other := r.Call("GET", "/contact?total=1", r.token, "")
	require.Equal(r.T, 200, other.Status)
	var records struct{ Data []json.RawMessage }
	var total struct{ Total int }
	require.NoError(r.T, json.Unmarshal(one.Body, &records))
	require.NoError(r.T, json.Unmarshal(other.Body, &total))
	require.Len(r.T, records.Data, total.Total)
	return total.Total
}

// since returns the contacts that were changed since a moment, and until when it tells.
func (r *replicated) since(moment string) (ids []int, until string) {
	r.T.Helper()
	a := r.Call("GET", "/contact?fields=id&page_size=1000&modified_since="+moment, r.token, "")
	require.Equal(r.T, 200, a.Status, "%s", a.Body)
	var page rig.Page
	require.NoError(r.T, json.Unmarshal(a.Body, &page))
	require.NotEmpty(r.T, page.Until)
	return rig.Ids(page), page.Until
}

// lists is how many lists had an outcome.
func (r *replicated) lists(outcome string) int {
	r.T.Helper()
	n, err := strconv.Atoi(r.metric(`frontdesk_backend_replica_lists_total{outcome="` + outcome + `"}`))
	require.NoError(r.T, err)
	return n
}

// metric is the value of a series.
func (r *replicated) metric(series string) string {
	r.T.Helper()
	for line := range strings.Lines(r.OpsText("/metrics")) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	r.T.Fatalf("there is no %s", series)
	return ""
}

// use waits until the standby answers lists, or no longer does.
func (r *replicated) use(used bool) {
	r.T.Helper()
	require.Eventually(r.T, func() bool {
		r.list()
		return r.metric("frontdesk_backend_replica_used") == map[bool]string{true: "1", false: "0"}[used]
	}, rig.Patience, 5*time.Millisecond)
}

// TestReplica: lists come from the standby, and are never older than what was
// answered before.
func TestReplica(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, time.Second)
	require.Contains(t, r.OpsText("/"), "Replica for lists")
	before, until := r.list(), "2999-01-01"
	for n := range 20 {
		_, until = r.since(until)
		id := r.Create(r.token, "contact", rig.NewContact)
		require.Equal(t, before+n+1, r.list())
		changed, _ := r.since(until)
		require.Contains(t, changed, id)
	}
	require.Positive(t, r.lists("replica"))
	if r.lists("away") > 0 { // for a moment, where a look of a second was too short for the machine
		for line := range strings.Lines(r.Log.String()) {
			require.False(t, strings.Contains(line, "the replica is not used") && !strings.Contains(line, "deadline exceeded") && !strings.Contains(line, "timeout"), line)
		}
	}
	require.Equal(t, "0", r.metric("frontdesk_backend_until_lag_seconds"), "no write is under way")
}

// TestReplicaLags: what was written is listed at once, by the primary, from which
// all else comes anyway.
func TestReplicaLags(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 10*time.Millisecond)
	before := r.list()
	r.standby.Ask(t, "SELECT pg_wal_replay_pause()")
	id := r.Create(r.token, "contact", rig.NewContact)
	require.Equal(t, 200, r.Call("GET", fmt.Sprint("/contact/", id), r.token, "").Status)
	answered := r.lists("replica")
	require.Eventually(t, func() bool { // but where a look of a second was too short for the machine
		behind, away := r.lists("behind"), r.lists("away") // a busy standby may have been behind before
		require.Equal(t, before+1, r.list())
		require.Equal(t, answered, r.lists("replica"))
		require.Equal(t, 200, r.AskOps("/readyz").Status)
		ready := r.OpsText("/readyz")
		if r.lists("away") > away {
			return false
		}
		require.Equal(t, behind+2, r.lists("behind"))
		require.NotContains(t, ready, `"status":"degraded"`)
		return true
	}, rig.Patience, time.Millisecond)
	r.standby.Ask(t, "SELECT pg_wal_replay_resume()")
	require.Eventually(t, func() bool {
		require.Equal(t, before+1, r.list())
		return r.lists("replica") > answered
	}, rig.Patience, 5*time.Millisecond)
}

// TestReplicaGoesAndComes: nobody but the operators notices.
func TestReplicaGoesAndComes(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, 10*time.Millisecond)
	before := r.list()
	r.standby.Stop()
	require.Equal(t, before, r.list())
	r.Create(r.token, "contact", rig.NewContact)
	require.Equal(t, before+1, r.list())
	r.use(false)
	ready := r.AskOps("/readyz")
	require.Equal(t, 200, ready.Status, "it serves as well as ever")
	require.Contains(t, string(ready.Body), `"replica":"unavailable"`)
	require.Contains(t, string(ready.Body), "the replica is not used, and the primary answers all lists; the log says why")
	r.Told("the replica is not used: the primary answers all lists")

	r.standby.Restart(t)
	r.use(true)
	require.Equal(t, before+1, r.list())
	r.Told("the replica answers lists again")

	r.standby.Ask(t, "SELECT pg_promote()")
	r.use(false)
	r.Create(r.token, "contact", rig.NewContact)
	require.Equal(t, before+2, r.list())
	r.Told("it is no standby: it takes writes of its own")
}

// TestReplicaIsAwayAtFirst: the gateway starts without it.
func TestReplicaIsAwayAtFirst(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[1].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn, Backend: fmt.Sprintf(`, replica: "postgres://frontdesk:hush@%s/frontdesk"`, rig.FreeAddress(t))})
	require.Equal(t, 200, d.Call("GET", "/contact", d.Login(rig.FullKey, "demo"), "").Status)
	require.Contains(t, d.OpsText("/readyz"), `"replica":"unavailable"`)
	require.NotContains(t, d.Log.String(), "hush")
}
