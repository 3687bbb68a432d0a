package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// drift is a change of what a service answers, to all or to lists alone.
type drift struct {
	name   string
	ask    foreigntest.JQ // what the service makes of a list's query
	answer foreigntest.JQ // what becomes of the body of an answer
	status int            // of the answer; 0 for what it was
}

// drifting is a rack whose answers a test changes.
type drifting struct {
	*remotetest.Rack
	now *drift
}

func (s *drifting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isList := r.Method == "GET" && strings.Count(r.URL.Path, "/") == 1
	var now *drift
	if s.Do(func() { now = s.now }); now == nil {
		s.Rack.ServeHTTP(w, r)
		return
	}
	if values := r.URL.Query(); isList && now.ask != "" {
		q := map[string]any{}
		for name := range values {
			q[name] = values.Get(name)
		}
		for name, v := range now.ask.One(q, nil).(map[string]any) {
			values.Set(name, v.(string))
		}
		r.URL.RawQuery = values.Encode()
	}
	in := httptest.NewRecorder()
	s.Rack.ServeHTTP(in, r)
	var body any
	_ = json.Unmarshal(in.Body.Bytes(), &body)
	of, _ := body.(map[string]any)
	status := in.Code
	if status == http.StatusOK && now.answer != "" && (now.status/100 != 4 || of["items"] != nil) { // 4xx says of a record that it is gone
		status, body = cmp.Or(now.status, status), now.answer.One(body, nil)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(body)
	}
}

// drifts are those that are drawn from: of each member, of lists, of pages.
func drifts() (all []drift) {
	for _, member := range []string{"id", "org", "kind", "name", "note", "days", "changed", "gone"} {
		for name, jq := range map[string]string{
			"renamed": ".M_2 = .M | del(.M)", "left out": "del(.M)", "within": ".M |= {value: .}", "a list": ".M |= [.]", "another text": `.M |= "x \(.)"`,
		} {
			if name == "another text" && slices.Contains([]string{"name", "note", "gone", "id"}, member) {
				continue // where that is no other value, or record
			}
			all = append(all, drift{name: member + " " + name, answer: everyRecord(strings.ReplaceAll(`if has("M") then `+jq+" else . end", "M", member))})
		}
	}
	for name, jq := range map[string]string{
		"with another root": "{data: .items}", "without a root": ".items", "deeper": "{items: {items: .items}}", "that are null": "{items: null}",
		"that are not there": "{}", "that are empty": "{items: []}", "that end early": "{items: .items[:1]}", "of wrapped records": "{items: (.items | map({record: .}))}",
		"of texts": `{items: ["a", "b"]}`, "of keys": "{items: (.items | map({id: .id}))}", "twice in one": "{items: (.items + .items)}", "in a message": `{error: "deprecated", items: "see /v2"}`,
	} {
		all = append(all, drift{name: "lists " + name, answer: foreigntest.JQ("if has(\"items\") then " + jq + " else . end")})
	}
	for name, jq := range map[string]foreigntest.JQ{
		"always the first": `.page = "1"`, "counted from 0": ".page |= (tonumber + 1 | tostring)", "of another limit": `.limit = "3"`,
	} {
		all = append(all, drift{name: "pages " + name, ask: jq})
	}
	for _, status := range []int{404, 410, 301, 500, 204} {
		all = append(all, drift{name: fmt.Sprint("status ", status), answer: `{message: "moved"}`, status: status})
	}
	all = append(all, drift{name: "records wrapped", answer: everyRecord("{data: .}")})
	slices.SortFunc(all, func(a, b drift) int { return strings.Compare(a.name, b.name) })
	return all
}

// everyRecord changes each record of an answer.
func everyRecord(jq string) foreigntest.JQ {
	return foreigntest.JQ("if has(\"items\") then .items |= map(" + jq + ") else " + jq + " end")
}

// TestCopyThroughDrift changes a service in drawn ways while it goes on, and takes that back: nothing
// is told that is not so, no record is wrong, none gone, none null, and all opens again.
func TestCopyThroughDrift(t *testing.T) {
	for _, since := range []string{remotetest.WithSince, "every: 1h"} {
		t.Run(since, func(t *testing.T) {
			seed, rounds := uint64(5), 60
			if sqltest.Soak() {
				seed, rounds = rand.Uint64(), 400
			}
			t.Logf("seed %d", seed)
			newDriftWalk(t, since, seed).run(rounds)
		})
	}
}

// driftWalk is a copy in front of a drifting rack, and what has been told of it.
type driftWalk struct {
	*testing.T
	s     *drifting
	d     *Driver
	drawn *rand.Rand
	start map[int64]string // cursors of changes, by client
	edits int
	done  string
	// past is how the contacts were since all was known, is how they are.
	past []map[string]map[string]any
	is   map[string]map[string]any
}

func newDriftWalk(t *testing.T, since string, seed uint64) *driftWalk {
	s := &drifting{Rack: remotetest.NewRack()}
	for i := range 30 { // each page has a hidden one
		if i%5 == 2 {
			s.Put("contacts", fmt.Sprintf("c%02d", i), map[string]any{"gone": true})
		} else {
			s.Put("contacts", fmt.Sprintf("c%02d", i), map[string]any{"gone": false})
		}
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", since, 1), server.URL, "")
	w := &driftWalk{T: t, s: s, d: d, drawn: rand.New(rand.NewPCG(seed, 1)), start: map[int64]string{}}
	w.look()
	for _, who := range []auth.Client{north, south} {
		listed(t, d, who, "contact", "name")
		page := must.Have(d.Changes(bg(), backend.ChangesQuery{Client: who, Begin: true, Resources: []*mapping.Resource{w.contact()}}))(t)
		w.start[who.ID] = page.Cursor
	}
	return w
}

func (w *driftWalk) contact() *mapping.Resource { return w.d.Sheet.Model.Resource("contact") }

func (w *driftWalk) look() {
	w.is = map[string]map[string]any{}
	w.s.Do(func() {
		for _, rec := range w.s.Records["contacts"] {
			w.is[rec["id"].(string)] = maps.Clone(rec)
		}
	})
	w.past = append(w.past, w.is)
}

func (w *driftWalk) run(rounds int) {
	all := drifts()
	for n := range rounds {
		of := all[n%len(all)]
		if n >= len(all) {
			of = all[w.drawn.IntN(len(all))]
		}
		w.done = of.name
		w.s.Do(func() { w.s.now = &of })
		w.edit()
		for range 1 + w.drawn.IntN(3) {
			w.step()
		}
		w.s.Do(func() { w.s.now = nil })
		require.NoError(w, walkNow(w.d, w.walked()), "after %s", w.done)
		require.Empty(w, w.d.Closed(), w.done)
		w.past = []map[string]map[string]any{w.is} // now all of it is known
		w.holds(true)
		w.told()
	}
}

func (w *driftWalk) walked() *walked { return w.d.copy.sources[w.contact()].of(w.d.copy, north) }

// edit changes a contact there, or adds one.
func (w *driftWalk) edit() {
	w.edits++
	key := fmt.Sprintf("c%02d", w.drawn.IntN(30))
	if w.drawn.IntN(4) == 0 {
		key = fmt.Sprintf("d%02d", w.edits)
		w.s.Put("contacts", key, map[string]any{"org": 1, "kind": "P", "name": "New " + key, "note": nil, "gone": false})
	}
	w.s.Put("contacts", key, map[string]any{"days": w.edits})
	w.look()
}

// step does something in front of the service as it is now.
func (w *driftWalk) step() {
	switch w.drawn.IntN(4) {
	case 0:
		if err := walkNow(w.d, w.walked()); err != nil {
			w.d.copy.fail(bg(), w.walked(), err)
		}
	case 1:
		w.holds(false, fromService)
	case 2:
		w.get()
	default:
		w.write()
	}
	w.holds(false)
	w.told()
}

// shows reports whether a record is a contact as it is in the service, or was.
func (w *driftWalk) shows(rec mapping.Record) bool {
	for _, all := range w.past {
		for _, of := range all {
			if of["name"] == rec.Get("name").String() && fmt.Sprint(of["days"]) == rec.Get("payment_days").String() && of["gone"] != true && rec.Get("kind").Text() == "person" && !rec.Get("note").IsSet() &&
				rec.Get("modified_at").String()[:19]+"Z" == of["changed"] {
				return true
			}
		}
	}
	return false
}

// holds lists, and holds the list to the service: whole tells that all must be known.
func (w *driftWalk) holds(whole bool, change ...func(*backend.Query)) {
	for _, who := range []auth.Client{north, south} {
		q := backend.Query{Client: who, Limit: 1000, Copy: &backend.Copy{}}
		for _, f := range change {
			f(&q)
		}
		page, err := w.d.List(bg(), w.contact(), q)
		if whole {
			require.NoError(w, err)
		}
		if err != nil {
			require.NotErrorIs(w, err, backend.ErrNotFound)
			continue
		}
		names := map[string]bool{}
		for _, rec := range page.Records {
			names[rec.Get("name").String()] = true
			require.True(w, w.shows(rec), "%s: %v is not so", w.done, rec)
		}
		for key, of := range w.past[0] {
			if of["gone"] != true && fmt.Sprint(of["org"]) == fmt.Sprint(who.ID) {
				require.True(w, names[of["name"].(string)], "%s: %s is missing", w.done, key)
			}
		}
	}
}

// get reads a contact one by one.
func (w *driftWalk) get() {
	who := []auth.Client{north, south}[w.drawn.IntN(2)]
	page, err := w.d.copy.records.List(bg(), w.contact(), backend.Query{Client: who, Limit: 1000})
	require.NoError(w, err)
	id := page.Records[w.drawn.IntN(len(page.Records))].ID()
	rec, err := w.d.Get(bg(), w.contact(), backend.Query{Client: who, ID: id})
	if err != nil {
		require.NotErrorIs(w, err, backend.ErrNotFound, w.done)
		return
	}
	require.True(w, w.shows(rec), "%s: %v is not so", w.done, rec)
}

// write changes a contact: if it is said to be done it is, and nothing beside.
func (w *driftWalk) write() {
	page, err := w.d.copy.records.List(bg(), w.contact(), backend.Query{Client: north, Limit: 1000})
	require.NoError(w, err)
	was := page.Records[w.drawn.IntN(len(page.Records))]
	w.edits++
	_, err = writer(w, w.d).Update(bg(), north, was.ID(), patch(w, w.contact(), fmt.Sprintf(`{"payment_days": %d}`, w.edits)), backend.Write{})
	before := w.is
	w.look()
	if err == nil {
		require.EqualValues(w, fmt.Sprint(w.edits), fmt.Sprint(w.named(was.Get("name").String())["days"]), w.done)
	}
	for key, of := range w.is {
		for member, v := range before[key] {
			require.True(w, fmt.Sprint(of[member]) == fmt.Sprint(v) || member == "days" || member == "changed", "%s: %s of %s", w.done, member, key)
		}
	}
}

func (w *driftWalk) named(name string) map[string]any {
	for _, of := range w.is {
		if of["name"] == name {
			return of
		}
	}
	return nil
}

// told holds what is told of changes: nothing is gone.
func (w *driftWalk) told() {
	for _, who := range []auth.Client{north, south} {
		page, err := w.d.Changes(bg(), backend.ChangesQuery{Client: who, After: w.start[who.ID], Resources: []*mapping.Resource{w.contact()}, Limit: 1000})
		if err != nil {
			continue
		}
		for _, of := range page.Changes {
			require.NotEqual(w, backend.RecordDeleted, of.Kind, "%s: %d was told gone", w.done, of.ID)
		}
		w.start[who.ID] = page.Cursor
	}
}
