package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"frontdesk/backend/drivertest"
	"frontdesk/mapping"
)

// mixed has countries of which some are hidden and some are another client's. It is
// the oracle of itself.
type mixed struct {
	*httptest.Server
	hides bool // what is away
	byID  bool // the order

	mu   sync.Mutex
	rows []int
	last int // row
}

func mixedOrg(i int) string { return strconv.Itoa(1 + i%5/4) }

// openMixed serves countries in the way that a style of paging has it.
func openMixed(t *testing.T, style string, cap int) *mixed {
	t.Helper()
	m := &mixed{last: 89}
	for i := range 90 {
		m.rows = append(m.rows, i)
	}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		var all []string
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, i := range m.rows {
			if org := mixedOrg(i); q.Get("org") == "" || q.Get("org") == org {
				all = append(all, fmt.Sprintf(`{"key":"%s","nr":%d,"code":"C%d","name":"N%d","org":%s,"gone":%t}`, mixedKey(i), 1+i*37%99991, i, i%3, org, isMixedAway(i)))
			}
		}
		limit, _ := strconv.Atoi(q.Get("limit"))
		limit = min(limit, cap)
		from, _ := strconv.Atoi(q.Get("offset"))
		if style == "page" {
			page, _ := strconv.Atoi(q.Get("page"))
			from = page * limit
		}
		from, to := min(from, len(all)), len(all)
		if style != "none" {
			to = min(to, from+limit)
		}
		if style == "link" && to < len(all) {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s/list?limit=%d&offset=%d&org=%s>; rel="next"`, r.Host, limit, to, q.Get("org")))
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s],"total":%d}`, strings.Join(all[from:to], ","), len(all))
	}))
	t.Cleanup(m.Close)
	return m
}

func mixedKey(i int) drivertest.Key { return drivertest.Key(fmt.Sprintf("K%05d", i*37%99991)) }

// meddle deletes countries, and adds some anywhere.
func (m *mixed) meddle(t *rapid.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range rapid.IntRange(1, 5).Draw(t, "rows") {
		at := rapid.IntRange(0, len(m.rows)-1).Draw(t, "at")
		if len(m.rows) > 60 && rapid.Bool().Draw(t, "delete") {
			m.rows = slices.Delete(m.rows, at, at+1)
		} else if len(m.rows) < 120 {
			m.last++
			m.rows = slices.Insert(m.rows, at, m.last)
		}
	}
	if m.byID {
		slices.SortFunc(m.rows, func(a, b int) int { return cmp.Compare(mixedKey(a), mixedKey(b)) })
	}
}

func isMixedAway(i int) bool { return i < 12 || i%7 == 3 || i > 84 }

// Rows implements drivertest.Oracle.
func (m *mixed) Rows(context.Context, string) (rows []drivertest.Row, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.rows {
		owner, _ := strconv.ParseInt(mixedOrg(i), 10, 64)
		rows = append(rows, drivertest.Row{
			Key: mixedKey(i), Client: owner, Hidden: m.hides && isMixedAway(i),
			Fields: map[string]any{"code": fmt.Sprintf("C%d", i), "name": fmt.Sprintf("N%d", i%3), "is_archived": 0},
		})
	}
	return rows, nil
}

// TestListsAreWhole walks lists that have what is no record to the client, in every
// style of paging, and in the order of their IDs or not. Before, pages were cut
// before such rows were dropped, and the next began at the position of a raw row:
// records were missing and came twice, and total counted what nobody saw.
func TestListsAreWhole(t *testing.T) {
	drivertest.Cases(t, 25) // in each of 35 services
	styles := map[string]string{
		"offset": `query: {limit: "{limit}", offset: "{offset}"ORG}, paging: {style: offset, size: 20}`,
		"total":  `query: {limit: "{limit}", offset: "{offset}"ORG}, paging: {style: offset, size: 20}, total: {result: total}`,
		"page":   `query: {limit: "{limit}", page: "{page}"ORG}, paging: {style: page, size: 20, first: 0}, total: {result: total}`,
		"link":   `query: {limit: "{limit}"ORG}, paging: {style: link, size: 20, next: header}`,
		"none":   `query: {x: y ORG}, paging: {style: none}`,
	}
	whose := map[string][2]string{ // what the sheet says of rows, and what the service is asked
		"hidden":          {"client: org\n    hidden: row.gone", `, org: "{client.id}"`},
		"others":          {"client: org", ""},
		"others, hidden":  {"client: org\n    hidden: row.gone", ""},
		"nothing dropped": {"client: org", `, org: "{client.id}"`},
		"not by id":       {"client: org\n    key: {columns: nr, generated: supplied}", `, org: "{client.id}"`},
		"by id":           {"client: org\n    key: {columns: nr, generated: supplied}\n    order: [nr]", `, org: "{client.id}"`},
		"by id, hidden":   {"client: org\n    hidden: row.gone\n    key: {columns: nr, generated: supplied}\n    order: [nr]", ""},
	}
	for style, list := range styles {
		for name, says := range whose {
			t.Run(style+"/"+name, func(t *testing.T) {
				m := openMixed(t, strings.ReplaceAll(style, "total", "offset"), 20)
				m.hides = strings.Contains(says[0], "hidden")
				w := &drivertest.Walk{
					Client: front(t, mixedStore(t, m.URL, strings.ReplaceAll(list, "ORG", says[1]), says[0])), Oracle: m,
					Clients: []auth.Client{{ID: 1, Name: "one"}, {ID: 2, Name: "two"}}, Resources: []string{"country"}, Steps: 1, Meddle: m.meddle,
				}
				if style == "link" { // which has no positions that a page could be at
					w.Meddle = nil
				}
				if m.byID = strings.HasPrefix(name, "by id"); m.byID {
					w.ByKey = func(_ string, a, b drivertest.Key) int { return cmp.Compare(a, b) }
				}
				w.Run(t)
			})
		}
	}
}

func mixedStore(t *testing.T, url, list, says string) *Store {
	t.Helper()
	key := "key: {columns: key, id: kept, generated: supplied}"
	if strings.Contains(says, "key:") {
		key = "# key: below"
	}
	return openText(t, `
resources:
  country:
    `+key+`
    `+says+`
    operations: {list: {path: /list, result: items, `+list+`}}
    fields: {code: code, name: name}
`, url)
}

// TestAfterWhatWasNeverGivenOut is behind all: an empty page, and no failure.
func TestAfterWhatWasNeverGivenOut(t *testing.T) {
	s := mixedStore(t, openMixed(t, "offset", 20).URL, `query: {limit: "{limit}", offset: "{offset}"}, paging: {style: offset, size: 20}`, "client: org")
	r := s.Sheet.Model.Resource("country")
	page, err := s.List(bg(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 5, Keyset: true, After: 999999, Total: true})
	require.NoError(t, err)
	require.Empty(t, page.Records)
	require.False(t, page.More)
	require.EqualValues(t, 72, page.Total)
}

// TestFilterThatTheServiceDoesNotKnow: json-server leaves a parameter out of account that
// no row has as a member. Before, the whole list was answered as what was filtered by.
func TestFilterThatTheServiceDoesNotKnow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"items":[{"key":"K1","code":"C1","name":"One"},{"key":"K2","code":"C2"},{"key":"K3","code":"C3","name":"two"}],"total":3}`)
	}))
	t.Cleanup(server.Close)
	s := mixedStore(t, server.URL, `query: {name: "{filter.name}"}, paging: {style: none}, total: {result: total}`, `client: ""`)
	r := s.Sheet.Model.Resource("country")
	for name, want := range map[string]int{"One": 1, "ONE": 1, "none": 0, "two": 1, "": 0} { // of how it compares the service decides
		page, err := s.List(bg(), r, backend.Query{Client: auth.Client{ID: 1}, Limit: 2, Total: true, Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue(name)}}})
		require.NoError(t, err)
		require.Len(t, page.Records, want, name)
		require.False(t, page.More)
		require.EqualValues(t, want, page.Total)
	}
}

// TestPagesOfWhatTheServiceDidNotFilter: the first page shows that the service leaves a
// filter out of account; the second, which has nothing that would show it, and the third
// go on where the first ended.
func TestPagesOfWhatTheServiceDidNotFilter(t *testing.T) {
	const all, size = 26, 10
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		var items []string
		for i := from; i < min(from+size, all); i++ {
			items = append(items, fmt.Sprintf(`{"key":"K%02d","code":"C%02d","name":"%s"}`, i, i, map[bool]string{true: "other", false: "one"}[i == 1 || i == 25]))
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s],"total":%d}`, strings.Join(items, ","), all)
	}))
	t.Cleanup(server.Close)
	s := mixedStore(t, server.URL, `query: {name: "{filter.name}", from: "{offset}", limit: "{limit}"}, paging: {style: offset, size: 10}, total: {result: total}`, `client: ""`)
	r := s.Sheet.Model.Resource("country")
	var got []string
	for offset := 0; offset < 3*size; offset += size {
		page, err := s.List(bg(), r, backend.Query{
			Client: auth.Client{ID: 1}, Offset: offset, Limit: size, Total: true,
			Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue("one")}},
		})
		require.NoError(t, err)
		require.EqualValues(t, all-2, page.Total)
		require.Equal(t, offset < 2*size, page.More)
		for _, rec := range page.Records {
			got = append(got, rec.Values[r.Field("code").Index].Text())
		}
	}
	var want []string
	for i := range all {
		if i != 1 && i != 25 {
			want = append(want, fmt.Sprintf("C%02d", i))
		}
	}
	require.Equal(t, want, got)
}

// TestNoMoreIsReadThanThereIsRoomFor: a page that has to end early asks the service for
// nothing behind that.
func TestNoMoreIsReadThanThereIsRoomFor(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		var items []string
		for i := from; i < from+10; i++ {
			items = append(items, fmt.Sprintf(`{"key":"K%d","code":"C%d","name":%q}`, i, i, strings.Repeat("x", 100)))
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	s := mixedStore(t, server.URL, `query: {from: "{offset}", limit: "{limit}"}, paging: {style: offset, size: 10}`, `client: ""`)
	errFull := errors.New("no room")
	q := backend.Query{Client: auth.Client{ID: 1}, Limit: 1000, Keyset: true, Room: func(bytes, _ int) error {
		if bytes > 1500 {
			return errFull
		}
		return nil
	}}
	page, err := s.List(bg(), s.Sheet.Model.Resource("country"), q)
	require.NoError(t, err)
	require.True(t, page.More)
	require.Len(t, page.Records, 14)
	q.Keyset = false
	_, err = s.List(bg(), s.Sheet.Model.Resource("country"), q)
	require.ErrorIs(t, err, errFull)
	require.EqualValues(t, 4, asked.Load(), "two for each page")
}

// TestPlacesAreOfOneClient: where the service is told by a header who asks, what it is asked
// is the same for all, and a place in the list of one is another in that of the next.
func TestPlacesAreOfOneClient(t *testing.T) {
	const all, size = 60, 10
	org := func(i int) int { return 1 + (i/3)%2*(i/30) } // of the second half every other three are those of 2
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var items []string
		i, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		for ; i < all && len(items) < size; i++ {
			if strconv.Itoa(org(i)) == r.Header.Get("X-Org") {
				items = append(items, fmt.Sprintf(`{"nr":%d,"code":"C%d","name":"N","org":%d}`, i+1, i, org(i)))
			}
		}
		next := map[bool]string{true: strconv.Itoa(i)}[i < all]
		_, _ = fmt.Fprintf(w, `{"items":[%s],"next":"%s"}`, strings.Join(items, ","), next)
	})
	s := served(t, `
source: {http: {url: "${GARAGE_URL}", headers: {X-Org: "{client.id}"}}}
accounts: {verify: {path: /login}, result: {client_id: client}}
resources:
  country:
    key: {columns: nr, generated: supplied}
    client: org
    operations: {list: {path: /list, query: {cursor: "{cursor}", limit: "{limit}"}, result: items, paging: {style: cursor, size: 10, next: next}}}
    fields: {code: code, name: name}
`, service)
	for _, client := range []int64{1, 2} {
		var got, want []int32
		for i := range all {
			if int64(org(i)) == client {
				want = append(want, int32(i+1))
			}
		}
		for _, offset := range []int{size, 0} { // the deep one first, by what is remembered of it
			page, err := s.List(bg(), s.Sheet.Model.Resource("country"), backend.Query{Client: auth.Client{ID: client}, Offset: offset, Limit: size})
			require.NoError(t, err)
			got = got[:0]
			for _, rec := range page.Records {
				got = append(got, rec.ID())
			}
			require.Equal(t, want[offset:min(len(want), offset+size)], got, "client %d", client)
		}
	}
}

// TestMarksHideNothing: a list that is judged here is read from its beginning each time:
// what did not match when a place in it was remembered may match by now.
func TestMarksHideNothing(t *testing.T) {
	var blocked atomic.Bool // the first record
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		var items []string
		for i := from; i < from+10; i++ {
			items = append(items, fmt.Sprintf(`{"key":"K%02d","code":"C%d","name":"%s"}`, i, i, map[bool]string{true: "wanted"}[i == 0 && blocked.Load()]))
		}
		next := map[bool]string{true: strconv.Itoa(from + 10)}[from < 40]
		_, _ = fmt.Fprintf(w, `{"items":[%s],"next":"%s"}`, strings.Join(items, ","), next)
	}))
	t.Cleanup(server.Close)
	s := mixedStore(t, server.URL, `query: {limit: "{limit}", cursor: "{cursor}"}, paging: {style: cursor, size: 10, next: next}`, `client: ""
    filters: []`)
	r := s.Sheet.Model.Resource("country")
	q := backend.Query{Client: auth.Client{ID: 1}, Limit: 2, Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue("wanted")}}}
	for _, want := range []int{0, 0, 1} {
		blocked.Store(want == 1)
		page, err := s.List(bg(), r, q)
		require.NoError(t, err)
		require.Len(t, page.Records, want)
	}
	// A record that a page was after and that matches no more does not end the walk.
	all, err := s.List(bg(), r, backend.Query{Client: q.Client, Limit: 100})
	require.NoError(t, err)
	q.Keyset, q.After = true, all.Records[5].ID()
	page, err := s.List(bg(), r, q)
	require.NoError(t, err)
	require.Empty(t, page.Records)
}
