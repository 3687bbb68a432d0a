package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Results have to fit into a space that all clients share. The size of a result is not
// known in advance. So when a job is accepted, the average size of results of that kind
// is reserved for it, and more when it has written all that. If there is no space for
// more, the job fails with that reason. That is rare, because a job without space for
// the average is not accepted.

// Stage says how firmly a job holds its space.
type Stage int

// The stages.
const (
	Reserved Stage = iota // for a result that is not there yet
	Kept                  // a result that the client has not fetched, or has a valid address of
	Spent                 // a result that was fetched, and is deleted when others need the room
)

// String returns what operators call the stage.
func (s Stage) String() string { return [...]string{"reserved", "kept", "spent"}[s] }

// Stages returns all stages.
func Stages() []Stage { return []Stage{Reserved, Kept, Spent} }

// Taken is what the jobs of a client, of one kind and at one stage, take of the space.
type Taken struct {
	Client int64
	Kind   string // of work
	Stage  Stage
	Jobs   int
	Bytes  int64
	Job    string // the ID of one of them
}

// Room is how much of the space of results is taken.
type Room struct {
	Space int64 // bytes that results may take, where their disk has as much
	All   []Taken
}

// shareOf bounds what a client may have, without spent results, to so many times the space
// that is then left free: one client alone gets three quarters of the space, a second one three
// quarters of the rest, and in the end all clients that want more have the same. Spent results
// may take all the rest.
const shareOf = 3

// mostExpected bounds what is reserved for a job of a kind of which its client has no
// results, in bytes.
const mostExpected = 16 << 20

// Bytes returns how many bytes are taken at a stage.
func (r Room) Bytes(s Stage) (n int64) {
	for _, t := range r.All {
		if t.Stage == s {
			n += t.Bytes
		}
	}
	return n
}

// Firm returns how many bytes cannot be freed yet: those reserved, and those of kept results.
func (r Room) Firm() int64 { return r.Bytes(Reserved) + r.Bytes(Kept) }

// Crowded reports whether unfetched results take so much that an operator should look: soon
// after that, a single client is refused.
func (r Room) Crowded() bool { return r.Firm() > r.Space/3*2 }

// Largest returns how much the client takes that takes most, without spent results, and the ID
// of one of its jobs; 0 and "" if nothing is taken.
func (r Room) Largest() (bytes int64, job string) {
	has := map[int64]int64{}
	for _, t := range r.All {
		if t.Stage == Spent {
			continue
		}
		has[t.Client] += t.Bytes
		if has[t.Client] > bytes {
			bytes, job = has[t.Client], t.Job
		}
	}
	return bytes, job
}

// more returns how many more bytes a client may take.
func (r Room) more(client int64) int64 {
	own := int64(0)
	for _, t := range r.All {
		if t.Client == client && t.Stage != Spent {
			own += t.Bytes
		}
	}
	return max((shareOf*(r.Space-r.Firm())-own)/(shareOf+1), 0)
}

// expected returns the expected size of a job's result: the average of the client's own
// results of that kind. If the client has none, it is the average of the others', up to a
// bound: a client must not be refused because other clients' results are large.
func (r Room) expected(client int64, kind string) int64 {
	var own, all Taken
	for _, t := range r.All {
		if t.Kind != kind || t.Stage == Reserved {
			continue
		}
		all.Jobs, all.Bytes = all.Jobs+t.Jobs, all.Bytes+t.Bytes
		if t.Client == client {
			own.Jobs, own.Bytes = own.Jobs+t.Jobs, own.Bytes+t.Bytes
		}
	}
	unknown := min(r.Space/16, mostExpected)
	switch {
	case own.Jobs > 0:
		return max(own.Bytes/int64(own.Jobs), 1)
	case all.Jobs > 0:
		return max(min(all.Bytes/int64(all.Jobs), unknown), 1)
	default:
		return max(unknown, 1)
	}
}

// taken returns what a job takes of the space.
func (j Job) taken(now time.Time) Taken {
	t := Taken{Client: j.Owner.User.Client.ID, Kind: j.Work.Kind, Stage: Kept, Jobs: 1, Bytes: j.Taken(), Job: j.ID}
	switch {
	case j.State == Accepted || j.State == Running:
		t.Stage = Reserved
	case j.spent(now):
		t.Stage = Spent
	}
	return t
}

// Room returns how the space of results is used, by all gateways that share the jobs.
func (o *Orchestrator) Room(ctx context.Context) (Room, error) {
	if err := o.sum(ctx); err != nil {
		return Room{}, fmt.Errorf("webhook: room for results: %w", err)
	}
	r := Room{Space: o.Space, All: o.book.known()}
	if o.Left != nil {
		r.Space = min(r.Space, r.Bytes(Kept)+r.Bytes(Spent)+o.Left())
	}
	return r, nil
}

// sum updates the book if it is old. While one caller does so, others use the old sum,
// unless there is none.
func (o *Orchestrator) sum(ctx context.Context) error {
	switch expiry := o.book.expiry(); {
	case o.Clock().Before(expiry):
		return nil
	case expiry.IsZero():
		select {
		case o.summing <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	default:
		select {
		case o.summing <- struct{}{}:
		default:
			return nil
		}
	}
	defer func() { <-o.summing }()
	begun := o.Clock()
	if begun.Before(o.book.expiry()) { // another caller has updated it meanwhile
		return nil
	}
	o.book.beginSum()
	all, err := o.Store.Room(ctx, begun.Add(-SpentAfter))
	ended := o.Clock()
	o.book.endSum(all, ended.Add(10*ended.Sub(begun)), err)
	return err
}

// reserveTime bounds the search for space.
const reserveTime = 10 * time.Second

// reserve counts the space that f wants for a job, as far as its client's share allows,
// before it is stored. The caller must end the write. Two processes may reserve at the same
// moment, and then exceed the space by what each takes.
func (o *Orchestrator) reserve(ctx context.Context, f func(Room) Taken) (*write, error) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	r, err := o.Room(ctx)
	if err != nil {
		return nil, err
	}
	o.warnOfCrowd(ctx, r)
	o.book.mu.Lock()
	defer o.book.mu.Unlock()
	r.All = o.book.all
	to := f(r)
	if to.Bytes > r.more(to.Client) {
		return nil, ErrNoSpace
	}
	return o.book.begin(Taken{}, to), nil
}

// reserveMore increases the reservation of a running job from what it has to what it needs,
// and some more, so that it is seldom called.
func (o *Orchestrator) reserveMore(ctx context.Context, j Job, have, need int64) (room int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	client := j.Owner.User.Client.ID
	more, err := o.reserve(ctx, func(r Room) Taken {
		room = have + min(2*need-have, max(r.more(client), need-have))
		return Taken{Client: client, Kind: j.Work.Kind, Stage: Reserved, Bytes: room - have, Job: j.ID}
	})
	if err == nil {
		defer o.book.end(more, false) // by then the change below counts it
		if err = o.clear(ctx); err == nil {
			_, err = o.change(ctx, j.ID, event{kind: grown, term: j.Term, room: room}, nil)
		}
	}
	if err != nil && !errors.Is(err, ErrNoSpace) && !errors.Is(err, ErrNotNow) {
		err = fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return room, err
}

// clearAtOnce is how many spent results are looked up at once.
const clearAtOnce = 100

// clear deletes spent results until the rest fits into the space. Work does so before it
// writes, so that a request for a job does not wait for it.
func (o *Orchestrator) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	o.clearing <- struct{}{}
	defer func() { <-o.clearing }()
	r, err := o.Room(ctx)
	if err != nil {
		return err
	}
	for bytes := r.Firm() + r.Bytes(Spent) - r.Space; bytes > 0; {
		spent, err := o.Store.Spent(ctx, o.Clock().Add(-SpentAfter), clearAtOnce)
		if err != nil || len(spent) == 0 {
			return err
		}
		before := bytes
		for _, j := range spent {
			if bytes <= 0 {
				break
			}
			_, err := o.change(ctx, j.ID, event{kind: cleared}, nil)
			switch {
			case errors.Is(err, ErrNotNow) || errors.Is(err, ErrUnknownJob): // fetched again meanwhile, or forgotten
				continue
			case err != nil:
				return err
			}
			if err := o.Results.Remove(ctx, j.Result.File); err != nil {
				return err
			}
			bytes -= j.Result.Size
			o.Log.Info("callbacks: a result that was fetched gives way", zap.String("job", j.ID), zap.Int64("bytes", j.Result.Size))
		}
		if bytes == before { // none could be deleted, and the store would list them again
			return nil
		}
	}
	return nil
}

// warnOfCrowd logs once that results take most of the space, and which client has most.
func (o *Orchestrator) warnOfCrowd(ctx context.Context, r Room) {
	if !r.Crowded() {
		o.crowded.Store(false)
		return
	}
	if o.crowded.Swap(true) {
		return
	}
	bytes, id := r.Largest()
	j, _ := o.Store.Get(ctx, id) // with an error the client is not named
	o.Log.Warn("callbacks: results take most of their space, and do not give way before they are fetched",
		zap.Int64("bytes", r.Firm()), zap.Int64("space", r.Space), zap.String("most_of", j.Owner.User.Client.Name), zap.Int64("its_bytes", bytes))
}
