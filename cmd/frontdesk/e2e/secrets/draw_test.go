package secrets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// actor draws the requests of one user. What it has seen of its own it uses again; of
// what others have it is given numbers and values, to ask for.
type actor struct {
	random    *rand.Rand
	model     *mapping.Model
	resources []*mapping.Resource // that it asks for
	own       map[string][]string // numbers of its records, by resource; «n» for new ones
	hidden    map[string][]string // numbers of records that it must not see
	old       map[string][]string // those of them that were there before all new ones
	values    map[string][]string // by field, of records of everybody
	tags      map[string]string   // ETag that was told last for each path, «n» for what it is in each of the twins
	jobs      []string            // that are others'
	cursors   []string            // of changes, «n» for what they are in each of the twins
	follows   bool                // changes are told at once: nobody else writes into the same database server
	taken     map[string][]string // fields that it may not use, by resource
	made      int
	secrets   int // asked for, see drawSecret
	name      uint64
	key       string
	bySheet   bool                       // it is behind a sheet, see betweenClients
	has       map[string]map[string]bool // fields that there are, by resource, and can be written; nil for all
}

func ownModel() *mapping.Model {
	model, err := mapping.LoadModel("")
	if err != nil {
		panic(err)
	}
	return model
}

func newActor(seed uint64, names []string) *actor {
	model := ownModel()
	a := &actor{name: seed, random: rand.New(rand.NewPCG(seed, 15)), model: model, own: map[string][]string{}, hidden: map[string][]string{}, old: map[string][]string{}, values: map[string][]string{}, tags: map[string]string{}}
	for _, name := range names {
		a.resources = append(a.resources, model.Resource(name))
	}
	return a
}

// knows reports whether a field is one to ask for: of those that there are not, hardly any.
func (a *actor) knows(r *mapping.Resource, f *mapping.Field) bool {
	_, has := a.has[r.Name][f.Name]
	return a.has == nil || has || a.chance(2)
}

// writes is the same for bodies.
func (a *actor) writes(r *mapping.Resource, f *mapping.Field) bool {
	return a.has == nil && !f.Readonly || a.has[r.Name][f.Name] || a.chance(1)
}

func (a *actor) chance(percent int) bool { return a.random.IntN(100) < percent }

func pick[T any](a *actor, from []T) (one T) {
	if len(from) > 0 {
		one = from[a.random.IntN(len(from))]
	}
	return one
}

// id is a number of a record: one of its own most often, of somebody else's, or of
// nobody's.
func (a *actor) id(resource string) string {
	switch n := a.random.IntN(10); {
	case n < 6 && len(a.own[resource]) > 0:
		return pick(a, a.own[resource])
	case n < 9 && len(a.hidden[resource]) > 0:
		return pick(a, a.hidden[resource])
	default:
		return fmt.Sprint(90_000_000 + a.random.IntN(100))
	}
}

// apart are the fields that nothing else depends on, of resources that a viewer without
// a right to them learns nothing of: not by a total, nor by what is unique or in use.
var apart = map[string][]string{
	"employee":          {"first_name", "last_name", "job_title", "email", "hourly_rate"},
	"document":          {"name", "kind", "mime_type", "content", "external_url"},
	"contactaddress":    {"street", "house_number", "house_number_addition", "city"},
	"turnovergroup":     {"description", "ledger_account"},
	"advertisementsite": {"name", "base_url"},
	"flatrate":          {"number", "description", "brand", "model"},
}

// drawApart is a request that changes what is apart.
func (a *actor) drawApart() ask {
	r := pick(a, a.resources)
	if r.Name == "flatrate" && a.chance(40) {
		if a.chance(30) {
			return ask{method: "DELETE", path: "/flatrate/" + a.id("flatrate")}
		}
		return ask{method: "POST", path: "/flatrate", body: a.body(r, false)}
	}
	name := pick(a, apart[r.Name])
	value := a.value(r, r.Field(name))
	if text, ok := strings.CutSuffix(value, `"`); ok && r.Field(name).Check == "" && len(r.Field(name).OneOf) == 0 && r.Field(name).Type != mapping.Bytea {
		value = fmt.Sprint(text, " ", a.random.IntN(50), `"`)
	}
	return ask{method: "PUT", path: "/" + r.Name + "/" + a.id(r.Name), body: fmt.Sprintf("{%q:%s}", name, value)}
}

// draw is the next request.
func (a *actor) draw() ask {
	r := pick(a, a.resources)
	switch {
	case len(a.taken[r.Name]) > 0 && a.chance(10):
		return a.drawTaken(r)
	case !a.bySheet && a.chance(5): // behind a sheet changes are not told at once
		return a.copied(r)
	case a.chance(3):
		return a.many(r)
	}
	switch n := a.random.IntN(100); {
	case n < 35:
		return a.list(r)
	case n < 55:
		return a.get(r)
	case n < 70:
		return ask{method: "POST", path: "/" + r.Name, body: a.body(r, false), headers: a.once(), makes: true}
	case n < 84:
		path := "/" + r.Name + "/" + a.id(r.Name)
		return ask{method: "PUT", path: path, body: a.body(r, true), headers: a.condition(path)}
	case n < 92:
		path := "/" + r.Name + "/" + a.id(r.Name)
		return ask{method: "DELETE", path: path, headers: a.condition(path)}
	default:
		return a.utility(r)
	}
}

// many writes up to three records at once.
func (a *actor) many(r *mapping.Resource) ask {
	method := pick(a, []string{"POST", "PUT"})
	var records []string
	for range 1 + a.random.IntN(3) {
		var arrays []string
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Type == mapping.Array {
				arrays = append(arrays, f.Name)
			}
		}
		body := a.body(r, method == "PUT", arrays...)
		if method == "PUT" {
			body = strings.Replace(strings.Replace(body, "{", `{"id":`+a.id(r.Name)+",", 1), ",}", "}", 1)
		}
		records = append(records, body)
	}
	return ask{method: method, path: "/" + r.Name + "/bulk", body: `{"records":[` + strings.Join(records, ",") + `]}`, headers: a.once(), makes: true}
}

// copied is what a program asks that keeps a copy. What a digest says of a range differs
// where numbers do, so it is asked for the whole, of which the count is compared.
func (a *actor) copied(r *mapping.Resource) ask {
	names := []string{r.Name, pick(a, a.model.Resources).Name, "secret", "nothing"}
	query := url.Values{}
	if a.chance(70) {
		query.Set("resource", pick(a, names))
	}
	if !a.follows || a.chance(30) {
		query.Set("ranges", pick(a, []string{"1", "1", "1", "0", "x"}))
		return ask{method: "GET", path: "/changes/digest?" + query.Encode()}
	}
	query.Set("page_size", pick(a, []string{"3", "100", "1000", "0"}))
	if a.chance(50) {
		query.Set("records", "1")
	}
	path := "/changes?" + query.Encode()
	switch {
	case a.chance(5):
		path += "&after=nothing"
	case len(a.cursors) > 0 && a.chance(85):
		path += "&after=" + pick(a, a.cursors[max(0, len(a.cursors)-10):])
	}
	return ask{method: "GET", path: path}
}

func (a *actor) get(r *mapping.Resource) ask {
	path := "/" + r.Name + "/" + a.id(r.Name)
	headers := a.condition(path)
	if a.chance(40) {
		path += "?fields=" + a.fields(r)
	}
	return ask{method: "GET", path: path, headers: headers}
}

// condition is a header that asks for the state of a record.
func (a *actor) condition(path string) []string {
	tag := a.tags[path]
	switch n := a.random.IntN(12); {
	case n == 0:
		return []string{"If-Match", `"x"`}
	case n == 1:
		return []string{"If-None-Match", `*`}
	case n < 5 && tag != "":
		return []string{pick(a, []string{"If-Match", "If-None-Match"}), tag}
	default:
		return nil
	}
}

// once is an Idempotency-Key, out of few, so that they meet.
func (a *actor) once() []string {
	if !a.chance(15) {
		return nil
	}
	return []string{"Idempotency-Key", fmt.Sprint("key-", a.random.IntN(40))}
}

// fields are some that exist, arrays among them, and one that does not.
func (a *actor) fields(r *mapping.Resource) string {
	names := []string{"id"}
	for i := range r.Fields {
		if f := &r.Fields[i]; a.chance(30) && a.knows(r, f) {
			names = append(names, f.Name)
		}
	}
	if a.chance(3) {
		names = append(names, "no_such_field")
	}
	return strings.Join(names, ",")
}

func (a *actor) list(r *mapping.Resource) ask {
	var q []string
	of := "" // what a reference is to; a number of something else may be another's in each twin
	for _, name := range r.ListRequires {
		f := r.Field(name)
		value := a.filterValue(r, f)
		if f.ReferenceBy != "" {
			value = a.id(of)
		}
		of = value
		q = append(q, name+"="+value)
	}
	for range a.random.IntN(3) {
		f := &r.Fields[a.random.IntN(len(r.Fields))]
		if f.Filterable() && !f.Primary && a.knows(r, f) && !slices.Contains(r.ListRequires, f.Name) {
			q = append(q, a.filter(r, f))
		}
	}
	if a.chance(40) {
		q = append(q, fmt.Sprint("page_size=", 1+a.random.IntN(7)))
	}
	if a.chance(40) {
		q = append(q, "total=1")
	}
	switch a.random.IntN(4) {
	case 0:
		// What is new stands before or behind what is new elsewhere, as it happens.
		q = append(q, "after="+pick(a, append([]string{"0", "90000000", pick(a, a.own[r.Name])}, a.old[r.Name]...)))
	case 1:
		q = append(q, fmt.Sprint("page=", 1+a.random.IntN(4)))
	}
	if a.chance(25) {
		// What is made within a tick of the administration's clock is of one age, or not.
		if f := &r.Fields[a.random.IntN(len(r.Fields))]; f.Index != r.CreatedAt && f.Index != r.ModifiedAt && a.knows(r, f) {
			q = append(q, "sort="+pick(a, []string{"", "-"})+f.Name)
		}
	}
	if a.chance(15) {
		q = append(q, "modified_since="+pick(a, []string{"2020-01-01T00:00:00Z", "2037-01-01T00:00:00Z"}))
	}
	if a.chance(25) {
		q = append(q, "fields="+a.fields(r))
	}
	return ask{method: "GET", path: "/" + r.Name + "?" + strings.Join(q, "&")}
}

// filter is a condition of a list of any kind that the field takes, as it stands in an address.
func (a *actor) filter(r *mapping.Resource, f *mapping.Field) string {
	o := mapping.Equals
	if other := pick(a, mapping.AllOperators[:]); a.chance(60) && f.FilterableBy(other) {
		o = other
	}
	value := a.filterValue(r, f)
	switch o {
	case mapping.AnyOf:
		value += "," + a.filterValue(r, f)
	case mapping.IsNull:
		value = pick(a, []string{"0", "1"})
	case mapping.Contains:
		whole, _ := url.QueryUnescape(value)
		letters := []rune(whole)
		from := a.random.IntN(len(letters) + 1)
		value = url.QueryEscape(string(letters[from:min(from+5, len(letters))]))
	}
	return o.Param(f.Name) + "=" + value
}

// filterValue is what a list may be asked for, as it stands in an address.
func (a *actor) filterValue(r *mapping.Resource, f *mapping.Field) string {
	if target := a.target(r, f); target != "" {
		return a.id(target)
	}
	if len(f.OneOf) > 0 {
		return url.QueryEscape(pick(a, f.OneOf))
	}
	if seen := a.values[f.Name]; len(seen) > 0 && a.chance(80) {
		return url.QueryEscape(pick(a, seen))
	}
	return url.QueryEscape(f.Example)
}

// target is the resource that a field refers to; one of several where a record says.
func (a *actor) target(_ *mapping.Resource, f *mapping.Field) string {
	if f.ReferenceBy != "" {
		return "contact"
	}
	return f.Reference
}

// body is a record, or some of its fields; without is what an element has from the record
// that it is sent with.
func (a *actor) body(r *mapping.Resource, some bool, without ...string) string {
	var members []string
	for i := range r.Fields {
		f := &r.Fields[i]
		switch {
		case f.Primary || !a.writes(r, f) || slices.Contains(without, f.Name) && a.chance(95):
		case f.Required && !some && a.chance(97), a.chance(12):
			members = append(members, fmt.Sprintf("%q:%s", f.Name, a.value(r, f)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// value is one for a field, as JSON.
func (a *actor) value(r *mapping.Resource, f *mapping.Field) string {
	text := func(s string) string {
		if f.Type == mapping.Int4 || f.Type == mapping.Float8 {
			return s
		}
		quoted, _ := json.Marshal(s)
		return string(quoted)
	}
	switch {
	case f.Name == "resource":
		return `"contact"`
	case f.Type == mapping.Array:
		return "[" + a.body(f.Target(), false, f.ArrayKey) + "]"
	case a.target(r, f) != "":
		return a.id(a.target(r, f))
	case len(f.OneOf) > 0:
		return text(pick(a, f.OneOf))
	case f.Type == mapping.Bytea:
		return text(base64.StdEncoding.EncodeToString(fmt.Append(nil, "content ", a.random.IntN(5))))
	case f.Type == mapping.Timestamp, f.Type == mapping.Float8, f.Type == mapping.Int4:
		return text(f.Example)
	case f.Name == "username" && a.bySheet:
		a.made++
		return text(fmt.Sprintf("U%dN%d", a.name, a.made))
	case f.Unique && a.chance(60):
		a.made++
		return text(varied(f, a.made))
	case len(a.values[f.Name]) > 0 && a.chance(50):
		return text(pick(a, a.values[f.Name]))
	default:
		return text(f.Example)
	}
}

// varied is an example of a unique field that no other one has.
func varied(f *mapping.Field, n int) string {
	switch f.Check {
	case "license_plate":
		return fmt.Sprintf("%02d-XX%c-%d", n/10%100, 'A'+n/1000%26, n%10)
	case "vin":
		return fmt.Sprintf("WVWZZZ1KZ%08d", n)
	default:
		return fmt.Sprintf("N%d", n)[:min(f.Length, len(fmt.Sprintf("N%d", n)))]
	}
}

// descriptions are the ways to what an api_key may use.
var descriptions = []string{"/openapi.json?api_key=", "/openapi.json?version=3.0&api_key="}

// utility is what else can be asked.
func (a *actor) utility(r *mapping.Resource) ask {
	all := a.model.Resources
	if a.key == rig.FullKey && a.chance(2) { // it takes long
		return ask{method: "GET", path: pick(a, descriptions) + a.key}
	}
	if a.key != rig.FullKey && a.key != "" && a.chance(30) {
		return a.drawSecret()
	}
	if !a.bySheet && a.chance(5) { // before a sheet the twins may be told at first that changes are not known yet
		return ask{method: "GET", path: "/testpage/requests"}
	}
	other := pick(a, all) // what is not granted, or not there
	paths := []string{
		"/model/" + pick(a, all).Name, "/model", "/authenticate/acces", "/authenticate/modules",
		"/empoyee/email?username=" + url.QueryEscape(pick(a, append([]string{"demo"}, a.values["username"]...))),
		"/document/info?id=" + a.id("document"), "/vehicle/publishstart?id=" + a.id("vehicle"),
		"/webhook?id=" + pick(a, append([]string{"nothing"}, a.jobs...)), "/" + other.Name + "/" + a.id(other.Name),
	}
	if n := a.random.IntN(len(paths) + 1); n < len(paths) {
		return ask{method: "GET", path: paths[n]}
	}
	return ask{method: pick(a, []string{"GET", "DELETE", "PUT"}), path: "/" + r.Name + "?id=" + a.id(r.Name)}
}
