package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// cardfile is a service that has nothing but contacts. A test changes them behind the gateway.
type cardfile struct {
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	cards []map[string]any
	rev   int
	lists int // that were asked for
	// instead answers a request in place of the service, and tells whether it did.
	instead func(w http.ResponseWriter, r *http.Request) bool
	renamed map[string]string // members that the service calls otherwise
}

// cardfileSheet is its sheet.
const cardfileSheet = `format: 2
source: {http: {url: URL, walk: {query: {from: "{page.offset}", count: "{page.limit}"}, result: items, paging: {style: offset, size: 3, total: total}SINCE}}}
keep: keep.db
client: org
copy: COPY
rules: backend
accounts:
  users:
    - {username: noord, password_hash: "NOORD", email: n@example.nl, client: {id: 1, name: noord}}
    - {username: zuid, password_hash: "ZUID", email: z@example.nl, client: {id: 2, name: zuid}}
resources:
  contact:
    path: /cards
    key: id
    fields: {kind: kind, name: name, payment_days: days, modified_at: {path: at, readonly: true}}
`

// sinceRevision is how it is asked for what has changed.
const sinceRevision = `, since: {query: {since: "{since}"}, cursor: rev}`

// seldom is what a sheet says whose walks a test asks for.
const seldom = "{every: 1h, max_age: 2h}"

// staleKey is an api_key that may have records of the copy while the service is away.
const staleKey = "aaaaaaaa-0000-4000-8000-00000000f11e"

func newCardfile(t *testing.T) *cardfile {
	s := &cardfile{t: t}
	for i := range 10 {
		s.put(map[string]any{"org": 1 + i%2, "kind": "person", "name": fmt.Sprintf("Card %d", i+1), "days": 14})
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// put adds a card, or changes that of its id.
func (s *cardfile) put(card map[string]any) map[string]any {
	s.rev++
	card["rev"], card["at"] = s.rev, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if id, _ := strconv.Atoi(fmt.Sprint(card["id"])); id > 0 {
		maps.Copy(s.cards[id-1], card)
		return s.cards[id-1]
	}
	card["id"] = len(s.cards) + 1
	s.cards = append(s.cards, card)
	return card
}

// behind changes the service behind the gateway.
func (s *cardfile) behind(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// asked is how many lists were asked for since the last time.
func (s *cardfile) asked() (n int) {
	s.behind(func() { n, s.lists = s.lists, 0 })
	return n
}

func (s *cardfile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	instead := s.instead
	s.mu.Unlock()
	if instead != nil && instead(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/cards/"))
	var card map[string]any
	switch {
	case r.URL.Path == "/cards" && r.Method == "GET":
		s.lists++
		s.list(w, r)
		return
	case r.URL.Path == "/cards", r.Method == "PATCH" && id <= len(s.cards):
		card = map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&card)
		if id > 0 {
			card["id"] = id
		}
		card = s.put(card)
	case id < 1 || id > len(s.cards) || s.cards[id-1]["gone"] != nil:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == "DELETE":
		s.put(map[string]any{"id": id, "gone": true})
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		card = s.cards[id-1]
	}
	_ = json.NewEncoder(w).Encode(s.shown(card))
}

func (s *cardfile) list(w http.ResponseWriter, r *http.Request) {
	since, _ := strconv.Atoi(r.FormValue("since"))
	from, _ := strconv.Atoi(r.FormValue("from"))
	count, _ := strconv.Atoi(r.FormValue("count"))
	all := []map[string]any{}
	for _, card := range s.cards {
		if card["rev"].(int) > since && card["gone"] == nil {
			all = append(all, s.shown(card))
		}
	}
	page := all[min(from, len(all)):min(from+count, len(all))]
	_ = json.NewEncoder(w).Encode(map[string]any{"items": page, "total": len(all), "rev": strconv.Itoa(s.rev)})
}

func (s *cardfile) shown(card map[string]any) map[string]any {
	shown := map[string]any{}
	for name, v := range card {
		shown[cmp.Or(s.renamed[name], name)] = v
	}
	return shown
}

// desk serves it; copy is what its sheet says of the copy, since of what has changed.
func (s *cardfile) desk(copy, since, backend string) *rig.Desk {
	o, _ := rig.BySheet(s.t, "remote", cardfileSheet, "URL", strconv.Quote(s.URL), "COPY", copy, "SINCE", since,
		"NOORD", rig.PasswordHash("noord"), "ZUID", rig.PasswordHash("zuid"))
	o.Backend += backend
	o.Bound = rig.Circuit(10, 500*time.Millisecond)
	o.Keys = rig.KeyConfig("stale", staleKey, "    allow: [\"* /*\"]\n    stale: true\n")
	o.Edit = strings.NewReplacer(`"GET /order", "GET /orderline"`, `"GET /contact"`) // which are all there is
	return rig.Start(s.t, o)
}

// contacts asks for the list, which must be answered, and returns the names in it and its age.
func contacts(d *rig.Desk, token string, headers ...string) (names []string, age time.Duration) {
	d.T.Helper()
	a := d.Call("GET", "/contact?page_size=100", token, "", headers...)
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	seconds, err := strconv.Atoi(a.Header.Get("Age"))
	require.NoError(d.T, err, "Age: %q", a.Header.Get("Age"))
	var page struct{ Data []struct{ Name string } }
	require.NoError(d.T, json.Unmarshal(a.Body, &page))
	for _, c := range page.Data {
		names = append(names, c.Name)
	}
	return names, time.Duration(seconds) * time.Second
}
