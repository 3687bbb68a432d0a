package several

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// soakClients is how many clients work at once, and soakCalm how many answers they get between two
// disturbances at least.
const (
	soakClients = 6
	soakCalm    = 150
)

const doomedKey = "66666666-6666-4666-8666-666666666666"

// soak is a service of three gateways behind a load balancer, and what happened
// to it.
type soak struct {
	*ledger
	t         *testing.T
	balanced  string // base URL
	operators string // HAProxy's page
	instances []*instance
	redis     *redistest.Redis
	cuts      []*cutter // on the way to PostgreSQL and to Redis
	random    *rand.Rand
	agreed    int // how often one gateway went on with what another one began
}

// TestForeignSoakSeveral kills, stops, restarts and cuts off every part of a service of
// three gateways while clients work with it, and holds it to all it answered.
func TestForeignSoakSeveral(t *testing.T) {
	rounds := 1
	if sqltest.Soak() {
		rounds = 20
	}
	s := startSoak(t, "")
	stop := s.work()
	for round := range rounds {
		for n, d := range s.disturbances() {
			s.calm()
			if round == rounds/2 && n == 3 {
				s.revoke()
			}
			at, before := time.Now(), s.answers()
			d.happen()
			t.Logf("%s: %.1f s, %d answers since", d.name, time.Since(at).Seconds(), s.answers()-before)
		}
	}
	s.calm()
	stop()
	if !sqltest.Soak() {
		s.endLeases()
	}
	s.judge()
}

// calm waits until the clients have had some answers.
func (s *soak) calm() {
	s.t.Helper()
	from := s.answers()
	await.True(s.t, func() bool { return s.answers() >= from+soakCalm })
}

// work has clients work with the service until they are stopped.
func (s *soak) work() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	for n := range soakClients {
		c := &soakClient{soak: s, Desk: rig.Desk{T: s.t, Base: s.balanced}, number: n, key: rig.FullKey, random: rand.New(rand.NewPCG(s.random.Uint64(), uint64(n)))}
		if n == 0 {
			c.key = doomedKey
		}
		working.Go(func() { c.work(ctx) })
	}
	return func() {
		cancel()
		working.Wait()
	}
}

// startSoak starts the parts, with a cutter between the gateways, which run that
// program, and what they share.
func startSoak(t *testing.T, program string) *soak {
	t.Helper()
	seed := sqltest.Seed(t)
	s := &soak{
		t: t, random: rand.New(rand.NewPCG(seed, seed)), redis: redistest.Start(t),
		ledger: &ledger{heard: map[string]bool{}, promised: map[string]string{}, contacts: map[string]bool{}, orders: map[string]bool{}},
	}
	dsn := must.Have(url.Parse(rig.Engines[1].DSN(t)))(t)
	s.database = dsn.String()
	toPostgres, toRedis := startCutter(t, dsn.Host), startCutter(t, fmt.Sprintf("127.0.0.1:%d", s.redis.Port()))
	s.cuts = []*cutter{toPostgres, toRedis}
	dsn.Host = toPostgres.Addr().String()
	authority := webhooktest.NewAuthority(t)
	receiver := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.locked(func() { s.heard[r.URL.Query().Get("id")] = true })
	}))
	s.receiver = receiver.URL + "/hook"
	for range 3 {
		i := newInstance(t)
		i.program = program
		i.text = fmt.Sprintf(soakConfig, i.listen, i.Ops, dsn, toRedis.Addr(), webhooktest.Port(t, receiver), authority.File(t), i.dir,
			sha256.Sum256([]byte(rig.FullKey)))
		i.write(i.text + rig.KeyConfig("doomed", doomedKey, "    allow: [\"* /*\"]\n"))
		i.start()
		s.instances = append(s.instances, i)
	}
	address, operators := startHAProxy(t, s.instances)
	s.balanced, s.operators = "http://"+address+"/webservice_v2", operators
	s.recovered()
	return s
}

const soakConfig = `
server: {listen: "%s", vendor: Example, drain_delay: 3s, trusted_proxies: ["127.0.0.1"]}
ops: {listen: "%s"}
log: {level: warn, access: false}
backend: {dsn: "%s", timeout: 30s}
sessions: {store: "redis://%s"}
webhooks: {allow_hosts: ["127.0.0.1"], ports: [%d], ca_file: %q}
callbacks: ["POST /order"]
mail: {folder: %q}
api_keys:
  - name: full
    key_sha256: ["%x"]
    allow: ["* /*"]
`

// disturbance is something that happens to a part; it is over when it returns.
type disturbance struct {
	name   string
	happen func()
}

func (s *soak) disturbances() []disturbance {
	one := func() *instance { return s.instances[s.random.IntN(len(s.instances))] }
	away := func() { <-time.After(time.Second) } // so long that somebody notices
	return []disturbance{
		{"kill -9 of a gateway", s.outage(func() {
			i := one()
			i.Kill()
			away()
			i.start()
		})},
		{"connections to PostgreSQL cut", s.outage(s.cuts[0].cut)},
		{"a gateway stopped and started", func() { // nobody is to notice
			i := one()
			i.stop()
			i.start()
			s.recovered()
		}},
		{"Redis killed and restarted, empty", s.outage(func() {
			s.redis.Kill()
			away()
			s.locked(func() { s.emptied++ })
			s.redis.Restart()
		})},
		{"connections to Redis cut", s.outage(s.cuts[1].cut)},
		{"PostgreSQL stopped at once and restarted", s.outage(func() {
			restart := sqltest.StopPostgres(s.t)
			away()
			restart()
		})},
	}
}

// outage has clients be failed, perhaps, until every gateway answers again, and the load balancer has seen it.
func (s *soak) outage(happen func()) func() {
	return func() {
		s.locked(func() { s.outages++ })
		happen()
		s.recovered()
		<-time.After(balancerSees)
		s.locked(func() { s.outages++ })
	}
}

// recovered returns when every gateway serves everything that the clients use, and HAProxy
// sends them there.
func (s *soak) recovered() {
	s.t.Helper()
	for _, i := range s.instances {
		await.True(s.t, i.serves, "a gateway did not come back:\n%s", i.Log)
	}
	await.True(s.t, func() bool { return balances(s.operators) }, "HAProxy does not see all gateways")
}

// revoke takes an api_key out of every gateway's configuration. Once each tells
// that it has read it, no token of that key is good for anything.
func (s *soak) revoke() {
	s.t.Helper()
	for _, i := range s.instances {
		before := i.configHash()
		i.write(i.text)
		require.NoError(s.t, i.Process.Process.Signal(syscall.SIGHUP))
		await.True(s.t, func() bool { h := i.configHash(); return h != "" && h != before })
	}
	s.locked(func() { s.revoked = true })
}

// endLeases has the leases end of what was not called about yet: work that was cut
// off waits for them, which is sat out in the long form. What is under way at the
// moment is taken over as well.
func (s *soak) endLeases() {
	s.t.Helper()
	rig.OnJobs(s.t, s.database, func(jobs *jobstore.Store) {
		for _, id := range s.unheard() {
			_, err := jobs.Change(s.t.Context(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
				if !j.Lease.IsZero() {
					j.Lease = time.Now().Add(-time.Second)
				}
				return j, nil, nil
			})
			require.NoError(s.t, err)
		}
	})
}

// unheard are the jobs that nobody called about.
func (l *ledger) unheard() (ids []string) {
	l.locked(func() {
		for id := range l.promised {
			if !l.heard[id] {
				ids = append(ids, id)
			}
		}
	})
	return ids
}

// judge compares what is there with what was answered.
func (s *soak) judge() {
	t := s.t
	t.Helper()
	await.True(t, func() bool { return len(s.unheard()) == 0 }, "promises without a call")
	conn := rig.Beside(t, s.database)
	count := func(sql string) map[string]int {
		found := map[string]int{}
		rows := must.Have(conn.Query(t.Context(), sql))(t)
		var name string
		var n int
		must.Have(pgx.ForEachRow(rows, []any{&name, &n}, func() error { found[name] = n; return nil }))(t)
		return found
	}
	contacts := count(`SELECT name, count(*) FROM contact WHERE name LIKE 'soak-%' GROUP BY name`)
	orders := count(`SELECT reference, count(*) FROM "order" WHERE reference LIKE 'soak-%' GROUP BY reference`)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, answered := range s.contacts {
		require.LessOrEqual(t, contacts[name], 1, "%s is there twice", name)
		require.True(t, !answered || contacts[name] == 1, "%s was answered and is gone", name)
	}
	for id, reference := range s.promised {
		if orders[reference] != 1 {
			var job string
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT document FROM callback_job WHERE id = $1`, id).Scan(&job))
			t.Errorf("%s was promised, and there are %d: %s", reference, orders[reference], job)
		}
	}
	for reference := range s.orders {
		require.LessOrEqual(t, orders[reference], 1, "%s was done twice", reference)
	}
	require.Empty(t, s.wrongs)
	require.NotEmpty(t, s.promised)
	t.Logf("%d answers, %d requests failed; %d records, %d promises, %d ended tokens", s.answered, s.faults, len(s.contacts), len(s.promised), len(s.ended))
}

// loggedOf are the lines that the gateways wrote of the request that an answer names.
func (s *soak) loggedOf(answer []byte) string {
	id := regexp.MustCompile(`"request_id":"[^"]+"`).Find(answer)
	var lines strings.Builder
	for _, i := range s.instances {
		for line := range strings.Lines(i.Log.String()) {
			if id != nil && strings.Contains(line, string(id)) {
				lines.WriteString(line)
			}
		}
	}
	return lines.String()
}

// cutter passes connections on to a server, and can break all of them off.
type cutter struct {
	net.Listener
	to   string
	mu   sync.Mutex
	open map[net.Conn]bool
}

func startCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &cutter{Listener: l, to: to, open: map[net.Conn]bool{}}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			passing.Go(func() { c.pass(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.cut()
		passing.Wait()
	})
	return c
}

func (c *cutter) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer to.Close()
	c.note(true, from, to)
	defer c.note(false, from, to)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	_, _ = io.Copy(to, from)
	_ = to.Close()
	back.Wait()
}

func (c *cutter) note(open bool, conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if delete(c.open, conn); open {
			c.open[conn] = true
		}
	}
}

// cut resets every connection there is.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}
