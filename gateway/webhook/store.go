package webhook

import (
	"context"
	"errors"
	"time"
)

// ErrUnknownJob says that no job of that ID is kept.
var ErrUnknownJob = errors.New("webhook: no such job")

// ErrTooMany says that a client of an api_key has as many jobs of a kind as it may have.
var ErrTooMany = errors.New("webhook: too many jobs of that kind")

// Store stores jobs. Everything is durable when a call returns. It is safe for concurrent
// use, also by several processes if the database is. These may be of several versions:
// fields of a job that this version does not know are preserved.
type Store interface {
	// Add stores a new job. If it has SeparateData, only NextWork returns its data, and
	// the Change that sets SeparateData to 0 removes them. ErrUnknown if it is not known
	// whether the job was stored; ErrTooMany, where j.Work.Most is set, if its owner has
	// that many unfinished jobs of the kind.
	Add(ctx context.Context, j Job) error
	// Get returns a job, or ErrUnknownJob.
	Get(ctx context.Context, id string) (Job, error)
	// NextWork returns the job to work on next, with all its data. It considers jobs that
	// are accepted or running, without a lease, and that need no more than able or were
	// created longer than Left ago. It takes the clients with the fewest jobs under way,
	// except those left out; of these the one that was served the longest ago; of that
	// its oldest job. ErrUnknownJob if there is none.
	NextWork(ctx context.Context, now time.Time, able Needs, without []int64) (Job, error)
	// Asleep returns the jobs that are accepted and have a lease.
	Asleep(ctx context.Context, now time.Time) ([]Job, error)
	// Newer counts the jobs that are not finished and need more than able.
	Newer(ctx context.Context, able Needs) (int, error)
	// DueCalls returns jobs whose callback is due and not being called, except those of
	// the clients that are left out. It returns at most one per receiver's host. First
	// comes one job of each client, those with the fewest calls under way first, then
	// those that have been due for longest.
	DueCalls(ctx context.Context, now time.Time, most int, without []int64) ([]Job, error)
	// Change passes a job to f and stores the job that f returns, and the try if that is
	// not nil, in one transaction. An error of f is returned as it is, and changes
	// nothing.
	Change(ctx context.Context, id string, f func(Job) (Job, *Try, error)) (Job, error)
	// Room returns how much of the space jobs take, by client, kind and stage. Results
	// that were handed out last before a moment are Spent.
	Room(ctx context.Context, linkedBefore time.Time) ([]Taken, error)
	// Spent returns the jobs whose results are Spent, those that were handed out the
	// longest ago first.
	Spent(ctx context.Context, linkedBefore time.Time, most int) ([]Job, error)
	// List returns the jobs, newest first.
	List(ctx context.Context, f Filter) ([]Job, error)
	// Journal returns the tries of a job in order.
	Journal(ctx context.Context, id string) ([]Try, error)
	// Forget removes the jobs that were finished before, with their journals.
	Forget(ctx context.Context, before time.Time) error
	// SigningKeys returns the keys that sign downloads, newest first. It stores fresh if
	// the newest is older than since, and then removes those that were replaced before
	// old. If it cannot do so, it returns the existing ones with the error.
	SigningKeys(ctx context.Context, since, old time.Time, fresh SigningKey) ([]SigningKey, error)
}

// Filter narrows a list of jobs. The zero Filter is every job.
type Filter struct {
	State    State     // "" for all
	Failing  bool      // only those whose last call failed, also if no further one is due
	Client   string    // name; "" for all
	Key      string    // name of the api_key; "" for all
	Receiver string    // host, with its port or without; "" for all
	Error    string    // Try.Problem of the last call, with its status or without; "" for all
	Before   time.Time // only those created until then; zero for all
	After    string    // ID of a job: only those that come after it in the list; "" for all
	Limit    int       // 0 for 100
}

// Receiver counts the jobs whose callbacks go to a host.
type Receiver struct {
	Host    string        // with its port if that is written; "" where the address cannot be read
	Jobs    int           // all of them
	States  map[State]int // without states that no job has
	Failing int           // jobs whose calls failed, and that are to be called again
	Oldest  time.Time     // when the oldest job that is not over was created; zero where there is none
	NextTry time.Time     // when the next call is due; zero where there is none
}

// Pending are the callbacks that are still to be made.
type Pending struct {
	Due     []OfClient // due now, and not being called; Since is when the first of them became due
	Failing []OfClient // failed, and to be called again; Since is when the first of them failed first
}

// OfClient counts callbacks of a client.
type OfClient struct {
	Client int64
	Jobs   int
	Since  time.Time
	Job    string // one of them
}

// States returns all states of a job, in the order of its life.
func States() []State {
	return []State{Accepted, Running, Done, Failed, CalledBack, Collected, Exhausted}
}

// SigningKey signs the addresses of downloads.
type SigningKey struct {
	ID     string
	Secret []byte
	Made   time.Time
}
