package reference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// giveNumbers numbers a new record, and its children, where the model says so.
func (t *txn) giveNumbers(ctx context.Context, client auth.Client, rec mapping.Record) error {
	for _, f := range t.derived.numbered[rec.Resource] {
		n, err := t.next(ctx, client, rec.Resource.Name+"."+f.Name)
		if err != nil {
			return err
		}
		rec.Values[f.Index] = mapping.TextValue(fmt.Sprintf(f.Numbering, n))
	}
	for _, children := range rec.Children {
		for _, child := range children {
			if err := t.giveNumbers(ctx, client, child); err != nil {
				return err
			}
		}
	}
	return nil
}

// publication keeps since when a vehicle is advertised. before is the status it
// had, absent for a new one.
func (t *txn) publication(patch mapping.Record, before mapping.Value) {
	status := patch.Get("publish_status")
	switch {
	case status.IsAbsent() || status.Text() == before.Text():
	case status.Text() == "published":
		patch.Set("published_at", mapping.TimeValue(t.now()))
	default:
		patch.Set("published_at", mapping.NullValue())
	}
}

// weigh keeps the size and the sum of a document's content, where the patch has
// one. A document without content, such as one that is kept elsewhere, has
// neither.
func weigh(patch mapping.Record) {
	content := patch.Get("content")
	if content.IsAbsent() {
		return
	}
	if !content.IsSet() {
		patch.Set("size", mapping.NullValue())
		patch.Set("sha256", mapping.NullValue())
		return
	}
	sum := sha256.Sum256([]byte(content.Text()))
	patch.Set("size", mapping.IntValue(int64(len(content.Text()))))
	patch.Set("sha256", mapping.TextValue(hex.EncodeToString(sum[:])))
}
