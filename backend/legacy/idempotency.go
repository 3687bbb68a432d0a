package legacy

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// The vendor's table for answers under idempotency keys has these columns:
// client_id (number), idem_key (400 characters), request_sum (64 characters),
// answer (long text) and created_at (a 64-bit number: milliseconds since 1970),
// with client_id and idem_key as its key. Rows older
// than a day are of no use.
const (
	findAnswer = "SELECT request_sum, answer FROM %s WHERE client_id = :client AND idem_key = :key AND created_at > :created"
	addAnswer  = "INTO %s (client_id, idem_key, request_sum, answer, created_at) VALUES (:client, :key, :sum, :answer, :created)"
	setAnswer  = "UPDATE %s SET request_sum = :sum, answer = :answer, created_at = :created WHERE client_id = :client AND idem_key = :key"
)

// kept is a row of the table.
type kept struct {
	client           auth.Client
	key, sum, answer string
	created          int64
}

// onAnswers is a statement on the table.
func (t *txn) onAnswers(sql string, row kept) (text string, args []mapping.Value) {
	return sqlrecord.NewWriter(t.d, func(w *sqlrecord.Writer, name string) {
		w.Add(w.Arg(map[string]mapping.Value{
			"client": mapping.IntValue(row.client.ID), "key": mapping.TextValue(row.key), "sum": mapping.TextValue(row.sum),
			"answer": mapping.TextValue(row.answer), "created": mapping.IntValue(row.created),
		}[name]))
	}).Expr(Parse(fmt.Sprintf(sql, t.answers))).Statement()
}

var foreignText = sqlrecord.Column{Type: mapping.Text, Foreign: true}

// Recall implements backend.Tx. In the vendor's table the key is locked until the transaction
// ends; in the id store it is taken right before the commit.
func (t *txn) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	if t.answers == "" {
		return t.recallFromIDStore(ctx, client, key)
	}
	m, err := t.recall(ctx, client, key)
	return m, t.wrap("recall an answer", err)
}

func (t *txn) recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	taken, err := sqlrecord.TryLock(ctx, t.conn, fmt.Sprintf("%s %d %s", t.answers, client.ID, key))
	switch {
	case err != nil:
		return nil, fmt.Errorf("take a lock: %w", err)
	case !taken:
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	}
	if t.d.LocksGaps {
		// The row for the answer, still empty, unless there is one. Without it MySQL would lock the gap
		// where the row is missing, and no other transaction, of whatever client, could store an answer
		// there until this one ends.
		text, args := t.onAnswers("INSERT IGNORE "+addAnswer, kept{client: client, key: key})
		if _, err := t.conn.Exec(ctx, text, args...); err != nil {
			return nil, err
		}
	}
	text, args := t.onAnswers(findAnswer, kept{client: client, key: key, created: t.now().Add(-backend.StoredAnswerLife).UnixMilli()})
	row, err := sqlrecord.One(ctx, t.conn, text, []sqlrecord.Column{foreignText, foreignText}, args...)
	if err != nil || row == nil {
		return nil, err
	}
	m := &backend.StoredAnswer{Answer: []byte(row[1].Text())}
	sum := row[0].Text()
	if n, err := hex.Decode(m.Sum[:], []byte(sum[:min(64, len(sum))])); err != nil || n != len(m.Sum) {
		return nil, errors.New("the sum stored under an idempotency key is not valid")
	}
	return m, nil
}

func (t *txn) recallFromIDStore(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	if t.idStore == nil {
		return nil, errors.New("there is nowhere to keep answers under idempotency keys")
	}
	return t.tx.tries.Recall(ctx, client, key)
}

// Remember implements backend.Tx. An answer that must live longer than a day is dated in the future,
// so that it expires later.
func (t *txn) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	if t.answers == "" {
		t.tx.tries.Remember(m)
		return nil
	}
	row := kept{client, key, hex.EncodeToString(m.Sum[:]), string(m.Answer), t.now().Add(max(0, m.Life-backend.StoredAnswerLife)).UnixMilli()}
	text, args := t.onAnswers(setAnswer, row)
	n, err := t.conn.Exec(ctx, text, args...)
	if err == nil && n == 0 {
		text, args = t.onAnswers("INSERT "+addAnswer, row)
		_, err = t.conn.Exec(ctx, text, args...)
	}
	return t.wrap("remember an answer", err)
}
