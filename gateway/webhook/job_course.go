package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// event is what happens to a job.
type event struct {
	kind    eventKind
	hold    time.Duration // claimed, renewed, postponed, slept, calling: length of the lease
	term    int           // handedBack, renewed, grown, postponed, slept, completed, broke, called: number of the claim or call
	room    int64         // grown: bytes now reserved
	result  Result        // completed
	failure string        // broke
	noRoom  bool          // broke: there was no room for the result
	cause   string        // postponed
	outcome Outcome       // called
	retry   time.Duration // called: delay of the next try
	end     bool          // called: there is no next try
}

type eventKind int

const (
	claimed    eventKind = iota // a worker begins the work
	handedBack                  // the worker has to stop
	renewed                     // the worker still works on it
	grown                       // more is reserved for its result
	completed                   // the work has a result
	broke                       // the work failed
	postponed                   // the work cannot be done now
	slept                       // the work waits for an event, and takes no worker meanwhile
	woken                       // that event has come
	calling                     // a call begins
	called                      // the call was answered, or not
	fetched                     // the client asked for the result, and got an address of it
	cleared                     // the result was deleted to make room for others
	replayed                    // an operator wants the callback made again
	withdrawn                   // the client wants no result, and no callback
	released                    // the process that had the job is gone
)

// ErrNotNow says that an event is impossible in the job's state: another process was faster, or
// no callback is due.
var ErrNotNow = errors.New("not in this state")

// after returns the job after an event. A job changes only in this function:
//
//	accepted      claimed: running, unless it sleeps; woken: it sleeps no more
//	running       of its claim: renewed, grown; handedBack, slept: accepted; postponed: nobody's until the lease ends;
//	              completed: done; broke: failed. Of anybody, when the lease has ended: claimed, the fourth time failed
//	done, failed  calling, then called: the same again, or in the end called_back or exhausted
//	called_back, collected, exhausted   replayed: done or failed
//
// Before its end a job may be withdrawn: exhausted. After it a result is collected when it is fetched, and
// cleared when it is spent. Its lease is over when it is released. What an earlier claim brings changes nothing, what an earlier call brings counts as a try.
func (j Job) after(e event, now time.Time) (Job, error) {
	finished := j.State == Done || j.State == Failed
	held := j.State == Running && j.Term == e.term
	over := j.State != Accepted && j.State != Running
	switch {
	case e.kind == claimed && (j.State == Accepted && !now.Before(j.Lease) || j.State == Running && now.After(j.Lease)):
		if j.Claims++; j.Claims > maxClaims {
			return j.finish(Failed, Result{}, "interrupted too often", now), nil
		}
		j.Term = max(j.Term+1, j.Claims)
		j.State, j.Lease, j.Started = Running, now.Add(e.hold), now
	case e.kind == handedBack && held:
		j.State, j.Lease = Accepted, time.Time{}
		j.Claims-- // the work did not end the process
	case e.kind == renewed && held:
		j.Lease = now.Add(e.hold)
	case e.kind == grown && held:
		j.Room = e.room
	case e.kind == postponed && held:
		j.Lease = now.Add(e.hold) // nobody has it until then
		j.Claims--
		if _, known := j.pause(e.cause); !known {
			j.Pauses = append(slices.Clip(j.Pauses), Pause{Since: now, For: e.cause})
		}
	case e.kind == slept && held:
		j.State, j.Lease = Accepted, now.Add(e.hold)
		j.Claims--
	case e.kind == woken && j.asleep():
		j.Lease = time.Time{}
	case e.kind == completed && held:
		return j.finish(Done, e.result, "", now), nil
	case e.kind == broke && held:
		j.NoRoom = e.noRoom
		return j.finish(Failed, Result{}, cmp.Or(e.failure, "no reason given"), now), nil
	case e.kind == calling && finished && !j.NextTry.IsZero() && !now.Before(j.NextTry) && now.After(j.Lease):
		j.Term, j.Lease = j.Term+1, now.Add(e.hold)
	case e.kind == called && finished && j.Term == e.term:
		return j.answered(e, now), nil
	case e.kind == called && over: // collected or replayed meanwhile: the try still counts
		j.count(e.outcome)
	case e.kind == fetched && j.Failure == "" && !j.gone() && over:
		j.State, j.NextTry, j.Linked, j.Failing = Collected, time.Time{}, now, time.Time{}
	case e.kind == cleared && j.spent(now):
		j.Result.File = ""
	case e.kind == replayed && !j.gone() && over && j.Failure != withdrawal:
		j.Term++ // so that the outcome of a call under way only counts as a try
		j.State, j.Tries, j.NextTry, j.Lease, j.Failing = Done, 0, now, time.Time{}, time.Time{}
		if j.Failure != "" {
			j.State = Failed
		}
	case e.kind == withdrawn && !over:
		j = j.finish(Exhausted, Result{}, withdrawal, now)
		j.NextTry = time.Time{}
	case e.kind == released && !j.Lease.IsZero():
		j.Lease = time.Time{}
	default:
		return j, fmt.Errorf("job %s is %s: %w", j.ID, j.State, ErrNotNow)
	}
	return j, nil
}

// Released returns the job without its lease: no process works on it or calls, and it does not sleep.
// For a Store whose process is the only one.
func (j Job) Released() Job {
	j, _ = j.after(event{kind: released}, time.Time{}) // a job without a lease stays the same
	return j
}

// withdrawal is the failure of a job that its client withdrew.
const withdrawal = "withdrawn by its client"

// answered returns a job after its call has ended. There is no further try after the result is
// deleted, even if a receiver asks to wait longer or its circuit stays open. The next try
// is due at a whole millisecond, because a Store compares milliseconds.
func (j Job) answered(e event, now time.Time) Job {
	j.count(e.outcome)
	j.Lease, j.NextTry = time.Time{}, now.Add(e.retry).Truncate(time.Millisecond)
	if !e.end && j.NextTry.Before(j.Finished.Add(Retention)) {
		if e.outcome.Tried && j.Failing.IsZero() {
			j.Failing = now
		}
		return j
	}
	j.State, j.NextTry, j.Failing = Exhausted, time.Time{}, time.Time{}
	if e.outcome.Delivered() || e.outcome.Gone() {
		j.State = CalledBack
	}
	return j
}

func (j *Job) count(o Outcome) {
	if o.Tried {
		j.Tries++
	}
}

func (j Job) finish(s State, r Result, failure string, now time.Time) Job {
	j.State, j.Result, j.Failure = s, r, failure
	if j.SeparateData = 0; len(j.Work.Data) > smallData {
		j.Work.Data = nil
	}
	j.Finished, j.NextTry, j.Lease = now, now, time.Time{}
	return j
}
