package foreign

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

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
	dir := t.TempDir()
	sheet := filepath.Join(dir, "sheet.yaml")
	require.NoError(t, os.WriteFile(sheet, fmt.Appendf(nil, `format: 1
source: {http: {url: %q}}
keep: %q
rules: backend
accounts: {users: [{username: anna, password_hash: %q, email: a@example.nl, client: {id: 1, name: anna}}]}
resources:
  contact:
    key: {columns: id}
    client: ""
    operations:
      get: {path: "/contacts/{key}"}
      list: {path: /contacts, query: {since: "{modified_since}"}, result: items}
      update: {method: PATCH, path: "/contacts/{key}"}
    fields:
      kind: {constant: person}
      name: name
%s`, server.URL, filepath.Join(dir, "keep.db"), rig.PasswordHash("anna"), fields), 0o600))
	return rig.Start(t, rig.Options{Backend: fmt.Sprintf(", driver: remote, sheet: %q", sheet), Edit: strings.NewReplacer(`["GET /order", "GET /orderline", "GET /model/*"]`, `["GET /model/*"]`)})
}

// data is the record, or the records, of a good answer.
func data[T any](t *testing.T, a rig.Answer) T {
	t.Helper()
	require.Equal(t, 200, a.Status, "%s", a.Body)
	var body struct{ Data T }
	require.NoError(t, json.Unmarshal(a.Body, &body))
	return body.Data
}

// TestTimesThatSayTheirZone: a format says the zone of created and updated, while
// birth dates are days of the administration's own. Before, a Z was a letter: whoever
// had the one right had the other an hour off, and modified_since found nothing.
func TestTimesThatSayTheirZone(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "born": "1984-03-14 00:00:00.000Z", "created": "2026-11-22 09:05:55+01:00", "updated": "2026-11-22 08:47:21.199Z"},
		"2": {"id": 2, "name": "B", "born": "1984-03-14 00:00:00.000Z", "created": "2026-07-01 08:05:55Z", "updated": "2026-11-22 08:47:21.198Z"},
	}}
	d := startAlmanac(t, s, `
      birth_date: {from: born, format: "yyyy-MM-dd '00:00:00.000Z'"}
      created_at: {from: created, format: "yyyy-MM-dd HH:mm:ssXXX"}
      modified_at: {from: updated, type: timestamp, format: "yyyy-MM-dd HH:mm:ss.SSSZ"}
`)
	anna := d.Login(rig.FullKey, "anna")
	got := data[map[string]any](t, d.Call("GET", "/contact/1", anna, ""))
	require.Equal(t, "1984-03-13T23:00:00.000Z", got["birth_date"])
	require.Equal(t, "2026-11-22T08:05:55.000Z", got["created_at"])
	require.Equal(t, "2026-11-22T08:47:21.199Z", got["modified_at"])
	require.Equal(t, "2026-07-01T08:05:55.000Z", data[map[string]any](t, d.Call("GET", "/contact/2", anna, ""))["created_at"])

	require.Equal(t, 200, d.Call("PUT", "/contact/1", anna, `{"birth_date":"1985-07-02"}`).Status)
	require.Equal(t, "1985-07-02 00:00:00.000Z", s.rows["1"]["born"])

	found := data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-11-22T08:47:21.199Z", anna, ""))
	require.Len(t, found, 1)
	require.Equal(t, "A", found[0]["name"])
	require.Equal(t, "2026-11-22 08:47:21.199Z", s.since[len(s.since)-1])
}

// TestNightWithAnHourTwice is the one of 25 October: A was changed at 00:50Z, when the
// clock showed 02:50 for the first time, B after it, at 01:10Z. Nobody misses B, who asks
// for what was changed since A was, nor who goes on from what A is answered with.
func TestNightWithAnHourTwice(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "updated": "2026-10-25 02:50:00"}, "2": {"id": 2, "name": "B", "updated": "2026-10-25 02:10:00"},
		"3": {"id": 3, "name": "C", "updated": "2026-10-25 01:59:59"},
	}}
	d := startAlmanac(t, s, `
      modified_at: {from: updated, format: "yyyy-MM-dd HH:mm:ss"}
`)
	anna := d.Login(rig.FullKey, "anna")
	answered := data[map[string]any](t, d.Call("GET", "/contact/1", anna, ""))["modified_at"].(string)
	require.Equal(t, "2026-10-25T01:50:00.000Z", answered)
	for _, since := range []string{"2026-10-25T00:50:00Z", answered} {
		require.Len(t, data[[]map[string]any](t, d.Call("GET", "/contact?modified_since="+since, anna, "")), 2, since)
	}
	require.Empty(t, data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-10-25T02:00:00Z", anna, "")))
}

// TestZonesOfFields is of a service that writes no zone: the programs' times are in
// UTC, and days are the administration's own.
func TestZonesOfFields(t *testing.T) {
	t.Parallel()
	s := &almanac{rows: map[string]map[string]any{
		"1": {"id": 1, "name": "A", "born": "1984-03-14", "created": "2026-07-01 08:05:55", "updated": "2026-07-01 08:47:21"},
	}}
	d := startAlmanac(t, s, `
      birth_date: {from: born, format: yyyy-MM-dd, time_zone: Europe/Amsterdam}
      created_at: {from: created, format: "yyyy-MM-dd HH:mm:ss"}
      modified_at: {from: updated, format: "yyyy-MM-dd HH:mm:ss"}
    time_zone: UTC
`)
	anna := d.Login(rig.FullKey, "anna")
	got := data[map[string]any](t, d.Call("GET", "/contact/1", anna, ""))
	require.Equal(t, "1984-03-13T23:00:00.000Z", got["birth_date"])
	require.Equal(t, "2026-07-01T08:05:55.000Z", got["created_at"])
	require.Len(t, data[[]map[string]any](t, d.Call("GET", "/contact?modified_since=2026-07-01T08:47:21Z", anna, "")), 1)
	require.Equal(t, "2026-07-01 08:47:21", s.since[len(s.since)-1])
	require.Equal(t, 200, d.Call("PUT", "/contact/1", anna, `{"birth_date":"1985-07-02"}`).Status)
	require.Equal(t, "1985-07-02", s.rows["1"]["born"])
}
