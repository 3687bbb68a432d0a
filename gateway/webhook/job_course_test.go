package webhook

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/search"
)

// course is a job in the hands of two processes, and what is true of it whatever it says itself.
// Numbers are minutes; a lease is for one, a sleep for two.
type course struct {
	j                   Job
	now                 int
	doer                [2]doer
	state               State
	claim, free, begun  int // the last claim, when there may be another, and how many count
	asleep, failed      bool
	room, file, ended   int
	call, calls, due    int // the last call, when there may be another, and when it is due; -1 for never
	tries, vain, linked int // vain: since when; linked: when last
}

// doer is what a process remembers of its claim and of its call.
type doer struct{ claim, call, term int }

// courseKey is a course by how long ago all is, and how far ahead, as far as that matters.
type courseKey struct {
	state                                             State
	doer                                              [2]doer
	asleep, failed, file, vain, due                   bool
	free, begun, calls, next, lease, linked, finished int
}

const (
	never = -1
	week  = int(Retention / time.Minute)
	spent = int(SpentAfter / time.Minute)
)

func (w course) key() courseKey {
	ahead := func(n int) int { return max(n-w.now, -1) }
	k := courseKey{w.state, w.doer, w.asleep, w.failed, w.file > 0, w.vain >= 0, w.due >= 0, ahead(w.free), w.begun, ahead(w.calls), ahead(w.due), never, 0, 0}
	if !w.j.Lease.IsZero() {
		k.lease = ahead(int(w.j.Lease.Sub(noon) / time.Minute))
	}
	if w.over() {
		k.finished = min(w.now-w.ended, week+1)
	}
	if w.linked >= 0 {
		k.linked = 1 + min(w.now-w.linked, spent)
	}
	for i, d := range w.doer {
		behind := func(n, of int) int { return map[bool]int{true: 0, false: 1 + min(of-n, 1)}[n == 0] }
		k.doer[i] = doer{behind(d.claim, w.claim), behind(d.call, w.call), behind(d.term, w.j.Term)}
	}
	return k
}

func (w course) over() bool { return w.state != Accepted && w.state != Running }

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time {
	if n < 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(n) * time.Minute)
}

// wrong is what the job says that is not so.
func (w *course) wrong() string {
	switch j := w.j; {
	case j.State != w.state:
		return "it is not " + string(w.state)
	case j.Tries != w.tries, !j.NextTry.Equal(minute(w.due)), !j.Failing.Equal(minute(w.vain)), j.Claims != w.begun, j.Room != int64(w.room):
		return "tries, the next of them, or claims are others"
	case (j.Failure != "" && j.Failure != withdrawal) != w.failed, w.over() && j.Taken() != int64(min(w.file, 1)), (j.Result.File != "") != (w.file > 0), w.file > 0 && j.Result.File != strconv.Itoa(w.file):
		return "its result is another"
	case j.State == Running && !j.Lease.Equal(minute(w.free-1)), (j.State == Done || j.State == Failed) != !j.NextTry.IsZero():
		return "its lease is another, or a call is due that is not"
	}
	return ""
}

func (w *course) finish(s State, file int) {
	w.state, w.file, w.failed, w.ended, w.due, w.claim, w.calls, w.asleep = s, file, s == Failed, w.now, w.now, w.claim+1, 0, false
}

// give is that a claim does not have the job any more, through no fault of the work.
func (w *course) give(i int, s State, free int) {
	w.state, w.free, w.asleep, w.claim, w.begun, w.doer[i] = s, free, s == Accepted && free > 0, w.claim+1, w.begun-1, doer{}
}

// answered is that a call has ended; one from before a replay, or that another has followed, only counts.
func (w *course) answered(i int, finished bool, e event) {
	if e.outcome.Tried {
		w.tries++
	}
	current := finished && w.doer[i].call == w.call
	if w.doer[i].call = 0; !current {
		return
	}
	w.calls, w.due = 0, w.now+1
	switch {
	case !e.end && w.due-w.ended < week:
		if e.outcome.Tried && w.vain < 0 {
			w.vain = w.now
		}
		return
	case e.outcome.Delivered():
		w.state = CalledBack
	default:
		w.state = Exhausted
	}
	w.due, w.vain = never, never
}

type machine func(j Job, e event, now time.Time) (Job, error)

func (m machine) next(w course, step func(string, course, string)) {
	// may: an event happens exactly where it may, and makes of the world what then does.
	may := func(name string, does bool, e event, then func(w *course)) {
		after, err := w, error(nil)
		after.j, err = m(w.j, e, minute(w.now))
		if does {
			then(&after)
		}
		switch wrong := after.wrong(); {
		case (err == nil) != does:
			step(name, after, map[bool]string{true: "it has to happen, and does not", false: "it happens, and must not"}[does])
		case wrong != "" || does:
			step(name, after, wrong)
		}
	}
	after, over, finished := w, w.over(), w.state == Done || w.state == Failed
	since, age := w.now-w.linked, w.now-w.ended
	if after.now++; !over || age < 3 || week-2 <= age && age <= week || w.linked >= 0 && since == spent-1 {
		step("a minute", after, "")
	}
	if after.now = w.ended + week - 2; over && age < 3 {
		step("a week less two minutes", after, "")
	}
	if after.now = w.linked + spent - 1; w.linked >= 0 && since < 2 && age < 3 {
		step("all but the time until it is spent", after, "")
	}
	may("woken", w.asleep, event{kind: woken}, func(w *course) { w.asleep, w.free = false, 0 })
	may("cleared", w.state == Collected && w.file > 0 && since >= spent, event{kind: cleared}, func(w *course) { w.file = 0 })
	may("withdrawn", !over, event{kind: withdrawn}, func(w *course) { w.finish(Exhausted, 0); w.due = never })
	may("fetched", over && w.file > 0, event{kind: fetched}, func(w *course) { w.state, w.due, w.vain, w.linked = Collected, never, never, w.now })
	may("replayed", over && (w.failed || w.file > 0), event{kind: replayed}, func(w *course) {
		w.call, w.calls, w.due, w.tries, w.vain = w.call+1, 0, w.now, 0, never
		w.state = map[bool]State{false: Done, true: Failed}[w.failed]
	})
	may("all crash, and it is released", !w.j.Lease.IsZero(), event{kind: released}, func(w *course) { w.doer, w.free, w.calls, w.asleep = [2]doer{}, 0, 0, false })
	for i, d := range w.doer {
		by := []string{"A ", "B "}[i]
		if after = w; d != (doer{}) {
			after.doer[i] = doer{}
			step(by+"crashes", after, "")
		}
		may(by+"claims", !over && w.now >= w.free, event{kind: claimed, hold: time.Minute}, func(w *course) {
			w.claim, w.begun, w.free, w.asleep, w.state = w.claim+1, w.begun+1, w.now+2, false, Running
			if w.doer[i] = (doer{claim: w.claim, term: w.j.Term}); w.begun > maxClaims {
				w.finish(Failed, 0)
			}
		})
		if mine := d.claim == w.claim; d.claim > 0 {
			of := func(kind eventKind) event {
				return event{kind: kind, term: d.term, hold: time.Minute, room: int64(d.claim), result: Result{File: strconv.Itoa(d.claim), Size: 1}, cause: "away"}
			}
			may(by+"renews", mine, of(renewed), func(w *course) { w.free = w.now + 2 })
			may(by+"sets aside", mine, of(grown), func(w *course) { w.room = d.claim })
			may(by+"completes", mine, of(completed), func(w *course) { w.finish(Done, d.claim) })
			may(by+"breaks", mine, of(broke), func(w *course) { w.finish(Failed, 0) })
			sleeps := of(slept)
			sleeps.hold = 2 * time.Minute
			may(by+"hands back", mine, of(handedBack), func(w *course) { w.give(i, Accepted, 0) })
			may(by+"sleeps", mine, sleeps, func(w *course) { w.give(i, Accepted, w.now+2) })
			may(by+"postpones", mine, of(postponed), func(w *course) { w.give(i, Running, w.now+2) })
		}
		may(by+"calls", finished && w.now >= w.due && w.now >= w.calls, event{kind: calling, hold: time.Minute}, func(w *course) {
			w.call, w.calls = w.call+1, w.now+2
			w.doer[i] = doer{call: w.call, term: w.j.Term}
		})
		if d.call > 0 {
			for n, name := range []string{"is taken", "is refused", "gives up", "is too busy"} {
				e := event{kind: called, term: d.term, retry: time.Minute, end: n%2 == 0, outcome: Outcome{Tried: n < 3, Status: []int{200, 500, 500, 0}[n], Err: []string{"", ErrStatus, ErrStatus, ErrBusy}[n]}}
				may(by+name, true, e, func(w *course) { w.answered(i, finished, e) })
			}
		}
	}
}

// begun is a job that was just promised.
var begun = course{j: Job{ID: "a1b2", State: Accepted, Created: noon}, state: Accepted, due: never, vain: never, linked: never}

// TestEveryCourseOfAJob: two processes claim, crash, come late, call and are replayed, in all ways.
func TestEveryCourseOfAJob(t *testing.T) {
	search.Holds(t, machine(Job.after), courseFaults, func(m machine) search.Protocol[course, courseKey] {
		return search.Protocol[course, courseKey]{Start: begun, Key: course.key, Next: m.next, Ended: func(w course) bool { return w.over() && w.due == never }}
	})
}

// TestStepsOfAJob: testdata/steps.txt has what one event can make of a job, for tests that look at the jobs of a
// program that was killed.
func TestStepsOfAJob(t *testing.T) {
	found := map[string]bool{}
	noted := machine(func(was Job, e event, now time.Time) (Job, error) {
		j, err := was.after(e, now)
		if err == nil {
			found[outline(was)+" > "+outline(j)+"\n"] = true
		}
		return j, err
	})
	_, wrong := search.Protocol[course, courseKey]{Start: begun, Key: course.key, Next: noted.next, Ended: course.over}.Search()
	require.Empty(t, wrong)
	steps := strings.Join(slices.Sorted(maps.Keys(found)), "")
	if *update {
		require.NoError(t, os.WriteFile("testdata/steps.txt", []byte(steps), 0o600))
	}
	require.Equal(t, string(must.Have(os.ReadFile("testdata/steps.txt"))(t)), steps)
}

var update = flag.Bool("update", false, "write testdata/steps.txt anew")

// outline is the state of a job, and what is set of it.
func outline(j Job) string {
	all := string(j.State)
	for _, part := range []struct {
		name string
		set  bool
	}{{"Failure", j.Failure != ""}, {"File", j.Result.File != ""}, {"Lease", !j.Lease.IsZero()}, {"NextTry", !j.NextTry.IsZero()}, {"Failing", !j.Failing.IsZero()}} {
		if part.set {
			all += " " + part.name
		}
	}
	return all
}

// before has an event meet another job, or be another; later has another job come of it.
func before(of eventKind, change func(j *Job, e *event)) machine {
	return func(was Job, e event, now time.Time) (Job, error) {
		j := was
		if e.kind == of {
			change(&j, &e)
		}
		if j, err := j.after(e, now); err == nil {
			return j, nil
		}
		return was, ErrNotNow
	}
}

func later(of eventKind, change func(was Job, j *Job)) machine {
	return func(was Job, e event, now time.Time) (Job, error) {
		j, err := was.after(e, now)
		if err == nil && e.kind == of {
			change(was, &j)
		}
		return j, err
	}
}

var courseFaults = map[string]machine{
	"a claim in force is taken":            before(claimed, func(j *Job, _ *event) { j.Lease = time.Time{} }),
	"a lease ends before its end":          before(claimed, func(j *Job, _ *event) { j.Lease = j.Lease.Add(-time.Minute) }),
	"a lease does not end":                 before(claimed, func(j *Job, _ *event) { j.Lease = j.Lease.Add(Retention) }),
	"work begins again after its end":      before(claimed, func(j *Job, _ *event) { j.State = Accepted }),
	"a claim has the number before":        later(claimed, func(was Job, j *Job) { j.Term = was.Term }),
	"postponing revives the claim before":  later(postponed, func(_ Job, j *Job) { j.Term-- }),
	"work is claimed once more":            before(claimed, func(j *Job, _ *event) { j.Claims-- }),
	"an earlier claim renews":              before(renewed, func(j *Job, e *event) { e.term = j.Term }),
	"an earlier claim sets aside":          before(grown, func(j *Job, e *event) { e.term = j.Term }),
	"an earlier claim completes":           before(completed, func(j *Job, e *event) { e.term = j.Term }),
	"an earlier claim breaks":              before(broke, func(j *Job, e *event) { e.term = j.Term }),
	"an earlier claim hands back":          before(handedBack, func(j *Job, e *event) { e.term = j.Term }),
	"handing back counts":                  later(handedBack, func(_ Job, j *Job) { j.Claims++ }),
	"postponing counts":                    later(postponed, func(_ Job, j *Job) { j.Claims++ }),
	"what is postponed is taken at once":   later(postponed, func(_ Job, j *Job) { j.Lease = time.Time{} }),
	"sleep is no sleep":                    later(slept, func(_ Job, j *Job) { j.Lease = time.Time{} }),
	"nothing wakes":                        later(woken, func(was Job, j *Job) { j.Lease = was.Lease }),
	"a failure without a name is none":     later(broke, func(_ Job, j *Job) { j.Failure = "" }),
	"a call in force is made again":        before(calling, func(j *Job, _ *event) { j.Lease = time.Time{} }),
	"a call is made before it is due":      before(calling, func(j *Job, _ *event) { j.NextTry = j.Finished }),
	"a call is made after the last one":    before(calling, func(j *Job, _ *event) { j.State, j.NextTry = Done, j.Finished }),
	"a call from before a replay ends it":  before(called, func(j *Job, e *event) { e.term = j.Term }),
	"what was not tried counts":            before(called, func(_ *Job, e *event) { e.outcome.Tried = true }),
	"it fails since the last try":          before(called, func(j *Job, _ *event) { j.Failing = time.Time{} }),
	"a try outlives the result":            before(called, func(j *Job, _ *event) { j.Finished = j.Finished.Add(Retention) }),
	"a replay goes on counting":            later(replayed, func(was Job, j *Job) { j.Tries = was.Tries }),
	"a replay waits for the call":          later(replayed, func(was Job, j *Job) { j.Lease = was.Lease }),
	"a sleep outlives a release":           later(released, func(was Job, j *Job) { j.Lease = was.Lease }),
	"a release loses the work":             later(released, func(_ Job, j *Job) { j.State = Accepted }),
	"what was withdrawn is replayed":       before(replayed, func(j *Job, _ *event) { j.Failure += "!" }),
	"what was withdrawn is called":         later(withdrawn, func(_ Job, j *Job) { j.NextTry = j.Finished }),
	"what was collected is called":         later(fetched, func(was Job, j *Job) { j.NextTry = was.NextTry }),
	"a failure is fetched":                 before(fetched, func(j *Job, _ *event) { j.Failure, j.Result.File = "", "1" }),
	"a result goes while it has addresses": before(cleared, func(j *Job, _ *event) { j.Linked = noon.Add(-Retention) }),
	"what gave way is fetched again":       before(fetched, func(j *Job, _ *event) { j.Result.File = "1" }),
}
