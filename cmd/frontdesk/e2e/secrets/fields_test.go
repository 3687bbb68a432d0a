package secrets

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// hush is in every text that a field has which is taken from the user.
const hush = "Hush"

// taken are the fields that the api_key may not read; it may not send initials with a new contact, nor
// change its language.
var (
	taken = map[string][]string{
		"contact": {"birth_date", "note", "payment_days"}, "order": {"mileage", "reference"}, "orderline": {"article_number", "employee_id"},
		"vehicle": {"vin", "purchase_price", "remark"}, "article": {"purchase_price", "ean"},
		"employee": {"hourly_rate", "job_title"}, "document": {"content", "size", "sha256", "external_url"},
	}
	takenOfShop = map[string][]string{"contact": {"payment_days"}, "order": {"reference"}, "orderline": {"description"}}
	fewer       = rig.ArrayKey(3)
)

// fewerGrants are the api_key with rights to all but these fields. It only reads what it could not
// write without them.
func fewerGrants(taken map[string][]string, more ...string) string {
	rules := append(more, `"GET /webhook"`, `"GET /model/*"`)
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		entry := func(method string, more ...string) {
			rules = append(rules, fmt.Sprintf("{%q: {without: [%s]}}", method+" /"+name, strings.Join(append(more, taken[name]...), ", ")))
		}
		switch r := ownModel().Resource(name); {
		case name == "employee", name == "document", slices.ContainsFunc(taken[name], func(field string) bool { return r.Field(field).Required }):
			entry("GET")
			continue
		case name == "contact" && len(more) > 0:
			entry("GET")
			entry("POST", "initials")
			entry("PUT", "language")
			rules = append(rules, `"DELETE /contact"`)
		default:
			entry("*")
		}
		rules = append(rules, fmt.Sprintf("%q", "* /"+name+"/bulk"))
	}
	return fmt.Sprintf("  - {name: fewer, key_sha256: [\"%x\"], allow: [%s]}\n", sha256.Sum256([]byte(fewer)), strings.Join(rules, ", "))
}

// TestNobodyCanTellOfFields takes ten seconds for 6,000 requests on each engine, which are asked of both
// twins. It is TestNobodyCanTell of administrations that differ in fields which are taken from the api_key.
func TestNobodyCanTellOfFields(t *testing.T) {
	t.Parallel()
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			withoutFields(t, kind{viewer: login{"demo", "demo"}, requests: shortOr(drawnShort, 400_000), start: func(side int) *rig.Desk {
				dsn := engine.DSN(t)
				if side == 1 {
					p := rig.Practice{T: t, DSN: dsn}
					p.Alter("UPDATE contact SET note = 'Hush 1', payment_days = 77")
					p.Alter("UPDATE orderline SET article_number = 'Hush 2'")
				}
				return rig.Start(t, rig.Options{DSN: dsn, Keys: fewerGrants(taken,
					`"GET /changes"`, `"POST /changes"`, `"GET /changes/digest"`, `"POST /backup/owner"`, `"* /country"`, `"GET /document/info"`, `"GET /vehicle/publishstart"`, `"POST /mcp"`)})
			}}, taken)
		})
	}
	for name, of := range map[string]func(testing.TB) kind{"shop in sql": shopInSQL, "shop over http": shopOverHTTP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := of(t)
			k.requests = shortOr(drawnShort/4, 100_000)
			withoutFields(t, k, takenOfShop)
		})
	}
}

// withoutFields has somebody with an api_key for everything change the fields that are taken, in the
// records of the viewer.
func withoutFields(t *testing.T, k kind, taken map[string][]string) {
	var desks [2]*rig.Desk
	w := &walk{fields: taken}
	w.logIn = func(side int) (viewer, other string) {
		return k.viewer.at(desks[side], fewer), k.viewer.at(desks[side], rig.FullKey)
	}
	for side := range desks {
		desks[side] = k.start(side)
		var other string
		w.tokens[side], other = w.logIn(side)
		if side == 0 {
			has := offered(t, desks[side], w.tokens[side])
			w.viewer = newActor(3, slices.DeleteFunc(slices.Sorted(maps.Keys(taken)), func(name string) bool { return has[name] == nil }))
			w.viewer.has, w.viewer.key, w.viewer.taken, w.viewer.bySheet = has, fewer, taken, k.bySheet
		}
		w.beside(side, newActor(uint64(30+side), slices.Sorted(maps.Keys(taken))), other, func(a *actor) ask { return w.changeTaken(a) })
	}
	w.twins = newTwins(t, desks)
	w.onSight, w.touched = k.bySheet, true
	w.begin()
	var cursors [2]string
	for side := range cursors {
		if !k.bySheet {
			cursors[side] = w.beginCopy(side, w.tokens[side])
		}
	}
	w.run(k.requests)
	if !k.bySheet {
		w.sameChanges(cursors)
		w.sameWork()
		w.unnamed()
	}
}

// changeTaken changes a field that the viewer does not see, in a record that it does.
func (w *walk) changeTaken(a *actor) ask {
	r := pick(a, w.viewer.resources)
	for len(w.viewer.own[r.Name]) == 0 {
		r = pick(a, w.viewer.resources)
	}
	fields := slices.DeleteFunc(slices.Clone(w.fields[r.Name]), func(name string) bool { return r.Field(name).Readonly })
	f := r.Field(pick(a, fields))
	return ask{method: "PUT", path: "/" + r.Name + "/" + pick(a, w.viewer.own[r.Name]), body: fmt.Sprintf("{%q:%s}", f.Name, a.hushed(f))}
}

// hushed is a value of a field that is taken, as JSON.
func (a *actor) hushed(f *mapping.Field) string {
	n := a.random.IntN(900)
	switch {
	case f.Target() != nil:
		return "null"
	case f.Type == mapping.Int4, f.Type == mapping.Float8:
		return fmt.Sprint(n)
	case f.Type == mapping.Timestamp:
		return fmt.Sprintf(`"%d-01-02T03:04:05Z"`, 1900+n%100)
	case f.Type == mapping.Bytea:
		return fmt.Sprintf("%q", base64.StdEncoding.EncodeToString(fmt.Append(nil, hush, n)))
	case f.Check == "vin":
		return fmt.Sprintf("%q", varied(f, n)) // which the viewer draws, too
	case f.Check == "https_url":
		return fmt.Sprintf(`"https://%s%d.example/"`, strings.ToLower(hush), n)
	case f.Check != "":
		return "null"
	default:
		return fmt.Sprintf("%q", fmt.Sprint(hush, " ", n))
	}
}

// drawTaken is a request that names a field that is taken.
func (a *actor) drawTaken(r *mapping.Resource) ask {
	f := r.Field(pick(a, a.taken[r.Name]))
	item, example := "/"+r.Name+"/"+a.id(r.Name), a.value(r, f)
	with := strings.TrimSuffix(a.body(r, false), "}")
	if with != "{" {
		with += ","
	}
	with += fmt.Sprintf("%q:%s}", f.Name, example)
	q := pick(a, []ask{
		{method: "GET", path: item + "?fields=id," + f.Name}, {method: "GET", path: "/" + r.Name + "?fields=" + f.Name},
		{method: "GET", path: "/" + r.Name + "?sort=-" + f.Name}, {method: "GET", path: "/" + r.Name + "?" + a.filter(r, f)}, {method: "GET", path: "/" + r.Name + "?" + f.Name + "=xyz"},
		{method: "PUT", path: item, body: fmt.Sprintf("{%q:%s}", f.Name, example)}, {method: "PUT", path: item, body: fmt.Sprintf("{%q:{}}", f.Name)},
		{method: "POST", path: "/" + r.Name, body: with, makes: true}, {method: "POST", path: "/" + r.Name + "/bulk", body: `{"records":[` + with + `]}`, makes: true},
		{method: "POST", path: "/contact", body: `{"kind":"person","name":"N","initials":"A.B."}`, makes: true}, {method: "PUT", path: "/contact/" + a.id("contact"), body: `{"language":"nl"}`},
		{method: "GET", path: "/model/" + r.Name}, backupOwner, {method: "GET", path: "/authenticate/fingerprint"},
		{method: "GET", path: pick(a, descriptions) + a.key}, {method: "POST", path: rig.AgentsPath, body: rig.ToolCall("describe", map[string]string{"resource": r.Name})},
		byTool(a.list(r)), byTool(a.get(r)), byTool(ask{method: "PUT", path: item, body: a.body(r, true)}), byTool(ask{method: "DELETE", path: item}),
	})
	if a.chance(25) {
		return byTool(q)
	}
	return q
}

// byTool is a request as an agent makes it, if there is a tool for it.
func byTool(q ask) ask {
	tool, arguments := toolFor(q)
	if tool == "" {
		return q
	}
	return ask{method: "POST", path: rig.AgentsPath, body: rig.ToolCall(tool, arguments)}
}

// sameChanges compares all records that are told as changed since the beginning: of those that only one
// twin tells of, only something was changed that is not seen.
func (w *walk) sameChanges(cursors [2]string) {
	var all [2]map[string]string // by resource and ID as the left twin has it
	for side, cursor := range cursors {
		all[side] = map[string]string{}
		for more := true; more; {
			said := w.send(side, w.tokens[side], ask{method: "GET", path: "/changes?page_size=500&records=1&after=" + cursor})
			page := must.JSON[struct {
				Data []struct {
					Resource string
					ID       int
					Record   json.RawMessage
				}
				Cursor string
				More   bool
			}](w.t, said.body)
			for _, c := range page.Data {
				all[side][c.Resource+" "+w.leftOf(side, c.Resource, fmt.Sprint(c.ID))] = string(w.compared(c.Record))
			}
			require.NotContains(w.t, string(said.body), hush)
			cursor, more = page.Cursor, page.More
		}
	}
	compared := 0
	for record, left := range all[0] {
		if right, both := all[1][record]; both {
			w.same(ask{path: record}, [2]answer{{body: []byte(left)}, {body: []byte(right)}}, left, right, false)
			compared++
		}
	}
	require.Greater(w.t, compared, w.asked/50)
}

// sameWork compares what comes of work by callback.
func (w *walk) sameWork() {
	for _, a := range []ask{
		{method: "POST", path: "/contact/bulk", body: `{"webhook_url":"https://receiver.invalid/done","records":[{"kind":"person","name":"N"},{"kind":"person","name":"N","note":"x"}]}`},
		{method: "PUT", path: "/vehicle/bulk", body: `{"webhook_url":"https://receiver.invalid/done","records":[{"id":` + w.viewer.own["vehicle"][0] + `,"remark":"x"}]}`},
	} {
		var files [2]answer
		for side, token := range w.tokens {
			files[side].body = w.fetched(side, w.send(side, token, a))
		}
		w.same(a, files, string(files[0].body), string(files[1].body), true)
		require.Contains(w.t, string(files[0].body), "not found in model")
	}
}

// unnamed holds what is described to the fields that there are.
func (w *walk) unnamed() {
	for name, fields := range w.fields {
		model := w.send(0, w.tokens[0], ask{method: "GET", path: "/model/" + name})
		for _, field := range fields {
			require.NotContains(w.t, string(model.body), `"name":"`+field+`"`, "the model of %s", name)
		}
	}
	for _, path := range descriptions {
		said := w.send(0, w.tokens[0], ask{method: "GET", path: path + fewer})
		for _, field := range []string{"birth_date", "payment_days", "vin", "hourly_rate", "job_title", "sha256", "external_url"} { // no other resource has them
			if at := strings.Index(string(said.body), field); at >= 0 {
				w.t.Errorf("the description has %s: %s", field, said.body[max(0, at-200):at+50])
			}
		}
		require.Contains(w.t, string(said.body), "language")
	}
}

// TestFieldsAreTaken: what the test of fields takes is there to be taken.
func TestFieldsAreTaken(t *testing.T) {
	for name, fields := range taken {
		for _, field := range fields {
			require.NotNil(t, must.Have(mapping.LoadModel(""))(t).Resource(name).Field(field), name+"."+field)
		}
	}
}
