package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
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

// shelfKeys are what a sheet says of the numbers, and of their order.
var shelfKeys = map[string]string{"kept": "kept}", "by id": "column}\n    order: [key]", "not by id": "column}"}

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

const shelfSheet = `
resources:
  country:
    key: {columns: key, id: %s
    client: ""
    operations: {list: {path: /list, result: items, %s}}
    fields: {code: code, name: name}
`

func (s *shelf) open(t *testing.T, id, list string, ids IDStore) *Store {
	t.Helper()
	return open(t, Options{Sheet: loadText(t, fmt.Sprintf(shelfSheet, shelfKeys[id], list), s.URL), IDStore: ids})
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
		for id := range shelfKeys {
			t.Run(style+"/"+id, func(t *testing.T) {
				s := newShelf(t)
				store := s.open(t, id, list, openIDStore(t))
				r := store.Sheet.Model.Resource("country")
				rapid.Check(t, func(rt *rapid.T) {
					s.fill(rapid.IntRange(0, 60).Draw(rt, "records"), id == "by id")
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
		for id := range shelfKeys {
			t.Run(style+"/"+id, func(t *testing.T) {
				s, ids := newShelf(t), openIDStore(t)
				s.fill(30, id == "by id")
				store := s.open(t, id, list, ids)
				r := store.Sheet.Model.Resource("country")
				q := backend.Query{Client: auth.Client{ID: 1}, Keyset: true, Limit: 10, Total: true}
				page, err := store.List(bg(), r, q)
				require.NoError(t, err)
				q.After = page.Records[9].ID()
				s.delete([]int{9})

				again := s.open(t, id, list, ids) // a gateway that has just started
				r = again.Sheet.Model.Resource("country")
				page, err = again.List(bg(), r, q)
				require.NoError(t, err)
				require.Len(t, page.Records, 10)
				require.True(t, page.More)
				require.EqualValues(t, 29, page.Total)
				want := s.keys[0]
				if id == "by id" {
					want = s.keys[9]
				}
				require.Equal(t, fmt.Sprint("C", want), page.Records[0].Get("code").Text())
			})
		}
	}
}

// TestAfterWhatWasListedOtherwise: what was listed before a record is remembered of what a
// client asks for. Before, it was of a list that is picked out of what the service has, or
// of one that is not: where that turned out otherwise on the next page, and the record had
// gone, the walk began again.
func TestAfterWhatWasListedOtherwise(t *testing.T) {
	row := func(n int, name string, org int) string {
		return fmt.Sprintf(`{"key":"K%d","code":"C%[1]d","name":%q,"org":%d}`, n, name, org)
	}
	a, b, c, e := row(1, "x", 1), row(2, "x", 1), row(3, "x", 1), row(5, "x", 1)
	for name, test := range map[string]struct{ first, then []string }{
		"a filter was left out of account": {[]string{a, b, row(4, "y", 1), c, e}, []string{a, c, e}},
		"others' records have come":        {[]string{a, b, c, e}, []string{a, c, row(4, "x", 2), e}},
	} {
		t.Run(name, func(t *testing.T) {
			var rows atomic.Value
			rows.Store(test.first)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(rows.Load().([]string), ","))
			}))
			t.Cleanup(server.Close)
			s := mixedStore(t, server.URL, `query: {name: "{filter.name}", org: "{client.id}"}, paging: {style: none}`, "client: org")
			r := s.Sheet.Model.Resource("country")
			q := backend.Query{Client: auth.Client{ID: 1}, Keyset: true, Limit: 2, Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue("x")}}}
			page, err := s.List(bg(), r, q)
			require.NoError(t, err)
			q.After = page.Records[1].ID()
			rows.Store(test.then)
			_, err = s.List(bg(), r, backend.Query{Client: q.Client, Limit: 10})
			require.NoError(t, err)
			page, err = s.List(bg(), r, q)
			require.NoError(t, err)
			var codes []string
			for _, rec := range page.Records {
				codes = append(codes, rec.Get("code").Text())
			}
			require.Equal(t, []string{"C3", "C5"}, codes)
		})
	}
}
