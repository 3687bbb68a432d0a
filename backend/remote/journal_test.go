package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord"
)

// couchSheet follows the feed of a CouchDB; all is read for the first cursor alone.
const couchSheet = `
source: {http: {url: "${POCKETBASE_URL}"}}
client: org
resources:
  contact:
    key: {columns: _id, id: kept}
    version: _rev
    operations:
      get: {path: "/people/{key}"}
      list:
        method: POST
        path: /people/_find
        body: '{"selector": {"org": {client.id}, "type": "person"}, "limit": {limit}, "skip": {offset}}'
        result: docs
        paging: {style: offset, size: 7}
    changes:
      by: feed
      key: id
      every: 10ms
      pause: 1ms
      page: 4
      %s
    fields: {kind: {from: type, codes: {person: person}}, name: name}
`

// TestForeignChangesByFeed keeps copies of what a CouchDB has, by what it says itself has changed:
// made, changed, moved to another tenant, deleted. The next cursor is said of the answer, or
// of each entry, from now on, or from the beginning.
func TestForeignChangesByFeed(t *testing.T) {
	s, example := foreigntest.CouchDB(t), couchFeed(t)
	for name, said := range map[string]string{"of the answer": example, "of entries": strings.Replace(strings.Replace(example, "start: now, ", "", 1), "next: last_seq", "position: seq", 1)} {
		t.Run(name, func(t *testing.T) {
			store := openText(t, fmt.Sprintf(couchSheet, said), s.URL)
			db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
			require.NoError(t, err)
			defer db.Close()
			f, err := follow.Open(t.Context(), follow.Options{Reader: store, DB: db, Sheet: store.Sheet, Log: zaptest.NewLogger(t)})
			require.NoError(t, err)
			defer f.Close()
			store.TellBy(f)
			c := front(t, store)
			contact := store.Sheet.Model.Resource("contact")
			require.Equal(t, backend.TellsAll, f.Tells(contact))
			copies := map[auth.Client]*drivertest.Copy{}
			for _, who := range []auth.Client{noord, zuid} {
				copies[who] = &drivertest.Copy{Client: c, Of: who, Resources: store.Sheet.Model.Resources}
				require.NoError(t, copies[who].Begin(t.Context()))
			}
			begun, err := c.Changes(t.Context(), backend.ChangesQuery{Client: noord, Begin: true, Resources: store.Sheet.Model.Resources})
			require.NoError(t, err)
			read := func() int64 {
				scans, err := f.Scans(t.Context())
				require.NoError(t, err)
				return scans[0].Records
			}
			before := read()

			found, err := s.Try(http.MethodPost, "/people/_find", foreigntest.Object{"selector": foreigntest.Object{"type": "person"}, "limit": 100})
			require.NoError(t, err)
			docs := found.(foreigntest.Object)["docs"].([]any)
			doc := func(i int) foreigntest.Object { return docs[i].(foreigntest.Object) }
			put := func(doc foreigntest.Object, more foreigntest.Object) {
				t.Helper()
				for k, v := range more {
					doc[k] = v
				}
				_, err := s.Try(http.MethodPut, "/people/"+doc["_id"].(string), doc)
				require.NoError(t, err)
			}
			noords := slices.IndexFunc(docs, func(d any) bool { return fmt.Sprint(d.(foreigntest.Object)["org"]) == "1" })
			put(doc(noords), foreigntest.Object{"name": "Changed"})
			put(doc(noords+3), foreigntest.Object{"org": 2})
			put(doc(noords+4), foreigntest.Object{"name": "Too"})
			gone := doc(noords + 6)
			_, err = s.Try(http.MethodDelete, "/people/"+gone["_id"].(string)+"?rev="+url.QueryEscape(gone["_rev"].(string)), nil)
			require.NoError(t, err)
			for i := range 6 { // more than a page
				s.Make(t, "/people", foreigntest.Object{"type": "person", "org": 1, "name": foreigntest.Name(i)})
			}
			for _, of := range copies {
				require.NoError(t, of.Equals(t.Context(), ample))
			}
			kinds := map[string]int{}
			page, err := c.Changes(t.Context(), backend.ChangesQuery{Client: noord, After: begun.Cursor, Resources: store.Sheet.Model.Resources, Limit: 100})
			require.NoError(t, err)
			for _, change := range page.Changes {
				kinds[string(change.Kind)]++
			}
			require.Equal(t, map[string]int{"created": 6, "updated": 2, "deleted": 2}, kinds)
			require.LessOrEqual(t, read()-before, int64(2*10), "no more than what changed, for each of two")
			require.NoError(t, f.Close())
		})
	}
}

// between is a proxy before the CouchDB, which the test has answer something else.
func between(t *testing.T, service *foreigntest.System, hinder func(w http.ResponseWriter, r *http.Request) (done bool)) string {
	t.Helper()
	to, err := url.Parse(service.URL)
	require.NoError(t, err)
	transport := new(http.Transport)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hinder(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// couchFeed is the feed of CouchDB's in the page about sheets.
func couchFeed(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/sheet.md")
	require.NoError(t, err)
	return regexp.MustCompile(`feed: \{path: .*\}`).FindString(string(page))
}

// TestForeignFeedOfAnAwkwardService reads a feed that answers thirty entries at most, whatever it is
// asked for, is asked again after an hour only, and names a record that cannot be read: what
// comes before that is told. A whole page that ends where it began would hide what comes behind.
func TestForeignFeedOfAnAwkwardService(t *testing.T) {
	s := foreigntest.CouchDB(t)
	var broken atomic.Pointer[string] // the end of a path
	var stuck atomic.Bool
	service := between(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if q := r.URL.Query(); stuck.Load() {
			q.Del("since")
			r.URL.RawQuery = q.Encode()
		} else if q.Has("limit") {
			q.Set("limit", "30")
			r.URL.RawQuery = q.Encode()
		}
		if end := broken.Load(); end != nil && strings.HasSuffix(r.URL.Path, *end) {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	})
	text := strings.NewReplacer("every: 10ms", "every: 1h", "page: 4", "page: 100", "start: now, ", "").Replace(fmt.Sprintf(couchSheet, couchFeed(t)))
	store := openText(t, text, service)
	contact := store.Sheet.Model.Resource("contact")
	_, more, err := store.Position(t.Context(), contact, noord, "")
	require.NoError(t, err)
	require.True(t, more, "page by page, at the pace of the sheet")

	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
	require.NoError(t, err)
	defer db.Close()
	f, err := follow.Open(t.Context(), follow.Options{Reader: store, DB: db, Sheet: store.Sheet})
	require.NoError(t, err)
	defer f.Close()
	store.TellBy(f)
	c := front(t, store)
	begun, err := c.Changes(t.Context(), backend.ChangesQuery{Client: noord, Begin: true, Resources: store.Sheet.Model.Resources})
	require.NoError(t, err)
	for i := range 60 {
		made := s.Make(t, "/people", foreigntest.Object{"type": "person", "org": 1, "name": foreigntest.Name(i)})
		if i == 58 {
			end := fmt.Sprint("/", made["id"])
			broken.Store(&end)
		}
	}
	require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error { // as if the hour had passed
		_, err := c.Exec(t.Context(), "UPDATE followed SET next_at = 0")
		return err
	}))
	require.Eventually(t, func() bool {
		page, err := c.Changes(t.Context(), backend.ChangesQuery{Client: noord, After: begun.Cursor, Resources: store.Sheet.Model.Resources, Limit: 100})
		require.NoError(t, err)
		return len(page.Changes) == 58
	}, ample, 5*time.Millisecond)
	require.NoError(t, f.Close())

	stuck.Store(true)
	page, err := store.Entries(t.Context(), contact, noord, "c0", 4)
	require.NoError(t, err)
	_, err = store.Entries(t.Context(), contact, noord, page.Next, 4)
	require.ErrorContains(t, err, "the feed of contact answers a whole page and does not go on")
}
