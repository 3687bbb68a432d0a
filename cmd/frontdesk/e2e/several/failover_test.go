package several

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// startFailover starts a desk that knows a primary and the standby that is to take
// its place, and which every commit waits for.
func startFailover(t *testing.T, clock *rig.Clock) (primary, standby *sqltest.Node, h *rig.Hooks, d *rig.Desk) {
	t.Helper()
	primary = sqltest.Primary(t)
	require.NoError(t, rig.SeedDatabase(primary.DSN("postgres"), rig.SampleOrders))
	standby = primary.Standby(t, "standby")
	primary.Configure(t, "synchronous_standby_names=*")
	await.True(t, func() bool {
		return primary.Ask(t, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
	h, options := rig.NewHooks(t, nil)
	options.DSN = fmt.Sprintf("postgres://frontdesk@%s,%s/postgres?sslmode=disable&target_session_attrs=read-write", primary.Address(), standby.Address())
	options.Bound, options.Now = rig.Circuit(0, 20*time.Millisecond), clock.Now
	return primary, standby, h, rig.Start(t, options)
}

// failover are writers that do not give up before each of their contacts is there.
type failover struct {
	*rig.Desk
	token    string
	ends     chan struct{}
	answered atomic.Int64
	failed   atomic.Int64

	mu    sync.Mutex
	names map[string]bool // of contacts that were answered
}

func (f *failover) write(writer int) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("failover-%d-%d", writer, n)
		for {
			select {
			case <-f.ends:
				return
			default:
			}
			a, err := f.Try("POST", "/contact", f.token, fmt.Sprintf(`{"kind":"person","name":%q}`, name), "Idempotency-Key", name)
			if err == nil && a.Status == 201 {
				break
			}
			if err == nil && a.Status != 500 && a.Status != 409 {
				f.T.Errorf("%d: %s", a.Status, a.Body)
				return
			}
			f.failed.Add(1)
		}
		f.mu.Lock()
		f.names[name] = true
		f.mu.Unlock()
		f.answered.Add(1)
	}
}

// reaches waits until so many more contacts were answered.
func (f *failover) reaches(more int64) {
	f.T.Helper()
	from := f.answered.Load()
	await.True(f.T, func() bool { return f.answered.Load() >= from+more })
}

// TestFailover: the primary crashes while clients write and callbacks are under
// way, and its standby takes its place. The gateway goes on by itself, nothing that
// was answered is lost, and nothing is there twice.
func TestFailover(t *testing.T) {
	t.Parallel()
	var clock rig.Clock
	primary, standby, h, d := startFailover(t, &clock)
	f := &failover{Desk: d, token: d.Login(rig.HookedKey, "demo"), ends: make(chan struct{}), names: map[string]bool{}}
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() { f.write(n) })
	}
	defer writers.Wait()
	stop := sync.OnceFunc(func() { close(f.ends) })
	defer stop()
	f.reaches(50)
	promised := map[string]bool{}
	for range 5 {
		promised[d.Call("POST", "/backup/owner", f.token, h.Body()).Promise(t)] = true
	}
	primary.Stop()
	standby.Ask(t, "SELECT pg_promote()")
	f.reaches(50)
	stop()
	writers.Wait()
	t.Logf("%d contacts answered, %d requests failed meanwhile", len(f.names), f.failed.Load())
	require.Equal(t, 200, d.AskOps("/readyz").Status)
	there := must.JSON[[]string](t, standby.Ask(t, "SELECT json_agg(name) FROM contact WHERE name LIKE 'failover-%'"))
	slices.Sort(there)
	require.Len(t, slices.Compact(slices.Clone(there)), len(there), "there twice")
	for _, name := range there {
		delete(f.names, name)
	}
	require.Empty(t, f.names, "answered, and lost")
	clock.Pass(desk.WorkLease + desk.CallLease) // whose work was under way is taken up when its lease has ended
	for len(promised) > 0 {
		delete(promised, h.Next(t))
	}
}

// TestPrimaryIsDemoted: a server that takes no writes any more costs no request.
func TestPrimaryIsDemoted(t *testing.T) {
	t.Parallel()
	primary, standby, _, d := startFailover(t, new(rig.Clock))
	token := d.Login(rig.FullKey, "demo")
	d.Create(token, "contact", rig.NewContact)
	standby.Ask(t, "SELECT pg_promote()")
	primary.Configure(t, "synchronous_standby_names=", "default_transaction_read_only=on") // nobody is left to wait for
	id := 0
	await.True(t, func() bool { // each of them is answered with 201
		id = d.Create(token, "contact", rig.NewContact)
		return standby.Ask(t, fmt.Sprint("SELECT count(*) FROM contact WHERE id = ", id)) == "1"
	})
	require.Equal(t, 200, d.Call("GET", fmt.Sprint("/contact/", id), token, "").Status)
}

// TestParametersOfPostgres: those that docs/scale.md tells of do what it says. Its two parts run
// side by side, and each waits for a time-out of ten seconds, which nothing else is to meet.
func TestParametersOfPostgres(t *testing.T) {
	t.Parallel()
	t.Run("connect_timeout", func(t *testing.T) {
		t.Parallel()
		address, connected := silentOnce(t)
		d := rig.Start(t, rig.Options{DSN: strings.Replace(rig.Engines[1].DSN(t), "@", "@"+address+",", 1) + "&connect_timeout=10&pool_max_conns=7"})
		<-connected
		require.Contains(t, d.OpsText("/metrics"), "\nfrontdesk_backend_pool_limit 7\n")
		require.Equal(t, 200, d.Call("GET", "/contact/1", d.Login(rig.FullKey, "demo"), "").Status)
	})
	t.Run("statement_timeout", func(t *testing.T) {
		t.Parallel()
		dsn := rig.Engines[1].DSN(t)
		d := rig.Start(t, rig.Options{DSN: dsn + "&statement_timeout=10s&lock_timeout=0"})
		token := d.Login(rig.FullKey, "demo")
		release := rig.Lock(t, dsn, "LOCK TABLE contact")
		a := d.Gets(500, "GET", "/contact/1", token, "")
		require.Equal(t, "backend_unavailable", a.Failure(t).Reason)
		d.Told("canceling statement due to statement timeout")
		release()
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	})
}

// silentOnce is the address of a server that takes one connection, says nothing to it, and
// refuses all others from then on. Connected is closed once it has come.
func silentOnce(t *testing.T) (address string, connected chan struct{}) {
	t.Helper()
	silent := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	connected = make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := silent.Accept()
		_ = silent.Close()
		if err != nil {
			return
		}
		close(connected)
		_, _ = io.Copy(io.Discard, conn) // until who connected has had enough
		_ = conn.Close()
	}()
	t.Cleanup(func() {
		_ = silent.Close()
		<-ended
	})
	return silent.Addr().String(), connected
}
