package simulation

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/backend"
)

// span is a time in which something was not as it should be; until is zero while it lasts, or what it has done does.
type span struct {
	what, only  string // only: the user or the client of the simulation whom it concerns; "" for all
	from, until time.Time
	over        time.Time // what has begun since then it does not concern, but for what recovers until then
}

// trouble is something that goes wrong for a while. What it excuses it excuses for so much longer.
type trouble struct {
	name, only string // only: as in span
	begin, end func()
	after      time.Duration
	alone      bool // no life ends meanwhile
}

// recovers is how long circuits and waits may take to be over.
const recovers = 15 * time.Second

// during notes that something is not as it should be while f runs, and for a time after it.
func (w *world) during(what, only string, after time.Duration, f func()) {
	w.mu.Lock()
	w.troubled = append(w.troubled, span{what: what, only: only, from: time.Now()})
	n := len(w.troubled) - 1
	w.mu.Unlock()
	f()
	w.mu.Lock()
	w.troubled[n].over, w.troubled[n].until = time.Now(), time.Now().Add(max(after, recovers))
	w.mu.Unlock()
}

// excused reports whether something was not as it should be for one of these at some time since then.
func (w *world) excused(since time.Time, who ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.troubled, func(s span) bool {
		return (s.only == "" || slices.Contains(who, s.only)) && (s.until.IsZero() || !s.until.Before(since))
	})
	if at >= 0 {
		w.excuses[w.troubled[at].what]++
	}
	return at >= 0
}

// happened reports whether one of such things went wrong at some time between two moments.
func (w *world) happened(from, until time.Time, what ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.troubled, func(s span) bool {
		return (s.until.IsZero() || s.until.After(from)) && s.from.Before(until) && slices.ContainsFunc(what, func(prefix string) bool { return strings.HasPrefix(s.what, prefix) })
	})
}

// alone reports whether only such things were not as they should be since then.
func (w *world) alone(what string, since time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(w.troubled, func(s span) bool {
		return !strings.HasPrefix(s.what, what) && (s.until.IsZero() || !s.until.Before(since))
	})
}

// onlyStopped reports whether a stop, and nothing that breaks connections or holds answers back, was under way since then.
func (w *world) onlyStopped(since time.Time) (stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.troubled {
		if !s.over.IsZero() && s.over.Before(since) {
			continue
		}
		if s.what == "stop" {
			stopped = true
		} else if s.only != "receivers" && s.only != "guard" && s.only != "nobody" {
			return false
		}
	}
	return stopped
}

// trouble has things go wrong, one after the other or at once, until the phase ends; by then all is well.
//
// In a part of the day lives end and everything goes wrong, in another one only what concerns some, and for
// longer, and in the third lives alone end.
func (w *world) trouble(ctx context.Context, part int) {
	var under sync.WaitGroup
	ends, rest, least, long := 4, 3*time.Second, time.Duration(0), 12*time.Second
	switch part {
	case 1:
		ends, least, long = 0, 10*time.Second, 20*time.Second
	}
	var deck []int                  // each comes once before one comes again
	lives := make(chan struct{}, 1) // no mutex: in a bubble no time passes for who waits for one
	for ctx.Err() == nil {
		sleep(ctx, time.Duration(w.random.Int64N(int64(rest))))
		known := w.known(part)
		if len(deck) == 0 {
			deck = w.random.Perm(len(known) + ends)
		}
		which, lasts, calm := deck[0], least+time.Duration(w.random.Int64N(int64(long))), w.random.IntN(4) > 0
		deck = deck[1:]
		if ctx.Err() != nil {
			break
		}
		if which >= len(known) { // a life ends, the most frequent of all
			lives <- struct{}{}
			what, end := "life", w.kill
			if which == len(known) {
				what, end = "stop", w.end
			}
			w.during(what, "", 0, func() {
				end()
				time.Sleep(lasts / 8)
				w.begin()
			})
			<-lives
			continue
		}
		run := func() {
			if known[which].alone {
				lives <- struct{}{}
				defer func() { <-lives }()
			}
			w.during(known[which].name, known[which].only, known[which].after, func() {
				w.tell("trouble begins: %s", known[which].name)
				known[which].begin()
				time.Sleep(lasts)
				known[which].end()
				w.tell("trouble ends: %s", known[which].name)
			})
		}
		if calm {
			run()
		} else {
			under.Go(run)
		}
	}
	under.Wait()
}

// slowly has time pass before a transaction, within it, and after it.
func (w *world) slowly(write func(func(backend.Tx) error) error, f func(backend.Tx) error) error {
	w.pauses("before")
	err := write(func(tx backend.Tx) error {
		err := f(tx)
		w.pauses("within")
		return err
	})
	w.pauses("after")
	return err
}

// sheet writes a mapping sheet, if it is another one, and returns its file.
func (w *world) sheet(folder, text string) string {
	file := filepath.Join(folder, "sheet.yaml")
	if old, _ := os.ReadFile(file); string(old) != text {
		_ = os.WriteFile(file, []byte(text), 0o600)
	}
	return file
}

// sleep is time.Sleep that a context ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// known are the troubles of a part of the day.
func (w *world) known(part int) []trouble {
	if part == 2 {
		return nil
	}
	hook, broken := pick(w.random, hookDoes...), pick(w.random, "nonsense", "cut off")
	set := func(nonsense string, cutOff bool) func() {
		return func() { w.write(func() { w.broken, w.cutOff = nonsense, cutOff }) }
	}
	all := append(w.system.troubles(w),
		trouble{name: "receivers: " + hook, only: "receivers", after: 40 * time.Second /* as long as who fails may be left alone */, begin: func() { w.hooks.does.Store(hook) }, end: func() { w.hooks.does.Store("") }},
		trouble{name: "connections are cut", begin: func() {}, end: func() {
			if g := w.serving.Load(); g != nil {
				w.net.Cut(g.name, false)
			}
		}},
		trouble{name: "a configuration of " + broken, alone: true, only: "guard", end: set("", false),
			begin: set(map[string]string{"nonsense": "  - {name: nonsense, allow: 7}\n"}[broken], broken == "cut off")})
	if part == 1 {
		all = slices.DeleteFunc(all, func(t trouble) bool { return t.only == "" })
	}
	return all
}

// pick is one of several.
func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }
