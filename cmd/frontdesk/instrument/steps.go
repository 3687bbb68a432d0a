package instrument

import (
	"cmp"
	"slices"
	"time"
)

// How long the steps are that are kept: of the last half hour, and before that of a day.
const (
	Short      = 10 * time.Second
	Long       = time.Minute
	shortSteps = 180
	longSteps  = 24 * 60
)

// mostNamed is how many names of a kind a step has, the busiest; what the others did is added up
// under no name.
const mostNamed = 25

// Percentiles are those that are kept of durations.
var Percentiles = [3]int{50, 95, 99}

// Entry is what one series did in a step.
type Entry struct {
	Kind                      Kind
	Name                      string
	Requests, Refused, Failed uint32
	Took, Backend             float32 // seconds, of all requests together
	Percentiles               Times
}

// Times are Percentiles in seconds, each the end of the bucket that it fell into; 0 where nothing
// was timed. Of steps that are taken together they are those of the slowest.
type Times [3]float32

func (e *Entry) add(other *Entry) {
	e.Requests, e.Refused, e.Failed = e.Requests+other.Requests, e.Refused+other.Refused, e.Failed+other.Failed
	e.Took, e.Backend = e.Took+other.Took, e.Backend+other.Backend
	for i, p := range other.Percentiles {
		e.Percentiles[i] = max(e.Percentiles[i], p)
	}
}

// Level is something that is measured, not summed: how many there are at the moment.
type Level int

// The levels.
const (
	Connections Level = iota // of clients
	Running                  // calls of the backend under way
	Waiting                  // calls and logins that wait for room
	Pool                     // connections to the backend at work
	Due                      // callbacks that should be made now
	Failing                  // callbacks that were tried in vain and will be tried again
	levelKinds
)

// Levels are what each level was, the most in the step.
type Levels [levelKinds]uint32

func (l *Levels) most(other Levels) {
	for i, n := range other {
		l[i] = max(l[i], n)
	}
}

// Step is what happened in one step, of those series that had something.
type Step struct {
	At      int64 // when it began, in Unix seconds
	Long    bool  // it is a minute
	Levels  Levels
	Entries []Entry
}

func stepOf(t time.Time) int64 { return t.Unix() / 10 * 10 }

// Take ends the step under way, if its time is over, and notes what the levels are now. It is
// called every few seconds.
func (i *Instrument) Take(levels Levels) {
	i.looking.Lock()
	defer i.looking.Unlock()
	i.mu.Lock()
	now := stepOf(i.clock())
	if now == i.began || now < i.began && i.began-now <= 60 { // a clock that is set back a little waits
		i.levels.most(levels)
		i.mu.Unlock()
		return
	}
	i.mu.Unlock()
	counts := i.counts()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.append(i.step(counts))
	i.last, i.began, i.levels = counts, now, levels
	i.age(now)
	i.called.Range(func(_, of any) bool {
		of.(*callMeters).turn(i.clock())
		return true
	})
}

// step is what happened since the last one.
func (i *Instrument) step(counts map[name]*count) Step {
	s := Step{At: i.began, Levels: i.levels}
	for n, c := range counts {
		if e := c.since(i.last[n]); e.Requests > 0 {
			e.Kind, e.Name = n.kind, n.word
			s.Entries = append(s.Entries, e)
		}
	}
	s.bound()
	return s
}

// bound leaves the busiest of each kind their names.
func (s *Step) bound() {
	slices.SortFunc(s.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	kept := s.Entries[:0]
	var named [kinds]int
	var rest [kinds]Entry
	for _, e := range s.Entries {
		if named[e.Kind]++; named[e.Kind] <= mostNamed && (e.Name != "" || e.Kind == All) {
			kept = append(kept, e)
		} else {
			rest[e.Kind].add(&e)
		}
	}
	for kind, e := range rest {
		if e.Requests > 0 {
			e.Kind = Kind(kind) // #nosec G115 -- few
			kept = append(kept, e)
		}
	}
	s.Entries = slices.Clip(kept)
}

// append adds a step, to the one before if that is of the same time: a process that ended in it.
func (i *Instrument) append(s Step) {
	if n := len(i.steps); n > 0 && i.steps[n-1].At >= s.At {
		i.steps[n-1].join(s)
		return
	}
	i.steps = append(i.steps, s)
}

func (s *Step) join(other Step) {
	s.Levels.most(other.Levels)
	for _, e := range other.Entries {
		at := slices.IndexFunc(s.Entries, func(own Entry) bool { return own.Kind == e.Kind && own.Name == e.Name })
		if at < 0 {
			s.Entries = append(s.Entries, e)
		} else {
			s.Entries[at].add(&e)
		}
	}
	s.bound()
}

// age makes minutes of the steps before the last half hour, and drops those before the last day, and
// those that are yet to come, since the clock was ahead.
func (i *Instrument) age(now int64) {
	i.steps = slices.DeleteFunc(i.steps, func(s Step) bool { return s.At > now })
	i.minutes = slices.DeleteFunc(i.minutes, func(s Step) bool { return s.At > now || s.At <= now-(longSteps+1)*60 })
	for len(i.steps) > 0 && i.steps[0].At < now-shortSteps*10 {
		minute := i.steps[0]
		i.steps = i.steps[1:]
		minute.At, minute.Long = minute.At-minute.At%60, true
		if n := len(i.minutes); n > 0 && i.minutes[n-1].At == minute.At {
			i.minutes[n-1].join(minute)
		} else {
			minute.Entries = slices.Clone(minute.Entries)
			i.minutes = append(i.minutes, minute)
		}
	}
}

// Steps returns what has happened since a moment, oldest first: minutes, and after them the short
// steps of the last half hour with the one under way as it is now.
func (i *Instrument) Steps(since time.Time) (minutes, steps []Step) {
	i.looking.Lock()
	defer i.looking.Unlock()
	counts := i.counts()
	i.mu.Lock()
	defer i.mu.Unlock()
	after := func(all []Step, length time.Duration) []Step {
		return slices.DeleteFunc(slices.Clone(all), func(s Step) bool { return !time.Unix(s.At, 0).Add(length).After(since) })
	}
	return after(i.minutes, Long), append(after(i.steps, Short), i.step(counts))
}

// Untold returns what has changed since another gateway was told last: the short steps since then, and
// the minutes that older ones have been put into.
func (i *Instrument) Untold(told time.Time) (minutes, steps []Step) {
	since := told.Add(-time.Minute) // the step that was under way has gone on
	minutes, steps = i.Steps(since.Add(-shortSteps*Short - Long))
	return minutes, slices.DeleteFunc(steps, func(s Step) bool { return s.At < since.Unix() })
}

// Place is where a step stands among those that are kept, which the next one of that place replaces.
func (s *Step) Place() int64 {
	if s.Long {
		return s.At / 60 % longSteps
	}
	return s.At / 10 % (shortSteps + 6)
}

// Once leaves out the short steps whose minute is there: their places are kept until others come.
func Once(all []Step) []Step {
	newest := int64(0)
	for _, s := range all {
		if !s.Long {
			newest = max(newest, s.At)
		}
	}
	return slices.DeleteFunc(all, func(s Step) bool { return !s.Long && s.At < newest-shortSteps*10 })
}
