package webhook

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// Runner does one kind of work: it writes the result and says what it is. It may run more
// than once for a job, after a crash, which it sees by j.Claims being more than 1; only
// the last result is kept. Its error is stored as the reason why there is no result, and
// logged, unless it is ErrAgain or ErrInUse.
type Runner func(ctx context.Context, j Job, w io.Writer) (Content, error)

// Content says what a result is.
type Content struct {
	Name string // the file name that the client is offered
	Type string // media type
}

// Config is what an Orchestrator is made of. All of it is required, but Left, Observe,
// Tracer, Ready and Tick.
type Config struct {
	Store   Store
	Results Results
	Caller  *Caller
	Runners map[string]Runner
	// Secrets returns the secrets that sign callbacks of an api_key, by name.
	Secrets func(key string) []string

	// Model is how many steps of the model the runners know. Work that was promised
	// under more is left to a process that knows them.
	Model int

	// Space is how many bytes results may take together; Left returns how many more bytes
	// their disk has, and is nil if that is not known.
	Space int64
	Left  func() int64

	// Workers is how many jobs are worked on at once, Calls how many callbacks are
	// made. slots.go shares both out between clients.
	Workers, Calls int

	// WorkLease and CallLease are how long a worker, or a call, may be silent before any
	// process may take the job: this is the delay after a crash. Calls end well within
	// their lease, workers renew theirs.
	WorkLease, CallLease time.Duration

	Schedule Schedule
	Clock    func() time.Time
	Random   io.Reader // cryptographically secure
	Log      *zap.Logger
	// Observe is called with the outcome of each call, one of Words; may be nil.
	Observe func(word string)
	// Tracer makes the spans of work and calls; nil for none.
	Tracer trace.Tracer
	// Ready returns those of the sleeping jobs whose event has come. It is called at every
	// tick, once at a time; nil where all jobs sleep until their time.
	Ready func(ctx context.Context, asleep []Job) []Job
	// Tick makes the orchestrator look for due work and calls; nil means every second.
	Tick <-chan time.Time
}

// Orchestrator runs the jobs: it has the work done and the callback made, over any number
// of restarts.
type Orchestrator struct {
	Config
	ctx      context.Context // of all that runs in the background
	cancel   context.CancelFunc
	tasks    sync.WaitGroup
	work     chan struct{} // there may be work
	calls    chan struct{} // there may be calls
	sleepers chan struct{} // the event of a sleeping job may have come
	taking   chan struct{} // held by the worker that takes a job
	summing  chan struct{} // held while the store sums up what jobs take
	clearing chan struct{} // held by the worker that deletes spent results
	book     book          // of the room that is taken
	crowded  atomic.Bool   // the warning that results take most of their space is logged
	working  *slots        // of jobs that are worked on
	calling  *slots        // of calls under way
	stopping chan struct{} // closed when nothing more may begin
	stop     func()        // closes it
	idle     chan struct{} // closed when the last worker has ended
}

// Start returns a running orchestrator. The caller closes it.
func Start(c Config) *Orchestrator {
	o := &Orchestrator{
		Config: c, work: make(chan struct{}, c.Workers), calls: make(chan struct{}, 1), sleepers: make(chan struct{}, 1), working: newSlots(c.Workers), calling: newSlots(c.Calls),
		stopping: make(chan struct{}), idle: make(chan struct{}), summing: make(chan struct{}, 1), taking: make(chan struct{}, 1), clearing: make(chan struct{}, 1),
	}
	o.stop = sync.OnceFunc(func() { close(o.stopping) })
	o.ctx, o.cancel = context.WithCancel(context.Background())
	if o.Tracer == nil {
		o.Tracer = withoutTraces()
	}
	stop := func() {}
	if o.Tick == nil {
		ticker := time.NewTicker(time.Second)
		o.Tick, stop = ticker.C, ticker.Stop
	}
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(o.worker)
	}
	o.tasks.Go(func() {
		workers.Wait()
		close(o.idle)
	})
	o.tasks.Go(o.deliverer)
	o.tasks.Go(o.waker)
	o.tasks.Go(func() {
		defer stop()
		o.watch()
	})
	return o
}

// Shutdown begins no more work and no more calls, and waits for the work under way until
// ctx ends. Calls under way go on meanwhile. Close must follow.
func (o *Orchestrator) Shutdown(ctx context.Context) error {
	o.stop()
	select {
	case <-o.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *Orchestrator) isStopping() bool {
	select {
	case <-o.stopping:
		return true
	default:
		return false
	}
}

// Close cancels all work and calls, and waits for them. The next orchestrator continues
// what was under way, except work that ended with ErrUnknown.
func (o *Orchestrator) Close() error {
	o.stop()
	o.cancel()
	o.tasks.Wait()
	return nil
}

// able returns the highest Needs that this process can meet.
func (o *Orchestrator) able() Needs { return Needs{Format: Format, Model: o.Model} }

// needs returns what the work of an owner needs.
func (o *Orchestrator) needs(owner Owner) Needs {
	needs := o.able()
	if owner.Rights == nil {
		needs.Format = 1
	}
	return needs
}

// watch wakes one worker, the deliverer and the waker at every tick, and cleans up once an hour.
func (o *Orchestrator) watch() {
	var cleaned time.Time
	warned := false
	for {
		warned = warned || o.warnOfNewerJobs()
		wake(o.work)
		wake(o.calls)
		wake(o.sleepers)
		if now := o.Clock(); now.Sub(cleaned) >= time.Hour {
			cleaned = now
			o.clean(now)
		}
		select {
		case <-o.ctx.Done():
			return
		case <-o.Tick:
		}
	}
}

// warnOfNewerJobs logs that this process leaves jobs to others, and returns whether it did.
func (o *Orchestrator) warnOfNewerJobs() bool {
	n, err := o.Store.Newer(o.ctx, o.able())
	if err != nil || n == 0 { // the workers meet the same error, and log it
		return false
	}
	o.Log.Warn("callbacks: jobs wait for a newer version, which promised them", zap.Int("jobs", n))
	return true
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// idAlphabet makes IDs that are not a flag on a command line, need no escaping in an
// address, and do not differ by case only, which file names may not.
const idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// Accept accepts work: when it returns, the job is on disk, and space is reserved for its
// result. ErrNoSpace if that exceeds the client's share.
func (o *Orchestrator) Accept(ctx context.Context, owner Owner, callback *url.URL, w Work) (id string, err error) {
	var bits [16]byte
	if _, err := io.ReadFull(o.Random, bits[:]); err != nil {
		return "", fmt.Errorf("webhook: random bits: %w", err)
	}
	id = base32.NewEncoding(idAlphabet).WithPadding(base32.NoPadding).EncodeToString(bits[:])
	j := Job{ID: id, Owner: owner, Callback: callback.String(), Work: w, State: Accepted, Created: o.Clock(), Needs: o.needs(owner), Trace: traceOf(ctx)}
	if len(w.Data) > smallData {
		j.SeparateData = int64(len(w.Data))
	}
	taken, err := o.reserve(ctx, func(r Room) Taken {
		j.Room = r.expected(owner.User.Client.ID, w.Kind)
		return j.taken(j.Created)
	})
	if err == nil {
		err = o.Store.Add(ctx, j)
		o.book.end(taken, err == nil || errors.Is(err, ErrUnknown))
	}
	if err != nil {
		return "", fmt.Errorf("webhook: keep the job: %w", err)
	}
	wake(o.work)
	return id, nil
}

// Collect returns a job of the owner's client whose work is finished, and notes that it
// was collected if it has a result. ErrUnknownJob if the job is unknown, another client's
// or no longer kept, or if its result was deleted; ErrNotReady while it is worked on.
func (o *Orchestrator) Collect(ctx context.Context, owner Owner, id string) (Job, error) {
	j, err := o.Store.Get(ctx, id)
	switch {
	case err != nil:
		return Job{}, err
	case j.Owner.User.Client.ID != owner.User.Client.ID, j.Failure == withdrawal, !owner.Rights.Cover(j.Owner.Rights):
		return Job{}, ErrUnknownJob
	case j.State == Accepted || j.State == Running:
		return j, ErrNotReady
	case o.Clock().Sub(j.Finished) >= Retention:
		return Job{}, ErrUnknownJob
	case j.Failure != "", j.State == Collected && !j.gone() && o.Clock().Sub(j.Linked) < linkedEvery:
		return j, nil
	}
	collected, err := o.change(ctx, id, event{kind: fetched}, nil)
	switch {
	case err == nil:
		return collected, nil
	case errors.Is(err, ErrNotNow): // the result was deleted to make room
		return Job{}, ErrUnknownJob
	case errors.Is(err, ErrUnknownJob) || ctx.Err() != nil:
		return Job{}, err
	}
	// On a full disk existing results can still be fetched.
	o.Log.Warn("callbacks: that a result was fetched could not be kept", zap.String("job", id), zap.Error(err))
	return j, nil
}

// Withdraw ends a job of a kind that is not finished, without a callback. ErrUnknownJob if
// there is none that the owner asked for.
func (o *Orchestrator) Withdraw(ctx context.Context, owner Owner, kind, id string) error {
	j, err := o.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	if j.Work.Kind != kind || j.Owner.Key != owner.Key || j.Owner.User.Client.ID != owner.User.Client.ID {
		return ErrUnknownJob
	}
	if _, err = o.change(ctx, id, event{kind: withdrawn}, nil); errors.Is(err, ErrNotNow) {
		return ErrUnknownJob
	}
	return err
}

// ErrNotReady says that the work is not finished yet.
var ErrNotReady = errors.New("webhook: not ready")

// Replay starts the callback of a finished job again, from the first try.
func Replay(ctx context.Context, s Store, id string, now time.Time) error {
	_, err := s.Change(ctx, id, func(j Job) (Job, *Try, error) {
		j, err := j.after(event{kind: replayed}, now)
		return j, nil, err
	})
	return err
}

func (o *Orchestrator) change(ctx context.Context, id string, e event, t *Try) (Job, error) {
	var w *write
	changed, err := o.Store.Change(ctx, id, func(j Job) (Job, *Try, error) {
		now := o.Clock()
		from := j.taken(now)
		j, err := j.after(e, now)
		if err == nil {
			w = o.book.change(w, from, j.taken(now))
		}
		if t != nil {
			t.Number = j.Tries
		}
		return j, t, err
	})
	o.book.end(w, err == nil)
	return changed, err
}

// clean removes old jobs, and files without a job.
func (o *Orchestrator) clean(now time.Time) {
	err := o.Store.Forget(o.ctx, now.Add(-Retention))
	if err == nil {
		err = o.sweep()
	}
	if err != nil && o.ctx.Err() == nil {
		o.Log.Error("callbacks: clean up", zap.Error(err))
	}
}

// sweep removes files without a job: of jobs that were forgotten, here or by another
// process, and of claims that were cut off.
func (o *Orchestrator) sweep() error {
	names, err := o.Results.Names(o.ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		j, err := o.Store.Get(o.ctx, jobOf(name))
		switch {
		case err != nil && !errors.Is(err, ErrUnknownJob):
			return err
		case err == nil && (j.Result.File == name || j.State == Running && resultName(j) == name):
			continue
		}
		if err := o.Results.Remove(o.ctx, name); err != nil {
			return err
		}
	}
	return nil
}
