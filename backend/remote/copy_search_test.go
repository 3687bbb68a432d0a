package remote

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/search"
	"frontdesk/mapping"
)

// copyWorld is one record of a service that tells nobody whether a record is gone, its copy, and who brings
// in what the service has: walks of two gateways, one who asks what has changed, and one who reads or writes
// the record. Times are minutes. A state of the record is the number of its changes: in every third it is not there.
type copyWorld struct {
	pair               int // who is beside the walk of A: the walk of B, or C and D
	now, service, copy int
	row                walkRow
	top, touched       int // the numbers of the last touch, and of the record's
	last               int // who has been given the lease last
	turn               int // whose it is to ask for a page
	walks              [2]aWalk
	ask, read          aPage
}

// walkRow is what the database says of the walk; until is when the lease has ended.
type walkRow struct {
	holder        string
	until, walked int
	failed        bool
}

type aWalk struct {
	aPage
	since, began, start int
	seen                bool
}

// aPage is a question and its answer; before is what the copy had when it was asked.
type aPage struct {
	at                 stage
	mark, page, before int
}

// key is a world in which of all numbers of touches it only matters which the record's last one is after.
func (w copyWorld) key() copyWorld {
	after := func(mark *int) {
		if *mark = map[bool]int{true: 1}[w.touched > *mark]; w.touched == 0 {
			*mark = 0
		}
	}
	for i := range w.walks {
		if l := &w.walks[i]; l.at != rests {
			after(&l.mark)
			after(&l.start)
		}
	}
	for _, of := range []*aPage{&w.ask, &w.read} {
		if of.at != rests {
			after(&of.mark)
		}
	}
	w.top, w.touched = 0, 0
	return w
}

type stage int

const (
	rests stage = iota
	begins
	asks
	answered
	brought
	removed
)

func isThere(state int) bool { return state%3 != 0 }

func heldAt(state, touched int) held {
	if !isThere(state) {
		return held{touched: int64(touched)}
	}
	return held{sqlrecord.Kept{Client: 1, Version: int64(state)}, true, int64(touched)}
}

func takenAt(state int) taken {
	return taken{rec: mapping.Record{Version: int64(state)}, client: 1, gone: !isThere(state)}
}

// walkCall is what a gateway has the row of a walk become.
type walkCall struct {
	what, by     string
	row          walkRow
	since, began int
}

type walkAnswer struct {
	row  walkRow
	mine bool
}

// copyMachine is what is searched.
type copyMachine struct {
	call    func(walkCall) walkAnswer // of the database, whose clock is at 0
	touched func(at, mark int) bool
	brings  func(before, now held, t taken) (bool, error)
	told    bool // what was told as changed is touched, and what a walk removes
	removes bool
}

// walkedBy calls a real database, each thing once.
func walkedBy(t *testing.T) func(walkCall) walkAnswer {
	d := openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", "every: 1h", 1), "http://127.0.0.1:1", "")
	own := &copied{core: d.core, db: d.copy.db} // whose walks nobody makes
	p, known := &walked{r: d.Sheet.Resources[d.Sheet.Model.Resource("contact")], client: north}, map[walkCall]walkAnswer{}
	require.NoError(t, own.begin(t.Context(), p))
	at := func(n int) time.Time {
		if n == 0 {
			return time.Time{}
		}
		return time.UnixMilli(int64(n) * 60_000)
	}
	return func(c walkCall) (a walkAnswer) {
		if a, is := known[c]; is {
			return a
		}
		failed := int64(0)
		if c.row.failed {
			failed = 1
		}
		// A lease that has ended in this minute has done so a second ago.
		_, err := own.set(t.Context(), p, "holder = ?3, walked_at = ?4, failed_at = ?5, until = CASE WHEN ?6 < -99 THEN 0 ELSE now() + ?6 * 60000 - 1000 END", "",
			mapping.TextValue(c.row.holder), milli(at(c.row.walked)), mapping.IntValue(failed), mapping.IntValue(int64(c.row.until)))
		require.NoError(t, err)
		switch own.holder = c.by; c.what {
		case "lease", "renew":
			err = own.db.Write(t.Context(), func(conn sqlrecord.Conn) error {
				if c.what == "renew" {
					return own.renew(t.Context(), conn, p, at(c.since))
				}
				return own.lease(t.Context(), conn, p, at(c.since))
			})
		case "ended":
			err = own.ended(t.Context(), p, at(c.since), at(c.began), "", "", 0)
		case "given up":
			err = own.givenUp(t.Context(), p, "why", false)
		}
		if a.mine = err == nil; !errors.Is(err, errOthers) {
			require.NoError(t, err)
		}
		require.NoError(t, own.db.Read(t.Context(), func(conn sqlrecord.Conn) error {
			row, err := sqlrecord.One(t.Context(), conn, "SELECT holder, walked_at, failed_at, until, "+own.db.Dialect().Present+" FROM "+stateTable+" WHERE client_id = ?1",
				[]sqlrecord.Column{sqlrecord.Words, sqlrecord.Number, sqlrecord.Number, sqlrecord.Number, sqlrecord.Number}, mapping.IntValue(north.ID))
			a.row = walkRow{row[0].Text(), -100, int(row[1].Int() / 60_000), row[2].Int() != 0}
			if until := row[3].Int(); until > 0 {
				a.row.until = int((until - row[4].Int() + 30_000) / 60_000)
				if until < row[4].Int()-30_000 {
					a.row.until = int((until - row[4].Int() - 30_000) / 60_000)
				}
			}
			return err
		}))
		known[c] = a
		return a
	}
}

func (m copyMachine) next(w copyWorld, step func(string, copyWorld, string)) {
	does := func(name string, f func(w *copyWorld) (wrong string)) {
		after := w
		wrong := f(&after)
		switch {
		case wrong != "":
		case after.copy < w.copy:
			wrong = "the copy goes back"
		case after.row.walked < w.row.walked:
			wrong = "the copy was walked before it was"
		}
		step(name, after, wrong)
	}
	if w.pair == 0 {
		for n := range 2 {
			does([]string{"two walk", "one walks"}[n], func(w *copyWorld) string { w.pair = n + 1; return "" })
		}
		return
	}
	if w.now < 2 {
		does("a minute", func(w *copyWorld) string { w.now++; return "" })
	}
	if w.service < 3 {
		does("others change it", func(w *copyWorld) string { w.service++; return "" })
	}
	taking := func(w *copyWorld, who int) bool { // no answer takes longer than a turn
		if w.turn == 0 {
			w.turn = who
		}
		return w.turn == who
	}
	free := func(w *copyWorld, who int) {
		if w.turn == who {
			w.turn = 0
		}
	}
	keep := func(w *copyWorld, r aPage) {
		before, page := heldAt(r.before, r.mark), takenAt(r.page)
		if before.isLike(page) {
			return
		}
		brings, err := m.brings(before, heldAt(w.copy, w.touched), page)
		if err != nil {
			return
		}
		w.top++
		if w.touched = w.top; brings {
			w.copy = r.page
		}
	}
	for i, l := range w.walks {
		if i == 1 && w.pair == 2 {
			break
		}
		by := []string{"A", "B"}[i]
		call := func(w *copyWorld, what string) bool {
			row := w.row
			if row.until -= w.now; row.holder == "" || w.row.until == -100 {
				row.until = -100
			}
			a := m.call(walkCall{what, by, row, l.since, l.began})
			if w.row = a.row; a.row.until != -100 {
				w.row.until += w.now
			}
			return a.mine
		}
		leaves := func(w *copyWorld) string {
			w.walks[i] = aWalk{}
			free(w, i+1)
			return ""
		}
		if l.at != rests {
			does(by+" crashes", leaves)
			does(by+" fails", func(w *copyWorld) string {
				if other := w.row; !call(w, "given up") || w.last != i+1 && w.row.until != other.until {
					return "it gives up another's lease"
				}
				return leaves(w)
			})
		}
		under := func(name string, change func(w *copyWorld)) {
			does(name, func(w *copyWorld) string {
				mine := call(w, "renew")
				if mine && w.last != i+1 {
					return "it has lost its lease, and has it"
				}
				if !mine {
					return leaves(w)
				}
				change(w)
				w.walks[i].at = l.at + 1
				return ""
			})
		}
		switch l.at {
		case rests:
			does(by+" begins to walk", func(w *copyWorld) string {
				w.walks[i] = aWalk{aPage: aPage{at: begins}, since: w.row.walked, began: w.now, start: w.top}
				return ""
			})
		case begins:
			does(by+" asks for a page", func(w *copyWorld) string {
				switch other := w.row; {
				case !taking(w, i+1):
					return ""
				case !call(w, "lease"):
					return leaves(w)
				case other.holder != by && other.until > w.now:
					return "two have the lease"
				case other.walked != l.since:
					return "it was walked meanwhile"
				case w.row.holder != by || w.row.until != w.now+1:
					return "it has no lease"
				}
				w.last, w.walks[i].at, w.walks[i].mark = i+1, asks, w.top
				return ""
			})
		case asks:
			does(by+" is answered", func(w *copyWorld) string {
				w.walks[i].at, w.walks[i].page, w.walks[i].seen = answered, w.service, isThere(w.service)
				return ""
			})
		case answered:
			under(by+" brings it in", func(w *copyWorld) {
				if free(w, i+1); isThere(l.page) && !m.touched(w.touched, l.mark) {
					w.copy = l.page
				}
			})
		case brought:
			under(by+" removes what it has not seen", func(w *copyWorld) {
				if isThere(w.copy) && !l.seen && !m.touched(w.touched, l.start) {
					w.copy = l.page
					if m.removes {
						w.top++
						w.touched = w.top
					}
				}
			})
		case removed:
			does(by+" ends", func(w *copyWorld) string {
				was := w.row
				mine := call(w, "ended")
				switch {
				case mine && (w.last != i+1 || was.walked != l.since):
					return "it has lost its lease, and ends"
				case mine && (w.row.walked != l.began || w.row.until > w.now || w.row.failed):
					return "it has not ended"
				case !mine && w.last == i+1 && was.walked == l.since:
					return "it has its lease, and does not end"
				case mine && w.service == l.page && w.touched <= l.start && (isThere(w.copy) != isThere(w.service) || isThere(w.copy) && w.copy != w.service):
					return "a walk has not found what there is"
				}
				return leaves(w)
			})
		}
	}
	switch a := w.ask; {
	case w.pair == 1:
	case a.at == rests:
		does("C asks what has changed", func(w *copyWorld) string {
			if taking(w, 3) {
				w.ask = aPage{at: asks, mark: w.top}
			}
			return ""
		})
	case a.at == asks:
		does("C is answered", func(w *copyWorld) string { w.ask.at, w.ask.page = answered, w.service; return "" })
	default:
		does("C brings it in", func(w *copyWorld) string {
			if !m.touched(w.touched, a.mark) && !heldAt(w.copy, 0).isLike(takenAt(a.page)) {
				if w.copy = a.page; m.told {
					w.top++
					w.touched = w.top
				}
			}
			w.ask = aPage{}
			free(w, 3)
			return ""
		})
	}
	switch r := w.read; {
	case w.pair == 1:
	case r.at == rests:
		does("D asks for it", func(w *copyWorld) string { w.read = aPage{at: asks, before: w.copy, mark: w.top}; return "" })
	case r.at == asks:
		does("D is answered", func(w *copyWorld) string { w.read.at, w.read.page = answered, w.service; return "" })
		if w.service < 3 {
			does("D writes it", func(w *copyWorld) string {
				w.service++
				w.read.at, w.read.page = answered, w.service
				return ""
			})
		}
	default:
		does("D keeps it", func(w *copyWorld) string { keep(w, r); w.read = aPage{}; return "" })
	}
}

// TestEveryWayOfACopy: two gateways walk, lose their leases, fail and crash; or one does while others ask
// what has changed, read and write.
func TestEveryWayOfACopy(t *testing.T) {
	sound := copyMachine{call: walkedBy(t), touched: func(at, mark int) bool { return at > mark }, brings: held.brings, told: true, removes: true}
	search.Holds(t, sound, sound.faults(), func(m copyMachine) search.Protocol[copyWorld, copyWorld] {
		return search.Protocol[copyWorld, copyWorld]{Start: copyWorld{now: 1, row: walkRow{until: -100}}, Key: copyWorld.key, Next: m.next,
			Ended: func(w copyWorld) bool { return w.walks == [2]aWalk{} }}
	})
}

// called plants a fault in what the database is asked, or answers, of a walk.
func (m copyMachine) called(what string, ask func(c *walkCall), answer func(c walkCall, a *walkAnswer)) copyMachine {
	sound := m.call
	m.call = func(c walkCall) walkAnswer {
		asked := c
		if ask != nil && c.what == what {
			ask(&asked)
		}
		a := sound(asked)
		if answer != nil && c.what == what {
			answer(c, &a)
		}
		return a
	}
	return m
}

func (m copyMachine) with(change func(m *copyMachine)) copyMachine {
	change(&m)
	return m
}

// kept plants one in what a record does to the copy that was read or written by itself.
func (m copyMachine) kept(brings func(before, now held, t taken) (bool, error)) copyMachine {
	m.brings = brings
	return m
}

func (m copyMachine) faults() map[string]copyMachine {
	free := func(c *walkCall) { c.row.until = -100 }
	mine := func(c *walkCall) { c.row.holder = c.by }
	still := func(c *walkCall) { c.since = c.row.walked }
	nothing := func(c walkCall, a *walkAnswer) { a.row, a.mine = c.row, true }
	return map[string]copyMachine{
		"a lease in force is given to another":         m.called("lease", free, nil),
		"a walk that another has made is made again":   m.called("lease", still, nil),
		"a lease is not noted":                         m.called("lease", nil, nothing),
		"a lease does not end":                         m.called("lease", nil, func(_ walkCall, a *walkAnswer) { a.row.until += 9 }),
		"whoever lost its lease has it again":          m.called("renew", mine, nil),
		"a lease that was given up is had again":       m.called("renew", func(c *walkCall) { c.what = "lease" }, nil),
		"a lease is not looked at":                     m.called("renew", nil, nothing),
		"whoever lost its lease ends the walk":         m.called("ended", mine, nil),
		"an older walk ends":                           m.called("ended", func(c *walkCall) { mine(c); still(c) }, nil),
		"a walk that has ended is not noted":           m.called("ended", nil, nothing),
		"a walk that has ended keeps its lease":        m.called("ended", nil, func(c walkCall, a *walkAnswer) { a.row.until = c.row.until }),
		"a walk that has ended well has failed":        m.called("ended", nil, func(_ walkCall, a *walkAnswer) { a.row.failed = true }),
		"a walk began when it ended":                   m.called("ended", func(c *walkCall) { c.began++ }, nil),
		"whoever fails gives up another's lease":       m.called("given up", mine, nil),
		"a page is brought in over what was read":      m.with(func(m *copyMachine) { m.touched = func(int, int) bool { return false } }),
		"a page is never brought in":                   m.with(func(m *copyMachine) { m.touched = func(int, int) bool { return true } }),
		"what was read just before counts, too":        m.with(func(m *copyMachine) { m.touched = func(at, mark int) bool { return at >= mark } }),
		"what was read just after does not count":      m.with(func(m *copyMachine) { m.touched = func(at, mark int) bool { return at > mark+1 } }),
		"what was told as changed is not noted":        m.with(func(m *copyMachine) { m.told = false }),
		"what a walk removes is not noted":             m.with(func(m *copyMachine) { m.removes = false }),
		"what was read is kept over what came between": m.kept(func(_, now held, t taken) (bool, error) { return !now.isLike(t), nil }),
		"what was there meanwhile is forgotten":        m.kept(func(before, now held, t taken) (bool, error) { before.touched = 99; return before.brings(now, t) }),
		"that it is gone does not count": m.kept(func(before, now held, t taken) (bool, error) {
			if !now.there {
				now.there, now.Kept, now.touched = before.there, before.Kept, 0
			}
			return before.brings(now, t)
		}),
	}
}
