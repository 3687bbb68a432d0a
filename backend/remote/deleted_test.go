package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
)

// shelf is a service that lists numbers in an order of its own, and from which records
// are deleted while it is walked through.
type shelf struct {
	*httptest.Server
	mu   sync.Mutex
	keys []int
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.list))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := func(name string) int {
		n, _ := strconv.Atoi(r.URL.Query().Get(name))
		return n
	}
	from := number("offset") + number("cursor") + number("page")*number("limit")
	from = min(from, len(s.keys))
	to := min(from+number("limit"), len(s.keys))
	var items []string
	for _, key := range s.keys[from:to] {
		items = append(items, fmt.Sprintf(`{"key":%d,"code":"C%[1]d","name":"N"}`, key))
	}
	next := ""
	if to < len(s.keys) {
		next = strconv.Itoa(to)
		w.Header().Set("Link", fmt.Sprintf(`<http://%s/list?limit=%d&offset=%d>; rel="next"`, r.Host, number("limit"), to))
	}
	_, _ = fmt.Fprintf(w, `{"items":[%s],"next":%q}`, strings.Join(items, ","), next)
}

// fill puts so many records there: by their numbers, or in no order.
func (s *shelf) fill(n int, byNumber bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = nil
	for i := range n {
		s.keys = append(s.keys, map[bool]int{true: i, false: i * 37 % 101}[byNumber]+1)
	}
}

// delete takes records away, by their positions.
func (s *shelf) delete(positions []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range positions {
		if i < len(s.keys) {
			s.keys = slices.Delete(s.keys, i, i+1)
		}
	}
}

const shelfSheet = `format: 1
source: {http: {url: "${GARAGE_URL}"}}
rules: backend
keep: keep.db
accounts: {verify: {path: /login}, result: {client_id: client}}
resources:
  country:
    key: {columns: key, id: %s}
    client: ""
    operations: {list: {path: /list, result: items, %s}}
    fields: {code: code, name: name}
`

func (s *shelf) open(t *testing.T, id, list string, keep Keep) *Store {
	t.Helper()
	file := t.TempDir() + "/shelf.yaml"
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, shelfSheet, id, list), 0o600))
	return open(t, Options{Sheet: loadSheetFile(t, file, s.URL), Keep: keep})
}

var shelfStyles = map[string]string{
	"offset": `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 7}`,
	"page":   `query: {limit: "{limit}", page: "{page}"}, paging: {style: page, size: 7, first: 0}`,
	"cursor": `query: {limit: "{limit}", cursor: "{cursor}"}, paging: {style: cursor, size: 7, next: next}`,
	"link":   `query: {limit: "{limit}"}, paging: {style: link, size: 7, next: header}`,
}

// TestWalksWhileRecordsAreDeleted: a walk by after has each record once that is there
// from its beginning to its end, whatever is deleted on the way: in what was answered,
// the record that the page is after among it, and in what was not.
func TestWalksWhileRecordsAreDeleted(t *testing.T) {
	for style, list := range shelfStyles {
		for _, id := range []string{"kept", "column"} {
			t.Run(style+"/"+id, func(t *testing.T) {
				s := newShelf(t)
				store := s.open(t, id, list, openKeep(t))
				r := store.Sheet.Model.Resource("country")
				rapid.Check(t, func(rt *rapid.T) {
					s.fill(rapid.IntRange(0, 60).Draw(rt, "records"), id == "column")
					q := backend.Query{Client: auth.Client{ID: 1}, Keyset: true, Limit: rapid.IntRange(1, 20).Draw(rt, "size")}
					var got []string
					for {
						page, err := store.List(bg(), r, q)
						require.NoError(rt, err)
						for _, rec := range page.Records {
							got = append(got, rec.Get("code").Text())
						}
						if !page.More {
							break
						}
						q.After = page.Records[len(page.Records)-1].ID()
						s.delete(rapid.SliceOfN(rapid.IntRange(0, 30), 0, 4).Draw(rt, "deleted"))
					}
					for _, key := range s.keys {
						require.Contains(rt, got, fmt.Sprint("C", key))
					}
					require.Len(rt, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "twice: %v", got)
				})
			})
		}
	}
}

// TestAfterWhatIsGone: where nothing is remembered of the record that a page is to be
// after, by IDs the page goes on where it would be; else it begins again, so that nothing
// is missing.
func TestAfterWhatIsGone(t *testing.T) {
	for style, list := range shelfStyles {
		for _, id := range []string{"kept", "column"} {
			t.Run(style+"/"+id, func(t *testing.T) {
				s, keep := newShelf(t), openKeep(t)
				s.fill(30, id == "column")
				store := s.open(t, id, list, keep)
				r := store.Sheet.Model.Resource("country")
				q := backend.Query{Client: auth.Client{ID: 1}, Keyset: true, Limit: 10, Total: true}
				page, err := store.List(bg(), r, q)
				require.NoError(t, err)
				q.After = page.Records[9].ID()
				s.delete([]int{9})

				again := s.open(t, id, list, keep) // a gateway that has just started
				r = again.Sheet.Model.Resource("country")
				page, err = again.List(bg(), r, q)
				require.NoError(t, err)
				require.Len(t, page.Records, 10)
				require.True(t, page.More)
				require.EqualValues(t, 29, page.Total)
				want := s.keys[0]
				if id == "column" {
					want = s.keys[9]
				}
				require.Equal(t, fmt.Sprint("C", want), page.Records[0].Get("code").Text())
			})
		}
	}
}
