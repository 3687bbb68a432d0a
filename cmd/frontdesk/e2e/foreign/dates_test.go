package foreign

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// almanac is a service that has times as texts, as PocketBase writes them, and
// compares them as texts.
type almanac struct {
	mu    sync.Mutex
	rows  map[string]map[string]any
	since []string // as it was asked
}

func (s *almanac) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	id, one := strings.CutPrefix(r.URL.Path, "/contacts/")
	if !one {
		items := []any{}
		since := r.FormValue("since")
		s.since = append(s.since, since)
		for _, row := range s.rows {
			if row["updated"].(string) >= since {
				items = append(items, row)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
		return
	}
	row := s.rows[id]
	if r.Method == "PATCH" {
		_ = json.NewDecoder(r.Body).Decode(&row)
	}
	_ = json.NewEncoder(w).Encode(row)
}

// startAlmanac starts the program before it; fields are those of its sheet.
func startAlmanac(t *testing.T, s *almanac, fields string) *rig.Desk {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o, _ := rig.BySheet(t, "remote", `format: 2
source: {http: {url: "URL", walk: {result: items, since: {query: {since: {jq: '.since | sub("T"; " ")'}}, settle: 0s}}}}
keep: keep.db
rules: backend
accounts: {users: [{username: anna, password_hash: "HASH", email: a@example.nl, client: {id: 1, name: anna}}]}
resources:
  contact:
    path: /contacts
    key: id
    client: ""
    operations: {only: [get, list, update]}
    fields:
      kind: {constant: person}
      name: name
`+fields, "URL", server.URL, "HASH", rig.PasswordHash("anna"))
	o.Edit = strings.NewReplacer(`["GET /order", "GET /orderline", "GET /model/*"]`, `["GET /model/*"]`)
	return rig.Start(t, o)
}

// data is the record, or the records, of a good answer.
func data[T any](t *testing.T, a rig.Answer) T {
	t.Helper()
	require.Equal(t, 200, a.Status, "%s", a.Body)
	var body struct{ Data T }
	require.NoError(t, json.Unmarshal(a.Body, &body))
	return body.Data
}

// asked is since when it was asked last.
func (s *almanac) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since[len(s.since)-1]
}

// TestTimesThatSayTheirZone: a moment says its zone, while birth dates are days of the
// administration's own.
func TestTimesThatSayTheirZone(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "born": "1984-03-14 00:00:00.000Z", "created": "2026-11-22 09:05:55+01:00", "updated": "2026-11-22 08:47:21.199Z"},
		"2": {"id": 2, "name": "B", "born": "1984-03-14 00:00:00.000Z", "created": "2026-07-01 08:05:55Z", "updated": "2026-11-22 08:47:21.198Z"},
	}}
	d := startAlmanac(t, s, `
      birth_date: {path: born, type: date}
      created_at: {path: created, readonly: true}
      modified_at: {path: updated, readonly: true}
`)
	anna := d.Login(rig.FullKey, "anna")
	got := data[map[string]any](t, d.Call("GET", "/contact/1", anna, ""))
	require.Equal(t, "1984-03-13T23:00:00.000Z", got["birth_date"])
	require.Equal(t, "2026-11-22T08:05:55.000Z", got["created_at"])
	require.Equal(t, "2026-11-22T08:47:21.199Z", got["modified_at"])
	require.Equal(t, "2026-07-01T08:05:55.000Z", data[map[string]any](t, d.Call("GET", "/contact/2", anna, ""))["created_at"])

	require.Equal(t, 200, d.Call("PUT", "/contact/1", anna, `{"birth_date":"1985-07-02"}`).Status)
	require.Equal(t, "1985-07-02", s.rows["1"]["born"])

	found := data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-11-22T08:47:21.199Z", anna, ""))
	require.Len(t, found, 1)
	require.Equal(t, "A", found[0]["name"])
	require.Equal(t, "2026-11-22 08:47:21.199Z", s.asked())
}

// TestNightWithAnHourTwice is the one of 25 October: A was changed at 00:50Z, when the clock showed
// 02:50 for the first time, B after it, at 01:10Z. Nobody misses B.
func TestNightWithAnHourTwice(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "updated": "2026-10-25 02:50:00"}, "2": {"id": 2, "name": "B", "updated": "2026-10-24 12:00:00"},
		"3": {"id": 3, "name": "C", "updated": "2026-10-25 01:59:59"},
	}}
	d := startAlmanac(t, s, `
      modified_at: {path: updated, type: datetime, readonly: true}
`)
	anna := d.Login(rig.FullKey, "anna")
	require.Len(t, data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-10-25T00:50:00Z", anna, "")), 1)
	s.mu.Lock()
	s.rows["2"]["name"], s.rows["2"]["updated"] = "Changed", "2026-10-25 02:10:00"
	s.mu.Unlock()
	found := data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-10-25T00:50:00Z&sort=id", anna, ""))
	require.Len(t, found, 2)
	require.Equal(t, "Changed", found[1]["name"])
	require.Equal(t, "2026-10-25T01:10:00.000Z", found[1]["modified_at"])
}

// TestRecordOfTheFuture: one whose time is still to come does not hide what is changed after it was
// seen.
func TestRecordOfTheFuture(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{"1": {"id": 1, "name": "A", "updated": "2099-01-01 00:00:00Z"}, "2": {"id": 2, "name": "B", "updated": "2026-01-01 00:00:00Z"}}}
	d := startAlmanac(t, s, `
      modified_at: {path: updated, readonly: true}
`)
	anna := d.Login(rig.FullKey, "anna")
	for _, name := range []string{"B", "Changed", "Changed again"} {
		s.mu.Lock()
		s.rows["2"]["name"], s.rows["2"]["updated"] = name, time.Now().UTC().Add(time.Second).Format("2006-01-02 15:04:05.000Z")
		s.mu.Unlock()
		require.Equal(t, []string{"A", name}, namesOf(t, d.Call("GET", "/contact?sort=id", anna, "")))
	}
}

// TestZonesOfFields is of a service that writes no zone: the programs' times are in
// UTC, and days are the administration's own.
func TestZonesOfFields(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "born": "1984-03-14", "created": "2026-07-01 08:05:55", "updated": "2026-07-01 08:47:21"},
	}}
	d := startAlmanac(t, s, `
      birth_date: {path: born, type: date, time_zone: Europe/Amsterdam}
      created_at: {path: created, type: datetime, readonly: true}
      modified_at: {path: updated, type: datetime, readonly: true}
    time_zone: UTC
`)
	anna := d.Login(rig.FullKey, "anna")
	got := data[map[string]any](t, d.Call("GET", "/contact/1", anna, ""))
	require.Equal(t, "1984-03-13T23:00:00.000Z", got["birth_date"])
	require.Equal(t, "2026-07-01T08:05:55.000Z", got["created_at"])
	require.Len(t, data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-07-01T08:47:21Z", anna, "")), 1)
	require.Regexp(t, `^2026-07-01 08:47:21`, s.asked())
	require.Equal(t, 200, d.Call("PUT", "/contact/1", anna, `{"birth_date":"1985-07-02"}`).Status)
	require.Equal(t, "1985-07-02", s.rows["1"]["born"])
}
