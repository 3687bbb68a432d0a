package sheet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// defaultSettle is how long before it shows a change may be dated.
const defaultSettle = time.Minute

// turned are what the styles of paging send to get the next page.
var turned = map[string][]string{"page": {"number"}, "offset": {"offset"}, "cursor": {"cursor", "after"}}

// pages compiles how a walk goes from page to page.
func (d *httpDraft) pages(f *pagesFile, c *call) Pages {
	if f == nil {
		f = &pagesFile{Style: "none"}
	}
	at := d.pagingAt
	child := func(key string) string { return strictyaml.Child(at, key) }
	if f.Style == "" {
		d.fail(child("style"), "missing, expected %s", strictyaml.OneOf(strictyaml.Words[pagesFile]("style")))
	}
	p := Pages{Style: f.Style, Size: positive(d.loader, child("size"), f.Size, 100), First: 1, Next: d.http.spot(f.Next), Total: d.http.spot(f.Total), More: d.http.spot(f.More)}
	if f.First != nil {
		p.First = *f.First
		if f.Style != "page" {
			d.fail(child("first"), "found with style %s, expected it with style page", f.Style)
		}
	}
	byAfter := f.Style == "cursor" && c.names("page", "after")
	switch needsNext := f.Style == "link" || f.Style == "cursor" && !byAfter; {
	case needsNext && !f.Next.given():
		d.fail(at, "next is missing, expected where an answer has the next %s", map[string]string{"link": "address", "cursor": "cursor, or {page.after} in the query, the key of the last record"}[f.Style])
	case !needsNext && f.Next.given():
		d.fail(child("next"), "found with style %s, expected it with style cursor or link", f.Style)
	}
	if f.Style != "" {
		d.judgeTurned(f.Style, c)
	}
	return p
}

// judgeTurned requires that a walk sends what its style of paging goes by, and nothing of another.
func (d *httpDraft) judgeTurned(style string, c *call) {
	var sent []string
	for _, of := range []string{"page", "offset", "cursor"} {
		for _, name := range turned[of] {
			if !c.names("page", name) {
				continue
			}
			sent = append(sent, name)
			if !slices.Contains(turned[style], name) {
				d.fail(d.pagingAt, "found {page.%s} in the call with style %s, expected style: %s", name, style, of)
			}
		}
	}
	if needed := turned[style]; needed != nil && len(sent) == 0 {
		d.fail(d.pagingAt, "found no {page.%s} in the call, expected it where the service takes which page it is asked for", strings.Join(needed, "} or {page."))
	}
}

// walk compiles the walk over a resource: what the sheet says of all, and f of this one.
func (d *httpDraft) walk(f *walkFile) {
	at, base := d.at("walk"), walkFile{}
	if f == nil {
		f = &walkFile{}
	}
	if b := d.http.file.Source.HTTP.Walk; b != nil {
		base = *b
	}
	if !f.Path.given() {
		f.Path = cmp.Or(base.Path, d.file.Path)
	}
	paging, result := f.Paging, cmp.Or(f.Result, base.Result)
	if pagingAt := strictyaml.Child(at, "paging"); paging != nil {
		d.pagingAt = pagingAt
	} else {
		paging, d.pagingAt = base.Paging, "source.http.walk.paging"
	}
	own := f.callFile.over(base.callFile)
	c := d.http.call(at, own, "GET", d.http.walkKnows())
	w := &Walk{
		ServiceCall: c.ServiceCall, Every: positive(d.loader, strictyaml.Child(at, "every"), f.Every, cmp.Or(base.Every, d.http.file.Copy.Every)),
		Pause: positive(d.loader, strictyaml.Child(at, "pause"), f.Pause, base.Pause),
	}
	w.Result = d.http.spot(result)
	w.Paging = d.pages(paging, c)
	d.out.Walk, d.walked = w, []*call{c}
	since := f.Since
	if since == nil {
		since = base.Since
	}
	if since != nil {
		d.since(w, since, own, result)
	}
}

// since compiles how the service is asked for what has changed.
func (d *httpDraft) since(w *Walk, f *sinceFile, walk callFile, result spotFile) {
	at := d.at("walk", "since")
	if !d.doc.Has(at) {
		at = "source.http.walk.since"
	}
	c := d.http.call(at, f.callFile.over(walk), "GET", append(d.http.walkKnows(), "since"))
	s := &Since{ServiceCall: c.ServiceCall, Cursor: d.http.spot(f.Cursor), Settle: defaultSettle, Deleted: d.http.jqOnly(f.Deleted)}
	s.Result = d.http.spot(cmp.Or(f.Result, result))
	if f.Settle != nil {
		s.Settle = *f.Settle
	}
	settle := strictyaml.Child(at, "settle")
	switch {
	case f.Settle != nil && *f.Settle < 0:
		d.fail(settle, "found %s, expected 0s or more", *f.Settle)
	case f.Settle != nil && f.Cursor.given():
		d.fail(settle, "found with cursor, which says itself where to go on: expected one of them")
	}
	if f.Cursor.given() {
		s.Settle = 0
	}
	if !c.names("since") {
		d.fail(at, "found no {since} in the call, expected it where the service takes since when, or after what, it is asked")
	}
	d.walked = append(d.walked, c)
	w.Since = s
	d.sinceAt = at
}
