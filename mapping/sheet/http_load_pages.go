package sheet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// defaultSettle is how long before it becomes visible a change may be dated.
const defaultSettle = time.Minute

// turned holds, by style of paging, the names that a call sends to get the next page.
var turned = map[string][]string{"page": {"number"}, "offset": {"offset"}, "cursor": {"cursor", "after"}}

// pages compiles how a walk goes from page to page.
func (d *httpDraft) pages(at string, p *Pages, c *call) {
	child := func(key string) string { return strictyaml.Child(at, key) }
	if !d.doc.Has(at) {
		p.Style = "none"
	}
	p.Size = cmp.Or(p.Size, 100)
	if !d.doc.Has(child("first")) {
		p.First = 1
	} else if p.Style != "page" {
		d.fail(child("first"), "found with style %s, expected it with style page", p.Style)
	}
	byAfter := p.Style == "cursor" && c.Names("page", "after")
	switch needsNext := p.Style == "link" || p.Style == "cursor" && !byAfter; {
	case needsNext && p.Next.IsZero():
		d.fail(at, "next is missing, expected where an answer has the next %s", map[string]string{"link": "address", "cursor": "cursor, or {page.after} in the query, the key of the last record"}[p.Style])
	case !needsNext && !p.Next.IsZero():
		d.fail(child("next"), "found with style %s, expected it with style cursor or link", p.Style)
	}
	if p.Style != "" {
		d.judgeTurned(at, p.Style, c)
	}
}

// judgeTurned requires that a walk sends a name of its style of paging, and none of another style.
func (d *httpDraft) judgeTurned(at, style string, c *call) {
	var sent []string
	for _, of := range []string{"page", "offset", "cursor"} {
		for _, name := range turned[of] {
			if !c.Names("page", name) {
				continue
			}
			sent = append(sent, name)
			if !slices.Contains(turned[style], name) {
				d.fail(at, "found {page.%s} in the call with style %s, expected style: %s", name, style, of)
			}
		}
	}
	if needed := turned[style]; needed != nil && len(sent) == 0 {
		d.fail(at, "found no {page.%s} in the call, expected it where the service takes which page it is asked for", strings.Join(needed, "} or {page."))
	}
}

// walk compiles the walk over a resource: the sheet's defaults, and the resource's own settings.
func (d *httpDraft) walk() {
	at, base, w := []string{d.at("walk"), "source.http.walk", d.path}, Walk{}, Walk{}
	if all := d.http.service.Walk; all != nil {
		base = *all
	}
	if own := d.file.Walk; own != nil {
		w = *own
	}
	paging := d.http.keyPath(at, "paging")
	if !d.doc.Has(strictyaml.Child(at[0], "paging")) {
		w.Paging = base.Paging
	}
	if w.Since == nil {
		w.Since = base.Since
	}
	w.call, w.Result = w.call.over(base.call), w.Result.over(base.Result)
	w.Path = w.Path.over(d.file.Path)
	d.http.call(&w.call, "GET", d.http.walkKnows(), at...)
	w.Every, w.Pause = cmp.Or(w.Every, base.Every, d.http.file.Copy.Every), cmp.Or(w.Pause, base.Pause)
	d.pages(paging, &w.Paging, &w.call)
	d.out.Walk, d.walked = &w, []*call{&w.call}
	if w.Since != nil {
		d.since(&w, at)
	}
}

// since compiles how the service is asked for what has changed.
func (d *httpDraft) since(w *Walk, walkAt []string) {
	s := *w.Since
	at := d.http.keyPath(walkAt, "since")
	s.call, s.Result = s.call.over(w.call), s.Result.over(w.Result)
	d.http.call(&s.call, "GET", append(d.http.walkKnows(), "since"), append([]string{at}, walkAt...)...)
	settle := strictyaml.Child(at, "settle")
	switch isGiven := d.doc.Has(settle); {
	case isGiven && !s.Cursor.IsZero():
		d.fail(settle, "found with cursor, which says itself where to go on: expected one of them")
	case !isGiven && s.Cursor.IsZero():
		s.Settle = defaultSettle
	}
	if !s.Names("since") {
		d.fail(at, "found no {since} in the call, expected it where the service takes since when, or after what, it is asked")
	}
	d.walked = append(d.walked, &s.call)
	w.Since, d.sinceAt = &s, at
}
