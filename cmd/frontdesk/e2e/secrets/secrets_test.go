package secrets

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// How many requests are drawn: for each driver, whose kinds of administrations share them
// with what its shops and models are asked, and in the soak for each kind, which is a
// million for all of them; and how many somebody else makes beside, of one of the twins
// alone.
const (
	drawnShort = 6_000
	drawnSoak  = 150_000
	noise      = 10 // in a hundred
	hideAfter  = 50 // requests
	renewAfter = 10_000
)

// walk asks the same of both twins, while others work on one of them.
type walk struct {
	*twins
	viewer  *actor
	tokens  [2]string
	others  []*stranger // one for each twin
	logIn   func(side int) (viewer, other string)
	ownIDs  [2]map[string]map[string]bool // by resource, as each twin has them
	hide    func() int                    // of the kind
	foreign bool                          // the others are of another client
	tells   bool                          // of changes
	copies  []string                      // of these resources a copy is kept; nil for all
	fields  map[string][]string           // that are taken from the user, who sees all records; by resource
	begun   [2]string                     // cursors that it began with
	lefts   map[string]string             // resource and ID in the right twin, to the ID in the left one
}

// stranger works on one of the twins, where the viewer must not see it.
type stranger struct {
	*actor
	side  int
	token string
	next  func() ask
}

// TestNobodyCanTell draws requests of a user, and asks them of two administrations that
// differ in what the user may not see. What is another client's and what is not granted are
// each left out by one code for all engines: the soak asks each engine for both.
func TestNobodyCanTell(t *testing.T) {
	t.Parallel()
	for i, engine := range rig.Engines {
		t.Run(engine.Name+" of others", func(t *testing.T) {
			shortWhere(t, i == 0)
			t.Parallel()
			betweenClients(t, kind{follows: engine.Name == rig.Engines[0].Name, viewer: login{"demo", "demo"}, other: login{"other", "other"}, requests: drawn(4, 2*modelRequests), start: func(int) *rig.Desk {
				return rig.Start(t, rig.Options{DSN: engine.DSN(t)})
			}})
		})
		t.Run(engine.Name+" without a grant", func(t *testing.T) {
			shortWhere(t, i == 1)
			t.Parallel()
			withoutAGrant(t, narrow, engine.Name == rig.Engines[0].Name, drawn(4, 2*modelRequests), func(side int) *rig.Desk {
				dsn := engine.DSN(t)
				if side == 1 { // changed later, a line would change its order
					p := rig.Practice{T: t, DSN: dsn}
					p.Alter("UPDATE orderline SET description = 'secret', sort_order = 77")
				}
				return rig.Start(t, rig.Options{DSN: dsn, Keys: narrowKeys})
			})
		})
	}
}

// kind is an administration of a kind, that two are started of.
type kind struct {
	start         func(side int) *rig.Desk
	viewer, other login
	requests      int      // that are drawn
	bySheet       bool     // see betweenClients
	follows       bool     // see actor
	scans         bool     // its sheet says that changes are looked for
	without       []string // resources that are not asked for
	// hide changes rows that nobody sees, in one of the two, and tells how many; nil
	// where there are none.
	hide func() int
}

type login struct{ username, password string }

func (l login) at(d *rig.Desk, key string) string { return d.LoginAs(key, l.username, l.password) }

// betweenClients has the user of another client work on one of the twins.
//
// Two things tell of other clients in a system behind a sheet, which are left out of it: a
// user name is unique over all of them, so it says that one is taken; and its numbers are
// given out by the gateway, so a reference to one that was never given out is refused
// before the system is asked, which has other things to refuse first. That a number was
// given out one's own next number tells too.
func betweenClients(t *testing.T, k kind) {
	var desks [2]*rig.Desk
	w := &walk{hide: k.hide, foreign: true}
	w.logIn = func(side int) (viewer, other string) {
		return k.viewer.at(desks[side], rig.FullKey), k.other.at(desks[side], rig.FullKey)
	}
	for side := range desks {
		desks[side] = k.start(side)
		var other string
		w.tokens[side], other = w.logIn(side)
		has := offered(t, desks[side], w.tokens[side])
		for _, name := range k.without {
			delete(has, name)
		}
		offeredTo := func(seed uint64) *actor {
			a := newActor(seed, slices.Sorted(maps.Keys(has)))
			a.bySheet, a.has = k.bySheet, has
			return a
		}
		if side == 0 {
			w.viewer = offeredTo(1)
			w.copies = k.copied(has)
		}
		w.beside(side, offeredTo(uint64(10+side)), other, (*actor).draw)
	}
	w.viewer.key, w.viewer.follows, w.tells = rig.FullKey, k.follows, !k.bySheet || k.scans
	w.twins = newTwins(t, desks)
	w.onSight = k.bySheet
	w.begin()
	w.run(k.requests)
}

// offered are the resources and fields that an administration has, and whether they can be
// written.
func offered(t *testing.T, d *rig.Desk, token string) map[string]map[string]bool {
	t.Helper()
	has := map[string]map[string]bool{}
	for _, r := range ownModel().Resources {
		if d.Call("GET", "/model/"+r.Name, token, "").Status != 200 {
			continue
		}
		has[r.Name] = map[string]bool{}
		for name, readonly := range d.FieldsOf(token, r.Name) {
			has[r.Name][name] = !readonly
		}
	}
	require.NotEmpty(t, has)
	return has
}

// beside has somebody else work on one of the twins.
func (w *walk) beside(side int, a *actor, token string, next func(*actor) ask) {
	w.others = append(w.others, &stranger{actor: a, side: side, token: token, next: func() ask { return next(a) }})
}

// shortWhere leaves a kind to the soak, unless the short form has it.
func shortWhere(t *testing.T, short bool) {
	if !short && !sqltest.Soak() {
		t.Skip("make soak has it")
	}
}

// drawn is how many requests one of so many kinds of a driver is asked that has a number
// of its own besides.
func drawn(kinds, besides int) int {
	if sqltest.Soak() {
		return drawnSoak
	}
	return (drawnShort - besides) / kinds
}

// begin learns what there is at the beginning, which is the same in both.
func (w *walk) begin() {
	w.lefts = map[string]string{}
	for side := range w.ownIDs {
		w.ownIDs[side] = map[string]map[string]bool{}
		if w.tells {
			w.begun[side] = w.beginCopy(side, w.tokens[side])
		}
	}
	// An administration may number its records as they are asked for: so both are asked
	// for all, in the same order.
	var mine, theirs [2]map[string][]string
	for side, s := range w.others {
		mine[side] = w.readAll(w.viewer, side, w.tokens[side])
		theirs[side] = w.readAll(s.actor, side, s.token)
		s.own = theirs[side]
		for resource, all := range mine[side] {
			for _, id := range all {
				w.owned(side, resource, id)
			}
		}
		if w.fields == nil {
			w.hear(s)
		}
		// The result of a job is its client's, whichever api_key asked for it.
		if said := w.send(s.side, s.token, backupOwner); said.status == 202 && (w.viewer.key == rig.FullKey || w.fields != nil) {
			w.viewer.jobs = append(w.viewer.jobs, jobOf(said))
		}
	}
	for _, r := range ownModel().Resources {
		w.viewer.own[r.Name] = w.alike(r.Name, mine, nil)
		w.viewer.hidden[r.Name] = w.alike(r.Name, theirs, w.ownIDs[0][r.Name])
		w.viewer.old[r.Name] = slices.Clone(w.viewer.hidden[r.Name])
	}
	require.NotEmpty(w.t, w.viewer.own["contact"])
	require.True(w.t, w.fields != nil || len(slices.Concat(slices.Collect(maps.Values(w.viewer.hidden))...)) > 0)
}

// alike are the numbers of the same records in both, but for those that are left out.
func (w *walk) alike(resource string, ids [2]map[string][]string, without map[string]bool) (all []string) {
	require.Len(w.t, ids[1][resource], len(ids[0][resource]), resource)
	for i, id := range ids[0][resource] {
		switch other := ids[1][resource][i]; {
		case without[id]:
		case id == other:
			all = append(all, id)
		default:
			w.lefts[resource+" "+other] = id
			all = append(all, w.pair(id, other))
		}
	}
	return all
}

var backupOwner = ask{method: "POST", path: "/backup/owner", body: `{"webhook_url":"https://receiver.invalid/done"}`}

// jobOf is the number of a job that was promised.
func jobOf(said answer) string {
	_, id, _ := strings.Cut(said.header.Get("Location"), "id=")
	return id
}

// backUp makes a backup of both, at last, and compares what is in them, but for the
// numbers of elements that were never met.
func (w *walk) backUp() {
	var files [2][]string
	var told [2]backend.Manifest
	for side, token := range w.tokens {
		promised := w.send(side, token, backupOwner)
		if promised.status != 202 {
			return // it has none, or the api_key must not
		}
		file := w.fetched(side, promised)
		archive := must.Have(zip.NewReader(bytes.NewReader(file), int64(len(file))))(w.t)
		for _, f := range archive.File {
			text := must.Have(fs.ReadFile(archive, f.Name))(w.t)
			files[side] = append(files[side], f.Name+"\n"+string(text))
			if f.Name == "manifest.json" {
				require.NoError(w.t, json.Unmarshal(text, &told[side]))
			}
		}
	}
	require.Equal(w.t, told[0].Counters, told[1].Counters)
	require.Len(w.t, files[1], len(files[0]))
	for i := range files[0] {
		w.same(backupOwner, [2]answer{{body: []byte(files[0][i])}, {body: []byte(files[1][i])}}, files[0][i], files[1][i], true)
	}
}

func (w *walk) run(requests int) {
	statuses := map[int]int{}
	unseen, hidden := 0, 0 // changes
	for w.asked < requests {
		if w.viewer.chance(noise) {
			unseen += w.elsewhere(pick(w.viewer, w.others))
			continue
		}
		if w.asked%renewAfter == 0 { // a session lasts half an hour
			for side, s := range w.others {
				w.tokens[side], s.token = w.logIn(side)
			}
		}
		if w.hide != nil && w.asked%hideAfter == 0 {
			hidden += w.hide()
		}
		a := w.viewer.draw()
		said := w.both(w.tokens, a)
		statuses[said[0].status]++
		require.NotEqual(w.t, 500, said[0].status, "%v", a)
		if len(said[0].body) < largeAnswer || w.viewer.chance(5) {
			w.viewer.learn(said[0].body)
		}
		w.follow(a, said)
	}
	w.t.Log(statuses, "and", unseen, "changes that nobody could see,", hidden, "of rows that are hidden")
	w.tellLater()
	w.backUp()
	require.Greater(w.t, unseen, requests/200)
	require.Equal(w.t, w.viewer.follows, len(w.viewer.cursors) > 0)
	require.True(w.t, w.hide == nil || hidden > requests/500, "%d hidden rows", hidden)
}

// follow keeps the numbers of what was made, or met for the first time.
func (w *walk) follow(a ask, said [2]answer) {
	if strings.HasPrefix(a.path, "/changes?") && said[0].status == 200 {
		w.viewer.cursors = append(w.viewer.cursors, w.pair(cursorOf(w.t, said[0]), cursorOf(w.t, said[1])))
	}
	if left, right := said[0].header.Get("Etag"), said[1].header.Get("Etag"); left != "" && a.method != "POST" {
		path, _, _ := strings.Cut(a.path, "?")
		w.viewer.tags[path] = w.pair(left, right)
	}
	if name, many := strings.CutSuffix(a.path, "/bulk"); many && a.method == "POST" && said[0].status == 200 {
		left, right := ids(said[0].body), ids(said[1].body)
		for i := range left {
			if !w.knownOwn(name[1:], left[i]) { // a repetition tells again
				w.metElements(name[1:], w.met(name[1:], left[i], right[i]), a.body)
			}
		}
		return
	}
	if a.method != "POST" || said[0].status != 201 {
		return
	}
	made := [2][]string{ids(said[0].body), ids(said[1].body)}
	if len(made[0]) == 0 {
		return
	}
	w.metElements(a.path[1:], w.met(a.path[1:], made[0][0], made[1][0]), a.body)
}

// metElements notes the elements that a new record was made with.
func (w *walk) metElements(resource, id, body string) {
	r := w.viewer.model.Resource(resource)
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Type != mapping.Array || !strings.Contains(body, strconv.Quote(f.Name)) {
			continue
		}
		with := w.both(w.tokens, ask{method: "GET", path: "/" + r.Name + "/" + id + "?fields=id," + f.Name, makes: true})
		left, right := ids(with[0].body), ids(with[1].body)
		for n := 1; n < len(left); n++ { // behind the record itself
			w.met(f.Target().Name, left[n], right[n])
		}
	}
}

func (w *walk) knownOwn(resource, left string) bool { return w.ownIDs[0][resource][left] }

func cursorOf(t *testing.T, said answer) string {
	t.Helper()
	page := must.JSON[struct{ Cursor string }](t, said.body)
	return page.Cursor
}

// met notes a record that is the viewer's own, by its number in each of the twins.
func (w *walk) met(resource, left, right string) (id string) {
	id = w.pair(left, right)
	w.lefts[resource+" "+right] = left
	w.viewer.own[resource] = append(w.viewer.own[resource], id)
	for side, id := range []string{left, right} {
		w.owned(side, resource, id)
		// The other twin may have that number for somebody else's: no longer to be asked for.
		w.viewer.hidden[resource] = slices.DeleteFunc(w.viewer.hidden[resource], func(h string) bool { return h == id })
	}
	return id
}

// elsewhere has somebody else work on one of the twins, and tells how much that changed.
func (w *walk) elsewhere(s *stranger) (changes int) {
	a := s.next()
	said := w.send(s.side, s.token, a)
	s.learn(said.body)
	if a.method != "GET" && said.status < 300 {
		changes++
	}
	if a.method == "POST" && said.status == 201 {
		for _, id := range ids(said.body)[:1] {
			resource := a.path[1:]
			s.own[resource] = append(s.own[resource], id)
			if !s.bySheet && !w.ownIDs[0][resource][id] && !w.ownIDs[1][resource][id] {
				w.viewer.hidden[resource] = append(w.viewer.hidden[resource], id)
			}
		}
	}
	if w.fields == nil {
		w.hear(s)
	}
	return changes
}
