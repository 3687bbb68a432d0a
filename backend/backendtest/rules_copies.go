package backendtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/mapping"
)

// copiesCases are the rules for clients that keep a copy: filters, many records at once,
// changes and digests.
func copiesCases() []Case {
	return []Case{
		each(rule("list.operators", "[gte], [gt], [lte], [lt], [in], [null] and [contains] let through what they say, and what lists lack of them GET /model names",
			"Compare typed values, and leave null out of all but [null].", operators)),
		rule("bulk.each", "POST and PUT of /<resource>/bulk do each record by itself, in order, and say of each what a request for it alone would be answered",
			"A record that is refused must leave the others as they are.", bulkEach, anyCreate),
		rule("changes.told", "GET /changes tells what was created, updated and deleted after a cursor", "Note each change in its own transaction.", changesTold),
		rule("changes.digest", "GET /changes/digest counts the records of a resource, and its sums change with them", "Sum up what lists show.", digestCounts),
	}
}

// operators asks by one field of each datatype: what a list compares depends on that.
func operators(t *T) {
	rec, path := t.inList(t.whole)
	asked := map[string]bool{}
	for _, f := range t.resource.Fields {
		v := rec[f.Name]
		if !f.scalar() || f.Primary || f.Name == "is_system" || v == nil || v == "" || asked[f.Datatype] || slices.Contains(reserved, f.Name) || slices.Contains(t.resource.requires, f.Name) {
			continue
		}
		asked[f.Datatype] = true
		sent := url.QueryEscape(plainText(v))
		t.operator(path, f, "in", sent, rec, true)
		t.operator(path, f, "null", "0", rec, true)
		t.operator(path, f, "null", "1", rec, false)
		if text, ok := v.(string); ok && f.Datatype != "timestamp" {
			if part, long := strings.ToUpper(text), utf8.RuneCountInString(text) >= mapping.MinContains; long && !strings.Contains(text, "-") { // which plates are compared without
				t.operator(path, f, "contains", url.QueryEscape(string([]rune(part)[:mapping.MinContains])), rec, true)
			}
			continue // how texts are in order is the administration's own
		}
		for o, lists := range map[string]bool{"gte": true, "lte": true, "gt": false, "lt": false} {
			t.operator(path, f, o, sent, rec, lists)
		}
	}
	if len(asked) == 0 {
		t.impossible("the administration filters its lists by nothing more than they require, and GET /model says so")
	}
}

// operator asks for a filter, and compares whether the record is among what it lets through.
func (t *T) operator(path string, f *Field, o, value string, rec map[string]any, lists bool) {
	name := f.Name + "[" + o + "]"
	a := t.call("GET", path+"&"+url.QueryEscape(name)+"="+value, "")
	ranged := o == "gte" || o == "gt" || o == "lte" || o == "lt"
	if a.status == http.StatusBadRequest && (slices.Contains(f.NotFilterableBy, o) || ranged && (f.Reference != "" || f.Validation != "") || o == "contains" && f.Validation != "") {
		t.refusal(a, mapping.QueryUnsupported, name)
		return
	}
	p, err := t.ok(a).page()
	t.check(err == nil, "the list by "+name, "a page", text(err))
	t.check(slices.Contains(idsOf(p.Data), idOf(rec)) == lists, name+"="+value, "record "+status(idOf(rec))+map[bool]string{true: "", false: " not"}[lists]+" among them", text(idsOf(p.Data)))
}

// manyResults are what became of many records.
func (t *T) manyResults(r *Resource, a answer) (statuses, made []int) {
	var body struct {
		Data []struct{ Index, Status, ID int }
	}
	t.check(json.Unmarshal(t.ok(a).body, &body) == nil, "the answer", "results", string(a.body))
	for i, result := range body.Data {
		t.equal("the index of a result", i, result.Index)
		statuses, made = append(statuses, result.Status), append(made, result.ID)
		if result.Status == http.StatusCreated {
			t.made = append(t.made, madeRecord{r.Name, result.ID})
		}
	}
	return statuses, made
}

func bulkEach(t *T) {
	r, path := t.op.resource, "/"+t.op.resource.Name+"/bulk"
	t.allowed()
	if !t.can("POST", path) {
		t.needs("an api_key that may call POST %s", path)
	}
	first, last := t.valid(r), t.valid(r)
	a := t.call("POST", path, values{severalName: []values{first, {"no_such_field": 1}, last}}.json())
	if f, _ := a.failure(); f.Field == "webhook_url" {
		t.impossible("here many records are written by callback only")
	}
	statuses, made := t.manyResults(r, a)
	t.equal("the statuses", []int{201, 403, 201}, statuses)
	t.get(r, made[0])
	t.get(r, made[2])
	if !t.can("PUT", path) {
		return
	}
	statuses, _ = t.manyResults(r, t.call("PUT", path, values{severalName: []values{{"id": made[0]}, {"id": absentID}, {"id": made[2]}}}.json()))
	t.equal("the statuses", []int{200, 404, 200}, statuses)
}

// toldResource is a resource whose changes are told, and whose records can be made.
func (t *T) toldResource(path string) *Resource {
	if !t.can("GET", path) {
		t.impossible("there is no GET %s", path)
	}
	for _, r := range t.resources {
		if r.Changes == "all" && !t.onlyReads(r) && t.can("DELETE", "/"+r.Name) && len(r.requires) == 0 {
			return r
		}
	}
	t.impossible("no resource whose records can be made is told of in full")
	return nil
}

// tellsWithin is how long /changes may take to have a change: it waits for the end of other
// transactions.
const tellsWithin = 10 * time.Second

func changesTold(t *T) {
	r := t.toldResource("/changes")
	type page struct {
		Data []struct {
			Resource, Kind string
			ID             int
		}
		Cursor string
	}
	read := func(query string) (p page) {
		a := t.ok(t.call("GET", "/changes"+query, ""))
		t.check(json.Unmarshal(a.body, &p) == nil, "the changes", "a page", string(a.body))
		return p
	}
	cursor := read("").Cursor
	id := t.create(r, nil)
	told := func(kind string) {
		p := read("?resource=" + r.Name + "&after=" + cursor)
		for since := time.Now(); len(p.Data) == 0 && time.Since(since) < tellsWithin; p = read("?resource=" + r.Name + "&after=" + cursor) {
			time.Sleep(100 * time.Millisecond)
		}
		for _, change := range p.Data {
			if change.ID == id && change.Resource == r.Name {
				t.equal("what became of the record", kind, change.Kind)
				cursor = p.Cursor
				return
			}
		}
		t.fail("the changes", kind+" of "+r.Name+" "+status(id), text(p.Data))
	}
	told("created")
	t.ok(t.call("DELETE", path(r, id), ""))
	told("deleted")
}

func digestCounts(t *T) {
	r := t.toldResource("/changes/digest")
	sums := func() (count int, all string) {
		var body struct {
			Data []struct {
				Count  int
				Digest string
			}
		}
		a := t.ok(t.call("GET", "/changes/digest?ranges=1&resource="+r.Name, ""))
		t.check(json.Unmarshal(a.body, &body) == nil && len(body.Data) == 1, "the digest", "one range", string(a.body))
		return body.Data[0].Count, body.Data[0].Digest
	}
	count, digest := sums()
	t.create(r, nil)
	more, changed := sums()
	t.equal("the count with one more record", count+1, more)
	t.check(changed != digest, "the digest with one more record", "another one", changed)
	total := t.list("/" + r.Name + "?page_size=1&total=1&is_system=0").Total
	t.check(total != nil && *total == more, "the count", text(total), text(more))
}
