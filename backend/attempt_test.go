package backend_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/search"
	"frontdesk/mapping"
)

// keyed is a world of two gateways that are asked for the same write under one key, again and again. Time
// is in twelve hours: a key is in use for two.
type keyed struct {
	now      int
	row      keptRow
	gateways [2]attempter
	sent     [3]sending
	told     int // which of those sent clients were told of last, until when
	until    int
}

// keptRow is what the store has under the key: when it expires, and the answer; zero for nothing.
type keptRow struct{ expires, answer int }

type attempter struct {
	on        bool
	at        backend.Progress
	mark, out int // out: what it has sent, and not heard to be refused
}

// sending is what went out, by the mark of its key, and what has become of it.
type sending struct {
	mark int
	is   fate
}

type fate int

const (
	flying fate = iota + 1
	did
	refused
)

// keptCall is what the store is asked, and keptAnswer what becomes of it.
type keptCall struct {
	what              string
	row               keptRow
	now, mark, answer int
}

type keptAnswer struct {
	row  keptRow
	said int // the answer of Recall, the mark of Begin
	err  error
}

// idempotency is what is searched: how attempts go on, and a store.
type idempotency struct {
	after func(backend.Progress, backend.ProgressEvent) (backend.Progress, backend.ProgressEffect, error)
	asked func(keptCall) keptAnswer
}

// keptBy asks a real store, each thing once.
func keptBy(t *testing.T) func(keptCall) keptAnswer {
	db := must.Have(sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{}))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	start, now, known, one := time.UnixMilli(0), 0, map[keptCall]keptAnswer{}, auth.Client{ID: 1}
	at := func(n int) time.Time { return start.Add(time.Duration(n) * backend.StoredAnswerLife / 2) }
	store := must.Have(idstore.Open(t.Context(), db, idstore.Options{Now: func() time.Time { return at(now) }}))(t)
	exec := func(sql string, args ...mapping.Value) {
		must.Have(sqlrecord.Change(t.Context(), db, sql, args...))(t)
	}
	return func(c keptCall) (a keptAnswer) {
		if a, is := known[c]; is {
			return a
		}
		exec("DELETE FROM kept_answer")
		if c.row.expires > 0 {
			answer := mapping.NullValue()
			if c.row.answer > 0 {
				answer = mapping.BytesValue([]byte(strconv.Itoa(c.row.answer)))
			}
			exec("INSERT INTO kept_answer (client_id, key, expires_at, sum, answer) VALUES (1, 'k', ?1, ?2, ?3)", mapping.IntValue(at(c.row.expires).UnixMilli()), mapping.BytesValue(make([]byte, 32)), answer)
		}
		now = c.now
		var mark int64
		switch c.what {
		case "recall":
			var memo *backend.StoredAnswer
			if memo, a.err = store.Recall(t.Context(), one, "k"); memo != nil {
				a.said, _ = strconv.Atoi(string(memo.Answer))
			}
		case "begin":
			mark, a.err = store.Begin(t.Context(), one, "k")
			a.said = int(time.UnixMilli(mark).Sub(start) / (backend.StoredAnswerLife / 2))
		case "finish":
			a.err = store.Finish(t.Context(), one, "k", at(c.mark).UnixMilli(), backend.StoredAnswer{Answer: []byte(strconv.Itoa(c.answer))})
		case "abandon":
			a.err = store.Abandon(t.Context(), one, "k", at(c.mark).UnixMilli())
		}
		require.NoError(t, db.Read(t.Context(), func(conn sqlrecord.Conn) error {
			row, err := sqlrecord.One(t.Context(), conn, "SELECT expires_at, coalesce(answer, '') FROM kept_answer", []sqlrecord.Column{sqlrecord.Number, sqlrecord.Octets})
			if row != nil {
				a.row.expires = int(time.UnixMilli(row[0].Int()).Sub(start) / (backend.StoredAnswerLife / 2))
				a.row.answer, _ = strconv.Atoi(row[1].Text())
			}
			return err
		}))
		known[c] = a
		return a
	}
}

// tell is that a client is told of what was sent, which holds as long as the store has its key.
func (w *keyed) tell(n, mark int) (wrong string) {
	if n > 0 && w.sent[n-1].is != did {
		wrong = "it is told of what was not done"
	}
	if mark > 0 && mark <= w.now { // it took longer than a key is kept
		return wrong
	}
	if w.told > 0 && w.now < w.until && w.told != n {
		wrong = "two answers under one key"
	}
	if w.told, w.until = n, mark; w.row.answer == n {
		w.until = w.row.expires
	}
	return wrong
}

// does is that something has its effect.
func (w *keyed) does(n int) (wrong string) {
	w.sent[n].is = did
	for other, s := range w.sent {
		if other != n && s.is == did && s.mark-w.sent[n].mark < 2 && w.sent[n].mark-s.mark < 2 {
			wrong = "done twice"
		}
	}
	return wrong
}

func (m idempotency) next(w keyed, step func(string, keyed, string)) {
	does := func(name string, f func(w *keyed) (wrong string)) {
		after := w
		wrong := f(&after)
		step(name, after, wrong)
	}
	for hours := range 2 {
		if w.now+hours < 5 {
			does(fmt.Sprint(12+12*hours, " hours"), func(w *keyed) string { w.now += 1 + hours; return "" })
		}
	}
	for n, s := range w.sent {
		if s.is == flying {
			does(fmt.Sprint("the ", n+1, " is done"), func(w *keyed) string { return w.does(n) })
			does(fmt.Sprint("the ", n+1, " is refused"), func(w *keyed) string { w.sent[n].is = refused; return "" })
		}
	}
	for i, g := range w.gateways {
		by := []string{"A ", "B "}[i]
		ask := func(w *keyed, c keptCall) keptAnswer {
			c.row, c.now, c.mark = w.row, w.now, g.mark
			a := m.asked(c)
			w.row = a.row
			return a
		}
		happens := func(w *keyed, e backend.ProgressEvent) (does backend.ProgressEffect, err error) {
			w.gateways[i].at, does, err = m.after(g.at, e)
			return does, err
		}
		if !g.on {
			does(by+"is asked", func(w *keyed) string {
				switch a := ask(w, keptCall{what: "recall"}); {
				case a.err != nil && (w.row.answer > 0 || w.row.expires <= w.now):
					return "in use, and nobody uses it"
				case a.err != nil:
					return ""
				case a.said > 0:
					return w.tell(a.said, 0)
				}
				w.gateways[i].on = true
				for _, s := range w.sent {
					if (s.is == flying || s.is == did) && s.mark > w.now {
						return "the key is free, and something was or may be done"
					}
				}
				return ""
			})
			continue
		}
		does(by+"crashes", func(w *keyed) string { w.gateways[i] = attempter{}; return "" })
		for _, breaks := range []string{"", ", the store breaks", ", the store does it and breaks"} {
			does(by+"takes the key"+breaks, func(w *keyed) string {
				what, _ := happens(w, backend.Taking)
				if what != backend.Begin {
					return ""
				}
				was := w.row
				a := ask(w, keptCall{what: "begin"})
				if w.gateways[i].mark = a.said; a.err != nil || breaks != "" {
					w.gateways[i] = attempter{}
				}
				if breaks == ", the store breaks" {
					w.row = was
				} else if a.err == nil && w.row.expires != w.now+2 {
					return "it is taken for longer than a day"
				}
				return ""
			})
			ends := func(name string, e backend.ProgressEvent, answer int) {
				does(by+name+breaks, func(w *keyed) (wrong string) {
					if answer > 0 && w.sent[answer-1].is == 0 { // nothing had to be sent
						w.sent[answer-1].mark = g.mark
						wrong = w.does(answer - 1)
					}
					what, _ := happens(w, e)
					was := w.row
					switch what {
					case backend.Finish:
						ask(w, keptCall{what: "finish", answer: answer})
					case backend.Abandon:
						ask(w, keptCall{what: "abandon"})
					}
					w.gateways[i] = attempter{}
					switch inTime := was == (keptRow{expires: g.mark}) && w.now < g.mark; {
					case breaks == ", the store breaks":
						w.row = was
					case answer > 0 && inTime && w.row != (keptRow{w.now + 2, answer}):
						wrong = "the answer is not kept"
					case answer == 0 && inTime && g.out == 0 && w.row != (keptRow{}):
						wrong = "the key of what was not done is in use"
					}
					if answer > 0 && wrong == "" {
						wrong = w.tell(answer, g.mark)
					}
					return wrong
				})
			}
			if ends("ends badly", backend.Failing, 0); g.at == backend.Done && g.out > 0 {
				ends("ends well", backend.Succeeding, g.out)
			}
			if free := w.free(); g.at == backend.Taken && g.out == 0 && free > 0 {
				ends("ends well, with nothing to send", backend.Succeeding, free)
			}
		}
		if free := w.free(); free > 0 {
			after := w
			switch _, err := happens(&after, backend.Sending); {
			case err != nil:
			case g.mark == 0 || g.out > 0:
				step(by+"sends", after, "it goes out without its key, or again")
			default:
				after.sent[free-1], after.gateways[i].out = sending{g.mark, flying}, free
				step(by+"sends", after, "")
			}
		}
		if g.out == 0 || g.at != backend.Sent {
			continue
		}
		does(by+"hears nothing", func(w *keyed) string { _, _ = happens(w, backend.Losing); return "" })
		switch w.sent[g.out-1].is {
		case did:
			does(by+"hears that it is done", func(w *keyed) string { _, _ = happens(w, backend.Answering); return "" })
		case refused:
			does(by+"hears that it is refused", func(w *keyed) string { _, _ = happens(w, backend.Undoing); w.gateways[i].out = 0; return "" })
		}
	}
}

// free is the number of what is sent next, 0 where that is enough.
func (w keyed) free() int {
	for n, s := range w.sent {
		if s.is == 0 {
			return n + 1
		}
	}
	return 0
}

// TestEveryWayOfAKey: two gateways are asked for a write under one key while they crash, their store and
// their service fail, and days pass.
func TestEveryWayOfAKey(t *testing.T) {
	sound := idempotency{backend.Progress.After, keptBy(t)}
	search.Holds(t, sound, sound.faults(), func(m idempotency) search.Protocol[keyed, keyed] {
		return search.Protocol[keyed, keyed]{Key: func(w keyed) keyed { return w }, Next: m.next,
			Ended: func(w keyed) bool { return !w.gateways[0].on && !w.gateways[1].on }}
	})
}

// turned has an event at a stage lead to another one, or have another effect.
func (m idempotency) turned(at backend.Progress, on backend.ProgressEvent, to backend.Progress, does backend.ProgressEffect) idempotency {
	m.after = func(p backend.Progress, e backend.ProgressEvent) (backend.Progress, backend.ProgressEffect, error) {
		if p == at && e == on {
			return to, does, nil
		}
		return p.After(e)
	}
	return m
}

// stored has the store be asked something else, or answer so.
func (m idempotency) stored(what string, call func(c *keptCall), answer func(c keptCall, a *keptAnswer)) idempotency {
	sound := m.asked
	m.asked = func(c keptCall) keptAnswer {
		if c.what == what {
			call(&c)
		}
		a := sound(c)
		if c.what == what {
			answer(c, &a)
		}
		return a
	}
	return m
}

func (m idempotency) faults() map[string]idempotency {
	asIs, same := func(*keptCall) {}, func(keptCall, *keptAnswer) {}
	return map[string]idempotency{
		"the key is not taken":                     m.turned(backend.Idle, backend.Taking, backend.Taken, backend.Nothing),
		"it goes out before the key is taken":      m.turned(backend.Idle, backend.Sending, backend.Sent, backend.Nothing),
		"what goes out is not noted":               m.turned(backend.Taken, backend.Sending, backend.Taken, backend.Nothing),
		"it goes out twice":                        m.turned(backend.Sent, backend.Sending, backend.Sent, backend.Nothing),
		"what was lost goes out again":             m.turned(backend.Lost, backend.Sending, backend.Sent, backend.Nothing),
		"what was done goes out again":             m.turned(backend.Done, backend.Sending, backend.Sent, backend.Nothing),
		"what was lost was not done":               m.turned(backend.Sent, backend.Losing, backend.Taken, backend.Nothing),
		"what was done was not":                    m.turned(backend.Sent, backend.Answering, backend.Taken, backend.Nothing),
		"what was refused is lost":                 m.turned(backend.Sent, backend.Undoing, backend.Sent, backend.Nothing),
		"the key of what went out is given back":   m.turned(backend.Sent, backend.Failing, backend.Idle, backend.Abandon),
		"the key of what was lost is given back":   m.turned(backend.Lost, backend.Failing, backend.Idle, backend.Abandon),
		"the key of what was done is given back":   m.turned(backend.Done, backend.Failing, backend.Idle, backend.Abandon),
		"the key of what was answered, too":        m.turned(backend.Done, backend.Succeeding, backend.Idle, backend.Abandon),
		"a key is not given back":                  m.turned(backend.Taken, backend.Failing, backend.Idle, backend.Nothing),
		"an answer is not kept":                    m.turned(backend.Done, backend.Succeeding, backend.Done, backend.Nothing),
		"an answer without a write is not kept":    m.turned(backend.Taken, backend.Succeeding, backend.Done, backend.Nothing),
		"a taken key is taken":                     m.stored("begin", func(c *keptCall) { c.row = keptRow{} }, same),
		"an answered key is taken":                 m.stored("begin", func(c *keptCall) { c.row.expires *= min(1, 1-c.row.answer) }, same),
		"a key is taken for a while":               m.stored("begin", asIs, func(c keptCall, a *keptAnswer) { a.row.expires = min(a.row.expires, c.now+1) }),
		"a key is taken for ever":                  m.stored("begin", asIs, func(_ keptCall, a *keptAnswer) { a.row.expires += 9 }),
		"a key in use is free":                     m.stored("recall", asIs, func(_ keptCall, a *keptAnswer) { a.err = nil }),
		"a key that was in use is in use":          m.stored("recall", func(c *keptCall) { c.now = 0 }, same),
		"an answer is forgotten":                   m.stored("recall", asIs, func(_ keptCall, a *keptAnswer) { a.said = 0 }),
		"another gateway's key is given back":      m.stored("abandon", func(c *keptCall) { c.mark = c.row.expires }, same),
		"another gateway's key gets an answer":     m.stored("finish", func(c *keptCall) { c.mark = c.row.expires }, same),
		"an answered key is given back":            m.stored("abandon", func(c *keptCall) { c.mark, c.row.answer = c.row.expires, 0 }, same),
		"an answer replaces one that there was":    m.stored("finish", func(c *keptCall) { c.mark, c.row.answer = c.row.expires, 0 }, same),
		"an answer is kept for as long as its key": m.stored("finish", asIs, func(c keptCall, a *keptAnswer) { a.row.expires = c.row.expires }),
	}
}
