package copies

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// gateway is one that keeps its address over restarts. One with a clock is a part of the test's
// own process.
type gateway struct {
	options   rig.Options
	passwords map[string]string // of users
	clock     *rig.Clock
	*rig.Child

	mu     sync.Mutex
	tokens map[string]string // by user
}

// service is one or several gateways before one administration.
type service struct {
	*administration
	t        *testing.T
	gateways []*gateway
	writers  []*writer
	random   *rand.Rand
	answered atomic.Int64 // writes that were done
	wake     chan struct{}
}

func startService(t *testing.T, a *administration, gateways int) *service {
	t.Helper()
	seed := sqltest.Seed(t)
	s := &service{administration: a, t: t, random: rand.New(rand.NewPCG(seed, seed)), wake: make(chan struct{}, 1)}
	for range gateways {
		g := &gateway{options: a.options, passwords: map[string]string{a.user.name: a.user.password, a.other.name: a.other.password}}
		g.options.Edit = strings.NewReplacer(append([]string{"127.0.0.1:0", rig.FreeAddress(t)}, a.edit...)...)
		g.start(t)
		s.gateways = append(s.gateways, g)
	}
	for n := range 17 {
		s.writers = append(s.writers, &writer{service: s, number: n, gateway: s.gateways[n%gateways], user: a.user.name, random: rand.New(rand.NewPCG(seed, uint64(n)))})
	}
	s.writers[16].user = a.other.name
	token, _ := s.gateways[0].session(a.user.name, "")
	s.group = int(s.gateways[0].page(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))
	if slices.Contains(a.names(), "country") {
		s.country = int(s.gateways[0].page(token, "/country?code=NL")[0]["id"].(float64))
	}
	return s
}

// jumping adds a gateway whose clock jumps, with writers of the others.
func (s *service) jumping() *gateway {
	s.t.Helper()
	g := &gateway{options: s.options, passwords: s.gateways[0].passwords, clock: new(rig.Clock), tokens: map[string]string{}}
	g.options.Now = g.clock.Now
	g.Child = &rig.Child{Desk: *rig.Start(s.t, g.options)}
	s.gateways = append(s.gateways, g)
	for n := 0; n < len(s.writers); n += len(s.gateways) {
		s.writers[n].gateway = g
	}
	return g
}

// jump sets the clock of a gateway to some time within two hours, one way or the other.
func (s *service) jump(g *gateway) {
	g.clock.Pass(time.Duration(s.random.Int64N(4*3600)-2*3600) * time.Second)
}

func (g *gateway) start(t *testing.T) {
	t.Helper()
	g.Child, g.tokens = rig.StartChild(t, g.options), map[string]string{}
}

// restart kills the gateway and starts it again. Writers who were not answered wait for it.
func (s *service) restart(g *gateway) { s.away(g, func() {}) }

// away kills the gateway, and starts it again when meanwhile is done.
func (s *service) away(g *gateway, meanwhile func()) {
	s.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Kill()
	meanwhile()
	g.start(s.t)
}

// any is any gateway.
func (s *service) any() *gateway { return s.gateways[s.random.IntN(len(s.gateways))] }

// looks is the gateway that looks for what others write, and another one. Who walks next before a
// service nobody knows.
func (s *service) looks() (looks, other *gateway) {
	s.t.Helper()
	if n := s.random.IntN(len(s.gateways)); s.walks {
		return s.gateways[n], s.gateways[(n+1)%len(s.gateways)]
	}
	read := func() (all []int) {
		for _, g := range s.gateways {
			n := 0
			for line := range strings.Lines(g.OpsText("/metrics")) {
				var one float64
				if name, value, _ := strings.Cut(line, " "); strings.HasPrefix(name, "frontdesk_changes_scan_records_total{") {
					must.Have(fmt.Sscan(value, &one))(s.t)
					n += int(one)
				}
			}
			all = append(all, n)
		}
		return all
	}
	before := read()
	await.True(s.t, func() bool {
		for i, n := range read() {
			if n > before[i] {
				looks, other = s.gateways[i], s.gateways[(i+1)%len(s.gateways)]
			}
		}
		return looks != nil
	})
	return looks, other
}

// setBack sets the clock of the gateways' own database back, or forward: what has been noted
// by it moves the other way.
func (s *service) setBack(by time.Duration) {
	s.t.Helper()
	ms := by.Milliseconds()
	if s.walks {
		require.NoError(s.t, sqltest.Execute(s.keep, fmt.Sprintf(`UPDATE copy_walk SET until = until + %[1]d, walked_at = CASE walked_at WHEN 0 THEN 0 ELSE walked_at + %[1]d END, asked_at = asked_at + %[1]d;
			UPDATE record_change SET at = at + %[1]d`, ms)))
		return
	}
	require.NoError(s.t, sqltest.Execute(s.keep, fmt.Sprintf(`UPDATE follow_lease SET until = until + %[1]d;
		UPDATE followed SET asked_at = asked_at + %[1]d, next_at = next_at + %[1]d, whole_at = whole_at + %[1]d, done_at = done_at + %[1]d,
			ready_at = CASE ready_at WHEN 0 THEN 0 ELSE ready_at + %[1]d END;
		UPDATE record_change SET at = at + %[1]d`, ms)))
	if ms > 0 { // a look that was under way has noted when the next is due, by the new clock
		for range 10 {
			<-time.After(20 * time.Millisecond)
			require.NoError(s.t, sqltest.Execute(s.keep, fmt.Sprintf(`UPDATE followed SET next_at = next_at + %d WHERE next_at < extract(epoch FROM clock_timestamp()) * 1000 + 60000`, ms)))
		}
	}
}

// process is any gateway that is a process of its own.
func (s *service) process() *gateway {
	for {
		if g := s.gateways[s.random.IntN(len(s.gateways))]; g.clock == nil {
			return g
		}
	}
}

// session returns the token that all writers of a user share, which is not the one that was
// refused, and the process that it is of; "" if there is none now.
func (g *gateway) session(user, refused string) (token string, d *rig.Child) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tokens[user] == "" || g.tokens[user] == refused {
		delete(g.tokens, user)
		a, err := g.Try("GET", rig.LoginPath(rig.FullKey, user, g.passwords[user]), "", "")
		var body struct{ Token string }
		if err == nil && a.Status == http.StatusOK && json.Unmarshal(a.Body, &body) == nil {
			g.tokens[user] = body.Token
		}
	}
	return g.tokens[user], g.Child
}

// writer creates, changes and deletes records, and changes them back.
type writer struct {
	*service
	number  int
	gateway *gateway
	user    string
	random  *rand.Rand
	made    []made
	count   int
}

// made is a record, and a field with the value that it was made with.
type made struct {
	resource    string
	id          int
	field, been string
}

// ask sends a request until it is answered, and reports whether it was done. A write that was
// not answered may have been done all the same: the copy has to know.
func (w *writer) ask(ctx context.Context, method, path, body string) (id int, done bool) {
	refused := ""
	for ctx.Err() == nil {
		token, d := w.gateway.session(w.user, refused)
		a, err := d.Try(method, path, token, body)
		switch {
		case err != nil || a.Status >= 500:
			continue
		case a.Status == http.StatusUnauthorized:
			refused = token
			continue
		case a.Status >= 400:
			return 0, false
		}
		w.answered.Add(1)
		select {
		case w.wake <- struct{}{}:
		default:
		}
		var answer struct{ Data struct{ ID int } }
		_ = json.Unmarshal(a.Body, &answer)
		return answer.Data.ID, true
	}
	return 0, false
}

func (w *writer) work(ctx context.Context) {
	for n := len(w.made) - 1; n >= 0 && !w.delete(ctx, n); n-- { // one of the round before, which the copy has
	}
	for ctx.Err() == nil {
		if len(w.made) == 0 || w.random.IntN(10) < 4 {
			w.create(ctx)
			continue
		}
		n := w.random.IntN(len(w.made))
		one := w.made[n]
		path := fmt.Sprint("/", one.resource, "/", one.id)
		if w.random.IntN(3) == 0 {
			w.delete(ctx, n)
			continue
		}
		w.count++
		w.ask(ctx, "PUT", path, fmt.Sprintf(`{%q:"changed %d-%d"}`, one.field, w.number, w.count))
		if w.random.IntN(2) == 0 { // and back
			w.ask(ctx, "PUT", path, fmt.Sprintf(`{%q:%q}`, one.field, one.been))
		}
	}
}

// delete deletes one of those that were made, unless others belong to it.
func (w *writer) delete(ctx context.Context, n int) (done bool) {
	if _, done = w.ask(ctx, "DELETE", fmt.Sprint("/", w.made[n].resource, "/", w.made[n].id), ""); done {
		w.made = slices.Delete(w.made, n, n+1)
	}
	return done
}

func (w *writer) create(ctx context.Context) {
	w.count++
	new, body := w.next(w, fmt.Sprintf("%s %d-%d", w.user, w.number, w.count))
	if id, done := w.ask(ctx, "POST", "/"+new.resource, body); done {
		new.id = id
		w.made = append(w.made, new)
	}
}

// one is any record of those that were made.
func (w *writer) one() made {
	if len(w.made) == 0 {
		return made{}
	}
	return w.made[w.random.IntN(len(w.made))]
}

// round has 16 writers of one client and one of another write until they have done so much,
// while disturb is called each time that a part of it is done.
func (s *service) round(writes int64, disturb ...func()) {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var writing sync.WaitGroup
	for _, w := range s.writers {
		writing.Go(func() { w.work(ctx) })
	}
	begun := s.answered.Load()
	for n := range len(disturb) + 1 {
		for s.answered.Load() < begun+writes*int64(n+1)/int64(len(disturb)+1) {
			<-s.wake
		}
		if n < len(disturb) {
			disturb[n]()
		}
	}
	stop()
	writing.Wait()
}

// records are a client's, by resource and id.
type records map[string]map[int]map[string]any

// source reads what the user may read whose records are copied, by lists alone.
func (s *service) source() records { return s.sourceOf(s.gateways[0]) }

// sourceOf is the same, of what one of the gateways answers.
func (s *service) sourceOf(d *gateway) records {
	s.t.Helper()
	token, _ := d.session(s.user.name, "")
	all := records{}
	for _, r := range s.copied {
		all[r.name] = map[int]map[string]any{}
		take := func(path string) (last int) {
			for _, one := range d.page(token, path) {
				last = int(one["id"].(float64))
				all[r.name][last] = one
			}
			return last
		}
		if r.parent != "" {
			for id := range all[r.parent] {
				take(fmt.Sprintf("/%s?page_size=1000&%s=%d", r.name, r.key, id))
			}
			continue
		}
		for after := 0; ; {
			last := take(fmt.Sprintf("/%s?page_size=1000&after=%d", r.name, after))
			if last == 0 {
				break
			}
			after = last
		}
	}
	return all
}

// page reads a page, again while there is no time for it: on a busy machine, or after a gateway was
// killed that had the turn.
func (g *gateway) page(token, path string) []map[string]any {
	g.T.Helper()
	a, err := g.Try("GET", path, token, "")
	await.True(g.T, func() bool {
		if err == nil && a.Status >= 500 {
			a, err = g.Try("GET", path, token, "")
		}
		return err != nil || a.Status < 500
	}, "%s", path)
	require.NoError(g.T, err)
	require.Equal(g.T, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	page := must.JSON[struct{ Data []map[string]any }](g.T, a.Body)
	return page.Data
}
