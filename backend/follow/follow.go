// Package follow finds out which records of an external system have changed. It polls the
// system as the mapping sheet says (changes), and compares each record with the version that
// it saw before. If the system has a Journal, it reads only the records that the Journal names.
//
// The versions are in the gateway's own database, where the IDs are, too: one for each client
// that follows a resource, and each record of it. A Follower reads through the driver, so it sees
// what the client sees; it writes nothing into the system. Of several gateways one polls, and
// all of them answer /changes.
package follow

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

//go:embed migrations
var migrations embed.FS

// Options say what a Follower works with. Reader, DB and Sheet are needed.
type Options struct {
	Reader Reader       // of the system, as clients see it
	DB     sqlrecord.DB // the gateway's own; Close leaves it open
	Sheet  *sheet.Sheet
	// Keep is how long a cursor is good; default 90 days.
	Keep time.Duration
	// Timeout bounds the reading of one page; default 30 s.
	Timeout time.Duration
	// Lease is how long a gateway that is silent keeps the others from looking; default 15 s.
	Lease time.Duration
	// Log gets a line when a look fails; may be nil.
	Log *zap.Logger
}

// Follower reports the changes of a system's records. It is safe for concurrent use.
type Follower struct {
	o         Options
	db        sqlrecord.DB // for what no client waits for
	resources map[string]*mapping.Resource
	changes   *sqlrecord.Changes
	holder    string                 // of the lease
	wake      chan struct{}          // receives when something new is followed
	turns     map[bool]chan struct{} // true: for looks that a client waits for; false: for others
	wholes    map[bool]chan struct{} // likewise, the slots for looks that read all records
	counts    map[string]*count      // by resource
	looks     atomic.Bool            // this gateway has the lease, as far as it knows
	known     atomic.Bool            // every followed pair has its goroutine

	mu        sync.Mutex
	requested map[pair]time.Time       // when a client's last request was noted
	under     map[string]chan struct{} // the pairs that have a goroutine, by key, and what wakes it

	stop    context.CancelFunc
	running sync.WaitGroup
}

// pair is what is followed: the records of a resource that a client sees.
type pair struct {
	client   auth.Client
	resource *mapping.Resource
}

func (p pair) values(more ...mapping.Value) []mapping.Value {
	return append([]mapping.Value{mapping.IntValue(p.client.ID), mapping.TextValue(p.resource.Name)}, more...)
}

// Looks reports whether this is the gateway, of several, that looks for changes.
func (f *Follower) Looks() bool { return f.looks.Load() }

// Source makes a driver that embeds it a backend.ChangeFeed. Without a Follower it reports nothing.
type Source struct{ *Follower }

var _ backend.ChangeFeed = Source{}

// SetFollower sets what reports the changes, nil for nothing. It is called before the driver is used.
func (t *Source) SetFollower(f *Follower) { t.Follower = f }

// Feed implements backend.ChangeFeed.
func (f *Follower) Feed(r *mapping.Resource) backend.Feed {
	if f == nil {
		return backend.FeedNone
	}
	return Feeds(f.o.Sheet)(r)
}

// Feeds returns which changes of a resource a sheet has reported.
func Feeds(sh *sheet.Sheet) func(*mapping.Resource) backend.Feed {
	return func(r *mapping.Resource) backend.Feed {
		switch c := sh.Changes(r); {
		case c.By == "":
			return backend.FeedNone
		case c.ReportsDeletions():
			return backend.FeedAll
		default:
			return backend.FeedWithoutDeletions
		}
	}
}

// keepDefault is the default of Options.Keep.
const keepDefault = 90 * 24 * time.Hour

// eachKind makes slots for looks that a client waits for (true), and as many for others.
func eachKind(slots int) map[bool]chan struct{} {
	return map[bool]chan struct{}{true: make(chan struct{}, slots), false: make(chan struct{}, slots)}
}

// Open makes or migrates the tables, and begins to poll. It returns nil if the sheet has
// changes for no resource. The caller closes the Follower, before the driver and the database.
func Open(ctx context.Context, o Options) (*Follower, error) {
	f := &Follower{
		o: o, db: sqlrecord.Reserved(o.DB), resources: map[string]*mapping.Resource{}, counts: map[string]*count{}, requested: map[pair]time.Time{},
		wake: make(chan struct{}, 1), turns: eachKind(1), wholes: eachKind(mostWhole), under: map[string]chan struct{}{},
	}
	f.o.Keep, f.o.Timeout = cmp.Or(o.Keep, keepDefault), cmp.Or(o.Timeout, 30*time.Second)
	f.o.Lease = cmp.Or(o.Lease, leaseLife)
	if f.o.Log == nil {
		f.o.Log = zap.NewNop()
	}
	var all []*mapping.Resource
	for _, r := range o.Sheet.Model.Resources {
		if o.Sheet.Changes(r).By != "" {
			f.resources[r.Name], f.counts[r.Name], all = r, new(count), append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	holder, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	f.holder = holder.String()
	notes := sqlrecord.NotesMigration(o.DB.Dialect(), 2)
	if err := sqlrecord.MigrateWith(ctx, o.DB, sqlrecord.Migrations{Table: "frontdesk_follow_version", Files: migrations, Go: []*goose.Migration{notes}}); err != nil {
		return nil, fmt.Errorf("changes of records: %w", err)
	}
	if f.changes, err = sqlrecord.OpenNotes(ctx, o.DB, all, f.o.Keep, f.eachOf, f.readySince); err != nil {
		return nil, err
	}
	var run context.Context
	run, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.running.Go(func() { f.run(run) })
	return f, nil
}

// Close stops the goroutines and waits for them. A nil Follower has none.
func (f *Follower) Close() error {
	if f != nil {
		f.stop()
		f.running.Wait()
	}
	return nil
}

// Changes implements backend.ChangeFeed. The first request of a client waits until
// all records have been read once; if that takes too long, it fails with a Retry-After.
func (f *Follower) Changes(ctx context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	if q.Begin {
		if err := f.follow(ctx, q.Client, q.Resources); err != nil {
			return backend.ChangesPage{}, err
		}
	} else if err := f.touch(ctx, q.Client, q.Resources); err != nil {
		return backend.ChangesPage{}, err
	}
	page, err := f.changes.Page(ctx, q)
	return page, own(err)
}

// own marks an error as one of the gateway's own database, unless it is an answer or comes
// from the driver.
func own(err error) error {
	if _, answer := mapping.AsViolations(err); err == nil || answer || errors.Is(err, errDriver) || errors.Is(err, backend.ErrBusy) {
		return err
	}
	return fmt.Errorf("%w: changes of records: %w", backend.ErrOwnStore, err)
}

// errDriver says that the system could not be read.
var errDriver = errors.New("read the records that have changed")

// eachOf reads the records of a page of changes as they are now.
func (f *Follower) eachOf(ctx context.Context, client auth.Client, r *mapping.Resource, ids []int32, each func(mapping.Record)) error {
	for _, id := range ids {
		rec, err := f.o.Reader.Get(ctx, r, backend.Query{Client: client, ID: id, Fields: r.ListFields()})
		switch {
		case errors.Is(err, backend.ErrNotFound):
		case err != nil:
			return fmt.Errorf("%w: %w", errDriver, err)
		default:
			each(rec)
		}
	}
	return nil
}

// Digest implements backend.ChangeFeed, by the records as they were last seen.
func (f *Follower) Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (backend.Digest, error) {
	if err := f.follow(ctx, q.Client, []*mapping.Resource{r}); err != nil {
		return backend.Digest{}, err
	}
	d, err := f.changes.DigestOf(ctx, q, states{f, r})
	return d, own(err)
}

// states are the records of a resource as they were last seen.
type states struct {
	f *Follower
	r *mapping.Resource
}

const ofRange = ` FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND gone = 0 AND id >= ?3`

func (s states) args(q backend.DigestQuery) []mapping.Value {
	return pair{q.Client, s.r}.values(mapping.IntValue(int64(q.From)))
}

// Greatest implements sqlrecord.States.
func (s states) Greatest(ctx context.Context, c sqlrecord.Conn, q backend.DigestQuery) (last int64, err error) {
	row, err := sqlrecord.One(ctx, c, `SELECT coalesce(max(id), 0)`+ofRange, numbers(1), s.args(q)...)
	if err == nil {
		last = row[0].Int()
	}
	return last, err
}

// Each implements sqlrecord.States.
func (s states) Each(ctx context.Context, c sqlrecord.Conn, q backend.DigestQuery, each func(id, modified mapping.Value)) error {
	to := cmp.Or(int64(q.To), anyID)
	return c.Query(ctx, `SELECT id, modified`+ofRange+` AND id <= ?4 ORDER BY id`, numbers(2), append(s.args(q), mapping.IntValue(to)), func(row []mapping.Value) error {
		each(row[0], momentOf(row[1]))
		return nil
	})
}

// anyID is the highest ID there can be.
const anyID = 1<<31 - 1

// momentOf converts a stored moment.
func momentOf(v mapping.Value) mapping.Value {
	if v.Kind() == mapping.KindNull {
		return v
	}
	return mapping.TimeValue(time.UnixMilli(v.Int()))
}

// numbers are n result columns.
func numbers(n int) []sqlrecord.Column { return slices.Repeat([]sqlrecord.Column{sqlrecord.Number}, n) }

// key names a pair.
func (p pair) key() string { return strconv.FormatInt(p.client.ID, 10) + " " + p.resource.Name }
