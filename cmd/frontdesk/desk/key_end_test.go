package desk

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/search"
)

// keyWorld is one hash of an api_key before two gateways with files of their own, and what they told each
// other. Times are hours; never is for no end.
type keyWorld struct {
	now      int
	row      endRow // of the database
	gateways [2]keyGateway
	given    bool // an end by expires has been given at some time
	final    bool // and has come
	back     bool // the last change of files was that the hash has no end any more
}

// endRow is what the database says.
type endRow struct {
	there, final bool
	ends         int
}

type keyGateway struct {
	files   int // the end that they say, absent, or never
	fact    keyFact
	sending neighbours.KeyEnd // what is being told
	changes int               // its number
	at      exchanging
	looked  bool // since it started
	ended   bool // its files had an end by expires that has come
	heard   bool // what the database has
}

// keyKey is a world, each end by how far away it is.
type keyKey struct {
	row                endRow
	gateways           [2]keyGatewayKey
	given, final, back bool
}

type keyGatewayKey struct {
	files, untold, known, sending, at int8
	gone, looked, ended, heard, other bool // other: it is not what is being told
}

func (w keyWorld) key() keyKey {
	away := func(hour int) int8 { return int8(max(hour-w.now, 0)) }
	code := func(end neighbours.KeyEnd) int8 {
		switch {
		case end.Key == "":
			return absent
		case end.Ends.IsZero():
			return always
		case end.Final:
			return away(hourOf(end)) + 20
		}
		return away(hourOf(end))
	}
	k := keyKey{row: w.row, given: w.given, final: w.final, back: w.back}
	k.row.ends = int(away(w.row.ends))
	for i, g := range w.gateways {
		if g.files < always {
			g.files = int(away(g.files))
		}
		k.gateways[i] = keyGatewayKey{int8(g.files), code(g.fact.pending), code(g.fact.known), code(g.sending), int8(g.at), g.fact.gone, g.looked, g.ended, g.heard, g.at != quiet && g.changes != g.fact.changes}
	}
	return k
}

type exchanging int

const (
	quiet exchanging = iota
	onItsWay
	told
	untellable
)

const (
	absent = 100
	always = 99
)

var keyStart = time.UnixMilli(1_800_000_000_000)

// keyMachine is what is searched: what a gateway makes of what happens, and the database.
type keyMachine struct {
	filed func(f keyFact, was, is neighbours.KeyEnd, now time.Time) keyFact
	heard func(f keyFact, told int, known neighbours.KeyEnd) keyFact
	ends  func(f keyFact) time.Time
	tell  func(row endRow, end neighbours.KeyEnd, now int) endRow
}

// endAt is an end as files, or the database, have it.
func endAt(hour int, final bool) neighbours.KeyEnd {
	end := neighbours.KeyEnd{Hash: [32]byte{1}, Key: "webshop", Final: final}
	switch hour {
	case absent:
		return neighbours.KeyEnd{}
	case always:
		return end
	}
	end.Ends = keyStart.Add(time.Duration(hour) * time.Hour)
	return end
}

func hourOf(end neighbours.KeyEnd) int { return int(end.Ends.Sub(keyStart) / time.Hour) }

// toldBy tells a real database, each thing once. Its clock is that of the machine: hours are told by how
// far away they are.
func toldBy(t *testing.T) func(row endRow, end neighbours.KeyEnd, now int) endRow {
	type call struct {
		row   endRow
		end   int
		final bool
	}
	tables, db := ownTables(t)
	known, present := map[call]endRow{}, time.Now()
	at := func(hours int) time.Time { return present.Add(time.Duration(hours)*time.Hour - time.Minute) } // what is now has come
	return func(row endRow, end neighbours.KeyEnd, now int) endRow {
		c := call{row, always, end.Final}
		if c.row.ends -= now; !end.Ends.IsZero() {
			c.end = hourOf(end) - now
		}
		after, is := known[c]
		if !is {
			must.Have(sqlrecord.Change(t.Context(), db, "DELETE FROM neighbour_key_end"))(t)
			for _, one := range []struct {
				tell, final bool
				ends        int
			}{{row.there, row.final, c.row.ends}, {true, c.final, c.end}} {
				end := endAt(always, one.final)
				if end.Ends = at(one.ends); one.ends == always {
					end.Ends = time.Time{}
				}
				if one.tell {
					must.Have(tables.PublishKeyEnds(context.Background(), "a", []neighbours.KeyEnd{end}))(t)
				}
			}
			all := must.Have(tables.KeyEnds(t.Context()))(t)
			for _, end := range all {
				after = endRow{true, end.Final, int(end.Ends.Sub(at(0)).Round(time.Hour) / time.Hour)}
			}
			known[c] = after
		}
		if after.there {
			after.ends += now
		}
		return after
	}
}

// refuses reports whether a gateway refuses the hash.
func (m keyMachine) refuses(g keyGateway, now int) bool {
	end := m.ends(g.fact)
	return g.files == absent || g.files <= now || !end.IsZero() && hourOf(neighbours.KeyEnd{Ends: end}) <= now
}

func (w keyWorld) sealed() bool { return w.row.there && w.row.final && w.row.ends <= w.now }

// wrong is what is not so in a world, or in what it came from.
func (m keyMachine) wrong(was, w keyWorld) string {
	settled := true
	for i, g := range w.gateways {
		switch refuses := m.refuses(g, w.now); {
		case g.ended && !refuses:
			return "what ended here is let in here"
		case g.looked && g.heard && w.sealed() && !refuses:
			return "what all were told has ended is let in"
		case was.gateways[i].at == onItsWay && g.at == told && !g.sending.Ends.IsZero() && (!w.row.there || w.row.ends > hourOf(g.sending) || g.sending.Final && !w.row.final):
			return "nobody was told of an end"
		}
		settled = settled && g.looked && g.heard && g.at == quiet && g.fact.pending.Key == ""
	}
	a, b := w.gateways[0], w.gateways[1]
	switch {
	case was.sealed() && !w.sealed():
		return "an end by expires that had come is undone"
	case settled && w.back && !w.final && a.files == always && b.files == always && (m.refuses(a, w.now) || m.refuses(b, w.now)):
		return "it is there again, and is refused"
	}
	return ""
}

func (m keyMachine) next(w keyWorld, step func(string, keyWorld, string)) {
	does := func(name string, f func(w *keyWorld)) {
		after := w
		f(&after)
		for _, g := range after.gateways {
			after.given = after.given || g.files < always
			after.final = after.final || g.files <= after.now || after.given && (after.sealed() || g.fact.pending.Final && hourOf(g.fact.pending) <= after.now)
		}
		step(name, after, m.wrong(w, after))
	}
	does("an hour", func(w *keyWorld) { w.now++ })
	for i, g := range w.gateways {
		by := []string{"A ", "B "}[i]
		if i == 0 {
			does("A starts anew", func(w *keyWorld) { w.gateways[i], w.back = keyGateway{files: g.files}, false })
		}
		for name, files := range map[string]int{"have it not": absent, "have it always": always, "have it ended": w.now, "have it for an hour": w.now + 1} {
			if files == g.files || !g.looked || i == 1 && files == w.now+1 {
				continue // B is simpler: A shows what else there is
			}
			does(by+"files "+name, func(w *keyWorld) {
				w.gateways[i].files, w.gateways[i].fact = files, m.filed(g.fact, endAt(g.files, false), endAt(files, false), keyStart.Add(time.Duration(w.now)*time.Hour))
				w.back = files == always && (g.files == absent || g.files > w.now) && g.heard
				w.gateways[i].ended = g.ended || files == w.now && !m.refuses(g, w.now)
			})
		}
		tells := func(w *keyWorld) {
			g := &w.gateways[i]
			g.sending, g.changes, g.at = g.fact.pending, g.fact.changes, onItsWay
		}
		hasTold := func(w *keyWorld) {
			row := w.row
			if w.gateways[i].at = told; w.gateways[i].sending.Key != "" {
				w.row = m.tell(w.row, w.gateways[i].sending, w.now)
			}
			for n := range w.gateways {
				w.gateways[n].heard = w.gateways[n].heard && w.row == row
			}
		}
		hears := func(w *keyWorld) {
			g := &w.gateways[i]
			known, heard := neighbours.KeyEnd{}, 0
			if w.row.there {
				known = endAt(w.row.ends, w.row.final)
			}
			if g.at == told {
				heard = g.changes
			}
			g.fact, g.at, g.sending, g.changes, g.looked, g.heard = m.heard(g.fact, heard, known), quiet, neighbours.KeyEnd{}, 0, true, true
		}
		switch {
		case i == 1: // at once: what is between, A shows
			does("B tells and hears", func(w *keyWorld) { tells(w); hasTold(w); hears(w) })
		case g.at == quiet:
			does("A tells", tells)
		case g.at == onItsWay:
			does("A has told", hasTold)
			does("A cannot tell", func(w *keyWorld) { w.gateways[i].at = untellable })
		default:
			does("A hears", hears)
			does("A hears nothing", func(w *keyWorld) {
				w.gateways[i].at, w.gateways[i].sending, w.gateways[i].changes = quiet, neighbours.KeyEnd{}, 0
			})
		}
	}
}

// TestEveryEndOfAKey: the files of two gateways change in all ways while they tell each other, cannot, and
// one starts anew.
func TestEveryEndOfAKey(t *testing.T) {
	start := keyWorld{gateways: [2]keyGateway{{files: always, looked: true, heard: true}, {files: always, looked: true, heard: true}}}
	sound := keyMachine{keyFact.filed, keyFact.published, keyFact.ends, toldBy(t)}
	search.Holds(t, sound, sound.faults(), func(m keyMachine) search.Protocol[keyWorld, keyKey] {
		return search.Protocol[keyWorld, keyKey]{Start: start, Key: keyWorld.key, Next: m.next, Ended: func(w keyWorld) bool { return w.gateways[0].looked && w.gateways[1].looked }}
	})
}

// files plants a fault in what a change of files means, tells one in what the database makes of an end.
func (m keyMachine) files(change func(before, after keyFact, was, is neighbours.KeyEnd, now time.Time) keyFact) keyMachine {
	m.filed = func(f keyFact, was, is neighbours.KeyEnd, now time.Time) keyFact {
		return change(f, f.filed(was, is, now), was, is, now)
	}
	return m
}

func (m keyMachine) tells(change func(row, after endRow, end neighbours.KeyEnd, now int) endRow) keyMachine {
	sound := m.tell
	m.tell = func(row endRow, end neighbours.KeyEnd, now int) endRow {
		return change(row, sound(row, end, now), end, now)
	}
	return m
}

// hears and refuses plant one in what is made of an exchange, and in when a hash is refused.
func (m keyMachine) hears(change func(before, after keyFact, told int) keyFact) keyMachine {
	m.heard = func(f keyFact, told int, known neighbours.KeyEnd) keyFact {
		return change(f, f.published(told, known), told)
	}
	return m
}

func (m keyMachine) until(ends func(f keyFact) time.Time) keyMachine {
	m.ends = ends
	return m
}

func (m keyMachine) faults() map[string]keyMachine {
	type end = neighbours.KeyEnd
	return map[string]keyMachine{
		"nobody is told of an end by expires": m.files(func(b, a keyFact, was, is end, _ time.Time) keyFact {
			if is.Key != "" && sooner(is.Ends, was.Ends) {
				a.pending, a.changes = b.pending, b.changes
			}
			return a
		}),
		"an end by expires is not final": m.files(func(_, a keyFact, _, _ end, _ time.Time) keyFact { a.pending.Final = false; return a }),
		"the end of what is gone is final": m.files(func(_, a keyFact, _, is end, now time.Time) keyFact {
			a.pending.Final = a.pending.Final || is.Key == "" && a.pending.Ends.Equal(now)
			return a
		}),
		"files that are older undo a revoke": m.files(func(b, a keyFact, was, is end, now time.Time) keyFact {
			b.pending.Final = false
			return b.filed(was, is, now)
		}),
		"a later end is told as one": m.files(func(_, a keyFact, was, is end, now time.Time) keyFact {
			if a.pending.Key != "" && a.pending.Ends.IsZero() {
				a.pending.Ends = now
			}
			return a
		}),
		"it is forgotten that it was gone": m.files(func(_, a keyFact, _, _ end, _ time.Time) keyFact { a.gone = false; return a }),
		"what is there again stays ended": m.files(func(b, a keyFact, was, _ end, _ time.Time) keyFact {
			if was.Key == "" {
				a.pending, a.changes = b.pending, b.changes
			}
			return a
		}),
		"what others told is gone is not looked at": m.files(func(b, _ keyFact, was, is end, now time.Time) keyFact {
			known := b.known
			b.known = end{}
			a := b.filed(was, is, now)
			a.known = known
			return a
		}),
		"one change is taken for one like it": m.files(func(_, a keyFact, _, _ end, _ time.Time) keyFact { a.changes = min(a.changes, 1); return a }),
		"what could not be told is told":      m.hears(func(_, a keyFact, _ int) keyFact { a.pending, a.changes = end{}, 0; return a }),
		"what was told is not read":           m.hears(func(b, a keyFact, _ int) keyFact { a.known = b.known; return a }),
		"what was read once stays": m.hears(func(b, a keyFact, _ int) keyFact {
			if b.known.Key != "" {
				a.known = b.known
			}
			return a
		}),
		"only the files count":             m.until(func(keyFact) time.Time { return time.Time{} }),
		"an end counts once all know it":   m.until(func(f keyFact) time.Time { return f.known.Ends }),
		"an end counts before all know it": m.until(func(f keyFact) time.Time { return f.pending.Ends }),
		"an end undoes what all know":      m.until(func(f keyFact) time.Time { f.known.Ends = f.pending.Ends; return f.ends() }),
		"a later end replaces one": m.tells(func(_, a endRow, e end, _ int) endRow {
			if a.there && !e.Ends.IsZero() {
				a.ends = hourOf(e)
			}
			return a
		}),
		"the first end stays, though another is earlier": m.tells(func(row, a endRow, _ end, _ int) endRow {
			if row.there && a.there {
				a.ends = row.ends
			}
			return a
		}),
		"an end that is there does not become final": m.tells(func(row, a endRow, _ end, _ int) endRow { a.final = a.final && (row.final || !row.there); return a }),
		"an end that is told last is not final":      m.tells(func(_, a endRow, e end, _ int) endRow { a.final = a.final && e.Final; return a }),
		"what is final is undone": m.tells(func(_, a endRow, e end, _ int) endRow {
			if e.Ends.IsZero() {
				return endRow{}
			}
			return a
		}),
		"what has come stays": m.tells(func(row, a endRow, _ end, now int) endRow {
			if row.there && row.ends <= now {
				return row
			}
			return a
		}),
		"what is still to come stays": m.tells(func(row, a endRow, _ end, _ int) endRow {
			if !a.there {
				return row
			}
			return a
		}),
	}
}

// ownTables are those of a gateway's own database.
func ownTables(t *testing.T) (*neighbours.Tables, sqlrecord.DB) {
	t.Helper()
	db := must.Have(sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "own.db"), sqlrecord.Options{}))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	tables := must.Have(neighbours.Open(t.Context(), db))(t)
	return tables, db
}
