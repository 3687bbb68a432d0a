package secrets

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// How many requests are drawn for each kind of administration, and how many of them
// somebody else makes beside, of one of the twins alone.
const (
	drawnShort = 20_000
	drawnSoak  = 1_000_000
	noise      = 10 // in a hundred
)

// walk asks the same of both twins, while others work on one of them.
type walk struct {
	*twins
	viewer  *actor
	tokens  [2]string
	others  []*stranger
	ownIDs  [2]map[string]map[string]bool // by resource, as each twin has them
	refused int
}

// stranger works on one of the twins, where the viewer must not see it.
type stranger struct {
	*actor
	side  int
	token string
	next  func() ask
}

// TestNobodyCanTell draws requests of a user, and asks them of two administrations that
// differ in what the user may not see: 20,000 on each engine, a million in the soak.
func TestNobodyCanTell(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	var names []string
	for _, r := range model.Resources {
		names = append(names, r.Name)
	}
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			var desks [2]*rig.Desk
			w := &walk{viewer: newActor(1, model, names)}
			for side := range desks {
				desks[side] = rig.Start(t, rig.Options{DSN: engine.DSN(t)})
				w.tokens[side] = desks[side].Login(rig.FullKey, "demo")
				w.beside(side, newActor(uint64(10+side), model, names), desks[side].Login(rig.FullKey, "other"), (*actor).draw)
			}
			w.twins = newTwins(t, desks)
			w.begin()
			w.run(drawn())
		})
		t.Run(engine.Name+" without a grant", func(t *testing.T) {
			t.Parallel()
			var desks [2]*rig.Desk
			w := &walk{viewer: newActor(2, model, granted)}
			for side := range desks {
				desks[side] = rig.Start(t, rig.Options{DSN: engine.DSN(t), Keys: narrowKey})
				w.tokens[side] = desks[side].Login(rig.ArrayKey(1), "demo")
				w.beside(side, newActor(uint64(20+side), model, slices.Sorted(maps.Keys(apart))), desks[side].Login(rig.FullKey, "demo"), (*actor).drawApart)
			}
			w.twins = newTwins(t, desks)
			w.begin()
			w.run(drawn())
		})
	}
}

// beside has somebody else work on one of the twins.
func (w *walk) beside(side int, a *actor, token string, next func(*actor) ask) {
	w.others = append(w.others, &stranger{actor: a, side: side, token: token, next: func() ask { return next(a) }})
}

// granted is what the narrow api_key may use.
var granted = []string{"contact", "contactcommunication", "order", "vehicle", "article", "country"}

var narrowKey = func() string {
	rules := []string{`"GET /model/*"`, `"GET /webhook"`}
	for _, name := range granted {
		rules = append(rules, fmt.Sprintf("%q", "* /"+name))
	}
	sum := sha256.Sum256([]byte(rig.ArrayKey(1)))
	return fmt.Sprintf("  - {name: narrow, key_sha256: [\"%x\"], allow: [%s]}\n", sum, strings.Join(rules, ", "))
}()

func drawn() int {
	if sqltest.Soak() {
		return drawnSoak
	}
	return drawnShort
}

// begin learns what there is at the beginning, which is the same in both.
func (w *walk) begin() {
	for side := range w.ownIDs {
		w.ownIDs[side] = map[string]map[string]bool{}
	}
	learn := func(a *actor, side int, token string) {
		for _, r := range a.resources {
			query := "/" + r.Name + "?page_size=40"
			for _, name := range r.ListRequires {
				query += "&" + name + "=" + map[bool]string{true: "contact", false: "1"}[name == "resource"]
			}
			said := w.send(side, token, ask{method: "GET", path: query})
			a.own[r.Name] = ids(said.body)
			a.learn(said.body)
		}
	}
	learn(w.viewer, 0, w.tokens[0])
	for _, s := range w.others {
		learn(s.actor, s.side, s.token)
		w.betray(s)
	}
	maps.Copy(w.viewer.old, w.viewer.hidden)
	for side := range w.ownIDs {
		for resource, all := range w.viewer.own {
			for _, id := range all {
				w.owned(side, resource, id)
			}
		}
	}
}

func (w *walk) owned(side int, resource, id string) {
	if w.ownIDs[side][resource] == nil {
		w.ownIDs[side][resource] = map[string]bool{}
	}
	w.ownIDs[side][resource][id] = true
}

// learn keeps values of records, to ask for them.
func (a *actor) learn(body []byte) {
	var answered struct{ Data json.RawMessage }
	if json.Unmarshal(body, &answered) != nil {
		return
	}
	var records []map[string]any
	if json.Unmarshal(answered.Data, &records) != nil {
		records = make([]map[string]any, 1)
		_ = json.Unmarshal(answered.Data, &records[0])
	}
	for _, rec := range records {
		for name, value := range rec {
			if text, ok := value.(string); ok && len(a.values[name]) < 200 && !slices.Contains(a.values[name], text) {
				a.values[name] = append(a.values[name], text)
			}
		}
	}
}

// betray tells the viewer numbers and values of what it must not see.
func (w *walk) betray(s *stranger) {
	for resource, all := range s.own {
		for _, id := range all {
			if !slices.Contains(w.viewer.hidden[resource], id) {
				w.viewer.hidden[resource] = append(w.viewer.hidden[resource], id)
			}
		}
	}
	for name, all := range s.values {
		for _, value := range all {
			if !slices.Contains(w.viewer.values[name], value) {
				w.viewer.values[name] = append(w.viewer.values[name], value)
			}
		}
	}
}

func (w *walk) run(requests int) {
	statuses := map[int]int{}
	for w.asked < requests {
		if w.viewer.chance(noise) {
			w.elsewhere(pick(w.viewer, w.others))
			continue
		}
		a := w.viewer.draw()
		said := w.both(w.tokens, a)
		statuses[said[0].status]++
		w.viewer.learn(said[0].body)
		w.follow(a, said)
	}
	w.t.Log(statuses)
}

// follow keeps the numbers of what was made.
func (w *walk) follow(a ask, said [2]answer) {
	if a.method != "POST" || said[0].status != 201 {
		return
	}
	made := [2][]string{ids(said[0].body), ids(said[1].body)}
	if len(made[0]) == 0 {
		return
	}
	resource := a.path[1:]
	w.viewer.own[resource] = append(w.viewer.own[resource], w.pair(made[0][0], made[1][0]))
	for side := range made {
		id := made[side][0]
		w.owned(side, resource, id)
		// The other twin may have that number for somebody else's: no longer to be asked for.
		w.viewer.hidden[resource] = slices.DeleteFunc(w.viewer.hidden[resource], func(h string) bool { return h == id })
	}
}

// elsewhere has somebody else work on one of the twins.
func (w *walk) elsewhere(s *stranger) {
	a := s.next()
	said := w.send(s.side, s.token, a)
	s.learn(said.body)
	if a.method == "POST" && said.status == 201 {
		for _, id := range ids(said.body)[:1] {
			resource := a.path[1:]
			s.own[resource] = append(s.own[resource], id)
			if !w.ownIDs[0][resource][id] && !w.ownIDs[1][resource][id] {
				w.viewer.hidden[resource] = append(w.viewer.hidden[resource], id)
			}
		}
	}
	for name, all := range s.values {
		if len(all) > 0 && len(w.viewer.values[name]) < 400 {
			value := all[len(all)-1]
			if !slices.Contains(w.viewer.values[name], value) {
				w.viewer.values[name] = append(w.viewer.values[name], value)
			}
		}
	}
}
