package foreign

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// almanac is a service that has times as texts, as PocketBase writes them, and
// compares them as texts.
type almanac struct {
	*rig.Shelf
	since string // as it was asked last
}

// startAlmanac starts the program before one of these rows; fields are those of its sheet.
func startAlmanac(t *testing.T, fields string, rows ...rig.Row) (s *almanac, d *rig.Desk, token string) {
	t.Helper()
	s = &almanac{Shelf: new(rig.Shelf)}
	s.Since = func(row rig.Row, since string) bool {
		s.since = since
		return row["updated"].(string) >= since
	}
	for _, row := range rows {
		s.Put("contacts", row)
	}
	s.Serve(t)
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
`+fields, "URL", s.URL, "HASH", rig.PasswordHash("anna"))
	o.Edit = strings.NewReplacer(`["GET /order", "GET /orderline", "GET /model/*"]`, `["GET /model/*"]`)
	d = rig.Start(t, o)
	return s, d, d.Login(rig.FullKey, "anna")
}

// data is the record, or the records, of a good answer.
func data[T any](t *testing.T, a rig.Answer) T {
	t.Helper()
	require.Equal(t, 200, a.Status, "%s", a.Body)
	var body struct{ Data T }
	require.NoError(t, json.Unmarshal(a.Body, &body))
	return body.Data
}

// TestTimesOfAService: a moment says its zone, or has that of the service, while birth dates are days of
// the administration's own.
func TestTimesOfAService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields, asked string
		row           rig.Row
	}{
		"with their zone": {`
      birth_date: {path: born, type: date}
      created_at: {path: created, readonly: true}
      modified_at: {path: updated, readonly: true}
`, "2026-11-22 08:47:21.199Z", rig.Row{"name": "A", "born": "1984-03-14 00:00:00.000Z", "created": "2026-07-01 10:05:55+02:00", "updated": "2026-11-22 08:47:21.199Z"}},
		"in UTC": {`
      birth_date: {path: born, type: date, time_zone: Europe/Amsterdam}
      created_at: {path: created, type: datetime, readonly: true}
      modified_at: {path: updated, type: datetime, readonly: true}
    time_zone: UTC
`, "2026-11-22 08:47:21", rig.Row{"name": "A", "born": "1984-03-14", "created": "2026-07-01 08:05:55", "updated": "2026-11-22 08:47:21.199"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := rig.Row{"name": "B", "born": "1984-03-14", "created": "2026-07-01 08:05:55Z", "updated": "2026-11-22 08:47:21.198"}
			if strings.HasSuffix(c.row["updated"].(string), "Z") {
				before["updated"] = "2026-11-22 08:47:21.198Z"
			} else {
				before["created"] = "2026-07-01 08:05:55"
			}
			s, d, anna := startAlmanac(t, c.fields, c.row, before)
			for _, path := range []string{"/contact/1", "/contact/2"} {
				got := data[rig.Row](t, d.Call("GET", path, anna, ""))
				require.Equal(t, "1984-03-13T23:00:00.000Z", got["birth_date"])
				require.Equal(t, "2026-07-01T08:05:55.000Z", got["created_at"])
			}
			require.Equal(t, "2026-11-22T08:47:21.199Z", data[rig.Row](t, d.Call("GET", "/contact/1", anna, ""))["modified_at"])
			require.Equal(t, []string{"A"}, namesOf(t, d.Call("GET", "/contact?modified_since=2026-11-22T08:47:21.199Z", anna, "")))
			s.Behind(func() { require.True(t, strings.HasPrefix(s.since, c.asked), s.since) })
			require.Equal(t, 200, d.Call("PUT", "/contact/1", anna, `{"birth_date":"1985-07-02"}`).Status)
			require.Equal(t, "1985-07-02", s.Row("contacts", 1)["born"])
			require.Equal(t, []string{"A", "B"}, namesOf(t, d.Call("GET", "/contact?sort=id", anna, "")), "with nothing new since then")
		})
	}
}

// TestNightWithAnHourTwice is the one of 25 October: A was changed at 00:50Z, when the clock showed
// 02:50 for the first time, B after it, at 01:10Z. Nobody misses B.
func TestNightWithAnHourTwice(t *testing.T) {
	t.Parallel()
	s, d, anna := startAlmanac(t, `
      modified_at: {path: updated, type: datetime, readonly: true}
`, rig.Row{"name": "A", "updated": "2026-10-25 02:50:00"}, rig.Row{"name": "B", "updated": "2026-10-24 12:00:00"}, rig.Row{"name": "C", "updated": "2026-10-25 01:59:59"})
	const since = "/contact?modified_since=2026-10-25T00:50:00Z&sort=id"
	require.Equal(t, []string{"A"}, namesOf(t, d.Call("GET", since, anna, "")))
	s.Put("contacts", rig.Row{"id": 2, "name": "Changed", "updated": "2026-10-25 02:10:00"})
	found := data[[]rig.Row](t, d.Call("GET", since, anna, ""))
	require.Len(t, found, 2)
	require.Equal(t, "Changed", found[1]["name"])
	require.Equal(t, "2026-10-25T01:10:00.000Z", found[1]["modified_at"])
}

// TestRecordOfTheFuture: one whose time is still to come does not hide what is changed after it was
// seen.
func TestRecordOfTheFuture(t *testing.T) {
	t.Parallel()
	s, d, anna := startAlmanac(t, `
      modified_at: {path: updated, readonly: true}
`, rig.Row{"name": "A", "updated": "2099-01-01 00:00:00Z"}, rig.Row{"name": "B", "updated": "2026-01-01 00:00:00Z"})
	for _, name := range []string{"B", "Changed", "Changed again"} {
		s.Put("contacts", rig.Row{"id": 2, "name": name, "updated": time.Now().UTC().Add(time.Second).Format("2006-01-02 15:04:05.000Z")})
		require.Equal(t, []string{"A", name}, namesOf(t, d.Call("GET", "/contact?sort=id", anna, "")))
	}
}
