package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// place is the position in a list at which a call of the service begins.
type place struct {
	position      int // of its first record, in what the service lists
	seen          int // records of the list that come before it
	offset, limit int
	number        int    // of a page
	cursor        string // "" at the beginning
	address       string // target that a link named
	known         bool   // the place was remembered, and may have gone stale
}

// chunk is the answer to one call of a list.
type chunk struct {
	rows  []row
	next  place
	last  bool  // there is nothing after it
	more  bool  // there is something after it, as the service says
	total int64 // -1 where the answer does not tell
}

// farthest is the highest position that services are asked for. Many refuse numbers that they
// cannot count to, and their lists end long before. A longer list is read on from here.
const farthest = 100_000_000

// begin begins the list, and its page.
func (l *listing) begin() place {
	l.page = backend.Page{Records: l.page.Records[:0]}
	l.seen, l.since = seen{}, l.s.o.Now()
	at := l.from()
	l.counted = at.seen
	return at
}

// from returns the place to begin at.
func (l *listing) from() place {
	l.skip = l.q.Offset
	style := l.r.list.Paging.Style
	byMarks := style == "cursor" || style == "link"
	if l.q.After > 0 {
		return l.beginAfter(byMarks)
	}
	if l.q.Offset == 0 || l.picks() && !(byMarks && l.leavesMarks() && !l.q.Total) {
		return place{}
	}
	if l.counts() { // what lies before the page cannot be taken to be there
		if style == "offset" || style == "page" {
			return place{}
		}
	}
	from := min(l.q.Offset, farthest)
	switch style {
	case "offset":
		l.skip = l.q.Offset - from
		return place{position: from, seen: from}
	case "page":
		from -= from % l.r.list.Paging.Size
		l.skip = l.q.Offset - from
		return place{position: from, seen: from}
	case "cursor", "link":
		if m, ok := l.s.cursors.nearest(l.listed(), l.q.Offset, l.since.Add(-placesLast)); ok {
			l.skip, l.since = l.q.Offset-m.seen, m.since
			return place{position: m.position, seen: m.seen, cursor: m.cursor, address: m.cursor, known: true}
		}
	}
	return place{}
}

// fetch reads the chunk at a place.
func (l *listing) fetch(ctx context.Context, at place) (c chunk, err error) {
	op := l.r.list
	style, size := op.Paging.Style, op.Paging.Size
	at.offset, at.limit = at.position, size
	if wanted := l.q.Limit + 1 + l.skip - len(l.page.Records); l.isDirect() && wanted > 0 && (style == "offset" || style == "cursor" && l.skip == 0) {
		at.limit = min(size, wanted)
	}
	if style == "page" {
		at.number = at.position/size + op.Paging.First
	}
	if style != "link" {
		at.address = ""
	}
	l.v.page = at
	a, err := l.s.call(ctx, op, &l.v)
	if err != nil {
		return chunk{}, err
	}
	defer l.s.wire.conclude(a, &err)
	top, err := l.s.result(a, op, l.scan, sheet.Attempt{})
	if err != nil {
		return chunk{}, err
	}
	c.rows = top.lists[0].rows
	if c.total, err = totalOf(a, top, op); err != nil {
		return chunk{}, err
	}
	for _, row := range c.rows {
		l.r.supplyAll(row, l.parents)
	}
	if !l.probing {
		if err := l.r.haveKeys(l.q.Client, c.rows); err != nil {
			return chunk{}, err
		}
	}
	return c, l.follow(a, top, at, &c)
}

// follow finds the place after a chunk.
func (l *listing) follow(a *answer, top row, at place, c *chunk) (err error) {
	op, n := l.r.list, len(c.rows)
	c.next = place{position: at.position + n}
	switch op.Paging.Style {
	case "offset", "page":
		c.last = n < at.limit
		if c.total >= 0 {
			c.last = n == 0 || int64(c.next.position) >= c.total
			c.more = !c.last
			if c.more && n < at.limit && op.Paging.Style == "page" {
				return unexpected(fmt.Errorf("a page of %s has %d records in place of the %d that paging.size says", l.r.Name, n, at.limit))
			}
		}
		return nil
	case "cursor":
		c.next.cursor = top.values[op.next].String()
	case "link":
		if c.next.cursor, err = l.s.link(a, top, op); err != nil {
			return unexpected(err)
		}
	}
	// It is a part of the answer, which must not be kept for it.
	c.next.cursor = strings.Clone(c.next.cursor)
	if op.Paging.Style == "link" {
		c.next.address = c.next.cursor
	}
	c.last = c.next.cursor == ""
	c.more = !c.last
	if c.last {
		return nil
	}
	if c.next.cursor == at.cursor {
		return unexpected(errors.New("the next page of the list is the page itself"))
	}
	return nil
}

// totalOf returns the number of all records; -1 if the answer does not have it.
func totalOf(a *answer, top row, op *operation) (int64, error) {
	if !op.tellsTotal() {
		return -1, nil
	}
	var text string
	if op.total >= 0 {
		text = top.values[op.total].String()
	} else {
		text = strings.TrimSpace(string(a.header.Peek(op.totalHeader)))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, unexpected(errors.New("the answer does not tell the total"))
	}
	return n, nil
}

// link returns the target of the next page's address in an answer; "" for none. The address
// must be of the same service, since calls carry its secrets.
func (s *service) link(a *answer, top row, op *operation) (string, error) {
	next := ""
	if op.next >= 0 {
		next = top.values[op.next].String()
	} else {
		next = nextLink(string(a.header.Peek("Link")))
	}
	if next == "" {
		return "", nil
	}
	u, err := url.Parse(next)
	if err != nil {
		return "", errors.New("the address of the next page is not valid")
	}
	if u.Host != "" && (u.Host != s.wire.host || u.Scheme != "http" && u.Scheme != "https" || (u.Scheme == "https") != (s.wire.pool.tls != nil)) {
		return "", errors.New("the address of the next page is of another service")
	}
	target := u.RequestURI()
	if strings.HasPrefix(next, "?") { // of the path that was asked for
		path, _, _ := strings.Cut(a.target, "?")
		target = path + "?" + u.RawQuery
	}
	if !strings.HasPrefix(target, "/") || !isHeader(target) {
		return "", errors.New("the address of the next page is incomplete")
	}
	return target, nil
}

// nextLink returns the address with rel=next of a Link header (RFC 8288): addresses in <>, each with
// its parameters, which may be in quotes. Either may have commas.
func nextLink(header string) string {
	for {
		_, rest, found := strings.Cut(header, "<")
		address, rest, ends := strings.Cut(rest, ">")
		if !found || !ends {
			return ""
		}
		var params []string
		params, header = linkParams(rest)
		for _, p := range params {
			name, value, _ := strings.Cut(p, "=")
			if strings.EqualFold(strings.TrimSpace(name), "rel") && slices.ContainsFunc(strings.Fields(strings.Trim(strings.TrimSpace(value), `"`)), func(rel string) bool { return strings.EqualFold(rel, "next") }) {
				return address
			}
		}
	}
}

// linkParams cuts the parameters of a link from the links behind it.
func linkParams(text string) (params []string, behind string) {
	quoted, from := false, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ';', c == ',':
			if params = append(params, text[from:i]); c == ',' {
				return params, text[i:]
			}
			from = i + 1
		}
	}
	return append(params, text[from:]), ""
}
