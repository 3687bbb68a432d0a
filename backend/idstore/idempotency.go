package idstore

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// purgeAtOnce bounds how many expired answers one Begin removes.
const purgeAtOnce = 100

// Recall returns the answer that is kept under an idempotency key, nil if there is none. It
// fails with IdempotencyInUse if the work has begun and not ended: it is under way, or its
// gateway died and nobody knows how far the work came. Such a key is free again after 24
// hours, so the work happens at most once.
func (s *Store) Recall(ctx context.Context, client auth.Client, key string) (memo *backend.StoredAnswer, err error) {
	var row []mapping.Value
	err = s.db.Read(ctx, func(c sqlrecord.Conn) (err error) {
		row, err = sqlrecord.One(ctx, c, `SELECT sum, answer FROM kept_answer WHERE client_id = ?1 AND key = ?2 AND expires_at > ?3`,
			[]sqlrecord.Column{octets, octets}, mapping.IntValue(client.ID), mapping.TextValue(key), mapping.IntValue(s.now().UnixMilli()))
		return err
	})
	switch {
	case err != nil:
		return nil, failed("recall under an idempotency key", err)
	case row == nil:
		return nil, nil
	case !row[1].IsSet():
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	}
	memo = &backend.StoredAnswer{Answer: []byte(row[1].Text())}
	if n := copy(memo.Sum[:], row[0].Text()); n != len(memo.Sum) {
		return nil, failed("recall under an idempotency key", fmt.Errorf("its sum has %d bytes", n))
	}
	return memo, nil
}

// Begin marks, durably, that the work under an idempotency key begins. It fails with
// backend.ErrStale if other work under the key has begun, or been done, since Recall. The mark is
// the time when the key expires: whoever takes the key after that gets a later one.
func (s *Store) Begin(ctx context.Context, client auth.Client, key string) (mark int64, err error) {
	now := s.now()
	mark = now.Add(backend.StoredAnswerLife).UnixMilli()
	expired, id, name := mapping.IntValue(now.UnixMilli()), mapping.IntValue(client.ID), mapping.TextValue(key)
	var begun int64
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM kept_answer WHERE (client_id, key) IN
			(SELECT client_id, key FROM kept_answer WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) OR client_id = ?3 AND key = ?4 AND expires_at <= ?1`,
			expired, mapping.IntValue(purgeAtOnce), id, name)
		if err == nil {
			begun, err = c.Exec(ctx, `INSERT INTO kept_answer (client_id, key, expires_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING`, id, name, mapping.IntValue(mark))
		}
		return err
	})
	switch {
	case err != nil:
		return 0, failed("begin under an idempotency key", err)
	case begun == 0:
		return 0, fmt.Errorf("%w: an idempotency key was taken", backend.ErrStale)
	default:
		return mark, nil
	}
}

// Finish keeps the answer of work that has begun under the key: for 24 hours, or
// for m.Life if that is longer.
func (s *Store) Finish(ctx context.Context, client auth.Client, key string, mark int64, m backend.StoredAnswer) error {
	return s.end(ctx, `UPDATE kept_answer SET sum = ?4, answer = ?5, expires_at = ?6 WHERE client_id = ?1 AND key = ?2 AND expires_at = ?3 AND answer IS NULL`,
		mapping.IntValue(client.ID), mapping.TextValue(key), mapping.IntValue(mark), mapping.BytesValue(m.Sum[:]), mapping.BytesValue(m.Answer),
		mapping.IntValue(s.now().Add(max(backend.StoredAnswerLife, m.Life)).UnixMilli()))
}

// Abandon frees the key of work that has begun and had no effect.
func (s *Store) Abandon(ctx context.Context, client auth.Client, key string, mark int64) error {
	return s.end(ctx, `DELETE FROM kept_answer WHERE client_id = ?1 AND key = ?2 AND expires_at = ?3 AND answer IS NULL`,
		mapping.IntValue(client.ID), mapping.TextValue(key), mapping.IntValue(mark))
}

func (s *Store) end(ctx context.Context, sql string, args ...mapping.Value) error {
	if _, err := sqlrecord.Change(ctx, s.db, sql, args...); err != nil {
		return failed("end under an idempotency key", err)
	}
	return nil
}
