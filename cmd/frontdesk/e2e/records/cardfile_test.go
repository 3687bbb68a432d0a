package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// cardfile is a service that has nothing but contacts, which a test changes behind the gateway, and
// the desk before it.
type cardfile struct {
	*rig.Shelf
	*rig.Desk
	token   string
	renamed map[string]string // members that the service calls otherwise
}

// cardfileSheet is its sheet.
const cardfileSheet = `format: 2
source: {http: {url: URL, walk: {query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 3, total: total}SINCE}}}
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
	s := &cardfile{Shelf: &rig.Shelf{
		Wrote: func(row rig.Row, rev int) {
			row["rev"], row["at"] = rev, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		},
		Since: func(row rig.Row, since string) bool {
			from, _ := strconv.Atoi(since)
			return row["rev"].(int) > from
		},
	}}
	s.Shelf.Show = func(_ string, row rig.Row) rig.Row {
		shown := rig.Row{}
		for name, v := range row {
			shown[cmp.Or(s.renamed[name], name)] = v
		}
		return shown
	}
	for i := range 10 {
		s.Put("cards", rig.Row{"org": 1 + i%2, "kind": "person", "name": fmt.Sprintf("Card %d", i+1), "days": 14})
	}
	s.Shelf.Serve(t)
	return s
}

// serve serves it; copy is what its sheet says of the copy, since of what has changed.
func (s *cardfile) serve(t *testing.T, copy, since, backend string) *cardfile {
	o, _ := rig.BySheet(t, "remote", cardfileSheet, "URL", strconv.Quote(s.URL), "COPY", copy, "SINCE", since,
		"NOORD", rig.PasswordHash("noord"), "ZUID", rig.PasswordHash("zuid"))
	o.Backend += backend
	o.Bound = rig.Circuit(10, 500*time.Millisecond)
	o.Keys = rig.KeyConfig("stale", staleKey, "    allow: [\"* /*\"]\n    stale: true\n")
	o.Edit = strings.NewReplacer(`"GET /order", "GET /orderline"`, `"GET /contact"`) // which are all there is
	s.Desk = rig.Start(t, o)
	s.token = s.Login(rig.FullKey, "noord")
	return s
}

// instead has the service do something else, or what it does.
func (s *cardfile) instead(other func(w http.ResponseWriter, r *http.Request) bool) {
	s.Behind(func() { s.Instead = other })
}

func away(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusServiceUnavailable)
	return true
}

// list asks for the contacts, which must be answered, and returns the names and their age.
func (s *cardfile) list(t *testing.T, headers ...string) (names []string, age int) {
	t.Helper()
	a := s.Gets(200, "GET", "/contact?page_size=100", s.token, "", headers...)
	age, err := strconv.Atoi(a.Header.Get("Age"))
	require.NoError(t, err, "Age: %q", a.Header.Get("Age"))
	page := must.JSON[struct{ Data []struct{ Name string } }](t, a.Body)
	for _, c := range page.Data {
		names = append(names, c.Name)
	}
	return names, age
}

// fails asks for what the backend cannot answer.
func (s *cardfile) fails(t *testing.T, token, reason, ask string, headers ...string) rig.Answer {
	t.Helper()
	method, rest, _ := strings.Cut(ask, " ")
	path, body, _ := strings.Cut(rest, " ")
	a := s.Call(method, path, token, body, headers...)
	require.Equal(t, 500, a.Status, "%s: %s", ask, a.Body)
	require.Equal(t, reason, a.Failure(t).Reason, ask)
	return a
}

const fresh = "no-cache"

// told is what /changes tells after a cursor, by kind and id, and the next cursor.
func (s *cardfile) told(t *testing.T, after string) (all map[string]string, cursor string) {
	t.Helper()
	path := "/changes?resource=contact"
	if after != "" {
		path += "&records=1&after=" + after
	}
	a := s.Gets(200, "GET", path, s.token, "")
	var page struct {
		Data []struct {
			ID     int
			Kind   string
			Record struct{ Name *string }
		}
		Cursor string
	}
	require.NoError(t, json.Unmarshal(a.Body, &page))
	all = map[string]string{}
	for _, c := range page.Data {
		all[fmt.Sprint(c.Kind, " ", c.ID)] = "null"
		if c.Record.Name != nil {
			all[fmt.Sprint(c.Kind, " ", c.ID)] = *c.Record.Name
		}
	}
	return all, page.Cursor
}

// digest is that of all contacts.
func (s *cardfile) digest(t *testing.T) string {
	t.Helper()
	sums := must.JSON[struct{ Data json.RawMessage }](t, s.Call("GET", "/changes/digest?resource=contact&ranges=1", s.token, "").Body)
	require.NotEmpty(t, sums.Data)
	return string(sums.Data)
}
