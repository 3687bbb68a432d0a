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

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// copied are the resources that the writers write, each with the field that names the record
// which its list needs. There are system records, too.
var copied = []struct{ name, parent, key string }{
	{"contact", "", ""}, {"contactaddress", "contact", "contact_id"}, {"order", "", ""}, {"orderline", "order", "order_id"},
	{"turnovergroup", "", ""}, {"country", "", ""},
}

func copiedNames() (names []string) {
	for _, r := range copied {
		names = append(names, r.name)
	}
	return names
}

// gateway is one that keeps its address over restarts.
type gateway struct {
	options rig.Options
	*rig.Child

	mu     sync.Mutex
	tokens map[string]string // by user
}

// service is one or several gateways before one database.
type service struct {
	t        *testing.T
	gateways []*gateway
	writers  []*writer
	group    int // of lines
	country  int // of addresses
	random   *rand.Rand
	answered atomic.Int64 // writes that were done
	wake     chan struct{}
}

func startService(t *testing.T, o rig.Options, gateways int) *service {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("random seed %d", seed)
	s := &service{t: t, random: rand.New(rand.NewPCG(seed, seed)), wake: make(chan struct{}, 1)}
	for range gateways {
		g := &gateway{options: o}
		g.options.Edit = strings.NewReplacer("127.0.0.1:0", rig.FreeAddress(t))
		g.start(t)
		s.gateways = append(s.gateways, g)
	}
	for n := range 17 {
		w := &writer{service: s, number: n, gateway: s.gateways[n%gateways], user: "demo", random: rand.New(rand.NewPCG(seed, uint64(n)))}
		if n == 16 {
			w.user = "other"
		}
		s.writers = append(s.writers, w)
	}
	d := s.gateways[0]
	token, _ := d.session("demo", "")
	s.group = int(d.List(token, "/turnovergroup?page_size=1000")[0]["id"].(float64))
	s.country = int(d.List(token, "/country?code=NL")[0]["id"].(float64))
	return s
}

func (g *gateway) start(t *testing.T) {
	t.Helper()
	g.Child, g.tokens = rig.StartChild(t, g.options), map[string]string{}
}

// restart kills the gateway and starts it again. Writers who were not answered wait for it.
func (s *service) restart(g *gateway) {
	s.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Kill()
	g.start(s.t)
}

// session returns the token that all writers of a user share, which is not the one that was
// refused, and the process that it is of; "" if there is none now.
func (g *gateway) session(user, refused string) (token string, d *rig.Child) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tokens[user] == "" || g.tokens[user] == refused {
		delete(g.tokens, user)
		a, err := g.Try("GET", rig.LoginPath(rig.FullKey, user, user), "", "")
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

// ask sends a request until it is answered, and tells whether it was done. A write that was
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
	name := fmt.Sprintf("%s %d-%d", w.user, w.number, w.count)
	new := made{resource: "contact", field: "name", been: name}
	body := fmt.Sprintf(`{"kind":"person","name":%q}`, name)
	if parent := w.one(); parent.resource == "contact" && w.user == "demo" {
		if w.random.IntN(2) == 0 {
			new = made{resource: "contactaddress", field: "city", been: name}
			body = fmt.Sprintf(`{"contact_id":%d,"type":"visit","street":"Kerkstraat","house_number":1,"postcode":"1234 AB","city":%q,"country_id":%d}`, parent.id, name, w.country)
		} else {
			new = made{resource: "order", field: "reference", been: name}
			line := fmt.Sprintf(`{"description":"Line","quantity":2,"price":12.95,"turnover_group_id":%d}`, w.group)
			body = fmt.Sprintf(rig.NewOrder, parent.id, fmt.Sprintf(`,"reference":%q,"orderlines":[%s,%s]`, name, line, line))
		}
	} else if parent.resource == "order" {
		new = made{resource: "orderline", field: "description", been: name}
		body = fmt.Sprintf(`{"order_id":%d,"description":%q,"quantity":1,"price":9.95,"turnover_group_id":%d}`, parent.id, name, w.group)
	}
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

// source reads what the user demo may read, by lists alone.
func (s *service) source() records {
	s.t.Helper()
	d := s.gateways[0]
	token, _ := d.session("demo", "")
	all := records{}
	for _, r := range copied {
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

func (g *gateway) page(token, path string) []map[string]any {
	g.T.Helper()
	a, err := g.Try("GET", path, token, "")
	require.NoError(g.T, err)
	require.Equal(g.T, http.StatusOK, a.Status, "%s: %s", path, a.Body)
	var page struct{ Data []map[string]any }
	require.NoError(g.T, json.Unmarshal(a.Body, &page))
	return page.Data
}
