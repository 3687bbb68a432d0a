package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// replicated is a desk whose lists are answered by a standby.
type replicated struct {
	*desk
	primary, standby *sqltest.Node
	token            string
}

func startReplicated(t *testing.T, wait time.Duration) *replicated {
	t.Helper()
	r := &replicated{primary: sqltest.Primary(t)}
	require.NoError(t, seedDatabase(r.primary.DSN("postgres"), sampleOrders))
	r.standby = r.primary.Standby(t, "standby")
	r.desk = startDesk(t, deskOptions{
		dsn:     r.primary.DSN("postgres"),
		backend: fmt.Sprintf(`, replica: %q, replica_wait: %s, circuit: {pause: 20ms}`, r.standby.DSN("postgres"), wait),
	})
	r.token = r.login(fullKey, "demo")
	return r
}

// list returns the total of a list of contacts, and asks for it in both ways.
func (r *replicated) list() int {
	r.t.Helper()
	one := r.call("GET", "/contact?page_size=1000", r.token, "")
	require.Equal(r.t, 200, one.Status)
	other := r.call("GET", "/contact?total=1", r.token, "")
	require.Equal(r.t, 200, other.Status)
	var records struct{ Data []json.RawMessage }
	var total struct{ Total int }
	require.NoError(r.t, json.Unmarshal(one.Body, &records))
	require.NoError(r.t, json.Unmarshal(other.Body, &total))
	require.Len(r.t, records.Data, total.Total)
	return total.Total
}

// lists is how many lists had an outcome.
func (r *replicated) lists(outcome string) int {
	r.t.Helper()
	n, err := strconv.Atoi(r.metric(`frontdesk_backend_replica_lists_total{outcome="` + outcome + `"}`))
	require.NoError(r.t, err)
	return n
}

// metric is the value of a series.
func (r *replicated) metric(series string) string {
	r.t.Helper()
	for line := range strings.Lines(r.opsText("/metrics")) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	r.t.Fatalf("there is no %s", series)
	return ""
}

// use waits until the standby answers lists, or no longer does.
func (r *replicated) use(used bool) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		r.list()
		return r.metric("frontdesk_backend_replica_used") == map[bool]string{true: "1", false: "0"}[used]
	}, patience, 5*time.Millisecond)
}

// told waits until the log, which is written now and then, tells something.
func (d *desk) told(text string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool { return strings.Contains(d.log.String(), text) }, patience, 5*time.Millisecond)
}

// TestReplica: lists come from the standby, and are never older than what was
// answered before.
func TestReplica(t *testing.T) {
	r := startReplicated(t, time.Second)
	require.Contains(t, r.opsText("/"), "Replica for lists")
	before := r.list()
	for n := range 20 {
		r.create(r.token, "contact", newContact)
		require.Equal(t, before+n+1, r.list())
	}
	require.Positive(t, r.lists("replica"))
	require.Zero(t, r.lists("away"))
}

// TestReplicaLags: what was written is listed at once, by the primary, from which
// all else comes anyway.
func TestReplicaLags(t *testing.T) {
	r := startReplicated(t, 10*time.Millisecond)
	before := r.list()
	r.standby.Ask(t, "SELECT pg_wal_replay_pause()")
	id := r.create(r.token, "contact", newContact)
	require.Equal(t, 200, r.call("GET", fmt.Sprint("/contact/", id), r.token, "").Status)
	answered := r.lists("replica")
	require.Equal(t, before+1, r.list())
	require.Equal(t, answered, r.lists("replica"))
	require.Equal(t, 2, r.lists("behind"))
	require.Equal(t, 200, r.askOps("/readyz").Status)
	require.NotContains(t, r.opsText("/readyz"), `"status":"degraded"`)
	r.standby.Ask(t, "SELECT pg_wal_replay_resume()")
	require.Eventually(t, func() bool {
		require.Equal(t, before+1, r.list())
		return r.lists("replica") > answered
	}, patience, 5*time.Millisecond)
}

// TestReplicaGoesAndComes: nobody but the operators notices.
func TestReplicaGoesAndComes(t *testing.T) {
	r := startReplicated(t, 10*time.Millisecond)
	before := r.list()
	r.standby.Stop()
	require.Equal(t, before, r.list())
	r.create(r.token, "contact", newContact)
	require.Equal(t, before+1, r.list())
	r.use(false)
	ready := r.askOps("/readyz")
	require.Equal(t, 200, ready.Status, "it serves as well as ever")
	require.Contains(t, string(ready.Body), `"replica":"unavailable"`)
	require.Contains(t, string(ready.Body), "the replica is not used, and the primary answers all lists; the log says why")
	r.told("the replica is not used: the primary answers all lists")

	r.standby.Restart(t)
	r.use(true)
	require.Equal(t, before+1, r.list())
	r.told("the replica answers lists again")

	r.standby.Ask(t, "SELECT pg_promote()")
	r.use(false)
	r.create(r.token, "contact", newContact)
	require.Equal(t, before+2, r.list())
	r.told("it is no standby: it takes writes of its own")
}

// TestReplicaIsAwayAtFirst: the gateway starts without it.
func TestReplicaIsAwayAtFirst(t *testing.T) {
	dsn := engines[1].dsn(t)
	d := startDesk(t, deskOptions{dsn: dsn, backend: fmt.Sprintf(`, replica: "postgres://frontdesk:hush@%s/frontdesk"`, freeAddress(t))})
	require.Equal(t, 200, d.call("GET", "/contact", d.login(fullKey, "demo"), "").Status)
	require.Contains(t, d.opsText("/readyz"), `"replica":"unavailable"`)
	require.NotContains(t, d.log.String(), "hush")
}
