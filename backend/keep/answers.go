package keep

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// purgeAtOnce bounds how many expired answers one Begin clears away.
const purgeAtOnce = 100

// Begin marks, durably, that the work under an idempotency key begins, or
// returns the answer that is kept under it. It fails with IdempotencyInUse where
// the work has begun and not ended: it is under way, or whoever did it died and
// nobody knows how far it came. Such a key is free again after 24 hours: the work
// happens at most once.
func (s *Store) Begin(ctx context.Context, client auth.Client, key string) (memo *backend.Memo, err error) {
	now := s.now()
	expired, expires := mapping.IntValue(now.UnixMilli()), mapping.IntValue(now.Add(backend.MemoLife).UnixMilli())
	id, name := mapping.IntValue(client.ID), mapping.TextValue(key)
	begun := false
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		memo, begun = nil, false
		if _, err := c.Exec(ctx, s.text(`DELETE FROM kept_answer WHERE (client_id, key) IN
			(SELECT client_id, key FROM kept_answer WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) OR client_id = ?3 AND key = ?4 AND expires_at <= ?1`),
			expired, mapping.IntValue(purgeAtOnce), id, name); err != nil {
			return err
		}
		added, err := c.Exec(ctx, s.text(`INSERT INTO kept_answer (client_id, key, expires_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING`),
			id, name, expires)
		if err != nil || added == 1 {
			begun = added == 1
			return err
		}
		row, err := s.row(ctx, c, `SELECT sum, answer FROM kept_answer WHERE client_id = ?1 AND key = ?2`, []sqlrecord.Column{octets, octets}, id, name)
		if err != nil || row == nil || !row[1].IsSet() {
			return err
		}
		memo = &backend.Memo{Answer: []byte(row[1].Text())}
		if copy(memo.Sum[:], row[0].Text()) != len(memo.Sum) {
			return fmt.Errorf("the sum under an idempotency key has %d bytes", len(row[0].Text()))
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("begin under an idempotency key: %w", err)
	case memo == nil && !begun:
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	default:
		return memo, nil
	}
}

// Finish keeps the answer of work that has begun under the key: for 24 hours, or
// for m.Life where that is longer.
func (s *Store) Finish(ctx context.Context, client auth.Client, key string, m backend.Memo) error {
	return s.end(ctx, `UPDATE kept_answer SET sum = ?3, answer = ?4, expires_at = ?5 WHERE client_id = ?1 AND key = ?2 AND answer IS NULL`,
		mapping.IntValue(client.ID), mapping.TextValue(key), mapping.BytesValue(m.Sum[:]), mapping.BytesValue(m.Answer),
		mapping.IntValue(s.now().Add(max(backend.MemoLife, m.Life)).UnixMilli()))
}

// Abandon frees the key of work that has begun and left no trace.
func (s *Store) Abandon(ctx context.Context, client auth.Client, key string) error {
	return s.end(ctx, `DELETE FROM kept_answer WHERE client_id = ?1 AND key = ?2 AND answer IS NULL`,
		mapping.IntValue(client.ID), mapping.TextValue(key))
}

func (s *Store) end(ctx context.Context, sql string, args ...mapping.Value) error {
	err := s.db.Write(ctx, func(c sqlrecord.Conn) error {
		_, err := c.Exec(ctx, s.text(sql), args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("end under an idempotency key: %w", err)
	}
	return nil
}
