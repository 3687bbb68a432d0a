package follow

import (
	"testing"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/search"
	"frontdesk/mapping"
)

// seenWorld is one record that others and a gateway write, a gateway that looks at it and another that does
// so at once, what they store, and a client that keeps a copy. A state of the record is the number of its
// change; 0 is none.
type seenWorld struct {
	record, changes int
	row             seenRow
	look            aLook
	own             ownWrite
	untold          backend.ChangeKind
	begun, ready    bool // the client has a cursor; a first look has ended
	copy            int  // unread until he has read all
	fresh           bool // a look has ended that began after all changes were noted
}

// seenRow is what is stored; earlier is what was noted before the look that is under way.
type seenRow struct {
	there, gone, earlier bool
	state                int
}

type aLook struct {
	at     lookAt
	lost   bool // another has begun
	first  bool
	named  bool // it reads what a journal names, else a list
	since  bool // nothing was changed or noted since it began
	state  int  // what it read
	before seenRow
}

type lookAt int

const (
	resting lookAt = iota
	begins
	hasRead
	compared
	missing
	looked
	noted
)

type ownWrite struct {
	kind  backend.ChangeKind // what is to be noted
	state int
}

// seenCall is what a gateway has noted: in a look (pass 2, or 1 for one that another has overtaken), or of
// its own writes.
type seenCall struct {
	row         seenRow
	kind        backend.ChangeKind
	state       int
	inLook      bool
	lost, first bool
}

type seenAnswer struct {
	row  seenRow
	told backend.ChangeKind
	left bool
}

// seenMachine is what is searched: the database, and what a look makes of what it reads.
type seenMachine struct {
	note   func(seenCall) seenAnswer
	finish func(row seenRow, lost bool) (seenRow, bool)
	news   func(s, was sighting) (sighting, bool)
	asks   bool // whether a record that a list has not is there
	waits  bool // with the client's first cursor until a first look has ended
}

func (r seenRow) isThere() bool { return r.there && !r.gone }

// seenAs has two states of each version, of which the second differs in modified_at.
func seenAs(state int, kind backend.ChangeKind) sighting {
	s := sighting{id: 1, version: int64(state / 2), modified: mapping.IntValue(int64(state)), kind: kind}
	if kind == backend.RecordDeleted {
		s.version, s.modified = 0, mapping.NullValue()
	}
	return s
}

func (r seenRow) sighting() sighting {
	switch {
	case !r.there:
		return sighting{}
	case r.gone:
		return seenAs(0, backend.RecordDeleted)
	}
	return seenAs(r.state, backend.RecordUpdated)
}

func (w *seenWorld) tell(kind backend.ChangeKind) {
	if w.begun && kind != "" {
		w.untold = kind
	}
}

func (w *seenWorld) changed() {
	w.fresh, w.look.since = false, false
}

func (w seenWorld) wrong() string {
	if !w.fresh || w.own != (ownWrite{}) || w.untold != "" {
		return ""
	}
	stored := 0
	if w.row.isThere() {
		stored = w.row.state
	}
	switch {
	case w.record == 0 && !w.row.there: // what came and went between two looks, only the digests show to who has read it
	case w.copy != w.record && w.copy != unread && w.begun:
		return "the client is not told what his copy lacks"
	case stored != w.record:
		return "what is stored is not the record"
	}
	return ""
}

const (
	unread      = -1
	mostChanges = 3
)

func (m seenMachine) next(w seenWorld, step func(string, seenWorld, string)) {
	does := func(name string, f func(w *seenWorld) string) {
		after := w
		wrong := f(&after)
		if wrong == "" {
			wrong = after.wrong()
		}
		step(name, after, wrong)
	}
	for _, kind := range []backend.ChangeKind{backend.RecordUpdated, backend.RecordDeleted} {
		if w.changes == mostChanges || kind == backend.RecordDeleted && w.record == 0 {
			continue
		}
		change := func(w *seenWorld) {
			w.changed()
			if w.changes++; kind == backend.RecordDeleted {
				w.record = 0
			} else {
				w.record = w.changes
			}
		}
		does("others: "+string(kind), func(w *seenWorld) string { change(w); return "" })
		if w.own.kind == "" {
			does("own: "+string(kind), func(w *seenWorld) string {
				if w.own.kind = kind; w.record == 0 {
					w.own.kind = backend.RecordCreated
				}
				change(w)
				w.own.state = w.record
				return ""
			})
		}
	}
	if w.own.kind != "" {
		does("own is noted", func(w *seenWorld) string {
			a := m.note(seenCall{row: w.row, kind: w.own.kind, state: w.own.state})
			w.row, w.own = a.row, ownWrite{}
			w.tell(a.told)
			w.changed()
			return ""
		})
		does("own is not noted", func(w *seenWorld) string { w.own = ownWrite{}; w.changed(); return "" })
	}
	switch {
	case !w.begun && (w.ready || !m.waits):
		does("a cursor", func(w *seenWorld) string { w.begun, w.copy = true, unread; return "" })
	case w.begun && w.copy == unread:
		does("the client reads all", func(w *seenWorld) string { w.copy = w.record; return "" })
	case w.untold != "":
		does("the client asks", func(w *seenWorld) string {
			if w.copy = w.record; w.untold == backend.RecordDeleted {
				w.copy = 0
			}
			w.untold = ""
			return ""
		})
	}
	for _, may := range m.look(w) {
		does(may.what, may.do)
	}
	does("another gateway looks", func(w *seenWorld) (wrong string) {
		was := w.look
		w.begin(false)
		for w.look.at != resting && wrong == "" {
			may := m.look(*w)
			wrong = may[len(may)-1].do(w)
		}
		if w.look = was; was.at != resting {
			w.look.lost, w.look.since = true, false
		}
		return wrong
	})
}

// seenStep is what may happen; do returns what is wrong about it.
type seenStep struct {
	what string
	do   func(w *seenWorld) string
}

func (w *seenWorld) begin(named bool) {
	w.row.earlier = w.row.there
	w.look = aLook{at: begins, first: !w.ready, named: named, since: w.own == (ownWrite{})}
}

// look is what may happen next in a look; what goes well comes last.
func (m seenMachine) look(w seenWorld) (may []seenStep) {
	l := w.look
	does := func(what string, do func(w *seenWorld) string) { may = append(may, seenStep{what, do}) }
	note := func(w *seenWorld, s sighting, state int) (wrong string) {
		a := m.note(seenCall{w.row, s.kind, state, true, l.lost, l.first})
		if a.told != "" && w.row.isThere() && w.row.state == state {
			wrong = "what is as it was is told"
		}
		w.row = a.row
		w.tell(a.told)
		if w.look.at = noted; a.left {
			w.look = aLook{}
		}
		return wrong
	}
	switch l.at {
	case resting:
		does("a look", func(w *seenWorld) string { w.begin(false); return "" })
		if w.ready {
			does("a look by what is named", func(w *seenWorld) string { w.begin(true); return "" })
		}
	case begins:
		if !l.named && w.record != 0 {
			does("it passes over the record", func(w *seenWorld) string { w.look.at, w.look.since = hasRead, false; return "" })
		}
		does("it reads", func(w *seenWorld) string { w.look.at, w.look.state = hasRead, w.record; return "" })
	case hasRead:
		does("it compares", func(w *seenWorld) string {
			l := &w.look
			switch l.before = w.row; {
			case l.state != 0:
				l.at = compared
			case !w.row.isThere():
				l.at = noted
			case l.named:
				l.at = missing
			case l.lost:
				*l = aLook{}
			default:
				l.at, w.row.earlier = missing, true
			}
			return ""
		})
	case compared:
		does("it notes", func(w *seenWorld) string {
			if s, is := m.news(seenAs(l.state, backend.RecordCreated), l.before.sighting()); is {
				return note(w, s, l.state)
			}
			w.look.at = noted
			return ""
		})
	case missing:
		does("it asks for it", func(w *seenWorld) string {
			if w.look.at = noted; w.row.isThere() && (w.record == 0 || !m.asks) {
				w.look.at = looked
			}
			return ""
		})
	case looked:
		does("it notes that it has gone", func(w *seenWorld) string { return note(w, seenAs(0, backend.RecordDeleted), 0) })
	default:
		does("it ends", func(w *seenWorld) string {
			row, ended := m.finish(w.row, l.lost)
			if w.row = row; ended {
				w.ready, w.fresh = true, w.fresh || l.since
			}
			w.look = aLook{}
			return ""
		})
	}
	return may
}

// TestEverySight: others and the gateways write a record while two gateways look at it, are overtaken, and a
// client asks.
func TestEverySight(t *testing.T) {
	sound := database(t)
	search.Holds(t, sound, sound.faults(), func(m seenMachine) search.Protocol[seenWorld, seenWorld] {
		return search.Protocol[seenWorld, seenWorld]{Key: func(w seenWorld) seenWorld { return w }, Next: m.next,
			Ended: func(w seenWorld) bool { return w.begun && w.copy != unread && w.untold == "" }}
	})
}

// noting and seeing plant a fault in what is noted, and in what is news.
func (m seenMachine) noting(change func(c seenCall, a seenAnswer) seenAnswer) seenMachine {
	sound := m.note
	m.note = func(c seenCall) seenAnswer { return change(c, sound(c)) }
	return m
}

func (m seenMachine) as(change func(c seenCall) seenCall) seenMachine {
	sound := m.note
	m.note = func(c seenCall) seenAnswer { return sound(change(c)) }
	return m
}

func (m seenMachine) faults() map[string]seenMachine {
	unasked, unwaited, never, blind := m, m, m, m
	unasked.asks, unwaited.waits = false, false
	blind.news = func(s, was sighting) (sighting, bool) { return s, was.kind == "" || was.version != s.version }
	never.news = func(s, was sighting) (sighting, bool) { return s, was.kind == "" }
	return map[string]seenMachine{
		"what a list has not is gone":          unasked,
		"a cursor before the first look ends":  unwaited,
		"modified_at is not looked at":         blind,
		"only what is new is noted":            never,
		"a first look goes on without telling": m.as(func(c seenCall) seenCall { c.first = c.inLook; return c }),
		"an overtaken look notes":              m.as(func(c seenCall) seenCall { c.lost = false; return c }),
		"an own update brings back what is gone": m.noting(func(c seenCall, a seenAnswer) seenAnswer {
			if !c.inLook && c.row.gone {
				a.row.gone, a.row.state = false, c.state
			}
			return a
		}),
		"an own deletion is told, and not stored": m.noting(func(c seenCall, a seenAnswer) seenAnswer {
			if !c.inLook && c.kind == backend.RecordDeleted {
				a.row = c.row
			}
			return a
		}),
		"it is stored, and not told": m.noting(func(c seenCall, a seenAnswer) seenAnswer { a.told = ""; return a }),
		"it is told, and not stored": m.noting(func(c seenCall, a seenAnswer) seenAnswer { a.row = c.row; return a }),
		"what has gone stays gone": m.noting(func(c seenCall, a seenAnswer) seenAnswer {
			if c.row.gone {
				return seenAnswer{row: c.row}
			}
			return a
		}),
		"a deletion is not told": m.noting(func(c seenCall, a seenAnswer) seenAnswer {
			if c.kind == backend.RecordDeleted {
				a.told = ""
			}
			return a
		}),
		"what is stored already is told": m.noting(func(c seenCall, a seenAnswer) seenAnswer { a.told = c.kind; return a }),
	}
}
