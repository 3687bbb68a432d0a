package backendtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func status(code int) string { return strconv.Itoa(code) }

// some is a resource that can be listed without a parent.
func (t *T) some() *Resource {
	for _, r := range t.resources {
		if len(r.requires) == 0 && t.can("GET", "/"+r.Name) {
			return r
		}
	}
	t.needs(keyThat + "GET of a resource that has a list of its own")
	return nil
}

// path is that of one record.
func path(r *Resource, id int) string { return "/" + r.Name + "/" + strconv.Itoa(id) }

// textField is a field of free text that may be written at will.
func (t *T) textField(r *Resource) *Field {
	return r.find(func(f *Field) bool {
		return (f.Datatype == "varchar" || f.Datatype == "text") && f.writable() && !f.Unique && f.Validation == "" && (f.Length == 0 || f.Length >= 20) && f.Name != "article_number"
	})
}

// keep registers a new record for deletion at the end of the run.
func (t *T) keep(r *Resource, a answer) int {
	id := idOf(a.data())
	t.made = append(t.made, madeRecord{r.Name, id})
	return id
}

// absentID is the id of no record.
const absentID = 2147483646

// described is a field of a resource, for messages.
func described(r *Resource, f *Field) string { return fmt.Sprintf("%s.%s", r.Name, f.Name) }

// madeRecord is a record that is to be deleted again.
type madeRecord struct {
	resource string
	id       int
}

// cannotMake says why no record of a resource can be made, nil if one can.
func (s *suite) cannotMake(r *Resource) *outcome {
	for _, f := range r.Fields {
		if f.Required && f.writable() && !canMake(f) {
			return &outcome{status: Impossible, reason: fmt.Sprintf("the suite knows no value for the required field %s of %s (validation %s)", f.Name, r.Name, f.Validation)}
		}
		if f.Required && f.Reference != "" && s.known(f.Reference) == nil {
			return &outcome{status: Needs, reason: fmt.Sprintf("an api_key that may call /%s, which %s refers to", f.Reference, r.Name)}
		}
	}
	return nil
}

// valid are values for a new record: the required fields.
func (t *T) valid(r *Resource) values {
	v := values{}
	for _, f := range r.Fields {
		if f.Required && f.writable() && !f.Array {
			v[f.Name] = t.valueFor(r, f, v)
		}
	}
	if v["type"] == 4 {
		v["value"] = "conform-" + t.unique(20) + "@example.nl"
	}
	return v
}

func (t *T) valueFor(r *Resource, f *Field, sofar values) any {
	switch {
	case f.Reference != "" && f.Unique && t.known(f.Reference) != nil && t.can("POST", "/"+f.Reference):
		return t.create(t.known(f.Reference), nil) // no other record refers to a new one yet
	case f.Reference != "":
		return t.reference(f.Reference)
	case f.Validation == "resource":
		return t.kept(r).Name
	case f.Name == "resource_id" && sofar["resource"] != nil:
		return t.reference(t.kept(r).Name)
	}
	return t.value(f)
}

// kept is the resource whose records a document can be stored with.
func (t *T) kept(r *Resource) *Resource {
	for _, other := range t.resources {
		if other != r && len(other.requires) == 0 && t.cannotMake(other) == nil {
			return other
		}
	}
	t.impossible("there is nothing that a record of %s could belong to", r.Name)
	return nil
}

// full are values for a new record: all fields that may be written.
func (t *T) full(r *Resource) values {
	v := t.valid(r)
	for _, f := range r.Fields {
		if v[f.Name] != nil || !f.writable() || !canMake(f) || f.Reference != "" && !t.makeable(f.Reference) {
			continue
		}
		v[f.Name] = t.valueFor(r, f, v)
		if text, ok := v[f.Name].(string); ok {
			v[f.Name] = t.within(r, f, text)
		}
	}
	if article := t.known("article"); article != nil && v["article_id"] != nil && v["article_number"] != nil {
		if number := t.get(article, v["article_id"].(int)).data()["number"]; number != nil {
			v["article_number"] = number
		}
	}
	return v
}

// makeable reports whether there is or can be a record of a resource.
func (t *T) makeable(name string) bool {
	r := t.known(name)
	return r != nil && (t.shared[name] != 0 || t.systemRecord(r) != 0 || t.can("POST", "/"+name) && t.cannotMake(r) == nil)
}

// reference is the id of a record to refer to: a system record if there are any,
// as of countries, else one of the suite's own.
func (t *T) reference(name string) int {
	r := t.known(name)
	if r == nil {
		t.needs("an api_key that may call /%s", name)
	}
	if id := t.systemRecord(r); id != 0 {
		return id
	}
	return t.record(r)
}

// systemRecord is the id of a system record, 0 if there is none; for countries
// it is the Netherlands.
func (t *T) systemRecord(r *Resource) int {
	if id, known := t.system[r.Name]; known {
		return id
	}
	t.system[r.Name] = 0
	if len(r.requires) > 0 || r.field("is_system") == nil || !t.can("GET", "/"+r.Name) {
		return 0
	}
	for _, narrower := range []string{"&code=NL", ""} {
		if narrower != "" && r.field("code") == nil {
			continue
		}
		a := t.call("GET", "/"+r.Name+"?is_system=1&page_size=1"+narrower, "") // some systems do not filter by it
		if p, err := a.page(); err == nil && len(p.Data) > 0 {
			t.system[r.Name] = idOf(p.Data[0])
			break
		}
	}
	return t.system[r.Name]
}

// record is the id of a record that a case may read: a found one if none can be
// made.
func (t *T) record(r *Resource) int {
	if t.onlyReads(r) {
		return idOf(t.found(r))
	}
	return t.own(r)
}

// obstacle returns why a method cannot be called at a resource, nil if it can.
func (t *T) obstacle(method string, r *Resource) *outcome {
	unmade := t.cannotMake(r)
	switch {
	case unmade != nil && method == http.MethodPost:
		return unmade
	case !t.given && !t.can(method, "/"+r.Name):
		return &outcome{status: Needs, reason: keyThat + method + " /" + r.Name}
	case t.ReadOnly && method != http.MethodGet:
		return &outcome{status: Needs, reason: mayNotWrite}
	}
	return nil
}

const mayNotWrite = "write permission (without --read-only)"

// onlyReads reports whether no record of a resource can be made.
func (t *T) onlyReads(r *Resource) bool { return t.obstacle(http.MethodPost, r) != nil }

// own is the id of a record of the suite, on which a case may also try changes that
// must be refused: if one is not, no other record is harmed.
func (t *T) own(r *Resource) int {
	if id := t.shared[r.Name]; id != 0 {
		return id
	}
	id := t.create(r, nil)
	t.shared[r.Name] = id
	return id
}

// create makes a record with the required values and these, and has it deleted when
// the run ends. If a short code among the values is taken, create tries another, and
// changes the values; a plate that it drew itself, it draws anew.
func (t *T) create(r *Resource, more values) int {
	_, id := t.createAnswer(r, more)
	return id
}

func (t *T) createAnswer(r *Resource, more values) (answer, int) {
	if obstacle := t.obstacle(http.MethodPost, r); obstacle != nil {
		panic(*obstacle)
	}
	if more == nil {
		more = values{}
	}
	for try := 0; ; try++ {
		a := t.call("POST", "/"+r.Name, t.valid(r).with(more).json())
		f, _ := a.failure() // the status decides
		if t.learnAlphabets(r, f, more) {
			continue
		}
		// Short codes collide with existing ones, and so do plates, of which there are ten million.
		if code := r.field(f.Field); f.Reason == "duplicate_value" && code != nil && try < 50 &&
			(code.Reference == "" && code.Length <= 3 || code.Validation == "license_plate" && more[f.Field] == nil) {
			if more[f.Field] != nil {
				more[f.Field] = t.value(code)
			}
			continue
		}
		if f.Reason == "duplicate_value" && try < 2 && t.refersAnew(r, more) {
			continue // for example a line whose key is its order and its article
		}
		t.check(a.status == http.StatusCreated, "making a record of "+r.Name, "201", fmt.Sprintf("%d %s", a.status, a.body))
		id := idOf(a.data())
		t.check(id > 0, "the id of a new record", "a positive number", string(a.body))
		t.made = append(t.made, madeRecord{r.Name, id})
		return a, id
	}
}

// refersAnew replaces required references to the run's records by references to new ones. It returns
// false if there is none.
func (t *T) refersAnew(r *Resource, more values) (some bool) {
	for _, f := range r.Fields {
		to := t.known(f.Reference)
		if to == nil || !f.Required || slices.Contains(r.requires, f.Name) || t.onlyReads(to) {
			continue
		}
		more[f.Name], some = t.create(to, nil), true
	}
	return some
}

// found is a record of a list.
func (t *T) found(r *Resource) map[string]any {
	if rec := t.records[r.Name]; rec != nil {
		return rec
	}
	parents := []map[string]any{nil}
	if len(r.requires) > 0 {
		f := r.field(r.requires[0])
		if len(r.requires) > 1 || f == nil || t.known(f.Reference) == nil || len(t.known(f.Reference).requires) > 0 {
			t.impossible("the list of %s needs %s, which the suite cannot find read-only", r.Name, strings.Join(r.requires, " and "))
		}
		parents = nil
		for _, parent := range t.list("/" + f.Reference + "?page_size=50").Data {
			parents = append(parents, map[string]any{f.Name: parent["id"]})
		}
	}
	for _, parent := range parents {
		if p := t.list(small(t.listOf(r, parent), "1") + newestFirst); len(p.Data) > 0 {
			t.records[r.Name] = p.Data[0]
			return p.Data[0]
		}
	}
	t.impossible("there is no record of %s to be found", r.Name)
	return nil
}

// listOf is the path of the list that has a record, with a first parameter,
// so that more can follow after &.
func (t *T) listOf(r *Resource, rec map[string]any) string {
	path := "/" + r.Name + "?page_size=1000"
	for _, name := range r.requires {
		path += "&" + name + "=" + url.QueryEscape(plainText(rec[name]))
	}
	return path
}

// plainText is a value as a query has it.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// cleanUp deletes what was made, last first, and says what could not be.
func (s *suite) cleanUp() (left []string) {
	for _, m := range slices.Backward(s.made) {
		a, _, err := s.do(s.session(), "DELETE", fmt.Sprintf("/%s/%d", m.resource, m.id), "")
		if f, _ := a.failure(); err != nil || a.status != http.StatusOK && a.status != http.StatusNotFound {
			left = append(left, fmt.Sprintf("%s %d: %s", m.resource, m.id, cmp.Or(f.Message, fmt.Sprint(err))))
		}
	}
	return left
}
