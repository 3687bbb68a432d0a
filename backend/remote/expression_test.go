package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// dialect is a language of filters, as its services read it. Quotes within quotes
// are as the language has them, not as the sheet says.
type dialect struct {
	name, and, or, eq, ge string
	// escapes is what a backslash within quotes may stand before; "" where it is a
	// letter like any other. doubled tells that two quotes are one.
	escapes string
	doubled bool
	wild    string // characters that stand for any text
	config  string // of the sheet
}

// dialects are PocketBase's before and after fexpr 0.6, OData's and RSQL's.
var dialects = []dialect{
	{name: "pocketbase", and: "&&", or: "||", eq: "=", ge: ">=", escapes: `'"`, config: "quotes: pocketbase"},
	{name: "pocketbase 0.39", and: "&&", or: "||", eq: "=", ge: ">=", escapes: `'"\`, config: "quotes: pocketbase"},
	{name: "odata", and: " and ", or: " or ", eq: " eq ", ge: " ge ", doubled: true, config: "quotes: doubled"},
	{name: "rsql", and: ";", or: ",", eq: "==", ge: "=ge=", escapes: `'"\*`, wild: "*", config: `{quotes: backslash, wildcards: "*"}`},
	{name: "unknown", and: "&&", or: "||", eq: "=", ge: ">=", escapes: `'"\`, doubled: true, wild: "*%", config: `{quotes: strict, wildcards: "*%"}`},
}

var errSyntax = errors.New("syntax error in the filter")

// parser reads a filter: conditions with and, or and parentheses over a record.
type parser struct {
	*dialect
	text string
	row  map[string]string
}

func (p *parser) take(token string) bool {
	rest, ok := strings.CutPrefix(p.text, token)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *parser) any() (bool, error) {
	for holds := false; ; {
		all := true
		for {
			one, err := p.condition()
			if err != nil {
				return false, err
			}
			if all = all && one; !p.take(p.and) {
				break
			}
		}
		if holds = holds || all; !p.take(p.or) {
			return holds, nil
		}
	}
}

func (p *parser) condition() (bool, error) {
	if p.take("(") {
		holds, err := p.any()
		if err == nil && !p.take(")") {
			err = errSyntax
		}
		return holds, err
	}
	left, _, err := p.operand()
	if err != nil {
		return false, err
	}
	ge := p.take(p.ge)
	if !ge && !p.take(p.eq) {
		return false, fmt.Errorf("%w at %q", errSyntax, p.text)
	}
	right, pattern, err := p.operand()
	switch {
	case err != nil:
		return false, err
	case ge:
		return left >= right, nil
	case pattern:
		parts := strings.FieldsFunc(right, func(r rune) bool { return strings.ContainsRune(p.wild, r) })
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(left, part) }), nil
	}
	return left == right, nil
}

// operand is a text in quotes, a number, or the name of a member.
func (p *parser) operand() (value string, pattern bool, err error) {
	if p.text == "" {
		return "", false, errSyntax
	}
	quote := p.text[0]
	if quote != '\'' && quote != '"' {
		end := strings.IndexFunc(p.text, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-:.TZ", r) })
		if end < 0 {
			end = len(p.text)
		}
		word := p.text[:end]
		p.text = p.text[end:]
		if member, ok := p.row[word]; ok {
			return member, false, nil
		}
		if word == "" || word[0] < '0' || word[0] > '9' {
			return "", false, errSyntax
		}
		return word, false, nil
	}
	var b strings.Builder
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '\\' && p.escapes != "" && i+1 < len(p.text) && strings.IndexByte(p.escapes, p.text[i+1]) >= 0:
			i++
			b.WriteByte(p.text[i])
		case c == quote && p.doubled && i+1 < len(p.text) && p.text[i+1] == quote:
			i++
			b.WriteByte(c)
		case c == quote:
			p.text = p.text[i+1:]
			return b.String(), pattern, nil
		default:
			pattern = pattern || p.wild != "" && strings.IndexByte(p.wild, c) >= 0
			b.WriteByte(c)
		}
	}
	return "", false, errSyntax
}

// filtered is a service that lists what fits a filter in a dialect.
type filtered struct {
	*dialect
	rows  []map[string]string
	mu    sync.Mutex
	asked []string
	wrong []error
}

func (s *filtered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	filter := r.FormValue("filter")
	s.asked = append(s.asked, filter)
	items := []map[string]string{}
	for _, row := range s.rows {
		p := &parser{dialect: s.dialect, text: filter, row: row}
		holds, err := filter == "", error(nil)
		if filter != "" {
			if holds, err = p.any(); err == nil && p.text != "" {
				err = fmt.Errorf("%w: %q is left", errSyntax, p.text)
			}
		}
		if err != nil {
			s.wrong = append(s.wrong, fmt.Errorf("%s: %w", filter, err))
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if holds {
			items = append(items, row)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items, "total": len(items)})
}

const filteredSheet = `
source: {http: {url: "${GARAGE_URL}", retries: 0, expressions: {%s}}}
client: org
resources:
  contact:
    key: {columns: id}
    operations:
      list:
        path: /contacts
        query: {filter: "{filter}"}
        filter:
          join: "%s"
          parts: ["org%s{client.id}", "id%[3]s{filter.id}", "nr%[3]s'{filter.number}'", '(name%[3]s"{filter.name}")', "updated%[4]s'{modified_since}'"]
        result: items
        total: {result: total}
    fields: {kind: {constant: person}, number: nr, name: name, modified_at: {from: updated, readonly: true}}
`

// numbers are those of records that each client has.
var numbers = []string{"K-1", "O'Neil", "50%", "a*b", "x) || (y", `C:\`, `"`, `a"b\'c`, "’", ""}

// attacks are values that nobody has, made to be more than values.
func attacks() []string {
	all := []string{"*", "%", "_", "'", "\\", "\\'", "''", `\" or 1=1`, "K*", "K%", "K-1'", "K-1\\", "'='", "nr", "org", "org' = 'org", "\x00", "K-1\n", "K-1\u2028", "ʼ", "＇", "//", "--", "/*", ")", "(", "null", "true"}
	for _, quote := range []string{"'", `"`, `\'`, `\"`, "''", `\\'`, "’"} {
		for _, d := range dialects {
			for _, comment := range []string{"", " //", " --", "#"} {
				all = append(all, "x"+quote+d.or+"org"+d.eq+"2"+comment, "x"+quote+")"+d.or+"(org"+d.ge+"0"+comment,
					"x"+quote+d.or+quote+"a"+quote+d.eq+quote+"a", quote+d.eq+quote+quote+d.or+"1"+d.eq+"1"+comment)
			}
		}
	}
	return all
}

func startFiltered(t *testing.T, d *dialect) (*filtered, *Store, *backend.Client) {
	s := &filtered{dialect: d}
	for _, org := range []string{"1", "2"} {
		for i, nr := range numbers {
			s.rows = append(s.rows, map[string]string{
				"id": fmt.Sprint(len(s.rows) + 1), "org": org, "nr": nr, "name": nr, "updated": fmt.Sprintf("2026-01-%02dT00:00:00.000Z", i+1),
			})
		}
	}
	config := strings.TrimSuffix(strings.TrimPrefix(d.config, "{"), "}")
	store := served(t, fmt.Sprintf(filteredSheet, config, d.and, d.eq, d.ge), s)
	return s, store, front(t, store)
}

// TestNoValueBecomesSyntax walks through values that would be conditions, in
// filters of every dialect: each finds what has it, of the own client, and nothing
// else; and what is counted is no oracle either.
func TestNoValueBecomesSyntax(t *testing.T) {
	for i := range dialects {
		d := &dialects[i]
		t.Run(d.name, func(t *testing.T) {
			s, store, client := startFiltered(t, d)
			contact := store.Sheet.Model.Resource("contact")
			count := func(who auth.Client, field, value string) (int, int64) {
				page, err := client.List(bg(), contact, backend.Query{Client: who, Limit: 50, Total: true, Filters: []backend.Filter{{Field: contact.Field(field), Value: mapping.TextValue(value)}}})
				require.NoError(t, err, "%q", value)
				for _, rec := range page.Records {
					require.Equal(t, value, rec.Get(field).Text())
					require.Equal(t, who.ID == 2, rec.ID() > int32(len(numbers)))
				}
				return len(page.Records), page.Total
			}
			for _, who := range []auth.Client{noord, zuid} {
				for _, field := range []string{"number", "name"} {
					for _, nr := range numbers {
						n, total := count(who, field, nr)
						require.Equal(t, 1, n, "%s %q", field, nr)
						require.EqualValues(t, 1, total, "%q", nr)
					}
					for _, attack := range attacks() {
						n, total := count(who, field, attack)
						require.Zero(t, n, "%q", attack)
						require.Zero(t, total, "%q", attack)
					}
				}
			}
			require.Empty(t, s.wrong, "the service could not read a filter")
			for _, asked := range s.asked {
				require.True(t, strings.HasPrefix(asked, "org"+d.eq), "the client's condition is always sent: %s", asked)
			}
		})
	}
}

// TestPartsAreSentAsTheirValuesAreGiven: before, what was not filtered by was sent
// as an empty text, and every list was empty.
func TestPartsAreSentAsTheirValuesAreGiven(t *testing.T) {
	s, store, client := startFiltered(t, &dialects[0])
	contact := store.Sheet.Model.Resource("contact")
	since := mapping.TimeValue(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC))
	q := backend.Query{Client: noord, Limit: 50}
	for _, c := range []struct {
		filters []backend.Filter
		since   mapping.Value
		asked   string
		n       int
	}{
		{nil, mapping.Value{}, "org=1", 10},
		{[]backend.Filter{{Field: contact.Field("number"), Value: mapping.TextValue("O'Neil")}}, mapping.Value{}, `org=1&&nr='O\'Neil'`, 1},
		{[]backend.Filter{{Field: contact.Field("id"), Value: mapping.IntValue(4)}, {Field: contact.Field("name"), Value: mapping.TextValue("a*b")}}, mapping.Value{}, `org=1&&id=4&&(name="a*b")`, 1},
		{[]backend.Filter{{Field: contact.Field("number"), Value: mapping.TextValue("")}}, mapping.Value{}, `org=1&&nr=''`, 1},
		{[]backend.Filter{{Field: contact.Field("number"), Value: mapping.NullValue()}}, mapping.Value{}, `org=1`, 0},
		{nil, since, "org=1&&updated>='2026-01-03T00:00:00.000Z'", 8},
	} {
		q.Filters, q.ModifiedSince = c.filters, c.since
		page, err := client.List(bg(), contact, q)
		require.NoError(t, err)
		require.Equal(t, c.asked, s.asked[len(s.asked)-1])
		require.Len(t, page.Records, c.n, c.asked)
	}
}

// TestEmptyIsNotAbsent: before, ?number= listed everything, where the service
// takes an empty parameter for none.
func TestEmptyIsNotAbsent(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := []map[string]any{{"id": 1, "nr": "K-1"}, {"id": 2, "nr": ""}, {"id": 3, "nr": nil}}
		if nr := r.FormValue("nr"); nr != "" {
			items = items[:1]
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
	})
	store := served(t, `
resources:
  contact:
    key: {columns: id}
    operations: {list: {path: /contacts, query: {nr: "{filter.number}"}, result: items}}
    fields: {kind: {constant: person}, name: {constant: x}, number: nr}
`, service)
	client, contact := front(t, store), store.Sheet.Model.Resource("contact")
	for id, v := range map[int32]mapping.Value{1: mapping.TextValue("K-1"), 2: mapping.TextValue(""), 3: mapping.NullValue()} {
		page, err := client.List(bg(), contact, backend.Query{Client: noord, Limit: 10, Total: true, Filters: []backend.Filter{{Field: contact.Field("number"), Value: v}}})
		require.NoError(t, err)
		require.Len(t, page.Records, 1, "%v", v)
		require.Equal(t, id, page.Records[0].ID())
		require.EqualValues(t, 1, page.Total)
	}
}
