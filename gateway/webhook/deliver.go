package webhook

import (
	"context"
	"errors"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// deliverer makes the callbacks that are due, several at once.
func (o *Orchestrator) deliverer() {
	for {
		select {
		case <-o.stopping:
			return
		case <-o.calls:
		}
		free, full := o.calling.left()
		if free == 0 {
			continue // the end of a call wakes this loop
		}
		due, err := o.Store.DueCalls(o.ctx, o.Clock(), free, full)
		if err != nil {
			if o.ctx.Err() == nil {
				o.Log.Error("callbacks: look for what is due", zap.Error(err))
			}
			continue
		}
		for _, j := range due {
			client := j.Owner.User.Client.ID
			if !o.calling.enter(client) {
				continue
			}
			o.tasks.Go(func() {
				defer func() {
					o.calling.leave(client)
					wake(o.calls) // others may be due
				}()
				o.call(j)
			})
		}
	}
}

// keepTime bounds storing the outcome of a call or of work, which is done even while
// the orchestrator stops.
const keepTime = 5 * time.Second

// call makes one callback and stores its outcome. Before the call it stores that the call
// is being made, so that after a crash the callback is called again.
func (o *Orchestrator) call(found Job) {
	j, err := o.change(o.ctx, found.ID, event{kind: calling, hold: o.CallLease}, nil)
	if err != nil {
		if !errors.Is(err, ErrNotNow) && o.ctx.Err() == nil {
			o.Log.Error("callbacks: begin a call", zap.String("job", found.ID), zap.Error(err))
		}
		return
	}
	address, err := url.Parse(j.Callback)
	if err != nil {
		o.Log.Error("callbacks: address", zap.String("job", j.ID), zap.Error(err))
		return
	}
	at := o.Clock()
	traced, span := o.begin(o.ctx, j, "callback", trace.SpanKindClient)
	outcome := o.Caller.Call(traced, Request{URL: address, Client: j.Owner.User.Client.ID, ID: j.ID, Secrets: o.Secrets(j.Owner.Key), Now: at, Trace: traceOf(traced)})
	endCall(span, address.Hostname(), j.Tries+1, outcome)
	if o.Observe != nil {
		o.Observe(outcome.Word())
	}
	tries := j.Tries
	if outcome.Tried {
		tries++
	}
	delay, end, why := o.Schedule.Next(tries, outcome)
	var try *Try
	if outcome.Tried {
		try = &Try{Job: j.ID, At: at, Status: outcome.Status, Error: outcome.Err, Duration: outcome.Duration}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), keepTime)
	defer cancel()
	kept, err := o.change(ctx, j.ID, event{kind: called, term: j.Term, outcome: outcome, retry: delay, end: end}, try)
	if err != nil {
		o.Log.Error("callbacks: keep a call", zap.String("job", j.ID), zap.Error(err))
		return
	}
	if kept.State == Exhausted {
		why = WhyExhausted
	}
	o.Log.Info("callback", zap.String("job", j.ID), zap.String("key", j.Owner.Key), zap.Int("try", kept.Tries),
		zap.Int("status", outcome.Status), zap.String("error", outcome.Err), zap.String("next", why), zap.Duration("in", delay))
}
