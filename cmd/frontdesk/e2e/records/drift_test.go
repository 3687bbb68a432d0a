package records

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// told is what /changes tells after a cursor, by kind and id, and the next cursor.
func told(d *rig.Desk, token, after string) (all map[string]string, cursor string) {
	d.T.Helper()
	path := "/changes?resource=contact"
	if after != "" {
		path += "&records=1&after=" + after
	}
	a := d.Call("GET", path, token, "")
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	var page struct {
		Data []struct {
			ID     int
			Kind   string
			Record struct{ Name *string }
		}
		Cursor string
	}
	require.NoError(d.T, json.Unmarshal(a.Body, &page))
	all = map[string]string{}
	for _, c := range page.Data {
		all[fmt.Sprint(c.Kind, " ", c.ID)] = "null"
		if c.Record.Name != nil {
			all[fmt.Sprint(c.Kind, " ", c.ID)] = *c.Record.Name
		}
	}
	return all, page.Cursor
}

// TestServiceChanges: what needs a member that the service has no more is closed, writes before
// lists, and opens by itself; nothing is told as null, empty, not found or deleted.
func TestServiceChanges(t *testing.T) {
	t.Parallel()
	for member, needed := range map[string]string{"name": "a field", "org": "whose it is", "id": "the key", "at": "a field that nobody writes"} {
		for name, since := range map[string]string{"since": sinceRevision, "walks": ""} {
			t.Run(member+" "+name, func(t *testing.T) {
				t.Parallel()
				s := newCardfile(t)
				d := s.desk("{every: 100ms, max_age: 2h}", since, "")
				token := d.Login(rig.FullKey, "noord")
				before, _ := contacts(d, token)
				_, cursor := told(d, token, "")
				digest := d.Call("GET", "/changes/digest?resource=contact&ranges=1", token, "")
				require.Equal(t, 200, digest.Status)

				s.behind(func() { s.renamed = map[string]string{member: "x" + member} })
				closed := func() bool {
					return strings.Contains(string(d.AskOps("/readyz").Body), "writing contact is refused since") &&
						strings.Contains(string(d.AskOps("/metrics").Body), `frontdesk_backend_changed{calls="writes",resource="contact"}`)
				}
				await.True(t, closed, "operators are told: %s", needed)
				put := d.Call("PUT", "/contact/3", token, `{"payment_days":7}`)
				require.Equal(t, 500, put.Status, "%s", put.Body)
				require.Equal(t, "backend_changed", put.Failure(t).Reason)
				post := d.Call("POST", "/contact", token, `{"kind":"person","name":"New"}`)
				require.Equal(t, 500, post.Status)
				require.Equal(t, "backend_changed", post.Failure(t).Reason)
				one := d.Call("GET", "/contact/3", token, "")
				require.Equal(t, 500, one.Status, "%s", one.Body)
				require.Equal(t, "backend_changed", one.Failure(t).Reason)
				names, _ := contacts(d, token)
				require.Equal(t, before, names, "the copy has what it had")
				all, _ := told(d, token, cursor)
				require.Empty(t, all)
				again := d.Call("GET", "/changes/digest?resource=contact&ranges=1", token, "")
				require.JSONEq(t, withoutCursor(t, digest.Body), withoutCursor(t, again.Body))
				s.behind(func() {
					require.Len(t, s.cards, 10)
					require.Equal(t, 14, s.cards[2]["days"])
				})

				s.behind(func() {
					s.renamed = nil
					s.put(map[string]any{"id": 5, "name": "Meanwhile"})
				})
				await.True(t, func() bool { return !closed() })
				await.True(t, func() bool { return d.Call("PUT", "/contact/3", token, `{"payment_days":7}`).Status == 200 })
				names, _ = contacts(d, token, "Cache-Control", "no-cache")
				require.Equal(t, "Meanwhile", names[2])
				all, _ = told(d, token, cursor)
				require.Equal(t, map[string]string{"updated 3": "Card 3", "updated 5": "Meanwhile"}, all)
			})
		}
	}
}

func withoutCursor(t *testing.T, body []byte) string {
	var m map[string]any
	require.NoError(t, json.Unmarshal(body, &m))
	delete(m, "cursor")
	out, err := json.Marshal(m)
	require.NoError(t, err)
	return string(out)
}

// TestOneRecordThatDoesNotFit: it is left out of lists, and counted, not told as deleted, and in
// nobody's way; by itself it is 500.
func TestOneRecordThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]string{"since": sinceRevision, "walks": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCardfile(t)
			d := s.desk("{every: 100ms, max_age: 2h}", since, "")
			token := d.Login(rig.FullKey, "noord")
			contacts(d, token)
			_, cursor := told(d, token, "")
			s.behind(func() { s.put(map[string]any{"id": 3, "days": "on receipt"}) })
			await.True(t, func() bool {
				return strings.Contains(string(d.AskOps("/metrics").Body), `frontdesk_backend_records_left_out_total{field="payment_days",resource="contact"} 1`)
			})
			names, _ := contacts(d, token, "Cache-Control", "no-cache")
			require.Equal(t, []string{"Card 1", "Card 5", "Card 7", "Card 9"}, names)
			all, _ := told(d, token, cursor)
			require.Empty(t, all, "it is not gone")
			one := d.Call("GET", "/contact/3", token, "")
			require.Equal(t, 500, one.Status, "%s", one.Body)
			require.NotContains(t, string(one.Body)+string(d.AskOps("/backends").Body), "on receipt")
			require.Equal(t, 200, d.Call("GET", "/contact/5", token, "").Status)
			require.Equal(t, 200, d.Call("PUT", "/contact/5", token, `{"payment_days":30}`).Status)
			s.behind(func() { s.put(map[string]any{"id": 3, "days": 60}) })
			await.True(t, func() bool {
				names, _ := contacts(d, token, "Cache-Control", "no-cache")
				return len(names) == 5
			})
		})
	}
}
