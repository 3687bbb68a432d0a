package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

var _ backend.Tx = (*txn)(nil)

// txn is a write under way: a state of its own, which begins as a copy of the one before.
type txn struct {
	state
	now time.Time
}

// memoKey is an idempotency key of a client.
type memoKey struct {
	client int64
	key    string
}

// kept is an answer under such a key.
type kept struct {
	backend.StoredAnswer
	until time.Time
}

// Get implements backend.Reader.
func (t *txn) Get(_ context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	return t.get(r, q)
}

// List implements backend.Reader.
func (t *txn) List(_ context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	return t.list(r, q)
}

// Create implements backend.Tx.
func (t *txn) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	r := rec.Resource
	rec = rec.Clone()
	t.last[r]++
	rec.Values[r.ID], rec.Values[r.CreatedAt], rec.Values[r.ModifiedAt] = mapping.IntValue(int64(t.last[r])), mapping.TimeValue(t.now), mapping.TimeValue(t.now)
	rec.Version, rec.Owner = 1, client.ID
	for i := range rec.Values {
		if rec.Values[i].IsAbsent() && r.Fields[i].Type != mapping.Array {
			rec.Values[i] = r.Fields[i].DefaultValue()
		}
	}
	elements := rec.Children
	rec.Children = nil // they are stored as records of their own
	t.records[r] = append(slices.Clone(t.records[r]), rec)
	for _, i := range slices.Sorted(maps.Keys(elements)) {
		for _, e := range elements[i] {
			e.Set(r.Fields[i].ArrayKey, rec.Values[r.ID])
			if _, err := t.Create(ctx, client, e); err != nil {
				return mapping.Record{}, err
			}
		}
	}
	return t.answer(rec, backend.Query{Fields: slices.Collect(maps.Keys(elements))}), nil
}

// Update implements backend.Tx. Nobody can have changed before since it was read:
// there is one write at a time.
func (t *txn) Update(_ context.Context, _ auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	r := before.Resource
	at, _ := t.find(r, before.ID())
	after := t.records[r][at].Merge(patch)
	after.Values[r.ID], after.Values[r.ModifiedAt] = before.Values[r.ID], mapping.TimeValue(t.now)
	after.Version++
	t.records[r] = slices.Clone(t.records[r])
	t.records[r][at] = after
	return t.answer(after, backend.Query{}), nil
}

// Delete implements backend.Tx.
func (t *txn) Delete(_ context.Context, _ auth.Client, before mapping.Record) error {
	at, _ := t.find(before.Resource, before.ID())
	t.records[before.Resource] = slices.Delete(slices.Clone(t.records[before.Resource]), at, at+1)
	return nil
}

// Recall implements backend.Tx.
func (t *txn) Recall(_ context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	if k, ok := t.memos[memoKey{client.ID, key}]; ok && t.now.Before(k.until) {
		return &k.StoredAnswer, nil
	}
	return nil, nil
}

// Remember implements backend.Tx.
func (t *txn) Remember(_ context.Context, client auth.Client, key string, m backend.StoredAnswer) error {
	maps.DeleteFunc(t.memos, func(_ memoKey, k kept) bool { return !t.now.Before(k.until) })
	t.memos[memoKey{client.ID, key}] = kept{m, t.now.Add(max(m.Life, backend.StoredAnswerLife))}
	return nil
}
