package remote

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

// surveyed is what a walk of a rack's records has shown to a client, by resource.
func surveyed(t *testing.T, s *rack, since string, client auth.Client) (found map[string][]string, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := openDriver(t, strings.Replace(rackSheet, "SINCE", since, 1), server.URL, "", func(o *Options) { o.Closely = true })
	found = map[string][]string{}
	var all []*Survey
	for _, name := range []string{"contact", "order"} {
		some, failure := d.Survey(bg(), d.Sheet.Model.Resource(name), client)
		if failure != nil {
			err = failure
		}
		all = append(all, some...)
	}
	for _, s := range all {
		lost, err := d.Nowhere(bg(), s)
		require.NoError(t, err)
		for _, f := range append(s.Found, lost...) {
			found[s.Resource.Name] = append(found[s.Resource.Name], fmt.Sprintf("%d %s %d/%d", f.What, f.At, f.Records, f.Of))
		}
	}
	return found, err
}

func says(what Claim, at string, n, of int) string {
	return fmt.Sprintf("%d %s %d/%d", what, at, n, of)
}

// TestSurvey counts what does not fit, of all records.
func TestSurvey(t *testing.T) {
	s := &rack{of: map[string][]map[string]any{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 25 {
		s.put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1 + i%2, "name": fmt.Sprint("N", i), "note": "", "kind": "P", "days": i})
	}
	line := func(n int) map[string]any { return map[string]any{"line": n, "text": "x", "qty": 1} }
	for i := range 4 {
		s.put("orders", fmt.Sprint("o", i), map[string]any{"org": 1, "contact": "c0", "lines": []any{line(1), line(2)}})
	}
	found, err := surveyed(t, s, tellsSince, north)
	require.NoError(t, err)
	require.Empty(t, found)

	s.put("contacts", "c1", map[string]any{"kind": "Q", "days": "many"})
	s.put("contacts", "c2", map[string]any{"kind": "R"})
	s.put("contacts", "c3", map[string]any{"name": nil})
	s.put("contacts", "c4", map[string]any{"name": strings.Repeat("n", 300)})
	s.put("contacts", "c5", map[string]any{"org": ""})
	s.put("orders", "o1", map[string]any{"contact": "c99", "lines": []any{line(1), map[string]any{"line": 2, "text": "x", "qty": "?"}}})
	s.put("orders", "o2", map[string]any{"contact": "c1"})
	s.do(func() { s.rename = map[string]string{"note": "memo"} })
	found, err = surveyed(t, s, tellsSince, north)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		"contact":   {says(Nobodys, "client", 1, 25), says(Unlisted, "kind", 2, 25), says(Empty, "name", 1, 25), says(TooLong, "name", 1, 25), says(Missing, "note", 24, 25), says(Unshown, "payment_days", 1, 25)},
		"order":     {says(Unshown, "orderlines", 1, 4), says(Nowhere, "contact_id", 1, 3)},
		"orderline": {says(Unshown, "quantity", 1, 8)},
	}, found)
}

// TestSurveyOfWalks: a walk that does not add up fails with its words, and since is tried.
func TestSurveyOfWalks(t *testing.T) {
	s := &rack{of: map[string][]map[string]any{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 25 {
		s.put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1, "name": "N", "kind": "P", "note": "", "days": 1})
	}
	found, err := surveyed(t, s, `paging: {style: page, size: 10, total: {read: .items | length}}`, north)
	require.ErrorIs(t, err, backend.ErrChanged)
	require.ErrorContains(t, err, "contact: 10 records came, and there are more behind what the answers say is the end, at .items | length", "%v", found)
	_, err = surveyed(t, s, `paging: {style: page, size: 10, total: all}`, north)
	require.ErrorContains(t, err, "no number of all records at all of the answer")
	found, err = surveyed(t, s, `since: {query: {after: "{since}"}, settle: 0s}`, north)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(SinceIgnored, "walk.since", 25, 25)}}, found)
	found, err = surveyed(t, s, `since: {query: {since: "2036-01-01T00:00:00Z", x: "{since}"}, settle: 0s}`, north)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(SinceMisses, "walk.since", 1, 25)}}, found)
}
