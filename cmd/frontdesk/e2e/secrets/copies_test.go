package secrets

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// Where changes are not told at once, answers of the twins cannot be compared as they come: what
// is told of them in the end is the same, and nothing is ever told of a record that the user has
// not met.

// scanned has a sheet of a database look for what has changed, walked one of a service walk that
// often.
const (
	scanned = "\nchanges: {by: scan, every: 500ms, pause: 1ms}\nresources:\n"
	walked  = "\ncopy: {every: 500ms}\nresources:\n"
)

// told is of records, by resource and ID as the left twin has it: whether they are gone.
type told map[string]bool

// beginCopy takes the cursor that a copy begins with.
func (w *walk) beginCopy(side int, token string) (cursor string) {
	path := "/changes"
	if w.copies != nil {
		path += "?resource=" + strings.Join(w.copies, ",")
	}
	await.True(w.t, func() bool {
		said := w.send(side, token, ask{method: "GET", path: path})
		if said.status == 200 {
			cursor = cursorOf(w.t, said)
		}
		return said.status == 200
	})
	return cursor
}

// tellLater compares what is told of all that was done, and holds what a callback leads to, and
// the cursors of others, to it.
func (w *walk) tellLater() {
	if w.begun[0] == "" {
		return
	}
	var all [2]told
	await.True(w.t, func() bool {
		for side := range all {
			all[side] = w.toldSince(side, w.begun[side])
		}
		return maps.Equal(all[0], all[1])
	}, "%v", &all)
	require.NotEmpty(w.t, all[0])
	for _, resource := range w.copies { // ids differ, and with them the sums: not the count
		digest := ask{method: "GET", path: "/changes/digest?ranges=1&resource=" + resource}
		left, right := w.send(0, w.tokens[0], digest), w.send(1, w.tokens[1], digest)
		require.Equal(w.t, 200, left.status, "%s", left.body)
		require.Equal(w.t, counted(w.t, left), counted(w.t, right), "%s", resource)
	}
	for side, token := range w.tokens {
		promised := w.send(side, token, ask{method: "POST", path: "/changes", body: fmt.Sprintf(`{"webhook_url":"https://receiver.invalid/done","after":%q%s}`, w.begun[side], w.ofCopies())})
		require.Equal(w.t, 202, promised.status, "%s", promised.body)
		called := told{}
		w.note(side, w.fetched(side, promised), called)
		since := w.toldSince(side, w.begun[side]) // by now: both may have had more to tell than when they agreed
		for record := range called {
			require.Contains(w.t, since, record, "told by a callback alone")
		}
		require.NotEmpty(w.t, called)
	}
	for _, s := range w.others {
		if w.foreign {
			said := w.send(s.side, w.tokens[s.side], ask{method: "GET", path: "/changes?after=" + w.beginCopy(s.side, s.token)})
			require.Equal(w.t, 410, said.status, "with the cursor of another client: %s", said.body)
		}
	}
}

// counted is how many records a digest of one range is of.
func counted(t testing.TB, said answer) int {
	digest := must.JSON[struct{ Data []struct{ Count int } }](t, said.body)
	require.Len(t, digest.Data, 1, "%s", said.body)
	return digest.Data[0].Count
}

// ofCopies is the part of a body that names the resources of the copy.
func (w *walk) ofCopies() string {
	if w.copies == nil {
		return ""
	}
	return fmt.Sprintf(`,"resource":%q`, strings.Join(w.copies, ","))
}

// toldSince is what is told after a cursor.
func (w *walk) toldSince(side int, cursor string) told {
	all := told{}
	for more := true; more; {
		query := url.Values{"after": {cursor}, "page_size": {"500"}, "records": {"1"}}
		if w.copies != nil {
			query.Set("resource", strings.Join(w.copies, ","))
		}
		said := w.send(side, w.tokens[side], ask{method: "GET", path: "/changes?" + query.Encode()})
		require.Equal(w.t, 200, said.status, "%s", said.body)
		cursor, more = w.note(side, said.body, all)
	}
	return all
}

// note notes a page of changes.
func (w *walk) note(side int, body []byte, all told) (cursor string, more bool) {
	var page struct {
		Data []struct {
			Resource, Kind string
			ID             int
		}
		Cursor string
		More   bool
	}
	require.NoError(w.t, json.Unmarshal(body, &page), "%s", body)
	for _, c := range page.Data {
		id := fmt.Sprint(c.ID)
		require.True(w.t, w.ownIDs[side][c.Resource][id], "told that %s %s is %s, which the user never met", c.Resource, id, c.Kind)
		all[c.Resource+" "+w.leftOf(side, c.Resource, id)] = c.Kind == "deleted"
	}
	return page.Cursor, page.More
}

// leftOf is the ID that a record has in the left twin.
func (w *walk) leftOf(side int, resource, id string) string {
	if left, other := w.lefts[resource+" "+id]; side == 1 && other {
		return left
	}
	return id
}

// fetched is the result of a job that was promised.
func (w *walk) fetched(side int, promised answer) []byte {
	var done struct{ Data struct{ URL string } }
	await.True(w.t, func() bool {
		said := w.send(side, w.tokens[side], ask{method: "GET", path: "/webhook?id=" + jobOf(promised)})
		return said.status == 200 && json.Unmarshal(said.body, &done) == nil
	})
	address := must.Have(url.Parse(done.Data.URL))(w.t)
	return w.send(side, w.tokens[side], ask{method: "GET", path: strings.TrimPrefix(address.Path, "/webservice_v2") + "?" + address.RawQuery}).body
}

// copied are the resources of a kind that copies are kept of: few, since each is read again and
// again.
func (k kind) copied(has map[string]map[string]bool) []string {
	if !k.scans {
		return nil
	}
	return slices.DeleteFunc([]string{"contact", "article", "order"}, func(name string) bool { return has[name] == nil })
}
