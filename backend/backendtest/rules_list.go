package backendtest

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/mapping"
)

// listCases are the rules of lists, on every resource.
func listCases() []Case {
	const hint = "Page by the order of the whole list, with id as its last key, and count without the page."
	return []Case{
		each(rule("list.paging", "page and page_size walk the list without a gap or a repeat; next leads to the next page and is null at the end; total counts all", hint, paging)),
		each(rule("list.after", "after is keyset paging: the records with a greater id, by id", hint, keyset)),
		each(rule("list.sort", "sort orders by any scalar field, up and down, always made total by id", "Compare numbers as numbers and times as times, and add id as the last key of every ORDER BY.", sorting)),
		each(rule("list.filters", "Every scalar field is an equality filter", "Compare typed values: a filter is parsed as its datatype before the backend sees it.", filters)),
		each(rule("list.by_id", "Without sort a list is by id", "The order by id is that of the key's columns, which need not be that of the IDs where those are given out by the gateway.", byID)),
		each(rule("list.modified_since", "modified_since is inclusive", "Have every change set modified_at, and compare with >=.", modifiedSince)),
		each(rule("list.modified_since_milliseconds", "modified_since is exact to the millisecond", "Keep modified_at to the millisecond.", func(t *T) {
			moment, listed := t.modified()
			t.check(!listed(moment.Add(time.Millisecond)), "modified_since a millisecond later", "the record is not listed", "it is")
		})),
		each(rule("list.until", "until, where an answer to modified_since has it, is what the next modified_since should be: what was changed after the answer is listed",
			"Date no change before a moment that was told, whatever is still under way.", until)),
		each(rule("list.fields", "fields= answers the named fields alone, in model order", "Judge fields by name, and answer by position.", func(t *T) {
			rec := t.get(t.resource, t.record(t.resource)).data()
			last := t.resource.Fields[len(t.resource.Fields)-1].Name
			t.equal("the members", []string{"id", last}, t.ok(t.call("GET", t.listOf(t.resource, rec)+"&fields="+last+",id", "")).order())
			for _, f := range t.resource.Fields {
				if f.Array {
					t.arrayInList(f, rec)
				}
			}
		})),
		rule("list.beyond", "A page beyond the end is empty, with next null", hint, func(t *T) {
			p := t.list("/" + t.some().Name + "?page=2147483647&page_size=1000")
			t.equal("the records", 0, len(p.Data))
			t.check(p.Next == nil, "next", "null", text(p.Next))
		}),
	}
}

// arrayInList compares an array of a record as the list has it with the record's own.
func (t *T) arrayInList(f *Field, rec map[string]any) {
	one := t.ok(t.call("GET", path(t.resource, idOf(rec))+"?fields=id,"+f.Name, "")).data()
	p := t.list(small(t.listOf(t.resource, rec), "100") + newestFirst + "&fields=id," + f.Name)
	for _, listed := range p.Data {
		if idOf(listed) == idOf(rec) {
			t.equal("the list's "+f.Name, one, listed)
		}
	}
}

// scope is a path to a list that is small where the suite makes its records: the
// parent's own, or what was modified since the first of them, where that is
// kept.
func (t *T) scope() (path string, least int) {
	if !t.can("GET", "/"+t.resource.Name) {
		t.needs("an api_key that may call GET /%s", t.resource.Name)
	}
	if t.onlyReads(t.resource) {
		return t.listOf(t.resource, t.found(t.resource)), 1
	}
	rec := t.get(t.resource, t.fresh()).data()
	for range 2 {
		t.create(t.resource, t.sameParent(rec))
	}
	path = t.listOf(t.resource, rec)
	if at, kept := rec["modified_at"].(string); kept && t.tellsSince(path) {
		path += "&modified_since=" + url.QueryEscape(at)
	}
	return path, 3
}

// tellsSince tells whether a list takes modified_since. One that does not refuses
// it, as it would any parameter that it does not have.
func (t *T) tellsSince(path string) bool {
	a := t.call("GET", path+"&modified_since=2026-07-01", "")
	if a.status == http.StatusOK {
		return true
	}
	t.refusal(a, mapping.QueryUnsupported, "modified_since")
	return false
}

// sameParent are values that put a record into the list of another one, where
// lists are of a parent.
func (t *T) sameParent(rec map[string]any) values {
	same := values{}
	for _, name := range t.resource.requires {
		same[name] = rec[name]
	}
	return same
}

func idsOf(records []map[string]any) []int {
	ids := make([]int, len(records))
	for i, rec := range records {
		ids[i] = idOf(rec)
	}
	return ids
}

// small is the same list with a small page.
func small(path string, size string) string {
	return strings.Replace(path, "page_size=1000", "page_size="+size, 1)
}

// mostPages is how far lists are walked that are not the suite's own.
const mostPages = 5

func paging(t *T) {
	path, least := t.scope()
	whole := t.list(path + "&total=1")
	all := idsOf(whole.Data)
	t.check(len(all) >= least, "the list", text(least)+" records or more", text(all))
	t.check(whole.Total != nil && (whole.Next != nil || *whole.Total == len(all)), "total", text(len(all)), text(whole.Total))
	plain := t.list(path)
	t.check(plain.Total == nil, "total when not asked for", "no such member", text(plain.Total))
	t.check(plain.Page != nil && *plain.Page == 1 && plain.PageSize != nil && *plain.PageSize == 1000, "page and page_size", "1 and 1000", text(plain))
	var walked []int
	next := small(path, "2")
	for n := 1; next != "" && n <= mostPages; n++ {
		p := t.list(next)
		t.check(p.Page != nil && *p.Page == n, "page", text(n), text(p.Page))
		walked = append(walked, idsOf(p.Data)...)
		next = t.following(p)
	}
	want := all[:min(len(all), 2*mostPages)]
	t.equal("the records of the pages", want, walked)
}

// following is the path of the next page, "" at the end.
func (t *T) following(p page) string {
	if p.Next == nil {
		return ""
	}
	_, query, ok := strings.Cut(*p.Next, "/"+t.resource.Name+"?")
	t.check(ok, "next", "a path of /"+t.resource.Name, *p.Next)
	return "/" + t.resource.Name + "?" + query
}

func keyset(t *T) {
	path, _ := t.scope()
	all := idsOf(t.list(path).Data)
	first := t.list(small(path, "2") + "&after=0")
	t.check(first.Page == nil, "page with after", "no such member", text(first.Page))
	var walked []int
	for p, n := first, 1; ; n++ {
		walked = append(walked, idsOf(p.Data)...)
		next := t.following(p)
		if next == "" || n == mostPages {
			break
		}
		p = t.list(next)
	}
	t.equal("the records by keyset", all[:min(len(all), 2*mostPages)], walked)
	if len(all) > 1 {
		rest := t.list(path + "&after=" + status(all[0]))
		t.equal("the records after the first", all[1:], idsOf(rest.Data))
	}
}

func sorting(t *T) {
	path, _ := t.scope()
	all := idsOf(t.list(path).Data)
	down := slices.Clone(all)
	slices.Reverse(down)
	t.equal("sort=-id", down, idsOf(t.list(path+newestFirst).Data))
	if t.list(path).Next != nil {
		t.impossible("the list is too long to be compared as a whole")
	}
	for _, f := range t.resource.Fields {
		if !f.scalar() || f.Primary {
			continue
		}
		for _, sign := range []string{"", "-"} {
			t.sorted(f, sign, all, t.list(path+"&sort="+sign+f.Name).Data)
		}
	}
}

// sorted asserts the order of a list. How texts and nulls compare is the
// database's own, so of those only ties are judged, which go by id.
func (t *T) sorted(f *Field, sign string, all []int, got []map[string]any) {
	same := idsOf(got)
	slices.Sort(same)
	what := "sort=" + sign + f.Name
	t.equal("the records of "+what, slices.Sorted(slices.Values(all)), same)
	place := t.places(f)
	for i := 1; i < len(got); i++ {
		a, b := got[i-1][f.Name], got[i][f.Name]
		if a == b {
			x, y := slices.Index(all, idOf(got[i-1])), slices.Index(all, idOf(got[i]))
			t.check(x < y, "ties of "+what, "in the order by id", text(idsOf(got)))
			continue
		}
		order := 0
		x, isNumber := a.(float64)
		y, bothNumbers := b.(float64)
		p, isText := a.(string)
		q, bothTexts := b.(string)
		switch {
		case isNumber && bothNumbers && place != nil:
			first, known := place[x]
			second, both := place[y]
			if !known || !both { // what is shown no more stands somewhere, too
				continue
			}
			order = cmp.Compare(first, second)
		case isNumber && bothNumbers:
			order = cmp.Compare(x, y)
		case isText && bothTexts && f.Datatype == "timestamp":
			order = cmp.Compare(p, q)
		default:
			continue
		}
		t.check(order < 0 == (sign == ""), what, "in order", text(a)+" before "+text(b))
	}
}

// places are those of the records that a field refers to in their own order by
// id; nil where it refers to none, or to too many.
func (t *T) places(f *Field) map[float64]int {
	target := t.known(f.Reference)
	if target == nil || len(target.requires) > 0 || !t.can("GET", "/"+target.Name) {
		return nil
	}
	p := t.list("/" + target.Name + "?page_size=1000&fields=id")
	if p.Next != nil {
		return nil
	}
	places := map[float64]int{}
	for i, id := range idsOf(p.Data) {
		places[float64(id)] = i
	}
	return places
}

// reserved are query parameters that win over a field of their name.
var reserved = []string{"id", "page", "page_size", "fields", "sort", "modified_since", "total", "after"}

func filters(t *T) {
	rec, path := t.inList(t.whole)
	if !t.onlyReads(t.resource) {
		t.create(t.resource, t.sameParent(rec)) // which the filters have to leave out
	}
	filtered := false
	for _, f := range t.resource.Fields {
		v := rec[f.Name]
		if !f.scalar() || v == nil || slices.Contains(reserved, f.Name) || slices.Contains(t.resource.requires, f.Name) {
			continue
		}
		filtered = true
		records := t.list(path + "&" + f.Name + "=" + url.QueryEscape(plainText(v))).Data
		t.check(slices.Contains(idsOf(records), idOf(rec)), "the filter on "+described(t.resource, f)+" = "+plainText(v), "record "+status(idOf(rec)), text(idsOf(records)))
		for _, r := range records {
			t.equal("what the filter on "+described(t.resource, f)+" lets through", v, r[f.Name])
		}
	}
	if !filtered {
		t.impossible("the administration filters its lists by nothing more than they require, and GET /model says so")
	}
}

func modifiedSince(t *T) {
	moment, listed := t.modified()
	t.check(listed(moment), "modified_since its own modified_at", "the record is listed", "it is not")
	t.check(!listed(moment.Add(time.Second)), "modified_since a second later", "the record is not listed", "it is")
}

// until makes a record after a list has said until when it has all.
func until(t *T) {
	rec, list := t.inList(t.fresh)
	if !t.tellsSince(list) {
		t.impossible("the administration does not tell what was changed since when, and modified_since is refused")
	}
	list += "&modified_since="
	first := t.list(list + "2999-01-01")
	if first.Until == "" {
		t.impossible("the administration does not tell until when it has all changes")
	}
	made := idOf(rec)
	if !t.onlyReads(t.resource) {
		made = t.create(t.resource, t.sameParent(rec))
	}
	next := t.list(list + url.QueryEscape(first.Until))
	t.check(next.Until >= first.Until, "until of the next answer", "not before "+first.Until, next.Until)
	if !t.onlyReads(t.resource) {
		t.check(slices.Contains(idsOf(next.Data), made), "modified_since the until before", "record "+status(made)+" is listed", text(idsOf(next.Data)))
	}
}

// inList returns a record and a list that contains it: one that create makes, where the suite
// may create records, else one that is there.
func (t *T) inList(create func() int) (rec map[string]any, list string) {
	if t.onlyReads(t.resource) {
		rec = t.found(t.resource)
	} else {
		rec = t.get(t.resource, create()).data()
	}
	return rec, t.listOf(t.resource, rec) + newestFirst
}

// modified is when a record was, and tells whether lists since a moment have it.
// Where that is not kept, modified_since must not be there.
func (t *T) modified() (moment time.Time, listed func(since time.Time) bool) {
	rec, list := t.inList(t.fresh)
	path := list + "&modified_since="
	at, kept := rec["modified_at"].(string)
	if !kept && t.onlyReads(t.resource) && t.tellsSince(list) {
		t.impossible("the record that was found does not tell when it was modified, as one may that never was")
	}
	if !kept {
		t.refusal(t.call("GET", path+"2026-07-01", ""), mapping.QueryUnsupported, "modified_since")
		t.impossible("modified_at is not kept, and modified_since not supported")
	}
	if !t.tellsSince(list) {
		t.impossible("the administration does not tell what was changed since when, and modified_since is refused")
	}
	moment, err := time.Parse(time.RFC3339Nano, at)
	t.check(err == nil, "modified_at", "a timestamp", at)
	return moment, func(since time.Time) bool {
		p := t.list(path + url.QueryEscape(since.UTC().Format("2006-01-02T15:04:05.000Z")))
		return slices.Contains(idsOf(p.Data), idOf(rec))
	}
}

// byID checks that a list without sort is in the order of IDs. It adds five records, so that an
// order by chance is unlikely.
func byID(t *T) {
	path, _ := t.scope()
	if !t.onlyReads(t.resource) {
		first := t.list(path).Data[0]
		for range 5 {
			t.create(t.resource, t.sameParent(first))
		}
	}
	all := idsOf(t.list(path).Data)
	t.check(slices.IsSorted(all), "the order without sort", "by id", text(all))
}
