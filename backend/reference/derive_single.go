package reference

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// giveNumbers numbers a new record, and its children, if the model says so.
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
