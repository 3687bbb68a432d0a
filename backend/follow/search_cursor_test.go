package follow

import (
	"cmp"
	"strconv"
	"testing"
	"time"

	"frontdesk/cmd/frontdesk/rig/search"
)

// cursorWorld is a system in which each of two records is written and shown after a tick at most, and a
// gateway that looks for what has changed: by modified_at, or by a journal, whose numbers are given when a
// write begins.
type cursorWorld struct {
	now, writes int
	records     [2]aWrite
	of          reach
	place       place
	look        aReading
	ended       int // when the last look had
}

type aWrite struct {
	begun, modified, number int
	shown, found            bool
	due                     bool // it was shown in good time before the look that is under way
}

type aReading struct {
	at             int // how many records it has read, and one more; 0 for resting
	began, highest int
	how            readingBy
	position       string
}

type readingBy int

const (
	byModified readingBy = iota
	byJournal
	byListAnew
	byListAgain
)

const (
	tick       = 12 * time.Hour
	settleTime = tick * 3 / 2
	firstTick  = 10
	lastTick   = 4
	mostWrites = 3
)

func ms(ticks int) int64 { return int64(ticks) * tick.Milliseconds() }
func ticks(ms int64) int { return int(ms / tick.Milliseconds()) }
func number(at string) int {
	n, _ := strconv.Atoi(at) // "" is 0
	return n
}

// cursorMachine is what is searched.
type cursorMachine struct {
	journal bool
	unit    int // of modified_at
	from    func(r reach) int64
	reached func(r reach, began, now, highest int64) reach
	sees    func(modified, began int) bool // as the highest
	begun   func(position string, now int64) place
	rereads func(p place, present int64) bool
	reread  func(p place, began int64) place
	readTo  func(p place, position string, began, now int64) place
}

func cursors(journal bool, unit int) cursorMachine {
	return cursorMachine{
		journal: journal, unit: unit,
		from:    func(r reach) int64 { return r.from(settleTime) },
		reached: func(r reach, began, now, highest int64) reach { return r.ended(began, now, highest, settleTime) },
		sees:    func(modified, began int) bool { return modified <= began },
		begun:   func(position string, now int64) place { return begun(position, now, settleTime) },
		rereads: func(p place, present int64) bool { return p.rereads(present, settleTime) },
		reread:  func(p place, began int64) place { return p.reread(began, settleTime) },
		readTo: func(p place, position string, began, now int64) place {
			return p.readTo(position, began, now, settleTime)
		},
	}
}

// key is a world in which what has been found is as if it had never been, unless it is to be read again.
func (w cursorWorld) key() cursorWorld {
	for i, r := range w.records {
		if r.found && w.look.at == 0 && ms(r.modified)+1 <= w.of.high && r.number <= number(w.place.position) {
			w.records[i] = aWrite{}
		}
	}
	return w
}

// modified is a modified_at: midnight of a day, or no whole second.
func (m cursorMachine) modified(ticks int) int64 {
	if ticks == 0 || m.unit > 1 {
		return ms(ticks)
	}
	return ms(ticks) + 1
}

// journalEnd is the highest number that is shown.
func (w cursorWorld) journalEnd() string {
	last := 0
	for _, r := range w.records {
		if r.shown {
			last = max(last, r.number)
		}
	}
	return strconv.Itoa(last)
}

func (m cursorMachine) next(w cursorWorld, step func(string, cursorWorld, string)) {
	does := func(name string, f func(w *cursorWorld)) {
		after := w
		f(&after)
		step(name, after, "")
	}
	open := false
	for i, r := range w.records {
		by := []string{"one ", "two "}[i]
		switch {
		case r.begun > 0 && !r.shown:
			open = open || w.now > r.begun
			does(by+"is shown", func(w *cursorWorld) { w.records[i].shown = true })
		case w.writes < mostWrites && (i == 0 || r.begun == 0): // the first shows what else there is
			does(by+"is written", func(w *cursorWorld) {
				w.writes++
				w.records[i] = aWrite{begun: w.now, modified: w.now - w.now%m.unit, number: w.writes}
			})
			if w.writes == 0 && !m.journal {
				does(by+"is written as of a later day", func(w *cursorWorld) {
					w.writes++
					w.records[i] = aWrite{begun: w.now, modified: w.now + 6, number: w.writes}
				})
			}
		}
	}
	if !open && w.now < firstTick+lastTick {
		does("a tick", func(w *cursorWorld) { w.now++ })
	}
	switch l := w.look; {
	case l.at == 0:
		does("a look", m.begin)
	case l.at <= len(w.records):
		does("it reads", func(w *cursorWorld) { m.read(w, l.at-1) })
	default:
		after := w
		step("it ends", after, m.end(&after))
		step("it is stopped", cursorWorld{now: w.now, writes: w.writes, records: w.records, of: w.of, place: w.place, ended: w.ended}, "")
	}
}

func (m cursorMachine) begin(w *cursorWorld) {
	w.look = aReading{at: 1, began: w.now, highest: ticks(w.of.high)}
	switch {
	case m.journal && w.place.position == "":
		w.look.how, w.look.position = byListAnew, w.journalEnd()
	case m.journal && m.rereads(w.place, ms(w.now)):
		w.look.how = byListAgain
	case m.journal:
		w.look.how, w.look.position = byJournal, w.place.position
	}
	for i := range w.records {
		r := &w.records[i]
		r.due = r.shown && !r.found && (!m.journal || w.ended > 0 && w.now > w.ended+1)
	}
}

func (m cursorMachine) read(w *cursorWorld, i int) {
	l, r := &w.look, &w.records[i]
	if l.at++; !r.shown {
		return
	}
	switch l.how {
	case byModified:
		if m.modified(r.modified) < m.from(w.of) {
			return
		}
		if m.sees(r.modified, l.began) {
			l.highest = max(l.highest, r.modified)
		}
	case byJournal:
		if r.number <= number(w.place.position) {
			return
		}
		l.position = strconv.Itoa(max(number(l.position), r.number))
	}
	r.found = true
}

// end ends a look; it is wrong if it has not found what was shown before it began.
func (m cursorMachine) end(w *cursorWorld) string {
	l, now := w.look, ms(w.now)
	switch l.how {
	case byModified:
		w.of = m.reached(w.of, ms(l.began), now, m.modified(l.highest))
	case byListAnew:
		w.place = m.begun(l.position, now)
	case byListAgain:
		w.place = m.reread(w.place, ms(l.began))
	default:
		w.place = m.readTo(w.place, l.position, ms(l.began), now)
	}
	w.look, w.ended = aReading{}, w.now
	for i := range w.records {
		r := &w.records[i]
		if r.due && !r.found {
			return "a change is passed over"
		}
		r.due = false
	}
	return ""
}

// TestEveryCursor: what is written shows late, while looks read by modified_at, which counts by days or by
// less than a second, or by a journal.
func TestEveryCursor(t *testing.T) {
	for name, of := range map[string]struct {
		sound  cursorMachine
		faults map[string]cursorMachine
	}{
		"modified_at": {cursors(false, 2), dayFaults()}, "fine modified_at": {cursors(false, 1), fineFaults()}, "journal": {cursors(true, 1), journalFaults()},
	} {
		t.Run(name, func(t *testing.T) {
			search.Holds(t, of.sound, of.faults, func(m cursorMachine) search.Protocol[cursorWorld, cursorWorld] {
				return search.Protocol[cursorWorld, cursorWorld]{Start: cursorWorld{now: firstTick}, Key: cursorWorld.key,
					Next: m.next, Ended: func(w cursorWorld) bool { return w.look.at == 0 }}
			})
		})
	}
}

// reaching plants a fault in how far a look by modified_at has read.
func (m cursorMachine) reaching(change func(was, is reach, began int64) reach) cursorMachine {
	m.reached = func(r reach, began, now, highest int64) reach {
		return change(r, r.ended(began, now, highest, settleTime), began)
	}
	return m
}

func dayFaults() map[string]cursorMachine {
	m := cursors(false, 2)
	unitless, next, later := m, m, m
	unitless.from = func(r reach) int64 { return max(r.since-settleTime.Milliseconds(), r.from(settleTime)) }
	next.from = func(r reach) int64 { return max(r.from(settleTime), r.high+1) }
	later.sees = func(int, int) bool { return true }
	return map[string]cursorMachine{
		"a day is taken for a moment":           unitless,
		"what was seen is not read again":       next,
		"what is of a later day is the highest": later,
		"it is final at once":                   m.reaching(func(was, is reach, _ int64) reach { is.final = was.high; return is }),
		"it is final as soon as all shows": m.reaching(func(was, is reach, began int64) reach {
			if began-was.highAt > settleTime.Milliseconds() {
				is.final = was.high
			}
			return is
		}),
		"it is final by when an earlier one was seen": m.reaching(func(was, is reach, _ int64) reach { is.highAt = cmp.Or(was.highAt, is.highAt); return is }),
		"what this look saw is final": m.reaching(func(was, is reach, _ int64) reach {
			if is.final == was.high {
				is.final = is.high
			}
			return is
		}),
	}
}

func fineFaults() map[string]cursorMachine {
	m := cursors(false, 1)
	back := m
	back.from = func(r reach) int64 { return max(r.from(settleTime), r.since) }
	return map[string]cursorMachine{
		"a look goes not back from what was seen":    back,
		"the next look goes on behind what this saw": m.reaching(func(_, is reach, _ int64) reach { is.since = is.high + settleTime.Milliseconds(); return is }),
	}
}

func journalFaults() map[string]cursorMachine {
	reads := func(change func(was, is place, position string, began, now int64) place) cursorMachine {
		m := cursors(true, 1)
		m.readTo = func(p place, position string, began, now int64) place {
			return change(p, p.readTo(position, began, now, settleTime), position, began, now)
		}
		return m
	}
	m := cursors(true, 1)
	once, settled, early := m, m, m
	once.begun = func(position string, now int64) place { return begun(position, now, 0) }
	settled.rereads = func(p place, _ int64) bool { return p.unsettled == 1 }
	settled.reread = func(p place, _ int64) place { p.unsettled = 0; return p }
	early.begun = func(position string, now int64) place {
		return begun(position, now-2*settleTime.Milliseconds(), settleTime)
	}
	return map[string]cursorMachine{
		"all is read only once":           once,
		"all is read once more too early": settled,
		"the first mark is as of before":  early,
		"it goes on to what was read":     reads(func(_, is place, position string, _, _ int64) place { is.position = position; return is }),
		"it goes on to the mark at once": reads(func(was, _ place, position string, _, now int64) place {
			return place{cmp.Or(was.mark, was.position), position, now, was.unsettled}
		}),
		"a later mark is as of before the look": reads(func(_, is place, position string, began, now int64) place {
			if is.markedAt == now {
				is.markedAt = began - settleTime.Milliseconds()
			}
			return is
		}),
		"it forgets that all is to be read once more": reads(func(_, is place, _ string, _, _ int64) place { is.unsettled = 0; return is }),
	}
}
