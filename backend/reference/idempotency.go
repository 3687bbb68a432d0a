package reference

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// Recall implements backend.Tx. The key is locked until the transaction ends.
func (t *txn) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	taken, err := sqlrecord.TryLock(ctx, t.conn, fmt.Sprintf("%d %s", client.ID, key))
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock an idempotency key: %w", err)
	case !taken:
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	}
	var stored *backend.StoredAnswer
	err = t.conn.Query(ctx, `SELECT sum, answer FROM idempotency WHERE client_id = ?1 AND key = ?2 AND created_at > ?3`,
		[]sqlrecord.Column{octets, octets},
		[]mapping.Value{mapping.IntValue(client.ID), mapping.TextValue(key), mapping.IntValue(t.storedFrom())},
		func(row []mapping.Value) error {
			stored = &backend.StoredAnswer{Answer: []byte(row[1].Text())}
			if copy(stored.Sum[:], row[0].Text()) != len(stored.Sum) {
				return fmt.Errorf("the sum under an idempotency key has %d bytes", len(row[0].Text()))
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("recall an answer: %w", err)
	}
	return stored, nil
}

// Remember implements backend.Tx. It overwrites an answer that is too old to be recalled.
// A longer lifetime is stored as a later time of storing.
func (t *txn) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	_, err := t.conn.Exec(ctx, `INSERT INTO idempotency (client_id, key, sum, answer, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (client_id, key) DO UPDATE SET sum = excluded.sum, answer = excluded.answer, created_at = excluded.created_at`,
		mapping.IntValue(client.ID), mapping.TextValue(key), mapping.BytesValue(m.Sum[:]), mapping.BytesValue(m.Answer), mapping.IntValue(t.now().Add(max(0, m.Life-backend.StoredAnswerLife)).UnixMilli()))
	if err != nil {
		return fmt.Errorf("remember an answer: %w", err)
	}
	return nil
}

// storedFrom is the moment after which a stored answer is still recalled.
func (t *txn) storedFrom() int64 { return t.now().Add(-backend.StoredAnswerLife).UnixMilli() }
