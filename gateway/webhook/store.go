package webhook

import (
	"context"
	"errors"
	"time"
)

// ErrUnknownJob says that no job of that ID is kept.
var ErrUnknownJob = errors.New("webhook: no such job")

// Store keeps jobs. Everything it was given is durable when it returns. It is
// safe for concurrent use, also by several processes where the database is, and
// these may be of several versions: what a job has that this one does not know, it
// keeps.
type Store interface {
	// Add keeps a new job. Where its data are Apart, only NextWork returns them, and they
	// are removed by the Change after which they are not. ErrUnknown where the job may be
	// kept, or not.
	Add(ctx context.Context, j Job) error
	// Get returns a job, or ErrUnknownJob.
	Get(ctx context.Context, id string) (Job, error)
	// NextWork returns the job to work on next: of the clients with the fewest
	// jobs under way, those without left out, the one that was served the longest
	// ago, its oldest job that is accepted, or running without anybody having it,
	// and needs no more than able or was created longer than Left ago; with all its data.
	// ErrUnknownJob where there is none.
	NextWork(ctx context.Context, now time.Time, able Needs, without []int64) (Job, error)
	// Beyond counts the jobs that are not finished and need more than able.
	Beyond(ctx context.Context, able Needs) (int, error)
	// DueCalls returns jobs whose callback is due and that nobody is calling, but
	// none of the clients that are left out: at most one per receiver's host, and
	// of those first one of each client, the clients with the fewest calls under
	// way first, then the longest due.
	DueCalls(ctx context.Context, now time.Time, most int, without []int64) ([]Job, error)
	// Change gives a job to f and keeps what f returns, with the try where that
	// is not nil, in one transaction. An error of f is returned as it is and
	// changes nothing.
	Change(ctx context.Context, id string, f func(Job) (Job, *Try, error)) (Job, error)
	// Room tells what jobs take of the space of results, by client, kind and stage.
	// Results that were given out last before a moment are Spent.
	Room(ctx context.Context, linkedBefore time.Time) ([]Taken, error)
	// Spent returns the jobs whose results are Spent, those that were given out the
	// longest ago first.
	Spent(ctx context.Context, linkedBefore time.Time, most int) ([]Job, error)
	// Unaccounted returns jobs that a version changed which knows no room: what they take is
	// not what Room and Spent go by. Change sets that right.
	Unaccounted(ctx context.Context, most int) ([]Job, error)
	// List returns the jobs, newest first.
	List(ctx context.Context, f Filter) ([]Job, error)
	// Journal returns the tries of a job in order.
	Journal(ctx context.Context, id string) ([]Try, error)
	// Forget removes the jobs that were finished before, with their journals,
	// and returns them.
	Forget(ctx context.Context, before time.Time) ([]Job, error)
	// SigningKeys returns the keys that sign downloads, newest first, after
	// making one where none was made since. Those that were replaced before old
	// are removed then. Where none can be made, it returns those that are there with the
	// error.
	SigningKeys(ctx context.Context, since, old time.Time, fresh SigningKey) ([]SigningKey, error)
}

// Filter narrows a list of jobs. The zero Filter is every job.
type Filter struct {
	State    State     // "" for all
	Failing  bool      // only those whose receiver did not take the last call, given up or not
	Client   string    // name; "" for all
	Key      string    // name of the api_key; "" for all
	Receiver string    // host, with its port or without; "" for all
	Before   time.Time // only those created until then; zero for all
	Limit    int       // 0 for 100
}

// Pending are the callbacks that are still to be made.
type Pending struct {
	Due     []OfClient // now, and nobody is calling them; since when the first of them has been
	Failing []OfClient // tried in vain, and to be tried again; since when the first of them failed first
}

// OfClient are callbacks of a client.
type OfClient struct {
	Client int64
	Jobs   int
	Since  time.Time
	Job    string // one of them
}

// States are all that a job can be in, in the order of its life.
func States() []State {
	return []State{Accepted, Running, Done, Failed, CalledBack, Collected, Exhausted}
}

// SigningKey signs the addresses of downloads.
type SigningKey struct {
	ID     string
	Secret []byte
	Made   time.Time
}
