package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// What every event makes of a job in every state; "" where it cannot happen.
// The running job is held, by claim 1; callbacks are due; the call delivers; no address of
// what was collected is valid any more.
func TestTransitions(t *testing.T) {
	kinds := []eventKind{claimed, handedBack, renewed, completed, broke, calling, called, fetched, replayed, grown, cleared}
	for _, row := range []struct {
		state   State
		failure string
		want    [11]State
	}{
		{Accepted, "", [11]State{Running, "", "", "", "", "", "", "", "", "", ""}},
		{Running, "", [11]State{"", Accepted, Running, Done, Failed, "", "", "", "", Running, ""}},
		{Done, "", [11]State{"", "", "", "", "", Done, CalledBack, Collected, Done, "", ""}},
		{Failed, "disk", [11]State{"", "", "", "", "", Failed, CalledBack, "", Failed, "", ""}},
		{CalledBack, "", [11]State{"", "", "", "", "", "", CalledBack, Collected, Done, "", ""}},
		{CalledBack, "disk", [11]State{"", "", "", "", "", "", CalledBack, "", Failed, "", ""}},
		{Collected, "", [11]State{"", "", "", "", "", "", Collected, Collected, Done, "", Collected}},
		{Exhausted, "", [11]State{"", "", "", "", "", "", Exhausted, Collected, Done, "", ""}},
		{Exhausted, "disk", [11]State{"", "", "", "", "", "", Exhausted, "", Failed, "", ""}},
	} {
		before := jobIn(row.state, row.failure)
		for i, kind := range kinds {
			e := event{kind: kind, hold: time.Minute, term: 1, end: true, outcome: Outcome{Tried: true, Status: 200}}
			lease := time.Time{}
			if kind == claimed || kind == renewed || kind == calling {
				lease = noon.Add(e.hold)
			} else if kind == grown {
				lease = before.Lease
			}
			after, err := before.after(e, noon)
			if row.want[i] == "" {
				require.ErrorIs(t, err, ErrNotNow, "%s, event %d", row.state, kind)
				require.Equal(t, before, after, "what cannot happen changes nothing")
				continue
			}
			require.NoError(t, err, "%s, event %d", row.state, kind)
			require.Equal(t, row.want[i], after.State, "%s, event %d", row.state, kind)
			finished := after.State == Done || after.State == Failed
			require.Equal(t, finished, !after.NextTry.IsZero(), "a callback is due in these states only")
			require.Equal(t, lease, after.Lease)
		}
	}
}

func jobIn(s State, failure string) Job {
	j := Job{ID: "a1b2", State: s, Failure: failure, Created: noon.Add(-time.Hour)}
	if s == Accepted {
		return j
	}
	j.Started, j.Claims, j.Term = noon.Add(-time.Minute), 1, 1
	if s == Running {
		j.Lease = noon.Add(time.Second)
		return j
	}
	j.Finished = noon.Add(-time.Second)
	if s == Collected {
		j.Linked = noon.Add(-SpentAfter)
	}
	if failure == "" {
		j.Result = Result{File: "a1b2.1", Name: "answer", Size: 100}
	}
	if s == Done || s == Failed {
		j.NextTry = noon
	}
	return j
}

// TestAJobSleeps: it is nobody's meanwhile, is claimed when it wakes or its time is over, and
// sleeping is no try of its work.
func TestAJobSleeps(t *testing.T) {
	running := jobIn(Running, "")
	asleep, err := running.after(event{kind: slept, hold: time.Hour, term: 1}, noon)
	require.NoError(t, err)
	require.Equal(t, Accepted, asleep.State)
	require.Zero(t, asleep.Claims)
	for _, kind := range []eventKind{claimed, slept, handedBack, completed} {
		_, err := asleep.after(event{kind: kind, term: 1}, noon.Add(time.Minute))
		require.ErrorIs(t, err, ErrNotNow)
	}
	later, err := asleep.after(event{kind: claimed, hold: time.Minute}, noon.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, Running, later.State)
	awake, err := asleep.after(event{kind: woken}, noon.Add(time.Minute))
	require.NoError(t, err)
	next, err := awake.after(event{kind: claimed, hold: time.Minute}, noon.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, 2, next.Term)
	for _, j := range []Job{awake, running, jobIn(Accepted, "")} {
		_, err := j.after(event{kind: woken}, noon)
		require.ErrorIs(t, err, ErrNotNow, "it does not sleep")
	}
}

func TestWorkIsClaimedThreeTimes(t *testing.T) {
	j, now := jobIn(Accepted, ""), noon
	for n := 1; n <= maxClaims; n++ {
		var err error
		j, err = j.after(event{kind: claimed, hold: time.Minute}, now)
		require.NoError(t, err)
		require.Equal(t, n, j.Claims)
		require.Equal(t, now, j.Started)
		_, err = j.after(event{kind: claimed}, now.Add(time.Minute))
		require.ErrorIs(t, err, ErrNotNow, "the lease holds to its end")
		now = now.Add(time.Minute + time.Nanosecond)
	}
	j, err := j.after(event{kind: claimed}, now)
	require.NoError(t, err)
	require.Equal(t, Failed, j.State)
	require.Equal(t, "interrupted too often", j.Failure)
	require.Equal(t, now, j.NextTry, "the client is told")
}

func TestWhoeverLostAClaimChangesNothing(t *testing.T) {
	j := jobIn(Running, "")
	j.Term = 2
	for _, kind := range []eventKind{handedBack, renewed, postponed, completed, broke} {
		_, err := j.after(event{kind: kind, term: 1}, noon)
		require.ErrorIs(t, err, ErrNotNow)
	}
}

// TestALostClaimStaysLost: that a later claim is postponed, and counts for nothing,
// does not give the job back to the one before.
func TestALostClaimStaysLost(t *testing.T) {
	lost := jobIn(Running, "")
	now := lost.Lease.Add(time.Nanosecond)
	j, err := lost.after(event{kind: claimed, hold: time.Minute}, now)
	require.NoError(t, err)
	j, err = j.after(event{kind: postponed, term: j.Term, hold: againAfter}, now)
	require.NoError(t, err)
	for _, kind := range []eventKind{handedBack, renewed, postponed, completed, broke} {
		_, err := j.after(event{kind: kind, term: lost.Term}, now)
		require.ErrorIs(t, err, ErrNotNow)
	}
}

func TestACallIsLeased(t *testing.T) {
	j := jobIn(Done, "")
	_, err := j.after(event{kind: calling}, noon.Add(-time.Nanosecond))
	require.ErrorIs(t, err, ErrNotNow, "not due")
	j, err = j.after(event{kind: calling, hold: time.Minute}, noon)
	require.NoError(t, err)
	_, err = j.after(event{kind: calling}, noon.Add(time.Minute))
	require.ErrorIs(t, err, ErrNotNow, "somebody is calling")
	_, err = j.after(event{kind: calling}, noon.Add(time.Minute+1))
	require.NoError(t, err, "a crash is over when the lease is")
}

func TestOnlyTriesCount(t *testing.T) {
	for _, s := range []State{Done, Failed, Collected} {
		for _, tried := range []bool{true, false} {
			j, err := jobIn(s, "").after(event{kind: called, retry: time.Minute, outcome: Outcome{Tried: tried, Err: ErrStatus}}, noon)
			require.NoError(t, err)
			require.Equal(t, tried, j.Tries == 1)
			require.Equal(t, s, j.State)
		}
	}
}

// TestSinceWhenAReceiverFails: a job says so from the first try in vain until it is not to be
// tried again, or from the beginning.
func TestSinceWhenAReceiverFails(t *testing.T) {
	refused := event{kind: called, retry: time.Minute, outcome: Outcome{Tried: true, Status: 500, Err: ErrStatus}}
	j, err := jobIn(Done, "").after(event{kind: called, retry: time.Minute, outcome: Outcome{Err: ErrBusy}}, noon)
	require.NoError(t, err)
	require.Zero(t, j.Failing, "nobody called")
	for n := range 3 {
		j, err = j.after(refused, noon.Add(time.Duration(n)*time.Hour))
		require.NoError(t, err)
		require.Equal(t, noon, j.Failing)
	}
	last := refused
	last.end = true
	for what, e := range map[string]event{
		"taken": {kind: called, end: true, outcome: Outcome{Tried: true, Status: 200}}, "given up": last, "fetched": {kind: fetched}, "replayed": {kind: replayed},
	} {
		after, err := j.after(e, noon.Add(3*time.Hour))
		require.NoError(t, err, what)
		require.Zero(t, after.Failing, what)
	}
}

// An operator's replay during the last call must not be ended by it.
func TestAReplayOutlivesTheCallUnderWay(t *testing.T) {
	j := jobIn(Done, "")
	j.Tries = Tries() - 1
	j, err := j.after(event{kind: calling, hold: time.Minute}, noon)
	require.NoError(t, err)
	lease := j.Lease
	j, err = j.after(event{kind: replayed}, noon)
	require.NoError(t, err)
	require.Zero(t, j.Tries)
	j, err = j.after(event{kind: called, lease: lease, end: true, outcome: Outcome{Tried: true, Status: 500}}, noon)
	require.NoError(t, err)
	require.Equal(t, Done, j.State)
	require.Equal(t, noon, j.NextTry)
	require.Equal(t, 1, j.Tries)
}

func TestNoTryOutlivesTheResult(t *testing.T) {
	j := jobIn(Done, "")
	now := j.Finished.Add(Retention - time.Hour)
	e := event{kind: called, retry: time.Hour - time.Second, outcome: Outcome{Err: ErrOpen}}
	later, err := j.after(e, now)
	require.NoError(t, err)
	require.Equal(t, Done, later.State)
	e.retry = time.Hour
	j, err = j.after(e, now)
	require.NoError(t, err)
	require.Equal(t, Exhausted, j.State)
	require.Zero(t, j.NextTry)
	require.Zero(t, j.Tries)
}

func TestAnUnnamedFailureStaysOne(t *testing.T) {
	j, err := jobIn(Running, "").after(event{kind: broke, term: 1}, noon)
	require.NoError(t, err)
	require.NotEmpty(t, j.Failure)
}

// TestPostponedWorkIsBegunAgain: what failed for a while costs none of the times
// that work is begun.
func TestPostponedWorkIsBegunAgain(t *testing.T) {
	j, now := jobIn(Accepted, ""), noon
	for range 10 * maxClaims {
		var err error
		j, err = j.after(event{kind: claimed, hold: time.Minute}, now)
		require.NoError(t, err)
		require.Equal(t, Running, j.State)
		j, err = j.after(event{kind: postponed, term: j.Term, hold: againAfter}, now)
		require.NoError(t, err)
		_, err = j.after(event{kind: claimed}, now.Add(againAfter))
		require.ErrorIs(t, err, ErrNotNow, "not yet")
		now = now.Add(againAfter + time.Millisecond)
	}
}

// TestWhatGivesWay: a result that was fetched, when no address of it is valid any more, and
// then it is gone for good.
func TestWhatGivesWay(t *testing.T) {
	j := jobIn(Collected, "")
	require.EqualValues(t, 100, j.Taken())
	_, err := j.after(event{kind: cleared}, noon.Add(-time.Nanosecond))
	require.ErrorIs(t, err, ErrNotNow)
	again, err := j.after(event{kind: fetched}, noon)
	require.NoError(t, err)
	require.Equal(t, noon, again.Linked)
	_, err = again.after(event{kind: cleared}, noon)
	require.ErrorIs(t, err, ErrNotNow)
	j, err = j.after(event{kind: cleared}, noon)
	require.NoError(t, err)
	require.Zero(t, j.Taken())
	for _, kind := range []eventKind{fetched, cleared, replayed} {
		_, err = j.after(event{kind: kind}, noon)
		require.ErrorIs(t, err, ErrNotNow)
	}
}
