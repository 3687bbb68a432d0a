package instrument

import (
	"cmp"
	"slices"
	"time"
)

// How long the kept steps are: short for the last half hour, long for the day before that.
const (
	Short      = 10 * time.Second
	Long       = time.Minute
	shortSteps = 180
	longSteps  = 24 * 60
)

// mostNamed is how many names of a kind a step keeps, the busiest; the others are added up without a
// name.
const mostNamed = 25

// Percentiles are the percentiles of durations that are kept.
var Percentiles = [3]int{50, 95, 99}

// Entry is what one series did in a step.
type Entry struct {
	Kind                      Kind
	Name                      string
	Requests, Refused, Failed uint32
	Took, Backend             float32 // seconds, summed over all requests
	Percentiles               Times
}

// Times are Percentiles in seconds, each the upper end of its bucket; 0 if nothing was timed. For
// several steps together they are those of the slowest step.
type Times [3]float32

func (e *Entry) add(other *Entry) {
	e.Requests, e.Refused, e.Failed = e.Requests+other.Requests, e.Refused+other.Refused, e.Failed+other.Failed
	e.Took, e.Backend = e.Took+other.Took, e.Backend+other.Backend
	for i, p := range other.Percentiles {
		e.Percentiles[i] = max(e.Percentiles[i], p)
	}
}

// Level is something that is measured, not counted: how many there are at the moment.
type Level int

// The levels.
const (
	Connections Level = iota // of clients
	Running                  // calls of the backend under way
	Waiting                  // calls and logins that wait for room
	Pool                     // connections to the backend at work
	Due                      // callbacks that should be made now
	Failing                  // callbacks that failed and will be tried again
	levelKinds
)

// Levels are the highest values of each level in a step.
type Levels [levelKinds]uint32

func (l *Levels) most(other Levels) {
	for i, n := range other {
		l[i] = max(l[i], n)
	}
}

// Step is what happened in one step, in the series with requests.
type Step struct {
	At      int64 // when it began, in Unix seconds
	Long    bool  // the step is a minute
	Levels  Levels
	Entries []Entry
}

func stepOf(t time.Time) int64 { return t.Unix() / 10 * 10 }

// Take ends the step under way, if its time is over, and records the levels. It is called every few
// seconds.
func (i *Instrument) Take(levels Levels) {
	i.looking.Lock()
	defer i.looking.Unlock()
	i.mu.Lock()
	now := stepOf(i.clock())
	if now == i.began || now < i.began && i.began-now <= 60 { // if the clock was set back a little, the step goes on
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

// step makes a step of what was counted since the last one.
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

// bound keeps the names of only the busiest of each kind.
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

// append adds a step. If the last one is of the same time, because the process was restarted in it, both are
// joined.
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

// age joins the steps before the last half hour to minutes. It drops those before the last day, and those in
// the future, which come from a clock that was ahead.
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
// steps of the last half hour, including the one under way.
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

// Unreported returns what has changed since the last report to the other gateways: the short steps since
// then, and the minutes that older ones were joined to.
func (i *Instrument) Unreported(last time.Time) (minutes, steps []Step) {
	since := last.Add(-time.Minute) // includes the step that was under way
	minutes, steps = i.Steps(since.Add(-shortSteps*Short - Long))
	return minutes, slices.DeleteFunc(steps, func(s Step) bool { return s.At < since.Unix() })
}

// Place returns the slot of a step in a ring of kept steps; a newer step with the same slot replaces it.
func (s *Step) Place() int64 {
	if s.Long {
		return s.At / 60 % longSteps
	}
	return s.At / 10 % (shortSteps + 6)
}

// Once drops the short steps that are part of a minute already: their slots are not yet reused.
func Once(all []Step) []Step {
	newest := int64(0)
	for _, s := range all {
		if !s.Long {
			newest = max(newest, s.At)
		}
	}
	return slices.DeleteFunc(all, func(s Step) bool { return !s.Long && s.At < newest-shortSteps*10 })
}
