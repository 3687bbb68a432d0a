package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

func TestService(t *testing.T) {
	seeds(t, func() system { return &vendorService{since: ", since: {query: {since: \"{since}\"}, cursor: rev}"} })
}

// TestServiceWithoutSince is before a service that cannot tell what has changed.
func TestServiceWithoutSince(t *testing.T) {
	seeds(t, func() system { return &vendorService{} })
}

// vendorService is an HTTP service with contacts, which takes its time and fails in all ways.
type vendorService struct {
	since       string // how the sheet asks what has changed; "" for not at all
	demo, other string
	w           *world
	does        atomic.Value // string

	mu    sync.Mutex
	cards []card
	rev   int
	count int
	sent  map[string]bool // names that it was sent with a POST
	slow  time.Time       // when a list ended that took long
}

type card struct {
	ID   int    `json:"id"`
	Org  int    `json:"org"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	Days *int   `json:"days"`
	At   string `json:"at"`
	rev  int
	gone bool
}

const serviceSheet = `format: 2
source: {http: {url: "http://service.example.com", timeout: 8s, walk: {query: {from: "{page.offset}", count: "{page.limit}"}, result: items, paging: {style: offset, size: 20, total: total}%s}}}
keep: keep.db
client: org
copy: {every: 30s, max_age: 2h}
rules: backend
accounts: {users: [{username: demo, password_hash: %q, email: n@example.nl, client: {id: 1, name: Noord}}, {username: other, password_hash: %q, email: z@example.nl, client: {id: 2, name: Zuid}}]}
resources:
  contact:
    path: /cards
    key: id
    fields: {kind: kind, name: name, payment_days: days, modified_at: {path: at, readonly: true}}
`

func (s *vendorService) begin(w *world) {
	s.demo, s.other, s.w, s.sent = rig.PasswordHash("demo"), rig.PasswordHash("other"), w, map[string]bool{}
	s.does.Store("")
	at, err := w.net.Listen("service", service)
	require.NoError(w.t, err)
	server := http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(at) }()
	w.t.Cleanup(func() { _ = server.Close(); <-done })
	s.put(card{Org: 1, Kind: "person", Name: "behind 0"})
	s.put(card{Org: 2, Kind: "person", Name: "of another"})
}

func (s *vendorService) config(folder string) string {
	file := s.w.sheet(folder, fmt.Sprintf(serviceSheet, s.since, s.demo, s.other))
	return fmt.Sprintf("backend: {driver: remote, sheet: %q, max_concurrent: %d}", file, slots)
}

func (s *vendorService) wrap(*world) desk.WrapDriver { return nil }
func (s *vendorService) again() bool                 { return false }

// serviceDoes is what the service does at times.
var serviceDoes = []string{"is away", "answers nonsense", "breaks off before", "breaks off after", "takes long before", "takes long after", "has other members", "has another list", "answers about another", "leaves out what it has", "refuses connections"}

func (s *vendorService) troubles(w *world) (all []trouble) {
	for _, does := range serviceDoes {
		t := trouble{name: "the administration " + does, begin: func() { s.does.Store(does); w.net.Refuse(service, does == "refuses connections") }, end: func() { s.does.Store(""); w.net.Refuse(service, false) }}
		if strings.HasPrefix(does, "has") {
			t.after = 70 * time.Second
		}
		all = append(all, t)
	}
	return all
}

// put adds a card, or changes that of its id.
func (s *vendorService) put(c card) card {
	s.rev++
	c.rev, c.At = s.rev, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if c.ID == 0 {
		c.ID = len(s.cards) + 1
		s.cards = append(s.cards, c)
	}
	s.cards[c.ID-1] = c
	return c
}

func (s *vendorService) behind(_ *world, random *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if random.IntN(3) == 0 {
		days := random.IntN(900)
		s.put(card{Org: 1, Kind: "person", Name: fmt.Sprint("behind ", s.count), Days: &days})
		return
	}
	for n := range s.cards {
		c := s.cards[(n+s.count*7)%len(s.cards)]
		if !isBehind(c.Name) || c.gone {
			continue
		}
		switch random.IntN(3) {
		case 0:
			c.gone = true
		case 1:
			c.Org = 3 - c.Org
		default:
			days := random.IntN(900)
			c.Days = &days
		}
		s.put(c)
		return
	}
}

func (s *vendorService) mayHave(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[name]
}

func (s *vendorService) names(_ *world, org int) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for _, c := range s.cards {
		if c.Org == org && !c.gone {
			all[c.Name] = "<nil>"
			if c.Days != nil {
				all[c.Name] = fmt.Sprint(*c.Days)
			}
		}
	}
	return all
}

func (s *vendorService) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	does := s.does.Load()
	if r.Method == http.MethodPost {
		var c card
		_ = json.Unmarshal(body, &c)
		s.mu.Lock()
		s.sent[c.Name] = true
		s.mu.Unlock()
	}
	switch does {
	case "is away":
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	case "answers nonsense":
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, "<html>Welcome</html>")
		return
	case "breaks off before":
		panic(http.ErrAbortHandler)
	case "takes long before":
		time.Sleep(20 * time.Second)
	}
	s.w.pauses("before")
	status, answer := s.do(r, body, does)
	s.pauses(r)
	switch does {
	case "breaks off after":
		panic(http.ErrAbortHandler)
	case "takes long after":
		time.Sleep(20 * time.Second)
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	if answer != nil {
		text, _ := json.Marshal(answer)
		if does == "has other members" {
			text = []byte(strings.ReplaceAll(string(text), `"days"`, `"payment"`))
		}
		_, _ = rw.Write(text)
	}
}

// pauses is the pause after a call, a short one where the gateway asks how the service is, for two seconds at most.
// Many requests wait for one list, and for the next: of two in a row one is short, or that would be trouble.
func (s *vendorService) pauses(r *http.Request) {
	isList := r.URL.Path == "/cards" && r.Method == http.MethodGet
	s.mu.Lock()
	isShort := r.URL.Path == "/" || isList && time.Since(s.slow) < 8*time.Second
	s.mu.Unlock()
	if took := s.w.pauses(map[bool]string{true: "short", false: "after"}[isShort]); isList && took > time.Second/4 {
		s.mu.Lock()
		s.slow = time.Now()
		s.mu.Unlock()
	}
}

// do does what a request asks for.
func (s *vendorService) do(r *http.Request, body []byte, does any) (status int, answer any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/cards/"))
	if r.URL.Path == "/cards" && r.Method == http.MethodGet {
		return http.StatusOK, s.list(r, does)
	}
	var c card
	if r.URL.Path != "/cards" {
		if id < 1 || id > len(s.cards) || s.cards[id-1].gone {
			return http.StatusNotFound, map[string]string{"error": "there is no such card"}
		}
		c = s.cards[id-1]
	}
	switch r.Method {
	case http.MethodGet:
		if does == "answers about another" {
			c = s.cards[id%len(s.cards)]
		}
		return http.StatusOK, c
	case http.MethodDelete:
		c.gone = true
		s.put(c)
		return http.StatusNoContent, nil
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return http.StatusBadRequest, map[string]string{"error": err.Error()}
	}
	c.ID = id
	c = s.put(c)
	if r.Method == http.MethodPost {
		return http.StatusCreated, c
	}
	return http.StatusOK, c
}

func (s *vendorService) list(r *http.Request, does any) any {
	since, _ := strconv.Atoi(r.FormValue("since"))
	from, _ := strconv.Atoi(r.FormValue("from"))
	count, _ := strconv.Atoi(r.FormValue("count"))
	all := []card{}
	for _, c := range s.cards {
		if c.rev > since && !c.gone && (does != "leaves out what it has" || since > 0 || c.ID%5 > 0) {
			all = append(all, c)
		}
	}
	root := "items"
	if does == "has another list" {
		root = "rows"
	}
	return map[string]any{root: all[min(from, len(all)):min(from+count, len(all))], "total": len(all), "rev": strconv.Itoa(s.rev)}
}
