package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// ErrAgain marks the error of a runner that passes, and that the same work may be
// begun again after: a backend that is away for a while.
var ErrAgain = errors.New("webhook: to be done again")

// How long work waits that failed with ErrAgain, and for how long after the
// promise it is done again.
const (
	againAfter = 5 * time.Second
	againFor   = time.Hour
)

// worker takes one job after the other.
func (o *Orchestrator) worker() {
	for {
		select {
		case <-o.ctx.Done():
			return
		case <-o.work:
		}
		for o.ctx.Err() == nil && o.takeWork() {
		}
	}
}

// takeWork does the next job. It is false when there is nothing to do.
func (o *Orchestrator) takeWork() bool {
	next, err := o.Store.NextWork(o.ctx, o.Clock(), o.able())
	if err == nil {
		next, err = o.change(o.ctx, next.ID, event{kind: claimed, hold: o.WorkLease}, nil)
	}
	switch {
	case errors.Is(err, ErrUnknownJob):
		return false
	case errors.Is(err, errNotNow): // another worker was first
		return true
	case err != nil:
		if o.ctx.Err() == nil {
			o.Log.Error("callbacks: take the next job", zap.Error(err))
		}
		return false
	}
	o.discardEarlier(next)
	if next.State == Running { // and not given up
		o.do(next)
	}
	wake(o.calls)
	return true
}

// do does a job and keeps what came of it.
func (o *Orchestrator) do(j Job) {
	held, release := o.hold(j)
	ctx, span := o.begin(held, j, "work "+j.Work.Kind, trace.SpanKindInternal)
	result, err := o.perform(ctx, j)
	endWork(span, err)
	release()
	e := event{kind: completed, result: result, claim: j.Claims}
	switch {
	case err != nil && o.ctx.Err() != nil: // stopped: the next process begins again
		e.kind = handedBack
	case errors.Is(err, ErrAgain) && o.Clock().Sub(j.Created) < againFor:
		e.kind, e.hold = postponed, againAfter
		o.Log.Warn("callbacks: job waits for the backend", zap.String("job", j.ID), zap.String("kind", j.Work.Kind), zap.Error(err))
	case err != nil:
		e.kind, e.failure = broke, err.Error()
		o.Log.Error("callbacks: job failed", zap.String("job", j.ID), zap.String("kind", j.Work.Kind), zap.Error(err))
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), keepTime)
	defer cancel()
	_, err = o.change(keep, j.ID, e, nil)
	switch {
	case errors.Is(err, errNotNow): // somebody else has the job: theirs is the result
		o.Log.Warn("callbacks: a job was taken over before it was done", zap.String("job", j.ID), zap.Int("claim", j.Claims))
		if err := o.Results.Remove(keep, resultName(j)); err != nil {
			o.Log.Error("callbacks: remove a result that is none", zap.String("job", j.ID), zap.Error(err))
		}
	case err != nil:
		o.Log.Error("callbacks: keep the outcome of a job", zap.String("job", j.ID), zap.Error(err))
	}
}

// resultName is the name of the file that the present claim of a job writes. No
// two claims share one, so that a worker who lost the job unawares writes over
// nobody's result; which file is the job's is settled in the store alone.
func resultName(j Job) string { return j.ID + "." + strconv.Itoa(j.Claims) }

// jobOf is the job that a file in the folder of results was written for.
func jobOf(file string) string {
	id, _, _ := strings.Cut(file, ".")
	return id
}

// discardEarlier removes what earlier claims of a job left when their process
// died between the file and the store.
func (o *Orchestrator) discardEarlier(j Job) {
	for j.Claims--; j.Claims > 0; j.Claims-- {
		if err := o.Results.Remove(o.ctx, resultName(j)); err != nil {
			o.Log.Error("callbacks: remove what a claim left", zap.String("job", j.ID), zap.Error(err))
		}
	}
}

// perform runs the job's runner into a file that appears only when it is whole.
func (o *Orchestrator) perform(ctx context.Context, j Job) (result Result, err error) {
	if j.Needs.beyond(o.able()) {
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
	draft, err := o.Results.Create(ctx, resultName(j))
	if err != nil {
		return Result{}, err
	}
	defer draft.Discard()
	written := measure(draft)
	content, err := run(ctx, j, written)
	if err != nil {
		return Result{}, err
	}
	return written.keep(resultName(j), content)
}

// hold renews the lease of a job until it is released. The context ends when
// somebody else has taken the job.
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
			_, err := o.change(ctx, j.ID, event{kind: renewed, hold: o.WorkLease, claim: j.Claims}, nil)
			if errors.Is(err, errNotNow) {
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
