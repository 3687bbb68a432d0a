package legacy

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// The vendor's table for answers under idempotency keys has these columns:
// client_id (number), idem_key (400 characters), request_sum (64 characters),
// answer (long text) and created_at (a 64-bit number: milliseconds since 1970),
// with client_id and idem_key as its key. Rows older
// than a day are of no use.
const (
	answerClient  = "client_id"
	answerKey     = "idem_key"
	answerSum     = "request_sum"
	answerText    = "answer"
	answerCreated = "created_at"
)

// acrossTries is what is known over all runs of a transaction: the state of its idempotency
// key, which rows were refused with a key made for them, and which filters have values that
// their columns cannot hold.
type acrossTries struct {
	client  auth.Client
	key     string // asked for in the id store; "" for none
	taken   bool   // the key, in the id store
	answer  *backend.StoredAnswer
	refused []string
	unfit   []backend.Filter // what no record can have, each with one value
}

// Recall implements backend.Tx. In the vendor's table the key is locked until the transaction
// ends; in the id store it is taken right before the commit.
func (t *txn) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	if t.answers == "" {
		return t.recallFromIDStore(ctx, client, key)
	}
	taken, release, err := t.d.tryLock(ctx, t.conn, fmt.Sprintf("%s %d %s", t.answers, client.ID, key))
	switch {
	case err != nil:
		return nil, t.wrap("recall an answer", fmt.Errorf("take a lock: %w", err))
	case !taken:
		return nil, mapping.Fail(mapping.IdempotencyInUse)
	case release != nil:
		t.tx.after = append(t.tx.after, release)
	}
	if t.isMySQL() {
		if err := t.reserve(ctx, client, key); err != nil {
			return nil, t.wrap("recall an answer", err)
		}
	}
	b := newStatement(t.d).add("SELECT ", t.d.quote(answerSum), ", ", t.d.quote(answerText), " FROM ", t.answers)
	t.underKey(b, client, key).add(" AND ", t.d.quote(answerCreated), " > ").arg(intRaw(t.now().Add(-backend.StoredAnswerLife).UnixMilli()))
	row, err := queryOne(ctx, t.conn, b)
	if err != nil || row == nil {
		return nil, t.wrap("recall an answer", err)
	}
	m := &backend.StoredAnswer{Answer: []byte(row[1].String())}
	if n, err := hex.Decode(m.Sum[:], []byte(row[0].String()[:min(64, len(row[0].String()))])); err != nil || n != len(m.Sum) {
		return nil, errors.New("recall an answer: the sum stored under an idempotency key is not valid")
	}
	return m, nil
}

// reserve adds the row for the answer, still empty, unless it exists. Without it MySQL would
// lock the gap where the row is missing, and no other transaction, of whatever client, could
// store an answer there until this one ends.
func (t *txn) reserve(ctx context.Context, client auth.Client, key string) error {
	b := t.answer(newStatement(t.d).add("INSERT IGNORE INTO "), client, key, "", "", 0)
	_, err := t.conn.ExecContext(ctx, b.ask(ctx), b.args...)
	return err
}

// answer appends the table, and the values of a row of it.
func (t *txn) answer(b *statement, client auth.Client, key, sum, text string, created int64) *statement {
	b.add(t.answers, " (")
	for i, c := range []string{answerClient, answerKey, answerSum, answerText, answerCreated} {
		b.add(comma(i), t.d.quote(c))
	}
	return b.add(") VALUES (").list([]sheet.Raw{intRaw(client.ID), textRaw(key), textRaw(sum), textRaw(text), intRaw(created)}).add(")")
}

func (t *txn) underKey(b *statement, client auth.Client, key string) *statement {
	return b.add(" WHERE ", t.d.quote(answerClient), " = ").arg(intRaw(client.ID)).add(" AND ", t.d.quote(answerKey), " = ").arg(textRaw(key))
}

func (t *txn) recallFromIDStore(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	switch {
	case t.idStore == nil:
		return nil, errors.New("there is nowhere to keep answers under idempotency keys")
	case t.tx.tries.taken:
		return nil, nil // by a try before this one
	}
	t.tx.tries.client, t.tx.tries.key = client, key
	return t.idStore.Recall(ctx, client, key)
}

// takeKey takes the key of a transaction right before its commit: if the process dies earlier,
// the database undoes the work. A transaction whose time is up by then is not committed.
func (t *txn) takeKey(ctx context.Context) error {
	m := t.tx.tries
	if m.key == "" || m.taken {
		return nil
	}
	err := t.idStore.Begin(ctx, m.client, m.key)
	m.taken = err == nil
	return cmp.Or(err, ctx.Err())
}

// Remember implements backend.Tx. An answer that is to live longer than a day is dated later,
// so that it expires later.
func (t *txn) Remember(ctx context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	if t.answers == "" {
		t.tx.tries.answer = &m
		return nil
	}
	sum, text, created := hex.EncodeToString(m.Sum[:]), string(m.Answer), t.now().Add(max(0, m.Life-backend.StoredAnswerLife)).UnixMilli()
	b := newStatement(t.d).add("UPDATE ", t.answers, " SET ", t.d.quote(answerSum), " = ").arg(textRaw(sum)).
		add(", ", t.d.quote(answerText), " = ").arg(textRaw(text)).add(", ", t.d.quote(answerCreated), " = ").arg(intRaw(created))
	n, err := change(ctx, t.conn, t.underKey(b, client, key))
	if err == nil && n == 0 {
		b = t.answer(newStatement(t.d).add("INSERT INTO "), client, key, sum, text, created)
		_, err = t.conn.ExecContext(ctx, b.ask(ctx), b.args...)
	}
	return t.wrap("remember an answer", err)
}

// settle ends what was begun in the id store. The answer is stored once the write is known to
// have happened, and the key released once it is known not to have. If that is unclear the key
// stays taken, so that the write happens at most once.
func (s *Store) settle(ctx context.Context, m *acrossTries, err error) error {
	if !m.taken || errors.Is(err, errUnclear) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err != nil || m.answer == nil {
		if err := s.idStore.Abandon(ctx, m.client, m.key); err != nil {
			s.log.Error("an idempotency key was not given back; it stays in use for 24 hours", zap.Error(err))
		}
		return err
	}
	if err := s.idStore.Finish(ctx, m.client, m.key, *m.answer); err != nil {
		s.log.Error("the answer under an idempotency key is not kept; the key stays in use for 24 hours", zap.Error(err))
	}
	return nil
}
