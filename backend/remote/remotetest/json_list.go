package remotetest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// cursorAfter is where a page ended, in a form that is opaque to clients.
func cursorAfter(r row) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(r.seq)))
}

func parseCursor(s string) (seq int, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return 0, false
	}
	seq, err = strconv.Atoi(string(text))
	return seq, err == nil
}

// listing is a list that was asked for.
type listing struct {
	query
	limit int
	after int  // the last row of the page before; 0 for none
	lines bool // orders with their lines
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
			v, ok := jsonText.read(e.field(p.field), s.wireOf(p.field), all[0])
			if !ok {
				return bad("BAD_PARAMETER", name, "%s cannot be %q", name, all[0])
			}
			q.filters[p.field] = v
			continue
		}
		if name == "include" && s.entity == "order" && all[0] == "lines" {
			q.lines = true
			continue
		}
		known, ok := q.parse(name, all[0])
		switch {
		case !known:
			return bad("UNKNOWN_PARAMETER", name, "%s is no parameter of %s", name, s.collection)
		case !ok:
			return bad("BAD_PARAMETER", name, "%s cannot be %q", name, all[0])
		}
	}
	return q, nil
}

// parse reads a parameter that every list has.
func (q *listing) parse(name, text string) (known, ok bool) {
	var err error
	switch name {
	case "limit":
		q.limit, err = strconv.Atoi(text)
		return true, err == nil && q.limit >= 1 && q.limit <= 200
	case "cursor":
		q.after, ok = parseCursor(text)
		return true, ok
	case "updatedSince":
		// Clients that keep a copy need deletions, too.
		q.deleted = true
		q.since, err = time.Parse(time.RFC3339, text)
		return true, err == nil
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
	rows := slices.DeleteFunc(c.find(c.skin.entity, q.query), func(r row) bool { return r.seq <= q.after })
	body := object{"items": []object{}, "nextCursor": nil}
	if len(rows) > q.limit {
		rows = rows[:q.limit]
		body["nextCursor"] = cursorAfter(rows[q.limit-1])
	}
	items := make([]object, len(rows))
	for i, r := range rows {
		if items[i] = g.show(c.ledger, c.skin, r, ""); q.lines {
			items[i]["lines"] = g.lines(c, r.id)
		}
	}
	body["items"] = items
	return answer{status: http.StatusOK, body: body}
}

// countRecords answers how many records a list has in all, which its pages do not say.
func (g *JSON) countRecords(c *call) answer {
	q, bad := c.skin.parseListing(c.entity, c.r.URL.Query())
	if bad != nil {
		return *bad
	}
	return answer{status: http.StatusOK, body: object{"count": len(c.find(c.skin.entity, q.query))}}
}

// item shows one row by itself, an order with its lines.
func (g *JSON) item(c *call, r row) object {
	apart := ""
	if c.r.URL.Query().Get("include") == "content" {
		apart = "contentBase64"
	}
	out := g.show(c.ledger, c.skin, r, apart)
	if c.skin.entity == "order" {
		out["lines"] = g.lines(c, r.id)
	}
	return out
}

func (g *JSON) lines(c *call, orderID string) []object {
	lines, found := []object{}, c.find("orderline", query{filters: values{"order": orderID}})
	slices.SortStableFunc(found, func(a, b row) int { return cmp.Compare(key(a.values["position"]), key(b.values["position"])) })
	for _, line := range found {
		lines = append(lines, g.show(c.ledger, g.skins["lines"], line, ""))
	}
	return lines
}
