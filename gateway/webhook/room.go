package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Results have to fit into a space that all clients share. How large one will be nobody
// knows before it is there: so when a job is accepted, as much is set aside for it as
// results of that kind took on average, and more when it has written all that. Where
// that finds no room the job fails, and says so; most often the next job finds none
// before, and is not accepted.

// Stage is how firm the hold is that a job has on its room.
type Stage int

// The stages.
const (
	Reserved Stage = iota // for a result that is not there yet
	Kept                  // a result that the client has not fetched, or has a valid address of
	Spent                 // a result that was fetched, and gives way when others need the room
)

// String is what operators call the stage.
func (s Stage) String() string { return [...]string{"reserved", "kept", "spent"}[s] }

// Stages are all there are.
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

// Room is how the space of results is taken.
type Room struct {
	Space int64 // bytes that results may take, where their disk has as much
	All   []Taken
}

// shareOf is how many times as much as is left a client may have, results that are spent
// aside: one alone gets three quarters of the space, a second one three quarters of what
// is left then, and in the end all who want more have the same. What is spent may take all
// the rest.
const shareOf = 3

// mostExpected bounds what is set aside for a job whose like its client had none of, in bytes.
const mostExpected = 16 << 20

// Bytes is how many bytes are taken at a stage.
func (r Room) Bytes(s Stage) (n int64) {
	for _, t := range r.All {
		if t.Stage == s {
			n += t.Bytes
		}
	}
	return n
}

// Firm is how many bytes are taken that do not give way.
func (r Room) Firm() int64 { return r.Bytes(Reserved) + r.Bytes(Kept) }

// Crowded tells whether so much of the space is taken for good that somebody should
// look: one client alone is refused soon after.
func (r Room) Crowded() bool { return r.Firm() > r.Space/3*2 }

// Largest is the client that has most, what is spent aside, with the ID of a job of it; 0
// and "" where nothing is taken.
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

// more is how many bytes a client may have besides those that it has.
func (r Room) more(client int64) int64 {
	own := int64(0)
	for _, t := range r.All {
		if t.Client == client && t.Stage != Spent {
			own += t.Bytes
		}
	}
	return max((shareOf*(r.Space-r.Firm())-own)/(shareOf+1), 0)
}

// expected is how many bytes the result of a job will take: as many as the client's own
// of the kind do on average. Where it has none, those of the others tell, up to a bound: it
// is not refused since theirs are large.
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

// taken is what a job takes of the space.
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

// Room tells how the space of results is taken. Gateways that share the jobs share it.
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

// sum brings the book up to date where it is not. Who comes while somebody does that goes
// by what is known, unless nothing is.
func (o *Orchestrator) sum(ctx context.Context) error {
	switch good := o.book.goodUntil(); {
	case o.Clock().Before(good):
		return nil
	case good.IsZero():
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
	if begun.Before(o.book.goodUntil()) { // by who had the turn before
		return nil
	}
	o.book.beginSum()
	all, err := o.Store.Room(ctx, begun.Add(-SpentAfter))
	ended := o.Clock()
	o.book.endSum(all, ended.Add(10*ended.Sub(begun)), err)
	return err
}

// reserveTime bounds how long room is looked for.
const reserveTime = 10 * time.Second

// reserve counts what f wants for a job, as far as its client may have that, before the
// store knows of it. The caller ends the write. Two processes may do so at the same moment,
// and then go beyond the space by what each takes.
func (o *Orchestrator) reserve(ctx context.Context, f func(Room) Taken) (*write, error) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	r, err := o.Room(ctx)
	if err != nil {
		return nil, err
	}
	o.tellCrowd(ctx, r)
	o.book.mu.Lock()
	defer o.book.mu.Unlock()
	r.All = o.book.all
	to := f(r)
	if to.Bytes > r.more(to.Client) {
		return nil, ErrNoSpace
	}
	return o.book.begin(Taken{}, to), nil
}

// setAside has the room of a job that is worked on grow from what it has to what it
// needs, and beyond, so that it seldom asks.
func (o *Orchestrator) setAside(ctx context.Context, j Job, have, need int64) (room int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	client := j.Owner.User.Client.ID
	more, err := o.reserve(ctx, func(r Room) Taken {
		room = have + min(2*need-have, max(r.more(client), need-have))
		return Taken{Client: client, Kind: j.Work.Kind, Stage: Reserved, Bytes: room - have, Job: j.ID}
	})
	if err == nil {
		defer o.book.end(more, false) // the change counts it from then on
		if err = o.clear(ctx); err == nil {
			_, err = o.change(ctx, j.ID, event{kind: grown, term: j.Term, room: room}, nil)
		}
	}
	if err != nil && !errors.Is(err, ErrNoSpace) && !errors.Is(err, errNotNow) {
		err = fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return room, err
}

// clearAtOnce is how many results are looked up at once that are to give way.
const clearAtOnce = 100

// clear has results give way that are spent, until what is taken fits into the space. It
// is done for work that begins to write, so that who asks for a job does not wait for it.
func (o *Orchestrator) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reserveTime)
	defer cancel()
	o.clearing.Lock()
	defer o.clearing.Unlock()
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
			case errors.Is(err, errNotNow) || errors.Is(err, ErrUnknownJob): // fetched again meanwhile, or forgotten
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
		if bytes == before { // an older gateway changed them, and the store would list them again
			return nil
		}
	}
	return nil
}

// tellCrowd logs once when results take most of their space, and who has most of it.
func (o *Orchestrator) tellCrowd(ctx context.Context, r Room) {
	if !r.Crowded() {
		o.crowded.Store(false)
		return
	}
	if o.crowded.Swap(true) {
		return
	}
	bytes, id := r.Largest()
	j, _ := o.Store.Get(ctx, id) // whose client is then not named
	o.Log.Warn("callbacks: results take most of their space, and do not give way before they are fetched",
		zap.Int64("bytes", r.Firm()), zap.Int64("space", r.Space), zap.String("most_of", j.Owner.User.Client.Name), zap.Int64("its_bytes", bytes))
}
