package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/cmd/frontdesk/rig/must"
)

// countries answers the countries from one on, in all ways of paging.
type countries struct {
	n      int // how many there are
	most   int // in one page, whatever is asked
	asked  []string
	change foreigntest.JQ // what becomes of the answer to the query $n, from 0 on; .status is that of the answer
}

func (s *countries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return n }
	limit, from := min(max(number("limit"), 1), s.most), number("offset")
	if q.Get("limit") == "" {
		limit = s.most
	}
	if page := number("page"); page > 0 {
		from = (page - 1) * limit
	}
	if after := q.Get("after") + q.Get("cursor"); after != "" {
		from, _ = strconv.Atoi(after)
	}
	items := []any{}
	for i := from; i < min(from+limit, s.n); i++ {
		items = append(items, map[string]any{"id": i + 1, "code": fmt.Sprint("C", i), "name": "N"})
	}
	body := map[string]any{"items": items, "total": s.n, "more": from+limit < s.n, "next": nil}
	if end := from + limit; end < s.n {
		body["next"], body["link"] = fmt.Sprint(end), fmt.Sprintf("/list?limit=%d&offset=%d", limit, end)
		w.Header().Add("Link", `</list>; rel="first", <http://`+r.Host+body["link"].(string)+`>; title="a, b"; rel="x next"`)
	}
	s.asked = append(s.asked, r.URL.RawQuery)
	if s.change != "" {
		body = s.change.One(body, map[string]any{"$n": len(s.asked) - 1}).(map[string]any)
	}
	w.Header().Set("Content-Type", "application/json")
	if status, is := body["status"].(int); is {
		w.WriteHeader(status)
	}
	_ = json.NewEncoder(w).Encode(body)
}

// walks walks all that it has, in a way of paging.
func (s *countries) walks(t *testing.T, how string, closely bool) ([]taken, error) {
	t.Helper()
	require.Contains(t, walks, how)
	c := speaking(t, "resources: {country: {key: id, walk: {path: /list, "+walks[how]+"}, fields: {code: code, name: name}}}\n", s)
	c.Closely = closely
	return c.walked(bg(), "country", auth.Client{})
}

// walks are ways of paging, each with what it asks.
var walks = map[string]string{
	"page":          `query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10}`,
	"offset":        `query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 10}`,
	"cursor":        `query: {cursor: "{page.cursor}", limit: "{page.limit}"}, result: items, paging: {style: cursor, size: 10, next: next}`,
	"after":         `query: {after: "{page.after}", limit: "{page.limit}"}, result: items, paging: {style: cursor, size: 10}`,
	"link":          `query: {limit: "{page.limit}"}, result: items, paging: {style: link, size: 10, next: link}`,
	"header":        `query: {limit: "{page.limit}"}, result: items, paging: {style: header, size: 10}`,
	"page, total":   `query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10, total: total}`,
	"offset, more":  `query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 10, more: more}`,
	"cursor, total": `query: {cursor: "{page.cursor}", limit: "{page.limit}"}, result: items, paging: {style: cursor, size: 10, next: next, total: total}`,
	"cursor, jq":    `query: {cursor: {jq: .page.cursor}, limit: {jq: .page.limit}}, result: {read: .items}, paging: {style: cursor, size: 10, next: {read: .next}}`,
}

// TestWalk walks lists of any length in all ways of paging, also where the service gives less at
// once than it is asked for.
func TestWalk(t *testing.T) {
	for name := range walks {
		for _, n := range []int{0, 1, 2, 9, 10, 11, 20, 35} {
			for _, most := range []int{100, 10, 7} {
				if name == "page" && most == 7 || name == "page, total" && most == 7 {
					continue // pages are counted by what they hold
				}
				s := &countries{n: n, most: most}
				all, err := s.walks(t, name, false)
				require.NoError(t, err, "%s %d %d: %v", name, n, most, s.asked)
				require.Len(t, all, n, name)
				for i, of := range all {
					require.NoError(t, of.err)
					require.Equal(t, int32(i+1), of.rec.ID())
				}
				if name == "page, total" && n > 0 {
					require.Len(t, s.asked, (n+10)/10, "a page that is not there is asked for behind a full one alone")
				}
			}
		}
	}
}

// TestWalkThatIsCountedTooLow finds all records where the count is an estimate, whatever the service
// answers behind the last page, and a check says that it is none.
func TestWalkThatIsCountedTooLow(t *testing.T) {
	for _, behind := range []string{".", ".status = 404", "del(.items)", `.items = [{id: 41, code: "C40", name: "N"}]`} {
		for _, counted := range []int{0, 3, 10, 15, 39, 41} {
			s := &countries{n: 41, most: 100, change: foreigntest.JQ(fmt.Sprintf("(if .items == [] then %s else . end) | .total = %d", behind, counted))}
			all, err := s.walks(t, "page, total", false)
			require.NoError(t, err, "%s %d", behind, counted)
			require.Len(t, all, 41, "%s %d", behind, counted)
			if counted < 40 {
				_, err = s.walks(t, "page, total", true)
				require.ErrorContains(t, err, fmt.Sprintf(" records came, and the service counts %d, at total", counted))
			}
		}
	}
	for _, test := range []struct{ walk, status, counts string }{
		{"page, total", "503", "30"}, // it is away
		{"page, total", "400", "10"}, // it goes no further, and its count is false
		{"cursor, total", "410", "30"},
	} {
		s := &countries{n: 41, most: 100, change: foreigntest.JQ(".total = " + test.counts + " | if $n == 3 then .status = " + test.status + " else . end")}
		require.ErrorContains(t, must.Fail(s.walks(t, test.walk, false)), test.status, test.walk)
	}
}

// TestWalkThatDoesNotAddUp: what is not the list that the sheet speaks of fails, and says why.
func TestWalkThatDoesNotAddUp(t *testing.T) {
	for name, test := range map[string]struct {
		walk, why string
		most      int
		jq        foreigntest.JQ
	}{
		"the next cursor renamed":             {"cursor", "no next one at next", 100, ".nextCursor = .next | del(.next)"},
		"renamed, and the service gives less": {"cursor", "no next one at next", 7, ".nextCursor = .next | del(.next)"},
		"the link renamed":                    {"link", "no next one at link", 100, ".href = .link | del(.link)"},
		"jq of what is renamed":               {"cursor, jq", "no next one at .next", 100, ".nextCursor = .next | del(.next)"},
		"the list renamed":                    {"page", `no list at "items"`, 100, ".data = .items | del(.items)"},
		"the list by jq renamed":              {"cursor, jq", `no list at ".items"`, 100, ".data = .items | del(.items)"},
		"the total renamed":                   {"page, total", "no number of all records at total", 100, ".count = .total | del(.total)"},
		"fewer than the total":                {"page, total", "35 of 36 records came", 100, ".total = 36"},
		"the page renamed":                    {"page", "the same page twice", 10, ".items |= (to_entries | map(.value.id = .key + 1 | .value))"},
		"a cursor that leads back":            {"cursor", "the same page twice", 10, `.next = "10"`},
		"a record twice in a page":            {"page", `record "1" twice`, 10, ".items += .items[:1]"},
		"empty pages without end":             {"cursor", "1001 pages without", 10, ".items = [] | .next = ($n | tostring)"},
		"a link elsewhere":                    {"link", "leads away", 10, `.link = "http://169.254.169.254/list"`},
		"a link by another scheme":            {"link", "leads away", 10, `.link = "file:///etc/passwd"`},
		"a link that is two lines":            {"link", "cannot be asked for", 10, `.link = "/list?a b HTTP/1.1"`},
		"a link that is a number":             {"link", "leads away", 10, ".link = 7"},
		"what is no record":                   {"page", "no record in the list", 10, `.items[0] = "x"`},
		"the key renamed":                     {"page", "without its key at id", 10, ".items[3] |= (._id = .id | del(.id))"},
		"a key that is no ID":                 {"page", "is no ID", 10, `.items[3].id = "x"`},
		"more without a next one":             {"offset, more", "more is told", 10, ".items = [] | .more = true"},
		"a list where its end is":             {"cursor", "the cursor at next is no value", 10, `.next = ["1"]`},
		"no such page":                        {"page", "its list is not there", 10, ".status = 404"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &countries{n: 35, most: test.most, change: test.jq}
			_, err := s.walks(t, test.walk, false)
			require.ErrorIs(t, err, backend.ErrChanged)
			require.ErrorContains(t, err, test.why)
			require.ErrorContains(t, err, "country")
			require.Less(t, len(s.asked), 1100)
		})
	}
}
