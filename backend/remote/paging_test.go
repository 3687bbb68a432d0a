package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// pagedService serves 95 countries in the way that a style of paging has it.
func pagedService(t *testing.T, style string, cap int) *httptest.Server {
	t.Helper()
	const n = 95
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, _ := strconv.Atoi(q.Get("limit"))
		limit = min(limit, cap)
		from, _ := strconv.Atoi(q.Get("offset"))
		switch style {
		case "page":
			page, _ := strconv.Atoi(q.Get("page"))
			from = page * limit
		case "cursor":
			from, _ = strconv.Atoi(q.Get("cursor"))
		}
		to := n
		if style != "none" {
			to = min(n, from+limit)
		}
		var items []string
		for i := from; i < to; i++ {
			items = append(items, fmt.Sprintf(`{"id":%d,"code":"C%d","name":"N"}`, i+1, i))
		}
		w.Header().Set("X-Total-Count", strconv.Itoa(n))
		next := "null"
		if style == "cursor" && to < n {
			next = fmt.Sprintf(`"%d"`, to)
		}
		if style == "link" && to < n {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s/list?limit=%d&offset=%d>; rel="next", </list>; rel="first"`, r.Host, limit, to))
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s],"total":%d,"next":%s}`, strings.Join(items, ","), n, next)
	}))
	t.Cleanup(server.Close)
	return server
}

func pagedStore(t *testing.T, url, list string) *Store {
	t.Helper()
	return openText(t, `
resources:
  country:
    key: {columns: id, generated: supplied}
    operations: {list: {path: /list, result: items, `+list+`}}
    fields: {code: code, name: name}
`, url)
}

func TestPagingStyles(t *testing.T) {
	for style, list := range map[string]string{
		"offset": `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 20}`,
		"page":   `query: {limit: "{limit}", page: "{page}"}, paging: {style: page, size: 20, first: 0}, total: {result: total}`,
		"link":   `query: {limit: "{limit}"}, paging: {style: link, size: 20, next: header}`,
		"cursor": `query: {limit: "{limit}", cursor: "{cursor}"}, paging: {style: cursor, size: 20, next: next}`,
		"none":   `paging: {style: none}`,
		"header": `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 20}, total: {header: x-total-count}`,
		"count":  `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 20}, total: {path: /list, query: {limit: "1"}, header: X-Total-Count}`,
	} {
		t.Run(style, func(t *testing.T) {
			s := pagedStore(t, pagedService(t, style, 20).URL, list)
			countries := s.Sheet.Model.Resource("country")
			for _, test := range []struct{ offset, limit int }{{0, 10}, {0, 20}, {15, 30}, {80, 10}, {90, 10}, {94, 1}, {95, 5}, {200, 5}, {0, 1000}} {
				page, err := s.List(bg(), countries, backend.Query{Client: anna, Offset: test.offset, Limit: test.limit, Total: true})
				require.NoError(t, err)
				require.Len(t, page.Records, max(0, min(test.limit, 95-test.offset)), test)
				require.Equal(t, test.offset+test.limit < 95, page.More, test)
				require.EqualValues(t, 95, page.Total, test)
				for i, rec := range page.Records {
					require.EqualValues(t, test.offset+i+1, rec.ID(), test)
				}
			}
			page, err := s.List(bg(), countries, backend.Query{Client: anna, After: 42, Limit: 10})
			require.NoError(t, err)
			require.EqualValues(t, 43, page.Records[0].ID())
			require.Len(t, page.Records, 10)
			// There is no get: what refers to a country is found in the list.
			rec, err := s.Get(bg(), countries, backend.Query{Client: anna, ID: 77})
			require.NoError(t, err)
			require.Equal(t, "C76", rec.Get("code").Text())
			_, err = s.Get(bg(), countries, backend.Query{Client: anna, ID: 770})
			require.ErrorIs(t, err, backend.ErrNotFound)
		})
	}
}

// Lists that lead elsewhere, or nowhere, are failures, not records left out.
func TestPagingThatLies(t *testing.T) {
	short := pagedStore(t, pagedService(t, "page", 7).URL, `query: {limit: "{limit}", page: "{page}"}, paging: {style: page, size: 20, first: 0}, total: {result: total}`)
	_, err := short.List(bg(), short.Sheet.Model.Resource("country"), backend.Query{Client: anna, Limit: 10})
	require.ErrorContains(t, err, "in place of the 20")
	for _, path := range []string{"", "path: /list, "} {
		s := pagedStore(t, pagedService(t, "none", 7).URL, `total: {`+path+`header: X-Count}`)
		_, err := s.List(bg(), s.Sheet.Model.Resource("country"), backend.Query{Client: anna, Limit: 10, Total: true})
		require.ErrorContains(t, err, "does not tell the total")
	}
	for next, want := range map[string]string{
		`"http://169.254.169.254/latest"`: "of another service", `"ftp://x/"`: "of another service", `"list?x=1"`: "incomplete", `"/list?a b"`: "incomplete", `"/list"`: "is the page itself",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"items":[{"id":1,"code":"x","name":"y"}],"next":%s}`, next)
		}))
		s := pagedStore(t, server.URL, `paging: {style: link, next: next}`)
		_, err := s.List(bg(), s.Sheet.Model.Resource("country"), backend.Query{Client: anna, Limit: 10})
		require.ErrorContains(t, err, want, next)
		server.Close()
	}
}

func TestCursorsAreBounded(t *testing.T) {
	c := newCursors(100)
	for list := range 10 {
		for i := range 50 {
			c.learn(fmt.Sprint(list), mark{seen: i * 10, cursor: fmt.Sprint(i)})
			c.learnAfter(fmt.Sprint(list), int32(i), mark{position: i})
			require.LessOrEqual(t, c.count, 100)
		}
	}
	m, ok := c.nearest("9", 255, time.Time{})
	require.True(t, ok)
	require.LessOrEqual(t, m.seen, 255)
	for i := range 1000 {
		c.learn("one", mark{seen: i})
		c.learnAfter("one", int32(i), mark{position: i})
		_, ok = c.after("one", int32(i))
		require.True(t, ok, "what was learned last is what is asked for next")
	}
	require.LessOrEqual(t, c.count, 100)
	m, _ = c.nearest("one", 999, time.Time{})
	require.Greater(t, m.seen, 900)
	c.forget("one")
	require.Zero(t, c.count)
}

// What is asked of lists must not pile up: most have one page, and are asked for
// by what clients filter by.
func TestCursorsForgetWhatTheyWereAsked(t *testing.T) {
	c := newCursors(100)
	for i := range 1000 {
		key := fmt.Sprint(i)
		_, ok := c.nearest(key, 10, time.Time{})
		require.False(t, ok)
		_, ok = c.after(key, 10)
		require.False(t, ok)
		c.forget(key)
		c.learn(key, mark{cursor: strings.Repeat("x", longestCursor+1)})
		c.learnAfter(key, 1, mark{cursor: strings.Repeat("x", longestCursor+1)})
	}
	require.Zero(t, c.lists.Len())
}

// A cursor that is remembered is all that is kept of the answer it came in.
func TestCursorsKeepNoAnswers(t *testing.T) {
	const chunks, size = 64, 1 << 20
	for style, query := range map[string]string{"cursor": `query: {cursor: "{cursor}"}, `, "link": ""} {
		filler := strings.Repeat("x", size)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "c"))
			next := fmt.Sprintf(`"c%d"`, n+1)
			if style == "link" {
				next = fmt.Sprintf(`"/list?cursor=c%d"`, n+1)
			}
			if n+1 == chunks {
				next = "null"
			}
			_, _ = fmt.Fprintf(w, `{"items":[{"id":%d,"code":"C%d","name":"N"}],"filler":%q,"next":%s}`, n+1, n, filler, next)
		}))
		s := pagedStore(t, server.URL, query+`paging: {style: `+style+`, size: 1, next: next}`)
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what pools keep over the first
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		page, err := s.List(bg(), s.Sheet.Model.Resource("country"), backend.Query{Client: anna, Offset: chunks - 2, Limit: 1})
		require.NoError(t, err)
		require.Len(t, page.Records, 1)
		page.Records = nil
		require.Less(t, int64(heap())-int64(before), int64(chunks*size/4), style)
		require.Greater(t, s.cursors.count, chunks/2)
		server.Close()
	}
}

// TestALongListLetsOthersIn: a filter that the service does not have is applied to all that
// it lists, in many calls. Those of others come in between: before, one such list had a
// place to itself until its time was up.
func TestALongListLetsOthersIn(t *testing.T) {
	var c *backend.Client
	var others sync.WaitGroup
	came := make(chan struct{})
	behind := pagedService(t, "offset", 20)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Get("limit") == "2":
			close(came)
		case q.Get("offset") == "0":
			others.Go(func() {
				_, err := c.List(bg(), c.Model().Resource("country"), backend.Query{Client: auth.Client{ID: anna.ID + 1}, Limit: 1})
				assert.NoError(t, err)
			})
			assert.Eventually(t, func() bool { return c.Load().Waiting == 1 }, ample, time.Millisecond)
		default:
			select {
			case <-came:
			case <-r.Context().Done():
			case <-time.After(ample):
				t.Error("the list of another client is not let in")
			}
		}
		behind.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := pagedStore(t, front.URL, `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 20}`)
	c, err := backend.NewClient(s, s.Sheet.Model, backend.Options{Timeout: 3 * ample, MaxConcurrent: 1})
	require.NoError(t, err)
	country := c.Model().Resource("country")
	page, err := c.List(bg(), country, backend.Query{
		Client: anna, Limit: 10, Filters: []backend.Filter{{Field: country.Field("code"), Value: mapping.TextValue("C94")}},
	})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)
	others.Wait()
}

// TestNextPagesByLink: before, a header was cut at each comma, and a query alone was looked for at
// the root, so that a second page was an internal error.
func TestNextPagesByLink(t *testing.T) {
	for name, link := range map[string]string{
		"a comma":           `<http://HOST/v1/list?fields=id,code&page=2>; rel="next"`,
		"others before":     `<http://HOST/v1/list?page=1,1>; rel="first", <http://HOST/v1/list?fields=id,code&page=2>;rel=next`,
		"no path":           `<?fields=id,code&page=2>; rel="next"`,
		"a path":            `</v1/list?page=2>; title="a, b; rel=x"; rel="next"`,
		"several relations": `<?page=2>; rel="last next"`,
		"without blanks":    `<?page=9>;rel="prev",<?page=2>;rel="next"`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path != "/v1/list":
					w.WriteHeader(http.StatusNotFound)
				case r.FormValue("page") == "2":
					_, _ = fmt.Fprint(w, `{"items":[{"id":2,"code":"B","name":"N"}]}`)
				default:
					w.Header().Set("Link", strings.ReplaceAll(link, "HOST", r.Host))
					_, _ = fmt.Fprint(w, `{"items":[{"id":1,"code":"A","name":"N"}]}`)
				}
			}))
			t.Cleanup(server.Close)
			s := openText(t, `
source: {http: {url: "${GARAGE_URL}/v1"}}
resources:
  country:
    key: {columns: id}
    operations: {list: {path: /list, query: {limit: "{limit}"}, result: items, paging: {style: link, size: 1, next: header}}}
    fields: {code: code, name: name}
`, server.URL)
			page, err := s.List(bg(), s.Sheet.Model.Resource("country"), backend.Query{Client: anna, Limit: 10})
			require.NoError(t, err)
			require.Len(t, page.Records, 2)
		})
	}
}
