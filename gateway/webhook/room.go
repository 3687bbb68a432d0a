package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// mostExpected bounds what is set aside for a job whose like there was none of, in bytes.
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

// expected is how many bytes the result of a job will take: as many as those of the kind
// do on average, the client's own if there are any.
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
	if own.Jobs <= 0 {
		own = all
	}
	if own.Jobs <= 0 {
		return max(min(r.Space/16, mostExpected), 1)
	}
	return max(own.Bytes/int64(own.Jobs), 1)
}

// book is what is known of the room that jobs take. To sum that up takes the database a
// while where there are many, so what it said is good for ten times as long; what this
// process does to jobs meanwhile is added.
type book struct {
	mu   sync.Mutex
	all  []Taken
	good time.Time // until then
}

// note adds to what is known that a job has changed, or is new. from and to are what it
// took of the space before and takes now.
func (b *book) note(from, to Taken) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from.Jobs, from.Bytes = -from.Jobs, -from.Bytes
	b.add(from)
	b.add(to)
}

func (b *book) add(t Taken) {
	if t.Bytes == 0 {
		return
	}
	for i := range b.all {
		if has := &b.all[i]; has.Client == t.Client && has.Kind == t.Kind && has.Stage == t.Stage {
			has.Jobs, has.Bytes = has.Jobs+t.Jobs, has.Bytes+t.Bytes
			return
		}
	}
	b.all = append(b.all, t)
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
	o.book.mu.Lock()
	all, good := slices.Clone(o.book.all), o.book.good
	o.book.mu.Unlock()
	if now := o.Clock(); !now.Before(good) {
		var err error
		if all, err = o.Store.Room(ctx, now.Add(-SpentAfter)); err != nil {
			return Room{}, fmt.Errorf("webhook: room for results: %w", err)
		}
		ended := o.Clock()
		o.book.mu.Lock()
		o.book.all, o.book.good = slices.Clone(all), ended.Add(10*ended.Sub(now))
		o.book.mu.Unlock()
	}
	r := Room{Space: o.Space, All: all}
	if o.Left != nil {
		r.Space = min(r.Space, r.Bytes(Kept)+r.Bytes(Spent)+o.Left())
	}
	return r, nil
}

// shareTime bounds how long a job waits for others that set room aside, and the database.
const shareTime = 10 * time.Second

// share has f set room aside while nobody else of this process does. Two
// processes may do so at the same moment, and then go beyond the space by what each takes.
func (o *Orchestrator) share(ctx context.Context, f func(context.Context, Room) error) error {
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	select {
	case o.sharing <- struct{}{}:
		defer func() { <-o.sharing }()
	case <-ctx.Done():
		return fmt.Errorf("wait for room: %w", context.Cause(ctx))
	}
	r, err := o.Room(ctx)
	if err != nil {
		return err
	}
	o.tellCrowd(ctx, r)
	return f(ctx, r)
}

// take finds bytes for a client: what is spent goes where they are not there otherwise.
func (o *Orchestrator) take(ctx context.Context, r Room, client, bytes int64) error {
	if bytes > r.more(client) {
		return ErrNoSpace
	}
	return o.clear(ctx, r.Firm()+r.Bytes(Spent)+bytes-r.Space)
}

// setAside has the room of a job that is worked on grow from what it has to what it
// needs, and beyond, so that it seldom asks.
func (o *Orchestrator) setAside(ctx context.Context, j Job, have, need int64) (room int64, err error) {
	client := j.Owner.User.Client.ID
	err = o.share(ctx, func(ctx context.Context, r Room) error {
		more := min(2*need-have, max(r.more(client), need-have))
		if err := o.take(ctx, r, client, more); err != nil {
			return err
		}
		room = have + more
		_, err := o.change(ctx, j.ID, event{kind: grown, term: j.Term, room: room}, nil)
		return err
	})
	if err != nil && !errors.Is(err, ErrNoSpace) && !errors.Is(err, errNotNow) {
		err = fmt.Errorf("%w: %w", ErrAgain, err)
	}
	return room, err
}

// clearAtOnce is how many results are looked up at once that are to give way.
const clearAtOnce = 100

// clear has results give way that are spent, until there are so many bytes more.
func (o *Orchestrator) clear(ctx context.Context, bytes int64) error {
	for bytes > 0 {
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
