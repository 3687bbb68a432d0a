package several

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook/webhooktest"
)

// How long the soak lasts, and how long it is calm between two disturbances.
const (
	soakShort = 15 * time.Second // and each disturbance at least once
	soakLong  = 10 * time.Minute
	soakCalm  = 2 * time.Second
)

// soakClients is how many clients work at once. The short form leaves the machine to
// other tests: a client asks not more often than once in soakPace.
const (
	soakClients = 6
	soakPace    = 50 * time.Millisecond
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
	length := soakShort
	if sqltest.Soak() {
		length = soakLong
	}
	s := startSoak(t, "")
	stop := s.work()
	begun, revoked := time.Now(), false
	var summary bytes.Buffer
	table := tabwriter.NewWriter(&summary, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "after\tdisturbance\tlasted\tanswers since")
	disturbances := s.disturbances()
	for n := 0; n < len(disturbances) || time.Since(begun) < length; n++ {
		<-time.After(soakCalm)
		if !revoked && time.Since(begun) > length/2 {
			s.revoke()
			revoked = true
		}
		d := disturbances[n%len(disturbances)]
		at, before := time.Now(), s.answers()
		d.happen()
		fmt.Fprintf(table, "%.0f s\t%s\t%.1f s\t%d\n", at.Sub(begun).Seconds(), d.name, time.Since(at).Seconds(), s.answers()-before)
	}
	<-time.After(soakCalm)
	stop()
	if !sqltest.Soak() {
		s.endLeases()
	}
	s.judge(&summary)
	table.Flush()
	t.Logf("three gateways, %s\n%s", length, &summary)
}

// work has clients work with the service until they are stopped.
func (s *soak) work() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	for n := range soakClients {
		key := rig.FullKey
		if n == 0 {
			key = doomedKey
		}
		c := &soakClient{soak: s, number: n, key: key, random: rand.New(rand.NewPCG(s.random.Uint64(), uint64(n)))}
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
	seed := rand.Uint64()
	t.Logf("random seed %d", seed)
	s := &soak{
		t: t, random: rand.New(rand.NewPCG(seed, seed)), redis: redistest.Start(t),
		ledger: &ledger{heard: map[string]bool{}, promised: map[string]string{}, contacts: map[string]bool{}, orders: map[string]bool{}},
	}
	dsn, err := url.Parse(rig.Engines[1].DSN(t))
	require.NoError(t, err)
	s.database = dsn.String()
	toPostgres, toRedis := startCutter(t, dsn.Host), startCutter(t, fmt.Sprintf("127.0.0.1:%d", s.redis.Port()))
	s.cuts = []*cutter{toPostgres, toRedis}
	dsn.Host = toPostgres.address()
	authority := webhooktest.NewAuthority(t)
	receiver := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.hear(r.URL.Query().Get("id")) }))
	s.receiver = receiver.URL + "/hook"
	for range 3 {
		i := &instance{t: t, program: program, listen: rig.FreeAddress(t), ops: rig.FreeAddress(t), dir: t.TempDir()}
		i.text = fmt.Sprintf(soakConfig, i.listen, i.ops, dsn, toRedis.address(), webhooktest.Port(t, receiver), authority.File(t), i.dir,
			sha256.Sum256([]byte(rig.FullKey)))
		i.write(i.text + fmt.Sprintf(soakDoomed, sha256.Sum256([]byte(doomedKey))))
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

const soakDoomed = `  - name: doomed
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
	return []disturbance{
		{"kill -9 of a gateway", func() {
			defer s.outage()()
			i := one()
			i.kill()
			<-time.After(time.Second)
			i.start()
		}},
		{"connections to PostgreSQL cut", func() {
			defer s.outage()()
			s.cuts[0].cut()
		}},
		{"a gateway stopped and started", func() { // nobody is to notice
			i := one()
			i.stop()
			i.start()
			s.recovered()
		}},
		{"Redis killed and restarted, empty", func() {
			defer s.outage()()
			s.redis.Kill()
			<-time.After(time.Second)
			s.forgetSessions()
			s.redis.Restart()
		}},
		{"connections to Redis cut", func() {
			defer s.outage()()
			s.cuts[1].cut()
		}},
		{"PostgreSQL stopped at once and restarted", func() {
			defer s.outage()()
			restart := sqltest.StopPostgres(s.t)
			<-time.After(time.Second)
			restart()
		}},
	}
}

// outage begins a time in which clients may be failed; it ends when every gateway
// answers again, and the load balancer has seen it.
func (s *soak) outage() (over func()) {
	begun := time.Now()
	s.mu.Lock()
	s.outages = append(s.outages, period{from: begun})
	s.mu.Unlock()
	return func() {
		s.recovered()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.outages[len(s.outages)-1].to = time.Now().Add(balancerSees)
	}
}

// recovered returns when every gateway serves everything that the clients use, and HAProxy
// sends them there.
func (s *soak) recovered() {
	s.t.Helper()
	for _, i := range s.instances {
		await.True(s.t, i.serves, "a gateway did not come back:\n%s", i.log)
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
		require.NoError(s.t, i.process.Process.Signal(syscall.SIGHUP))
		await.True(s.t, func() bool { h := i.configHash(); return h != "" && h != before })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revokedAt = time.Now()
}

// judge compares what is there with what was answered.
func (s *soak) judge(summary io.Writer) {
	t := s.t
	t.Helper()
	await.True(t, s.allHeard, "promises without a call: %v", s.unheard())
	conn, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	count := func(sql string) map[string]int {
		found := map[string]int{}
		rows, err := conn.Query(t.Context(), sql)
		require.NoError(t, err)
		var name string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { found[name] = n; return nil })
		require.NoError(t, err)
		return found
	}
	contacts := count(`SELECT name, count(*) FROM contact WHERE name LIKE 'soak-%' GROUP BY name`)
	orders := count(`SELECT reference, count(*) FROM "order" WHERE reference LIKE 'soak-%' GROUP BY reference`)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, answered := range s.contacts {
		require.LessOrEqual(t, contacts[name], 1, "%s is there twice", name)
		if answered {
			require.Equal(t, 1, contacts[name], "%s was answered and is gone", name)
		}
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
	failed := 0
	for _, f := range s.faults {
		require.True(t, s.during(f.period), "%s failed %s, when nothing was down:\n%s", f.what, f.how, s.loggedOf(f.how))
		failed++
	}
	require.Empty(t, s.wrongs)
	require.Positive(t, len(s.promised))
	fmt.Fprintf(summary, "%d answers, %d requests failed, all while something was down\n%d records and %d promises answered: none lost, none double; %d ended tokens let nobody in\n",
		s.answered, failed, len(s.contacts), len(s.promised), len(s.ended))
}

// loggedOf are the lines that the gateways wrote of the request that an answer names.
func (s *soak) loggedOf(answer string) string {
	id := regexp.MustCompile(`"request_id":"[^"]+"`).FindString(answer)
	var lines strings.Builder
	for _, i := range s.instances {
		for line := range strings.Lines(i.log.String()) {
			if id != "" && strings.Contains(line, id) {
				lines.WriteString(line)
			}
		}
	}
	return lines.String()
}

// cutter passes connections on to a server, and can break all of them off.
type cutter struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	open     map[net.Conn]bool
}

func startCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{listener: l, to: to, open: map[net.Conn]bool{}}
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

func (c *cutter) address() string { return c.listener.Addr().String() }

func (c *cutter) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer to.Close()
	c.mu.Lock()
	c.open[from], c.open[to] = true, true
	c.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	_, _ = io.Copy(to, from)
	_ = to.Close()
	back.Wait()
	c.mu.Lock()
	delete(c.open, from)
	delete(c.open, to)
	c.mu.Unlock()
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

// period is a time that something took; to is zero while it lasts.
type period struct{ from, to time.Time }

// during tells whether a request was under way while something was down.
func (l *ledger) during(request period) bool {
	for _, o := range l.outages {
		if request.to.After(o.from) && (o.to.IsZero() || request.from.Before(o.to)) {
			return true
		}
	}
	return false
}

// unheard are the jobs that nobody called about, and what they make.
func (l *ledger) unheard() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := maps.Clone(l.promised)
	maps.DeleteFunc(missing, func(id, _ string) bool { return l.heard[id] })
	return missing
}

func (l *ledger) allHeard() bool { return len(l.unheard()) == 0 }
