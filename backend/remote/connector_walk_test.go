package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// countries answers the countries from one on, in a way of paging, with what a test changes in it.
type countries struct {
	n     int // how many there are
	most  int // in one page, whatever is asked
	asked []string
	// answer changes what is answered to the query n, from 0 on; nil for nothing.
	answer func(n int, q map[string]string, body map[string]any, w http.ResponseWriter)
}

func (s *countries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := map[string]string{}
	for name, values := range r.URL.Query() {
		q[name] = values[0]
	}
	number := func(name string) int { n, _ := strconv.Atoi(q[name]); return n }
	limit, from := min(max(number("limit"), 1), s.most), number("offset")
	if q["limit"] == "" {
		limit = s.most
	}
	if page := number("page"); page > 0 {
		from = (page - 1) * limit
	}
	if after := q["after"] + q["cursor"]; after != "" {
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
	if s.answer != nil {
		s.answer(len(s.asked)-1, q, body, w)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// countrySheet is a sheet with the walk that a test is about.
func countrySheet(walk string) string {
	return `
resources:
  country:
    key: id
    walk: {path: /list, ` + walk + `}
    fields: {code: code, name: name}
`
}

// walks are ways of paging, each with what it asks.
var walks = map[string]string{
	"page":         `query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10}`,
	"offset":       `query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 10}`,
	"cursor":       `query: {cursor: "{page.cursor}", limit: "{page.limit}"}, result: items, paging: {style: cursor, size: 10, next: next}`,
	"after":        `query: {after: "{page.after}", limit: "{page.limit}"}, result: items, paging: {style: cursor, size: 10}`,
	"link":         `query: {limit: "{page.limit}"}, result: items, paging: {style: link, size: 10, next: link}`,
	"header":       `query: {limit: "{page.limit}"}, result: items, paging: {style: header, size: 10}`,
	"page, total":  `query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10, total: total}`,
	"offset, more": `query: {offset: "{page.offset}", limit: "{page.limit}"}, result: items, paging: {style: offset, size: 10, more: more}`,
	"cursor, jq":   `query: {cursor: {jq: .page.cursor}, limit: {jq: .page.limit}}, result: {read: .items}, paging: {style: cursor, size: 10, next: {read: .next}}`,
}

// TestWalk walks lists of any length in all ways of paging, also where the service gives less at
// once than it is asked for.
func TestWalk(t *testing.T) {
	for name, walk := range walks {
		for _, n := range []int{0, 1, 2, 9, 10, 11, 20, 35} {
			for _, most := range []int{100, 10, 7} {
				if name == "page" && most == 7 || name == "page, total" && most == 7 {
					continue // pages are counted by what they hold
				}
				s := &countries{n: n, most: most}
				c := speaking(t, countrySheet(walk), s)
				all, err := c.walked(bg(), "country", auth.Client{})
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
	for name, behind := range map[string]func(body map[string]any, w http.ResponseWriter){
		"an empty page": func(map[string]any, http.ResponseWriter) {},
		"no page": func(_ map[string]any, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
		},
		"no list": func(body map[string]any, _ http.ResponseWriter) { delete(body, "items") },
		"the last page": func(body map[string]any, _ http.ResponseWriter) {
			body["items"] = []any{map[string]any{"id": 41, "code": "C40", "name": "N"}}
		},
	} {
		for _, counted := range []int{0, 3, 10, 15, 39, 41} {
			s := &countries{n: 41, most: 100, answer: func(_ int, _ map[string]string, body map[string]any, w http.ResponseWriter) {
				if body["total"] = counted; len(body["items"].([]any)) == 0 {
					behind(body, w)
				}
			}}
			c := speaking(t, countrySheet(walks["page, total"]), s)
			all, err := c.walked(bg(), "country", auth.Client{})
			require.NoError(t, err, "%s %d", name, counted)
			require.Len(t, all, 41, "%s %d", name, counted)
			if c.Closely = true; counted < 40 {
				_, err = c.walked(bg(), "country", auth.Client{})
				require.ErrorContains(t, err, fmt.Sprintf(" records came, and the service counts %d, at total", counted))
			}
		}
	}
	for name, test := range map[string]struct {
		walk           string
		status, counts int
	}{
		"away":                          {walks["page, total"], 503, 30},
		"no further, and a false count": {walks["page, total"], 400, 10},
		"a page that it told of":        {walks["cursor"] + `, total: total}`, 410, 30},
	} {
		s := &countries{n: 41, most: 100, answer: func(n int, _ map[string]string, body map[string]any, w http.ResponseWriter) {
			if body["total"] = test.counts; n == 3 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
			}
		}}
		_, err := speaking(t, countrySheet(strings.Replace(test.walk, "}, total", ", total", 1)), s).walked(bg(), "country", auth.Client{})
		require.ErrorContains(t, err, strconv.Itoa(test.status), name)
	}
}

// TestWalkOfOneFullPage: a service that counts no more than one full page need not tell of a next one.
func TestWalkOfOneFullPage(t *testing.T) {
	s := &countries{n: 10, most: 100, answer: func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) { delete(body, "next") }}
	walk := `query: {cursor: "{page.cursor}", limit: "10"}, result: items, paging: {style: cursor, size: 10, next: next, total: total}`
	all, err := speaking(t, countrySheet(walk), s).walked(bg(), "country", auth.Client{})
	require.NoError(t, err)
	require.Len(t, all, 10)
}

// TestWalkThatDoesNotAddUp: what is not the list that the sheet speaks of fails, and says why.
func TestWalkThatDoesNotAddUp(t *testing.T) {
	items := func(body map[string]any) []any { return body["items"].([]any) }
	rename := func(from, to string) func(int, map[string]string, map[string]any, http.ResponseWriter) {
		return func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body[to] = body[from]
			delete(body, from)
		}
	}
	for name, test := range map[string]struct {
		walk, why string
		most, n   int
		answer    func(n int, q map[string]string, body map[string]any, w http.ResponseWriter)
	}{
		"the next cursor renamed":             {"cursor", "no next one at next", 100, 35, rename("next", "nextCursor")},
		"renamed, and the service gives less": {"cursor", "no next one at next", 7, 35, rename("next", "nextCursor")},
		"the link renamed":                    {"link", "no next one at link", 100, 35, rename("link", "href")},
		"jq of what is renamed":               {"cursor, jq", "no next one at .next", 100, 35, rename("next", "nextCursor")},
		"the list renamed":                    {"page", `no list at "items"`, 100, 35, rename("items", "data")},
		"the list by jq renamed":              {"cursor, jq", `no list at ".items"`, 100, 35, rename("items", "data")},
		"the total renamed":                   {"page, total", "no number of all records at total", 100, 35, rename("total", "count")},
		"fewer than the total": {"page, total", "35 of 36 records came", 100, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["total"] = 36
		}},
		"the page renamed": {"page", "the same page twice", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			for i := range items(body) {
				items(body)[i].(map[string]any)["id"] = i + 1
			}
		}},
		"a cursor that leads back": {"cursor", "the same page twice", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["next"] = "10"
		}},
		"a record twice in a page": {"page", `record "1" twice`, 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["items"] = append(items(body), items(body)[0])
		}},
		"empty pages without end": {"cursor", "1001 pages without", 10, 35, func(n int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["items"], body["next"] = []any{}, fmt.Sprint(n)
		}},
		"a link elsewhere": {"link", "leads away", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["link"] = "http://169.254.169.254/list"
		}},
		"a link by another scheme": {"link", "leads away", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["link"] = "file:///etc/passwd"
		}},
		"a link that is two lines": {"link", "cannot be asked for", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["link"] = "/list?a b HTTP/1.1"
		}},
		"a link that is a number": {"link", "leads away", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["link"] = 7
		}},
		"what is no record": {"page", "no record in the list", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			items(body)[0] = "x"
		}},
		"the key renamed": {"page", "without its key at id", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			rename("id", "_id")(0, nil, items(body)[3].(map[string]any), nil)
		}},
		"a key that is no ID": {"page", "is no ID", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			items(body)[3].(map[string]any)["id"] = "x"
		}},
		"more without a next one": {"offset, more", "more is told", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["items"], body["more"] = []any{}, true
		}},
		"a list where its end is": {"cursor", "the cursor at next is no value", 10, 35, func(_ int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
			body["next"] = []any{"1"}
		}},
		"no such page": {"page", "its list is not there", 10, 35, func(_ int, _ map[string]string, _ map[string]any, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &countries{n: test.n, most: test.most, answer: test.answer}
			c := speaking(t, countrySheet(walks[test.walk]), s)
			_, err := c.walked(bg(), "country", auth.Client{})
			require.ErrorIs(t, err, backend.ErrChanged)
			require.ErrorContains(t, err, test.why)
			require.ErrorContains(t, err, "country")
			require.Less(t, len(s.asked), 1100)
		})
	}
}

// TestWalkSince: a walk over all tells the first cursor that it saw, one of changes the last.
func TestWalkSince(t *testing.T) {
	s := &countries{n: 25, most: 10, answer: func(n int, q map[string]string, body map[string]any, _ http.ResponseWriter) {
		body["token"] = fmt.Sprint("T", n)
	}}
	c := speaking(t, countrySheet(walks["cursor"]+`, since: {query: {since: "{since}"}, cursor: token}`), s)
	nobody := func([]sheet.JSON) error { return nil }
	next, err := c.walk(bg(), c.of("country"), auth.Client{}, nil, nobody)
	require.NoError(t, err)
	require.Equal(t, "T0", next)
	s.asked = nil
	next, err = c.walk(bg(), c.of("country"), auth.Client{}, &next, nobody)
	require.NoError(t, err)
	require.Equal(t, "T2", next)
	require.True(t, strings.Contains(s.asked[0], "since=T0"), s.asked)
}

// TestWalkWhose: a page that does not say whose its records are fails, as does one of another
// client's records alone. A record of nobody is none of all clients'.
func TestWalkWhose(t *testing.T) {
	const text = `
client: org
resources:
  contact:
    key: id
    path: /contacts
    operations: {only: [get, list]}
    select: .hidden != true
    walk: {result: items, query: {org: "{client.id}"}, paging: {style: none}}
    fields: {kind: {constant: person}, name: name}
  contactaddress:
    key: id
    path: /addresses
    operations: {only: [get, list]}
    client: {through: contact_id}
    walk: {result: items, paging: {style: none}}
    fields: {contact_id: contact, street: street}
`
	s := &desk{}
	c := speaking(t, text, s)
	for name, test := range map[string]struct {
		rows []object
		why  string
	}{
		"all well":        {[]object{{"id": 1, "org": 1, "name": "A"}, {"id": 2, "org": 2, "name": "B"}}, ""},
		"renamed":         {[]object{{"id": 1, "organisation": 1, "name": "A"}}, "no record says its client at org"},
		"another's":       {[]object{{"id": 1, "org": 2, "name": "A"}}, "no record of client 1"},
		"nobody's":        {[]object{{"id": 1, "org": nil, "name": "A"}}, "no record says its client"},
		"all hidden":      {[]object{{"id": 1, "hidden": true}, {"id": 2, "hidden": true}}, ""},
		"one is nobody's": {[]object{{"id": 1, "org": nil, "name": "A"}, {"id": 2, "org": 1, "name": "B"}}, ""},
	} {
		s.of = map[string][]object{"contacts": test.rows}
		all, err := c.walked(bg(), "contact", noord)
		if test.why != "" {
			require.ErrorIs(t, err, backend.ErrChanged, name)
			require.ErrorContains(t, err, test.why)
			continue
		}
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, test.rows[0]["org"] == nil && name != "all hidden", all[0].err != nil, name)
	}
	c.owners = func(context.Context, auth.Client, *mapping.Resource, []int32) (map[int32]int64, error) {
		return map[int32]int64{7: 2}, nil
	}
	s.of = map[string][]object{"addresses": {{"id": 1, "contact": nil}, {"id": 2, "contact": 8}, {"id": 3, "contact": 7}}}
	for n := range 3 {
		all, err := c.walked(bg(), "contactaddress", auth.Client{})
		require.NoError(t, err)
		require.Len(t, all, 3-n)
		require.Equal(t, int64(2), all[2-n].client)
		for _, of := range all[:2-n] {
			require.ErrorIs(t, of.err, errNoOwner)
		}
		s.of["addresses"] = s.of["addresses"][1:]
	}
	s.of["addresses"] = []object{{"id": 1, "contact": nil}}
	all, err := c.walked(bg(), "contactaddress", auth.Client{})
	require.NoError(t, err)
	require.ErrorIs(t, all[0].err, errNoOwner, "also where no record refers to any")
}

// TestWalkOfWhatChanges: a record that changes while the changes are walked comes once more, alone on a
// page too.
func TestWalkOfWhatChanges(t *testing.T) {
	s := &countries{n: 2, most: 1, answer: func(n int, _ map[string]string, body map[string]any, _ http.ResponseWriter) {
		body["items"], body["next"] = []any{map[string]any{"id": 1, "code": fmt.Sprint("C", n), "name": "N"}}, fmt.Sprint(n)
		if n == 3 {
			body["items"], body["next"] = []any{}, nil
		}
	}}
	c := speaking(t, countrySheet(walks["cursor"]), s)
	all, err := c.walked(bg(), "country", auth.Client{})
	require.NoError(t, err)
	require.Len(t, all, 3)
}
