package sqlrecord

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// position is how far a primary has written its log.
type position struct {
	lsn      string // all that anybody can have seen is before it
	timeline string // eight hexadecimal digits; each promotion of a standby begins another one
}

// positions asks for the primary's position on behalf of all lists that wait for it. The
// answer to a question in progress may be older than a list, so lists that arrive meanwhile
// share the next question.
type positions struct {
	find func(context.Context) (position, error) // which takes no longer than it may

	mu            sync.Mutex
	current, next *question
}

type question struct {
	answered chan struct{}
	position position
	err      error
}

// ask returns a position that the primary has reached since ask was called.
func (p *positions) ask(ctx context.Context) (position, error) {
	p.mu.Lock()
	q, before := p.next, p.current
	first := q == nil
	if first {
		q = &question{answered: make(chan struct{})}
		p.next = q
	}
	p.mu.Unlock()
	if first {
		p.put(ctx, q, before)
	}
	select {
	case <-q.answered:
		return q.position, q.err
	case <-ctx.Done():
		return position{}, ctx.Err()
	}
}

// put asks a question once the previous one is answered. Whoever started it completes it for
// the others.
func (p *positions) put(ctx context.Context, q, before *question) {
	if before != nil {
		<-before.answered
	}
	p.mu.Lock()
	p.current, p.next = q, nil
	p.mu.Unlock()
	q.position, q.err = p.find(context.WithoutCancel(ctx))
	p.mu.Lock()
	if p.current == q {
		p.current = nil
	}
	p.mu.Unlock()
	close(q.answered)
}

// position asks the primary. Nobody sees a transaction before its commit is flushed, so the
// flushed position covers everything that anybody has seen. Commits that do not wait for the
// flush are the exception; after these it takes the end of the log as written so far.
func (r *Replica) position(ctx context.Context) (at position, err error) {
	const text = `SELECT lsn::text, left(pg_walfile_name(lsn), 8) FROM (SELECT CASE current_setting('synchronous_commit')
		WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END AS lsn) at`
	ctx, cancel := context.WithTimeout(ctx, r.o.bound)
	defer cancel()
	conn, err := r.primary.acquire(ctx)
	if err != nil {
		return at, err
	}
	defer conn.Release()
	err = conn.QueryRow(ctx, text).Scan(&at.lsn, &at.timeline)
	return at, err
}

// followed is the name under which a connection stores the timeline that its server follows.
const followed = "frontdesk timeline"

// follows checks that a position of the primary means the same to the server of a connection:
// it belongs to the same cluster and database, and is on the same timeline. It checks once,
// and again when the primary changes.
func (r *Replica) follows(ctx context.Context, conn *pgxpool.Conn, at position) error {
	known := conn.Conn().PgConn().CustomData()
	if known[followed] == at.timeline {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.bound)
	defer cancel()
	database, err := r.database(ctx)
	if err != nil {
		return fmt.Errorf("%w as far as is known: %w", errReplicaBehind, err)
	}
	own, err := identityOf(ctx, conn)
	if err != nil {
		return err
	}
	if own != database {
		return fmt.Errorf("it is of another database: %s of system %s, and the primary is %s of system %s", own.name, own.system, database.name, database.system)
	}
	const text = `SELECT lpad(to_hex(greatest(c.timeline_id, r.min_recovery_end_timeline)), 8, '0') FROM pg_control_checkpoint() c, pg_control_recovery() r`
	var timeline string
	if err := conn.QueryRow(ctx, text).Scan(&timeline); err != nil {
		return err
	}
	if timeline = strings.ToUpper(timeline); timeline != at.timeline {
		return notFollowing(timeline, at.timeline)
	}
	known[followed] = timeline
	return nil
}

// identity distinguishes databases, wherever copies of them are.
type identity struct{ system, name string }

func identityOf(ctx context.Context, conn *pgxpool.Conn) (of identity, err error) {
	const text = "SELECT system_identifier::text, current_database()::text FROM pg_control_system()"
	err = conn.QueryRow(ctx, text).Scan(&of.system, &of.name)
	return of, err
}

// database is the identity of the primary. It stays the same when another server takes over.
func (r *Replica) database(ctx context.Context) (identity, error) {
	conn, err := r.primary.acquire(ctx)
	if err != nil {
		return identity{}, err
	}
	defer conn.Release()
	return identityOf(ctx, conn)
}

// listOn is List on a connection that is not yet in a transaction.
func (s *Store) listOn(ctx context.Context, conn *pgxpool.Conn, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	bound := s.On(&postgresConn{db: s.db.(*postgresDB), conn: conn.Conn()})
	if !q.Total && !s.counts.isDeep(q) && !r.HasArray(q.Fields) {
		return bound.List(ctx, r, q)
	}
	bound.snapshotted = true
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return page, err
	}
	if page, err = bound.List(ctx, r, q); err != nil {
		return page, err // releasing it closes a connection that is still in a transaction
	}
	return page, tx.Commit(ctx)
}
