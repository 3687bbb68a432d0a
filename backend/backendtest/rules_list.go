package backendtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
		each(rule("list.operators", "[gte], [gt], [lte], [lt], [in], [null] and [contains] let through what they say, and what lists lack of them GET /model names",
			"Compare typed values, and leave null out of all but [null].", operators)),
		each(rule("list.by_id", "Without sort a list is by id", "The order by id is that of the key's columns, which need not be that of the IDs where those are given out by the gateway.", byID)),
		each(rule("list.modified_since", "modified_since is inclusive", "Have every change set modified_at, and compare with >=.", func(t *T) {
			moment, listed := t.modified()
			t.check(listed(moment), "modified_since its own modified_at", "the record is listed", "it is not")
			t.check(!listed(moment.Add(time.Second)), "modified_since a second later", "the record is not listed", "it is")
		})),
		each(rule("list.modified_since_milliseconds", "modified_since is exact to the millisecond", "Keep modified_at to the millisecond.", func(t *T) {
			moment, listed := t.modified()
			t.check(!listed(moment.Add(time.Millisecond)), "modified_since a millisecond later", "the record is not listed", "it is")
		})),
		each(rule("list.until", "until, where an answer to modified_since has it, is what the next modified_since should be: what was changed after the answer is listed",
			"Date no change before a moment that was told, whatever is still under way.", until)),
		each(rule("list.fields", "fields= answers the named fields alone, in model order", "Judge fields by name, and answer by position.", listFields)),
		rule("list.beyond", "A page beyond the end is empty, with next null", hint, func(t *T) {
			p := t.list("/" + t.some().Name + "?page=2147483647&page_size=1000")
			t.equal("the records", 0, len(p.Data))
			t.check(p.Next == nil, "next", "null", text(p.Next))
		}),
	}
}

func listFields(t *T) {
	rec := t.get(t.resource, t.record(t.resource)).data()
	list := t.listOf(t.resource, rec)
	last := t.resource.Fields[len(t.resource.Fields)-1].Name
	t.equal("the members", []string{"id", last}, t.ok(t.call("GET", list+"&fields="+last+",id", "")).order())
	for _, f := range t.resource.Fields {
		if !f.Array {
			continue
		}
		one := t.ok(t.call("GET", path(t.resource, idOf(rec))+"?fields=id,"+f.Name, "")).data()
		if listed := t.list(small(list, "100") + newestFirst + "&fields=id," + f.Name).find(idOf(rec)); listed != nil {
			t.equal("the list's "+f.Name, one, listed)
		}
	}
}

// scope is a path to a list that is small if the suite makes its records: the
// list of the parent, or, if modified_since is supported, what was modified since
// the first of them.
func (t *T) scope() (path string, least int) {
	if t.onlyReads(t.resource) {
		return t.listOf(t.resource, t.found(t.resource)), 1
	}
	rec := t.get(t.resource, t.fresh()).data()
	t.addToList(rec, 2)
	path = t.listOf(t.resource, rec)
	if at, kept := rec["modified_at"].(string); kept && t.takesSince(path) {
		path += "&modified_since=" + url.QueryEscape(at)
	}
	return path, 3
}

// takesSince reports whether a list takes modified_since. A list that does not must refuse
// it, like any unknown parameter.
func (t *T) takesSince(path string) bool {
	a := t.call("GET", path+"&modified_since=2026-07-01", "")
	if a.status == http.StatusOK {
		return true
	}
	t.refusal(a, mapping.QueryUnsupported, "modified_since")
	return false
}

// addToList makes n records in the same list as another, and returns the last.
func (t *T) addToList(rec map[string]any, n int) (id int) {
	same := values{}
	for _, name := range t.resource.requires {
		same[name] = rec[name]
	}
	for range n {
		id = t.create(t.resource, same.with(nil))
	}
	return id
}

func idsOf(records []map[string]any) []int {
	ids := make([]int, len(records))
	for i, rec := range records {
		ids[i] = idOf(rec)
	}
	return ids
}

// find is the record of an id, nil if the page has none.
func (p page) find(id int) map[string]any {
	for _, rec := range p.Data {
		if idOf(rec) == id {
			return rec
		}
	}
	return nil
}

// small is the same list with a small page.
func small(path string, size string) string {
	return strings.Replace(path, "page_size=1000", "page_size="+size, 1)
}

// mostPages is how far lists with records of others are walked.
const mostPages = 5

// walked compares the pages of two from a path on with the whole list.
func (t *T) walked(from string, all []int, see func(n int, p page)) {
	var walked []int
	for n, next := 1, small(from, "2"); next != "" && n <= mostPages; n++ {
		p := t.list(next)
		see(n, p)
		walked, next = append(walked, idsOf(p.Data)...), ""
		if p.Next != nil {
			_, query, ok := strings.Cut(*p.Next, "/"+t.resource.Name+"?")
			t.check(ok, "next", "a path of /"+t.resource.Name, *p.Next)
			next = "/" + t.resource.Name + "?" + query
		}
	}
	t.equal("the records of the pages", all[:min(len(all), 2*mostPages)], walked)
}

func paging(t *T) {
	path, least := t.scope()
	whole, plain := t.list(path+"&total=1"), t.list(path)
	all := idsOf(whole.Data)
	t.check(len(all) >= least, "the list", text(least)+" records or more", text(all))
	t.check(whole.Total != nil && (whole.Next != nil || *whole.Total == len(all)), "total", text(len(all)), text(whole.Total))
	t.check(plain.Total == nil, "total when not asked for", "no such member", text(plain.Total))
	t.equal("page and page_size", []int{1, 1000}, []*int{plain.Page, plain.PageSize})
	t.walked(path, all, func(n int, p page) { t.equal("page", n, p.Page) })
}

func keyset(t *T) {
	path, _ := t.scope()
	all := idsOf(t.list(path).Data)
	t.walked(path+"&after=0", all, func(_ int, p page) { t.check(p.Page == nil, "page with after", "no such member", text(p.Page)) })
	if len(all) > 1 {
		after := idsOf(t.list(path + "&after=" + status(all[0])).Data)
		t.equal("the records after the first", all[1:], after[:min(len(after), len(all)-1)])
	}
}

func sorting(t *T) {
	path, _ := t.scope()
	whole := t.list(path)
	all := idsOf(whole.Data)
	if whole.Next != nil {
		t.impossible("the list is too long to be compared as a whole")
	}
	down := slices.Clone(all)
	slices.Reverse(down)
	t.equal("sort=-id", down, idsOf(t.list(path+newestFirst).Data))
	for _, f := range t.resource.Fields {
		if !f.scalar() || f.Primary {
			continue
		}
		for _, sign := range []string{"", "-"} {
			t.sorted(f, sign, all, t.list(path+"&sort="+sign+f.Name).Data)
		}
	}
}

// sorted asserts the order of a list, of which ties go by id.
func (t *T) sorted(f *Field, sign string, all []int, got []map[string]any) {
	same := idsOf(got)
	slices.Sort(same)
	what, key := "sort="+sign+f.Name, t.sortKey(f)
	t.equal("the records of "+what, slices.Sorted(slices.Values(all)), same)
	for i := 1; i < len(got); i++ {
		a, b := got[i-1][f.Name], got[i][f.Name]
		if a == b {
			x, y := slices.Index(all, idOf(got[i-1])), slices.Index(all, idOf(got[i]))
			t.check(x < y, "ties of "+what, "in the order by id", text(idsOf(got)))
			continue
		}
		x, known := key(a)
		y, both := key(b)
		t.check(!known || !both || x < y == (sign == ""), what, "in order", text(a)+" before "+text(b))
	}
}

// sortKey is the known order of a field's values: how texts and nulls compare is up to the database, and
// references are in the order of the ids that they refer to.
func (t *T) sortKey(f *Field) func(v any) (float64, bool) {
	var place map[float64]float64
	if target := t.known(f.Reference); target != nil && len(target.requires) == 0 && t.can("GET", "/"+target.Name) {
		if p := t.list("/" + target.Name + "?page_size=1000&fields=id"); p.Next == nil {
			place = map[float64]float64{}
			for i, id := range idsOf(p.Data) {
				place[float64(id)] = float64(i)
			}
		}
	}
	return func(v any) (float64, bool) {
		switch v := v.(type) {
		case float64:
			if place == nil {
				return v, true
			}
			at, known := place[v] // a hidden record has a place in the order, too
			return at, known
		case string:
			at, err := time.Parse(time.RFC3339Nano, v)
			return float64(at.UnixMilli()), f.Datatype == "timestamp" && err == nil
		}
		return 0, false
	}
}

// reserved are query parameters that win over a field of their name.
var reserved = []string{"id", "page", "page_size", "fields", "sort", "modified_since", "total", "after"}

const noFilters = "the administration filters its lists by nothing more than they require, and GET /model says so"

// filterable reports whether lists may be filtered by a value of a field.
func (t *T) filterable(f *Field, v any) bool {
	return f.scalar() && v != nil && !slices.Contains(reserved, f.Name) && !slices.Contains(t.resource.requires, f.Name)
}

func filters(t *T) {
	rec, path := t.inList(t.whole)
	if !t.onlyReads(t.resource) {
		t.addToList(rec, 1) // a record that the filters have to leave out
	}
	filtered := false
	for _, f := range t.resource.Fields {
		v := rec[f.Name]
		if !t.filterable(f, v) {
			continue
		}
		filtered = true
		what := "the filter on " + described(t.resource, f) + " = " + plainText(v)
		p := t.list(path + "&" + f.Name + "=" + url.QueryEscape(plainText(v)))
		t.check(p.find(idOf(rec)) != nil, what, "record "+status(idOf(rec)), text(idsOf(p.Data)))
		for _, r := range p.Data {
			t.equal("what lets through "+what, v, r[f.Name])
		}
	}
	if !filtered {
		t.impossible(noFilters)
	}
}

// operators filters by one field of each datatype, since comparisons depend on it.
func operators(t *T) {
	rec, path := t.inList(t.whole)
	tested := map[string]bool{}
	for _, f := range t.resource.Fields {
		v := rec[f.Name]
		if !t.filterable(f, v) || v == "" || f.Name == "is_system" || tested[f.Datatype] {
			continue
		}
		tested[f.Datatype] = true
		sent := plainText(v)
		lists := map[string]bool{"in=" + sent: true, "null=0": true, "null=1": false}
		if text, ok := v.(string); !ok || f.Datatype == "timestamp" { // the order of texts is up to the administration
			lists["gte="+sent], lists["lte="+sent], lists["gt="+sent], lists["lt="+sent] = true, true, false, false
		} else if utf8.RuneCountInString(text) >= mapping.MinContains && !strings.Contains(text, "-") { // plates are compared without dashes
			lists["contains="+string([]rune(strings.ToUpper(text))[:mapping.MinContains])] = true
		}
		for filter, there := range lists {
			t.operator(path, f, filter, rec, there)
		}
	}
	if len(tested) == 0 {
		t.impossible(noFilters)
	}
}

// operator lists with a filter, and checks whether the record passes it.
func (t *T) operator(path string, f *Field, filter string, rec map[string]any, there bool) {
	o, value, _ := strings.Cut(filter, "=")
	name := f.Name + "[" + o + "]"
	a := t.call("GET", path+"&"+url.QueryEscape(name)+"="+url.QueryEscape(value), "")
	ranged := o != "in" && o != "null" && o != "contains"
	if a.status == http.StatusBadRequest && (slices.Contains(f.NotFilterableBy, o) || ranged && (f.Reference != "" || f.Validation != "") || o == "contains" && f.Validation != "") {
		t.refusal(a, mapping.QueryUnsupported, name)
		return
	}
	var p page
	t.read(a, &p)
	t.check((p.find(idOf(rec)) != nil) == there, name+"="+value, "record "+status(idOf(rec))+map[bool]string{true: "", false: " not"}[there]+" among them", text(idsOf(p.Data)))
}

// until makes a record after a list has stated until when it is complete.
func until(t *T) {
	rec, list := t.inList(t.fresh)
	if !t.takesSince(list) {
		t.impossible(noSince)
	}
	list += "&modified_since="
	first := t.list(list + "2999-01-01")
	if first.Until == "" {
		t.impossible("the administration does not tell until when it has all changes")
	}
	made := 0
	if !t.onlyReads(t.resource) {
		made = t.addToList(rec, 1)
	}
	next := t.list(list + url.QueryEscape(first.Until))
	t.check(next.Until >= first.Until, "until of the next answer", "not before "+first.Until, next.Until)
	t.check(made == 0 || next.find(made) != nil, "modified_since the until before", "record "+status(made)+" is listed", text(idsOf(next.Data)))
}

// inList returns a record and a list that contains it: a new one if the suite may create
// records, else an existing one.
func (t *T) inList(create func() int) (rec map[string]any, list string) {
	if t.onlyReads(t.resource) {
		rec = t.found(t.resource)
	} else {
		rec = t.get(t.resource, create()).data()
	}
	return rec, t.listOf(t.resource, rec) + newestFirst
}

const noSince = "the administration does not tell what was changed since when, and modified_since is refused"

// modified returns when a record was modified, and a function that reports whether lists since a
// moment have it. If modified_at is not kept, modified_since must not be supported.
func (t *T) modified() (moment time.Time, listed func(since time.Time) bool) {
	rec, list := t.inList(t.fresh)
	at, kept := rec["modified_at"].(string)
	switch takes := t.takesSince(list); {
	case !takes && !kept:
		t.impossible("modified_at is not kept, and modified_since not supported")
	case !takes:
		t.impossible(noSince)
	case !kept && t.onlyReads(t.resource):
		t.impossible("the record that was found does not tell when it was modified, as one may that never was")
	}
	moment, err := time.Parse(time.RFC3339Nano, at)
	t.check(err == nil, "modified_at", "a timestamp, where modified_since is supported", at)
	return moment, func(since time.Time) bool {
		return t.list(list+"&modified_since="+url.QueryEscape(since.UTC().Format("2006-01-02T15:04:05.000Z"))).find(idOf(rec)) != nil
	}
}

// byID checks that a list without sort is in the order of IDs. It adds five records, so that an
// order by chance is unlikely.
func byID(t *T) {
	path, _ := t.scope()
	if !t.onlyReads(t.resource) {
		t.addToList(t.list(path).Data[0], 5)
	}
	all := idsOf(t.list(path).Data)
	t.check(slices.IsSorted(all), "the order without sort", "by id", text(all))
}
