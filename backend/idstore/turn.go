package idstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

const (
	// longestTurn is how long a turn lasts at most if its context has no deadline.
	longestTurn = time.Minute
	// firstLook and longestLook are the shortest and longest pause between two looks of a
	// waiting caller.
	firstLook, longestLook = 5 * time.Millisecond, 100 * time.Millisecond
)

// Take waits until it is this caller's turn to judge and change a record, which no other
// gateway that shares the store then has until release is called. It fails with
// backend.ErrCollision if another one has it when ctx ends. client is 0 if all clients share
// the record. A turn ends at the deadline of ctx at the latest: so a gateway that dies does
// not block others for longer, and all work of the turn must be done under ctx.
//
// A turn is a row and not a lock of the session: a pooler would give that to somebody else,
// and it would take a connection for as long as the turn lasts. A store in SQLite belongs to
// one gateway, so there is nobody to wait for.
func (s *Store) Take(ctx context.Context, resource string, client int64, id int32) (release func(ctx context.Context), err error) {
	if s.db.Dialect().Name != sqlrecord.Postgres().Name {
		return func(context.Context) {}, nil
	}
	holder, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	name := []mapping.Value{mapping.TextValue(resource), mapping.IntValue(client), mapping.IntValue(int64(id)), mapping.TextValue(holder.String())}
	held := false // by another gateway
	for look := firstLook; ; look = min(2*look, longestLook) {
		taken, err := s.tryTake(ctx, name)
		if err == nil && taken {
			return func(ctx context.Context) { s.release(ctx, name) }, nil
		}
		if err == nil {
			held, err = true, auth.Sleep(ctx, look/2+rand.N(look))
		}
		if err == nil {
			continue
		}
		if held && ctx.Err() != nil { // the deadline may pass during a look as well as between two
			return nil, fmt.Errorf("%w: another gateway writes %s %d: %w", backend.ErrCollision, resource, id, ctx.Err())
		}
		return nil, failed("take the turn to write a "+resource, err)
	}
}

func (s *Store) tryTake(ctx context.Context, name []mapping.Value) (taken bool, err error) {
	left := longestTurn
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	n, err := sqlrecord.Change(ctx, s.db, `INSERT INTO kept_turn (resource, client_id, id, holder, until) VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 microsecond')
		ON CONFLICT (resource, client_id, id) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE kept_turn.until <= clock_timestamp()`,
		append(name[:len(name):len(name)], mapping.IntValue(left.Microseconds()))...)
	return n == 1, err
}

// release ends a turn. If that fails, the turn ends at its deadline.
func (s *Store) release(ctx context.Context, name []mapping.Value) {
	_, _ = sqlrecord.Change(ctx, s.db, `DELETE FROM kept_turn WHERE resource = $1 AND client_id = $2 AND id = $3 AND holder = $4`, name...)
}
