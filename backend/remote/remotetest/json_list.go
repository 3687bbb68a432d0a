package remotetest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cursor is where a page ended. It is opaque to clients.
type cursor struct {
	Sort string `json:"s"`
	Key  string `json:"k"`
	Seq  int    `json:"n"`
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // strings and a number cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (c cursor, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return c, err == nil && json.Unmarshal(b, &c) == nil
}

// past tells whether a row lies behind the cursor.
func (c cursor) past(r row, q query) bool {
	switch k := r.key(q.sort); {
	case k == c.Key:
		return r.seq > c.Seq
	case q.desc:
		return k < c.Key
	default:
		return k > c.Key
	}
}

// listing is a list that was asked for.
type listing struct {
	query
	sortText string
	limit    int
	after    *cursor
	expand   string
}

// parseListing reads the query of a list, or of its count. Garage Cloud filters
// on what its screens filter on, and knows no other parameters.
func (s *skin) parseListing(e *entity, params url.Values) (listing, *answer) {
	q := listing{query: query{filters: values{}}, limit: 50}
	bad := func(code, name, format string, args ...any) (listing, *answer) {
		a := failure(http.StatusBadRequest, code, name, format, args...)
		return q, &a
	}
	for name, all := range params {
		if len(all) != 1 {
			return bad("BAD_PARAMETER", name, "%s is given more than once", name)
		}
		if p, ok := s.param(name); ok {
			v, ok := fromText(e.field(p.field), s.wireOf(p.field), all[0])
			if !ok {
				return bad("BAD_PARAMETER", name, "%s cannot be %q", name, all[0])
			}
			q.filters[p.field] = v
			continue
		}
		known, ok := q.parse(s, name, all[0])
		switch {
		case !known:
			return bad("UNKNOWN_PARAMETER", name, "%s is no parameter of %s", name, s.many)
		case !ok:
			return bad("BAD_PARAMETER", name, "%s cannot be %q", name, all[0])
		}
	}
	for _, name := range s.needs {
		if !params.Has(name) {
			return bad("PARAMETER_REQUIRED", name, "%s is required", name)
		}
	}
	if q.after != nil && q.after.Sort != q.sortText {
		return bad("BAD_CURSOR", "cursor", "The cursor belongs to another list")
	}
	return q, nil
}

// parse reads a parameter that every list has.
func (q *listing) parse(s *skin, name, text string) (known, ok bool) {
	var err error
	switch name {
	case "limit":
		q.limit, err = strconv.Atoi(text)
		return true, err == nil && q.limit >= 1 && q.limit <= 200
	case "cursor":
		c, ok := parseCursor(text)
		q.after = &c
		return true, ok
	case "updatedSince":
		// Those who keep a copy must hear of deletions too.
		q.deleted = true
		q.since, err = time.Parse(time.RFC3339, text)
		return true, err == nil
	case "includeDeleted":
		q.deleted = q.deleted || text == "true"
		return true, text == "true" || text == "false"
	case "sort":
		bare, desc := strings.CutPrefix(text, "-")
		i := slices.IndexFunc(s.sorts, func(p param) bool { return p.name == bare })
		if i < 0 {
			return true, false
		}
		q.sortText, q.sort, q.desc = text, s.sorts[i].field, desc
		return true, true
	case "expand":
		q.expand = text
		return s.entity == "order", text == "lines"
	case "include":
		q.expand = "contentBase64"
		return s.entity == "document", text == "content"
	default:
		return false, false
	}
}

// list answers one page.
func (g *JSON) list(c *call) answer {
	q, bad := c.skin.parseListing(c.entity, c.r.URL.Query())
	if bad != nil {
		return *bad
	}
	rows := c.find(c.skin.entity, q.query)
	if q.after != nil {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !q.after.past(r, q.query) })
	}
	body := object{"items": []object{}, "nextCursor": nil}
	if len(rows) > q.limit {
		rows = rows[:q.limit]
		last := rows[q.limit-1]
		body["nextCursor"] = cursor{Sort: q.sortText, Key: last.key(q.sort), Seq: last.seq}.String()
	}
	items := make([]object, len(rows))
	for i, r := range rows {
		items[i] = g.item(c, r, q.expand)
	}
	body["items"] = items
	return answer{status: http.StatusOK, body: body}
}

// total answers how many there are, which a page does not say.
func (g *JSON) total(c *call) answer {
	q, bad := c.skin.parseListing(c.entity, c.r.URL.Query())
	if bad != nil {
		return *bad
	}
	return answer{status: http.StatusOK, body: object{"count": len(c.find(c.skin.entity, q.query))}}
}

// item shows a row, with the lines of an order where they are wanted.
func (g *JSON) item(c *call, r row, expand string) object {
	out := g.show(c.ledger, c.skin, r, expand)
	if c.skin.entity == "order" && expand == "lines" {
		out["lines"] = g.lines(c, r.id)
	}
	return out
}

func (g *JSON) lines(c *call, orderID string) []object {
	lines := []object{}
	for _, line := range c.find("orderline", query{filters: values{"order": orderID}, sort: "position"}) {
		lines = append(lines, g.show(c.ledger, g.skins["lines"], line, ""))
	}
	return lines
}
