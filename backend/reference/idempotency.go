package reference

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// Recall implements backend.Tx. SQLite runs one write at a time; on PostgreSQL the key is locked
// until the transaction ends.
func (t *txn) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	if err := t.lockKey(ctx, client, key); err != nil {
		return nil, err
	}
	var stored *backend.StoredAnswer
	err := t.conn.Query(ctx, `SELECT sum, answer FROM idempotency WHERE client_id = ?1 AND key = ?2 AND created_at > ?3`,
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

// lockKey takes the key for this transaction, or fails with IdempotencyInUse while another
// transaction has it.
func (t *txn) lockKey(ctx context.Context, client auth.Client, key string) error {
	if !t.postgres() {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", client.ID, key))
	lock := int64(binary.BigEndian.Uint64(sum[:]))
	taken, _, err := t.one(ctx, `SELECT pg_try_advisory_xact_lock(?1::bigint)::int`, mapping.IntValue(lock))
	if err != nil {
		return fmt.Errorf("lock an idempotency key: %w", err)
	}
	if taken == 0 {
		return mapping.Fail(mapping.IdempotencyInUse)
	}
	return nil
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
