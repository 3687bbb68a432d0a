package check

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
)

// emptyRack is one that has no records yet.
func emptyRack() *remotetest.Rack {
	s := remotetest.NewRack()
	s.Records = map[string][]map[string]any{}
	return s
}

// surveyed is what a walk of a rack's records shows to its first client, by resource.
func surveyed(t *testing.T, s *remotetest.Rack, since string) (seen map[string][]string, err error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	driver, o, problems := inFront(t, remotetest.RackSheet, map[string]string{"URL": server.URL}, "SINCE", since)
	require.Empty(t, problems)
	c, whole := &httpCheck{Options: o, service: driver}, censuses{}
	for _, name := range []string{"contact", "order"} {
		all, failure := c.census(t.Context(), o.Sheet.Model.Resource(name), auth.Client{ID: 1, Name: "Noord"})
		if failure != nil {
			err = failure
		}
		maps.Copy(whole, all)
	}
	seen = map[string][]string{}
	for r, s := range whole {
		for _, f := range append(s.found, whole.nowhere(s)...) {
			seen[r.Name] = append(seen[r.Name], says(f.what, f.at, f.records, f.of))
		}
	}
	return seen, err
}

func says(what claim, at string, n, of int) string {
	return fmt.Sprintf("%s %s %d/%d", what, at, n, of)
}

// TestCensus counts what does not fit, of all records.
func TestCensus(t *testing.T) {
	s := emptyRack()
	for i := range 25 {
		s.Put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1 + i%2, "name": fmt.Sprint("N", i), "note": "", "kind": "P", "days": i})
	}
	line := func(n int) map[string]any { return map[string]any{"line": n, "text": "x", "qty": 1} }
	for i := range 4 {
		s.Put("orders", fmt.Sprint("o", i), map[string]any{"org": 1, "contact": "c0", "lines": []any{line(1), line(2)}})
	}
	found, err := surveyed(t, s, remotetest.WithSince)
	require.NoError(t, err)
	require.Empty(t, found)

	s.Put("contacts", "c1", map[string]any{"kind": "Q", "days": "many"})
	s.Put("contacts", "c2", map[string]any{"kind": "R"})
	s.Put("contacts", "c3", map[string]any{"name": nil})
	s.Put("contacts", "c4", map[string]any{"name": strings.Repeat("n", 300)})
	s.Put("contacts", "c5", map[string]any{"org": ""})
	s.Put("orders", "o1", map[string]any{"contact": "c99", "lines": []any{line(1), map[string]any{"line": 2, "text": "x", "qty": "?"}}})
	s.Put("orders", "o2", map[string]any{"contact": "c1"})
	s.Rename = map[string]string{"note": "memo"}
	found, err = surveyed(t, s, remotetest.WithSince)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{
		"contact":   {says(ownerless, "client", 1, 25), says(unlisted, "kind", 2, 25), says(empty, "name", 1, 25), says(tooLong, "name", 1, 25), says(missing, "note", 24, 25), says(unshown, "payment_days", 1, 25)},
		"order":     {says(unshown, "orderlines", 1, 4), says(nowhere, "contact_id", 1, 3)},
		"orderline": {says(unshown, "quantity", 1, 8)},
	}, found)
}

// TestCensusOfWalks: a walk that does not add up fails with its words, and since is tried.
func TestCensusOfWalks(t *testing.T) {
	s := emptyRack()
	for i := range 25 {
		s.Put("contacts", fmt.Sprint("c", i), map[string]any{"org": 1, "name": "N", "kind": "P", "note": "", "days": 1})
	}
	found, err := surveyed(t, s, `paging: {style: page, size: 10, total: {read: .items | length}}`)
	require.ErrorIs(t, err, backend.ErrChanged)
	require.ErrorContains(t, err, "contact: 20 records came, and the service counts 10, at .items | length", "%v", found)
	_, err = surveyed(t, s, `paging: {style: page, size: 10, total: all}`)
	require.ErrorContains(t, err, "no number of all records at all of the answer")
	found, err = surveyed(t, s, `since: {query: {after: "{since}"}, settle: 0s}`)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(sinceIgnored, "walk.since", 25, 25)}}, found)
	found, err = surveyed(t, s, `since: {query: {since: "2036-01-01T00:00:00Z", x: "{since}"}, settle: 0s}`)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"contact": {says(sinceMisses, "walk.since", 1, 25)}}, found)
}
