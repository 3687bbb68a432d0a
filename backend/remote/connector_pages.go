package remote

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/mapping/sheet"
)

// follow reads what an answer says of further pages.
func (w *walking) follow(ctx context.Context, reply *reply, body sheet.JSON, p *page) error {
	if at := w.pages.Total; !at.IsZero() {
		v, there, err := at.Of(ctx, body)
		n, wrong := strconv.Atoi(asText(v))
		switch {
		case !there && w.total >= 0: // the first page had the total
		case err != nil || wrong != nil || n < 0:
			return changed(w.r, "no number of all records at %s of the answer", at)
		default:
			w.total = n
		}
	}
	if at := w.pages.More; !at.IsZero() {
		v, there, err := at.Of(ctx, body)
		if err != nil {
			return changed(w.r, "whether there is more, at %s: %w", at, err)
		}
		p.more = there && !slices.Contains([]string{"false", "0", "", "null"}, asText(v))
		p.ends = !p.more && (there || w.hasMore)
		w.hasMore = w.hasMore || there
	}
	switch {
	case w.pages.Style == "header":
		link := nextIn(reply.header.PeekAll("Link"))
		p.hasNext = link != ""
		p.next = orNull(link)
	case !w.pages.Next.IsZero():
		v, there, err := w.pages.Next.Of(ctx, body)
		if err != nil {
			return changed(w.r, "the next page at %s: %w", w.pages.Next, err)
		}
		p.hasNext = there && w.pages.Next.JQ == nil || v != nil // jq yields null for what is missing
		if v != "" && v != false {
			p.next = v
		}
	default:
		return nil
	}
	w.hasNext = w.hasNext || p.hasNext
	if w.pages.Style == "link" || w.pages.Style == "header" {
		return w.link(reply, p)
	}
	if _, ok := sheet.ScalarText(p.next); p.next != nil && !ok {
		return changed(w.r, "the cursor at %s is no value", w.pages.Next)
	}
	return nil
}

// link makes path and query of a link to the next page, which may not leave the service.
func (w *walking) link(reply *reply, p *page) error {
	if p.next == nil {
		return nil
	}
	text, ok := p.next.(string)
	from, err := url.Parse(w.c.source.URL)
	if err != nil {
		return err
	}
	from, err = from.Parse(reply.target)
	if err != nil {
		return err
	}
	to, wrong := from.Parse(text)
	if !ok || wrong != nil || to.Scheme != from.Scheme || !strings.EqualFold(to.Host, from.Host) || to.User != nil || to.Opaque != "" {
		return changed(w.r, "a link to the next page that leads away from the service: %.100q", text)
	}
	if p.next = to.RequestURI(); !isHeader(to.RequestURI()) {
		return changed(w.r, "a link to the next page that cannot be asked for: %.100q", text)
	}
	return nil
}

// nextIn is the address of rel=next in headers as RFC 8288 has them; "" for none.
func nextIn(headers [][]byte) string {
	for _, header := range headers {
		for link := range strings.SplitSeq(string(header), "<") {
			address, params, ok := strings.Cut(link, ">")
			for param := range strings.SplitSeq(strings.TrimRight(params, ", "), ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
				if ok && strings.EqualFold(name, "rel") && slices.Contains(strings.Fields(strings.ToLower(strings.Trim(value, `"`))), "next") {
					return address
				}
			}
		}
	}
	return ""
}

var errFewer = errors.New("fewer than the service counts")

// turn goes to the page after p; false if there is none. Reaching the service's total ends the walk only
// at a page that is not full: a total may be an estimate that is too low.
func (w *walking) turn(ctx context.Context, p page) (bool, error) {
	first, before := w.k.page.number == w.pages.First, w.counted
	w.counted = w.total >= 0 && len(w.had) >= w.total
	w.full = len(p.rows) >= p.size
	goesOn := false
	switch {
	case w.pages.Style == "none":
	case w.isLed():
		goesOn = p.next != nil && !p.ends
		if p.next == nil && !w.hasNext && len(w.had) != w.total && !p.ends && len(p.rows) > 0 {
			if err := w.probe(ctx, p); err != nil {
				return false, err
			}
		}
	default:
		goesOn = len(p.rows) > 0 && !p.ends && (len(w.had) != w.total || w.full)
	}
	switch {
	case w.c.Closely && w.all && (first || before) && p.anew && w.counted && len(w.had) > w.total:
		return false, changed(w.r, "%d records came, and the service counts %d, at %s", len(w.had), w.total, w.pages.Total)
	case p.more && !goesOn:
		return false, changed(w.r, "more is told to come, and no next page")
	case !goesOn && len(w.had) < w.total:
		return false, changed(w.r, "%d of %d records came: %w", len(w.had), w.total, errFewer)
	}
	if goesOn {
		w.k.page = w.after(p)
	} else if w.c.Closely && len(p.rows) > 0 && !w.isLed() && w.pages.Style != "none" {
		return false, w.pastEnd(ctx, p)
	}
	return goesOn, nil
}

// after is the page after p.
func (w *walking) after(p page) *pageRequest {
	page := &pageRequest{number: w.k.page.number + 1, offset: w.k.page.offset + len(p.rows), limit: w.pages.Size, cursor: p.next, after: w.k.page.after}
	if p.last != nil {
		page.after = keyOf(p.last)
	}
	if style := w.pages.Style; style == "link" || style == "header" {
		page.cursor, page.address = nil, p.next.(string)
	}
	return page
}

// pastEnd requests a page after the end that the answers report. There must be none.
func (w *walking) pastEnd(ctx context.Context, p page) error {
	came := len(w.had)
	w.k.page = w.after(p)
	again := &walking{c: w.c, r: w.r, on: w.on, pages: w.pages, k: w.k, had: w.had, pasts: map[uint64]struct{}{}, total: -1}
	if _, _, err := again.ask(ctx, sheet.Spot{}); err == nil && len(w.had) > came {
		return changed(w.r, "%d records came, and there are more behind what the answers say is the end, at %s", came, strings.Trim(w.pages.Total.String()+" "+w.pages.More.String(), " "))
	}
	return ctx.Err()
}

// isLed reports whether each answer says where the next page is.
func (w *walking) isLed() bool { return w.pages.Style == "header" || !w.pages.Next.IsZero() }

// probe checks a first page without a next one: with a limit of one record less there must be a next
// page. If there is none, the sheet names a wrong place for it.
func (w *walking) probe(ctx context.Context, p page) error {
	full := len(p.rows) >= p.size
	if !full && (!w.all || len(p.rows) < 2) {
		return nil
	}
	if w.on.Names("page", "limit") && len(p.rows) > 1 {
		before := w.k.page
		shorter := *before
		shorter.limit = len(p.rows) - 1
		w.k.page = &shorter
		again := &walking{c: w.c, r: w.r, on: w.on, pages: w.pages, k: w.k, had: map[uint64]struct{}{}, pasts: map[uint64]struct{}{}}
		_, _, err := again.ask(ctx, sheet.Spot{})
		w.k.page = before
		if err != nil || again.hasNext {
			return err
		}
	} else if !full {
		return nil
	}
	return changed(w.r, "a page of %d records, and no next one at %s: the place is not there", len(p.rows), w.place())
}

func (w *walking) place() string {
	if w.pages.Style == "header" {
		return "rel=next of the header Link"
	}
	return w.pages.Next.String()
}
