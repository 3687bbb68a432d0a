package webhook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// What the error of a runner may be, other than a failure of the work.
var (
	// ErrAgain says that the failure will pass, for example of a backend that is down.
	// The same work may then be begun again.
	ErrAgain = errors.New("webhook: to be done again")
	// ErrInUse says that another job or request does the same work right now, and that
	// its answer will be the answer of this job as well. Nothing was done.
	ErrInUse = errors.New("its Idempotency-Key is in use")
	// ErrUnknown says that nobody knows whether the work was done. It is not begun
	// again, neither here nor by the next process.
	ErrUnknown = errors.New("outcome unknown")
)

// Work that failed with ErrAgain waits for againAfter, or as long as it took if that is
// longer. It is repeated until againFor after it was accepted.
const (
	againAfter = 5 * time.Second
	againFor   = time.Hour
)

// Work that failed with ErrInUse is tried again after a second at first, and later after a
// tenth of the time that it has waited. After inUseFor the outcome counts as unknown.
const (
	inUseAfter = time.Second
	inUseFor   = 10 * time.Minute
)

// Asleep is the error of a runner whose work waits for an event: it is begun again when
// Config.Ready returns its job, or at Until. Until then it takes no worker.
type Asleep struct{ Until time.Time }

func (Asleep) Error() string { return "webhook: it waits" }

// waker looks for jobs that need not sleep any longer.
func (o *Orchestrator) waker() {
	for {
		select {
		case <-o.stopping:
			return
		case <-o.sleepers:
			o.wakeReady()
		}
	}
}

func (o *Orchestrator) wakeReady() {
	if o.Ready == nil {
		return
	}
	asleep, err := o.Store.Asleep(o.ctx, o.Clock())
	if err != nil && o.ctx.Err() == nil {
		o.Log.Error("callbacks: look for jobs that wait", zap.Error(err))
	}
	if err != nil {
		return // without o.Ready, which would forget the jobs that could not be read
	}
	for _, j := range o.Ready(o.ctx, asleep) {
		_, err := o.change(o.ctx, j.ID, event{kind: woken}, nil)
		if err != nil && !errors.Is(err, ErrNotNow) && o.ctx.Err() == nil {
			o.Log.Error("callbacks: wake a job", zap.String("job", j.ID), zap.Error(err))
		}
		wake(o.work)
	}
}

// worker takes one job after the other.
func (o *Orchestrator) worker() {
	for {
		select {
		case <-o.stopping:
			return
		case <-o.work:
		}
		for !o.isStopping() && o.takeWork() {
		}
	}
}

// takeWork does the next job. It returns false if there is nothing to do.
func (o *Orchestrator) takeWork() bool {
	next, err := o.claim()
	switch {
	case errors.Is(err, ErrUnknownJob):
		return false
	case errors.Is(err, ErrNotNow): // another process was first
		return true
	case err != nil:
		if o.ctx.Err() == nil {
			o.Log.Error("callbacks: take the next job", zap.Error(err))
		}
		return false
	}
	defer o.working.leave(next.Owner.User.Client.ID)
	wake(o.work) // for another worker: there may be more
	o.discardEarlier(next)
	if next.State == Running { // otherwise it was claimed too often, and has failed
		o.do(next)
	}
	wake(o.calls)
	return true
}

// claim takes the next job, of a client that does not have its share of the work
// yet. One worker at a time looks, so that no two find the same job.
func (o *Orchestrator) claim() (Job, error) {
	o.taking <- struct{}{}
	defer func() { <-o.taking }()
	_, full := o.working.left()
	found, err := o.Store.NextWork(o.ctx, o.Clock(), o.able(), full)
	if err != nil {
		return Job{}, err
	}
	next, err := o.change(o.ctx, found.ID, event{kind: claimed, hold: o.WorkLease}, nil)
	next.Work = found.Work // with its data
	if err == nil {
		o.working.enter(next.Owner.User.Client.ID)
	}
	return next, err
}

// do does a job and stores the outcome.
func (o *Orchestrator) do(j Job) {
	held, release := o.hold(j)
	ctx, span := o.begin(held, j, "work "+j.Work.Kind, trace.SpanKindInternal)
	begun := o.Clock()
	result, err := o.perform(ctx, j)
	endWork(span, err)
	release()
	e := o.outcome(j, result, err, o.Clock().Sub(begun))
	keep, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), keepTime)
	defer cancel()
	_, err = o.change(keep, j.ID, e, nil)
	switch {
	case errors.Is(err, ErrNotNow): // another worker has the job, and writes its result
		o.Log.Warn("callbacks: a job was taken over before it was done", zap.String("job", j.ID), zap.Int("claim", j.Term))
		if err := o.Results.Remove(keep, resultName(j)); err != nil {
			o.Log.Error("callbacks: remove a result that is none", zap.String("job", j.ID), zap.Error(err))
		}
	case err != nil:
		o.Log.Error("callbacks: keep the outcome of a job", zap.String("job", j.ID), zap.Error(err))
	}
}

// outcome returns the event of a job whose runner has ended, after so long.
func (o *Orchestrator) outcome(j Job, result Result, err error, took time.Duration) event {
	e := event{kind: completed, result: result, term: j.Term}
	switch {
	case err == nil:
		return e
	case o.ctx.Err() != nil && !errors.Is(err, ErrUnknown): // stopped: the next process begins again
		e.kind = handedBack
		return e
	}
	if wait := (Asleep{}); errors.As(err, &wait) {
		e.kind, e.hold = slept, wait.Until.Sub(o.Clock())
		return e
	}
	if e.cause, e.hold = o.patience(j, err, took); e.hold > 0 {
		e.kind = postponed
		if _, known := j.pause(e.cause); !known {
			o.Log.Warn("callbacks: job is postponed", zap.String("job", j.ID), zap.String("kind", j.Work.Kind), zap.Error(err))
		}
		return e
	}
	if errors.Is(err, ErrInUse) && !errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("%w: it waited for %s: %w", ErrUnknown, inUseFor, err)
	}
	e.kind, e.failure, e.noRoom = broke, err.Error(), errors.Is(err, ErrNoSpace)
	o.Log.Error("callbacks: job failed", zap.String("job", j.ID), zap.String("kind", j.Work.Kind), zap.Error(err))
	return e
}

// patience returns why work waits that ended with an error after so long, and how long it
// waits; 0 where it does not, or has waited long enough.
func (o *Orchestrator) patience(j Job, err error, took time.Duration) (cause string, wait time.Duration) {
	now := o.Clock()
	switch {
	case errors.Is(err, ErrUnknown):
		return "", 0
	case errors.Is(err, ErrInUse):
		cause = ErrInUse.Error()
		var waited time.Duration
		if p, known := j.pause(cause); known {
			waited = now.Sub(p.Since)
		}
		return cause, min(max(inUseAfter, waited/10), inUseFor-waited)
	case errors.Is(err, ErrAgain) && now.Sub(j.Created) < againFor:
		return "the backend is away", max(againAfter, took)
	default:
		return "", 0
	}
}

// resultName returns the name of the file that the present claim of a job writes. No two
// claims share one, so that a worker that has lost its job without knowing it does not
// overwrite the result of another one; only the store says which file is the job's.
func resultName(j Job) string { return j.ID + "." + strconv.Itoa(j.Term) }

// jobOf returns the ID of the job that a result was written for.
func jobOf(file string) string {
	id, _, _ := strings.Cut(file, ".")
	return id
}

// discardEarlier removes what earlier claims of a job left when their process
// died between the file and the store.
func (o *Orchestrator) discardEarlier(j Job) {
	for j.Term--; j.Term > 0; j.Term-- {
		if err := o.Results.Remove(o.ctx, resultName(j)); err != nil {
			o.Log.Error("callbacks: remove what a claim left", zap.String("job", j.ID), zap.Error(err))
		}
	}
}

// perform runs the job's runner into a file that appears only when it is whole.
func (o *Orchestrator) perform(ctx context.Context, j Job) (result Result, err error) {
	if j.Needs.exceeds(o.able()) {
		return Result{}, fmt.Errorf("it needs a newer version, or more of the model, and nobody with that came for %s", Left)
	}
	run := o.Runners[j.Work.Kind]
	if run == nil {
		return Result{}, fmt.Errorf("no runner for %s", j.Work.Kind)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			o.Log.Error("callbacks: job panicked", zap.String("job", j.ID), zap.String("kind", j.Work.Kind), zap.Any("panic", p),
				zap.ByteString("stack", debug.Stack()))
		}
	}()
	if err := o.clear(ctx); err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrAgain, err)
	}
	draft, err := o.Results.Create(ctx, resultName(j))
	if err != nil {
		return Result{}, err
	}
	defer draft.Discard()
	written := &measured{Draft: draft, room: j.Room, sum: sha256.New(), more: func(have, need int64) (int64, error) {
		return o.reserveMore(ctx, j, have, need)
	}}
	content, err := run(ctx, j, written)
	if err != nil {
		return Result{}, err
	}
	return written.keep(resultName(j), content)
}

// hold renews the lease of a job until it is released. The context ends when
// another worker has taken the job.
func (o *Orchestrator) hold(j Job) (context.Context, func()) {
	ctx, cancel := context.WithCancel(o.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(o.WorkLease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			_, err := o.change(ctx, j.ID, event{kind: renewed, hold: o.WorkLease, term: j.Term}, nil)
			if errors.Is(err, ErrNotNow) {
				cancel()
				return
			}
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}
