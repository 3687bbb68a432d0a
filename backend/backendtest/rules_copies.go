package backendtest

import (
	"net/http"
	"slices"
	"time"
)

// copiesCases are the rules for clients that keep a copy: many records at once, changes and
// digests.
func copiesCases() []Case {
	return []Case{
		rule("bulk.each", "POST and PUT of /<resource>/bulk do each record by itself, in order, and say of each what a request for it alone would be answered",
			"A record that is refused must leave the others as they are.", bulkEach, anyCreate),
		rule("changes.told", "GET /changes tells what was created, updated and deleted after a cursor", "Note each change in its own transaction.", changesReported),
		rule("changes.digest", "GET /changes/digest counts the records of a resource, and its sums change with them", "Sum up what lists show.", digestCounts),
	}
}

// manyResults are the outcomes of a request for many records.
func (t *T) manyResults(r *Resource, a answer) (statuses, made []int) {
	var body struct {
		Data []struct{ Index, Status, ID int }
	}
	t.read(a, &body)
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

// resourceWithChanges is a resource whose changes are reported, and whose records can be made.
func (t *T) resourceWithChanges(path string) *Resource {
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

// changesTimeout is how long /changes may take to report a change: it waits for the end of other
// transactions.
const changesTimeout = 10 * time.Second

func changesReported(t *T) {
	r := t.resourceWithChanges("/changes")
	type change struct {
		Resource, Kind string
		ID             int
	}
	var page struct {
		Data   []change
		Cursor string
	}
	t.read(t.call("GET", "/changes", ""), &page)
	id := t.create(r, nil)
	reported := func(kind string) {
		after := "/changes?resource=" + r.Name + "&after=" + page.Cursor
		page.Data = nil
		for since := time.Now(); len(page.Data) == 0 && time.Since(since) < changesTimeout; time.Sleep(100 * time.Millisecond) {
			t.read(t.call("GET", after, ""), &page)
		}
		t.check(slices.Contains(page.Data, change{r.Name, kind, id}), "the changes", kind+" of "+r.Name+" "+status(id), text(page.Data))
	}
	reported("created")
	t.ok(t.call("DELETE", path(r, id), ""))
	reported("deleted")
}

func digestCounts(t *T) {
	r := t.resourceWithChanges("/changes/digest")
	sums := func() (count int, all string) {
		var body struct {
			Data []struct {
				Count  int
				Digest string
			}
		}
		t.read(t.call("GET", "/changes/digest?ranges=1&resource="+r.Name, ""), &body)
		t.equal("how many ranges", 1, len(body.Data))
		return body.Data[0].Count, body.Data[0].Digest
	}
	count, digest := sums()
	t.create(r, nil)
	more, changed := sums()
	t.equal("the count with one more record", count+1, more)
	t.check(changed != digest, "the digest with one more record", "another one", changed)
	t.equal("the count", t.list("/"+r.Name+"?page_size=1&total=1&is_system=0").Total, more)
}
