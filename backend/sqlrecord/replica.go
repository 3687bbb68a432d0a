package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Replica answers lists from a standby of a PostgreSQL database, with the same answer that the
// primary would give: the standby must have reached the position that the primary had when the
// list was asked for. Other lists go to the primary. It is safe for concurrent use.
type Replica struct {
	primary, standby *postgresDB
	records          *Store
	o                ReplicaOptions
	positions        positions

	fault    atomic.Pointer[error] // why it is not used; nil while it is
	behind   atomic.Bool           // it was waited for in vain
	seen     atomic.Uint64         // how far it was, at its furthest
	counts   [len(replicaOutcomes)]atomic.Int64
	stop     context.CancelFunc
	watching sync.WaitGroup
}

// ReplicaOptions say where a replica is and how it is used.
type ReplicaOptions struct {
	DSN     string
	Model   *mapping.Model
	Now     func() time.Time
	Readers int // connections; 0 leaves it to the DSN, else to pgx
	// Wait is how long a list waits for the replica to come up to date; 0 has it
	// look once.
	Wait time.Duration
	// Pause is how often a replica is looked at that is away; default 5 s.
	Pause time.Duration
	// OnState is told why the replica is no longer used, and with nil that it is
	// again; may be nil. It must return at once.
	OnState func(fault error)

	bound time.Duration // of every question to the two servers before a list; 0 for lookTimeout
}

const lookTimeout = time.Second

// ReplicaOutcome says who answered a list, and why.
type ReplicaOutcome string

// The outcomes. But for the first one the primary answers.
const (
	ReplicaAnswered ReplicaOutcome = "replica"
	ReplicaBehind   ReplicaOutcome = "behind" // it had not come as far as the primary
	ReplicaBusy     ReplicaOutcome = "busy"   // it had no connection free, or broke the list off
	ReplicaAway     ReplicaOutcome = "away"   // it does not answer, or is no replica of this database
)

var replicaOutcomes = [...]ReplicaOutcome{ReplicaAnswered, ReplicaBehind, ReplicaBusy, ReplicaAway}

var (
	errReplicaBehind = errors.New("the replica is behind")
	errReplicaBusy   = errors.New("the replica is busy")
)

// OpenReplica opens the replica of a database that OpenPostgres has opened; Close leaves that
// database open. A replica that does not answer counts as away.
func OpenReplica(ctx context.Context, primary DB, o ReplicaOptions) (*Replica, error) {
	p, ok := primary.(*postgresDB)
	if !ok {
		return nil, errors.New("only a PostgreSQL database has a replica")
	}
	config, err := poolConfig(o.DSN, Options{Readers: o.Readers})
	if err != nil {
		return nil, fmt.Errorf("open the replica: %w", err)
	}
	standby, err := newPostgres(ctx, config, Options{})
	if err != nil {
		return nil, fmt.Errorf("open the replica: %w", err)
	}
	o.Pause, o.bound = cmp.Or(o.Pause, 5*time.Second), cmp.Or(o.bound, lookTimeout)
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	r := &Replica{primary: p, standby: standby, records: New(standby, o.Model, o.Now), o: o}
	r.positions.find = r.position
	r.look(ctx)
	watched, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.watching.Go(func() { r.watch(watched) })
	return r, nil
}

// Close ends all work and waits for it. The primary stays open.
func (r *Replica) Close() error {
	r.stop()
	r.watching.Wait()
	return r.standby.Close()
}

// Fault is why the replica is not used; nil if it is used.
func (r *Replica) Fault() error {
	if fault := r.fault.Load(); fault != nil {
		return *fault
	}
	return nil
}

// Lists counts what became of lists.
func (r *Replica) Lists() map[ReplicaOutcome]int64 {
	all := make(map[ReplicaOutcome]int64, len(replicaOutcomes))
	for i, outcome := range replicaOutcomes {
		all[outcome] = r.counts[i].Load()
	}
	return all
}

func (r *Replica) count(outcome ReplicaOutcome) {
	for i := range replicaOutcomes {
		if replicaOutcomes[i] == outcome {
			r.counts[i].Add(1)
		}
	}
}

// List answers a list as Store.List does, or refuses: then the primary has to answer.
func (r *Replica) List(ctx context.Context, res *mapping.Resource, q backend.Query) (backend.Page, bool) {
	if r.fault.Load() != nil {
		r.count(ReplicaAway)
		return backend.Page{}, false
	}
	page, err := r.list(ctx, res, q)
	switch {
	case err == nil:
		r.count(ReplicaAnswered)
		return page, true
	case ctx.Err() != nil:
	case errors.Is(err, errReplicaBehind):
		r.count(ReplicaBehind)
	case errors.Is(err, errReplicaBusy), brokenOff(err):
		r.count(ReplicaBusy)
	default:
		r.count(ReplicaAway)
		r.left(err)
	}
	return backend.Page{}, false
}

func (r *Replica) list(ctx context.Context, res *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	at, err := r.primaryAt(ctx, r.seen.Load())
	if err != nil {
		return page, err
	}
	if ends, ok := ctx.Deadline(); ok { // the primary is to have as long
		within, cancel := context.WithTimeout(ctx, time.Until(ends)/2)
		defer cancel()
		ctx = within
	}
	conn, lsn, err := r.upToDate(ctx, at)
	if err != nil {
		return page, err
	}
	defer conn.Release()
	r.saw(lsn)
	page, err = r.records.listOn(ctx, conn, res, q)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", errReplicaBusy, err)
	}
	return page, err
}

// upToDate returns a connection to the replica once it has reached the primary's position, and
// the replica's own position. The caller releases the connection.
func (r *Replica) upToDate(ctx context.Context, at position) (conn *pgxpool.Conn, lsn uint64, err error) {
	if conn, err = r.acquire(ctx); err != nil {
		return nil, 0, err
	}
	if err = r.follows(ctx, conn, at); err == nil {
		lsn, err = r.await(ctx, conn, at)
	}
	if err != nil {
		conn.Release()
		return nil, 0, err
	}
	return conn, lsn, nil
}

// await polls until the replica has reached the primary's position, for as long as a list may
// wait. Once a list has waited in vain, no other waits until the replica has caught up.
func (r *Replica) await(ctx context.Context, conn *pgxpool.Conn, at position) (lsn uint64, err error) {
	pause, left := time.Millisecond, r.o.Wait
	for {
		lsn, reached, err := r.reached(ctx, conn, at)
		if err != nil {
			return 0, err
		}
		if reached {
			r.behind.Store(false)
			return lsn, nil
		}
		if left <= 0 || r.behind.Load() {
			r.behind.Store(true)
			return 0, errReplicaBehind
		}
		pause = min(pause, left)
		left -= pause
		if err := auth.Sleep(ctx, pause); err != nil {
			return 0, fmt.Errorf("%w: %w", errReplicaBehind, err)
		}
		pause *= 2
	}
}

func (r *Replica) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.bound)
	defer cancel()
	conn, err := r.standby.acquire(ctx)
	if stat := r.standby.pool.Stat(); err != nil && stat.AcquiredConns() == stat.MaxConns() {
		err = fmt.Errorf("%w: %w", errReplicaBusy, err)
	}
	return conn, err
}

// reached returns the replica's position, and tells whether it has reached that of the primary
// on the same timeline. Another primary's timeline may have branched off from the same one.
func (r *Replica) reached(ctx context.Context, conn *pgxpool.Conn, at position) (lsn uint64, reached bool, err error) {
	const text = `SELECT pg_is_in_recovery(), coalesce(lsn >= $1::text::pg_lsn, false), coalesce(lsn::text, ''), coalesce(upper(lpad(to_hex(w.received_tli), 8, '0')), '')
		FROM pg_last_wal_replay_lsn() lsn, pg_stat_get_wal_receiver() w`
	ctx, cancel := context.WithTimeout(ctx, r.o.bound)
	defer cancel()
	var standby bool
	var replayed, timeline string // no timeline where the role may not know it
	if err := conn.QueryRow(ctx, text, at.lsn).Scan(&standby, &reached, &replayed, &timeline); err != nil {
		return 0, false, err
	}
	if !standby {
		return 0, false, errors.New("it is no standby: it takes writes of its own")
	}
	if timeline != "" && timeline != at.timeline {
		return 0, false, notFollowing(timeline, at.timeline)
	}
	return lsnNumber(replayed), reached, nil
}

// brokenOff tells whether a working replica ended a list: the list was in the way of its
// replay, or took too long.
func brokenOff(err error) bool {
	var pg *pgconn.PgError
	return collided(err) || errors.As(err, &pg) && pg.Code == "57014"
}

// left stops the use of the replica until it is found to be back.
func (r *Replica) left(fault error) {
	if r.fault.Swap(&fault) == nil {
		r.o.OnState(fault)
	}
}

// watch checks regularly whether a replica that is away is back.
func (r *Replica) watch(ctx context.Context) {
	ticks := time.NewTicker(r.o.Pause)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if r.fault.Load() != nil {
				r.look(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// look finds out whether the replica can be used. If the primary does not tell enough to
// decide, nothing changes. The replica's earlier position proves nothing: it may have been
// made anew from a primary that is less far. But lists in progress rely on it until the
// replica is found to be back.
func (r *Replica) look(ctx context.Context) {
	at, err := r.positions.ask(ctx)
	if err != nil {
		return
	}
	conn, lsn, err := r.upToDate(ctx, at)
	if err == nil {
		conn.Release()
		_, err = r.primaryAt(ctx, lsn)
	}
	switch {
	case err == nil, errors.Is(err, errReplicaBehind), errors.Is(err, errReplicaBusy):
		r.seen.Store(lsn)
		if r.fault.Swap(nil) != nil {
			r.o.OnState(nil)
		}
	case ctx.Err() == nil:
		r.left(err)
	}
}
