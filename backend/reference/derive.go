package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// derived are the resources with fields that depend on other records, and those that are numbered.
type derived struct {
	order, orderline, turnovergroup *mapping.Resource

	orderlines int // the position of the order's array field
	numbered   map[*mapping.Resource][]*mapping.Field
}

// kept are the fields that the built-in administration fills, or computes from.
var kept = map[string]map[string]mapping.Datatype{
	"order": {
		"order_status": mapping.Varchar, "invoice_number": mapping.Varchar,
		"total_excl": mapping.Float8, "total_incl": mapping.Float8, "orderlines": mapping.Array,
	},
	"orderline": {
		"order_id": mapping.Int4, "quantity": mapping.Float8, "price": mapping.Float8,
		"discount_percentage": mapping.Float8, "turnover_group_id": mapping.Int4, "total": mapping.Float8,
	},
	"turnovergroup": {"vat_kind": mapping.Varchar},
	"vehicle":       {"publish_status": mapping.Varchar, "published_at": mapping.Timestamp},
	"document":      {"content": mapping.Bytea, "size": mapping.Int4, "sha256": mapping.Varchar},
}

// totals are the fields of kept that are amounts of money.
var totals = map[string][]string{"order": {"total_excl", "total_incl"}, "orderline": {"total"}}

// JudgeModel returns [strictyaml.Problems] if a vendor's model has dropped or retyped a field that
// this administration fills, or has a resource named like one of its tables. The model has all
// embedded resources.
func JudgeModel(model *mapping.Model) error {
	var problems strictyaml.Problems
	for _, name := range reservedTables {
		if r := model.Resource(name); r != nil {
			problems = append(problems, r.Problem("name", "the built-in administration has a table %s of its own, expected another name", name))
		}
	}
	for name, fields := range kept {
		r := model.Resource(name)
		for field, datatype := range fields {
			switch f := r.Field(field); {
			case f == nil:
				problems = append(problems, r.Problem("fields", "field %s is missing, which the built-in administration keeps", field))
			case f.Type != datatype:
				problems = append(problems, r.FieldProblem(f, "type", "the built-in administration keeps %s, expected %s", field, datatype))
			case slices.Contains(totals[name], field) && f.Scale != moneyScale:
				problems = append(problems, r.FieldProblem(f, "scale", "the built-in administration keeps %s with %d decimals", field, moneyScale))
			}
		}
	}
	problems.Sort()
	return problems.Err()
}

// newDerived finds the derived fields in the model.
func newDerived(model *mapping.Model) *derived {
	d := &derived{
		order: model.Resource("order"), orderline: model.Resource("orderline"), turnovergroup: model.Resource("turnovergroup"),
		numbered: map[*mapping.Resource][]*mapping.Field{},
	}
	d.orderlines = d.order.Field("orderlines").Index
	for _, r := range model.Resources {
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Numbering != "" {
				d.numbered[r] = append(d.numbered[r], f)
			}
		}
	}
	return d
}

// beforeCreate fills the derived fields of a record, and of its children, that
// is about to be stored. It may change rec. Numbers come last: on PostgreSQL the
// next record has to wait for them until this one is committed.
func (t *txn) beforeCreate(ctx context.Context, client auth.Client, rec mapping.Record) (err error) {
	switch rec.Resource {
	case t.derived.order:
		err = t.newOrder(ctx, client, rec)
	case t.derived.orderline:
		err = t.priceLine(rec, rec, "")
	}
	if err != nil {
		return err
	}
	return t.giveNumbers(ctx, client, rec)
}

// beforeUpdate adds to a patch the derived fields that follow from it. It may change patch.
func (t *txn) beforeUpdate(ctx context.Context, client auth.Client, before, patch mapping.Record) error {
	switch patch.Resource {
	case t.derived.order:
		return t.invoice(ctx, client, before, patch)
	case t.derived.orderline:
		return t.priceLine(before.Merge(patch), patch, "")
	}
	return nil
}

// holdOrder reads the order of a line and locks it until the transaction ends, so that its
// totals stay right while others write lines of it. The rules lock it too, but some writes
// do not go through the rules. holdOrder returns false for a record that is not a line of an order.
func (t *txn) holdOrder(ctx context.Context, client auth.Client, rec mapping.Record) (int32, bool, error) {
	if rec.Resource != t.derived.orderline || !rec.Get("order_id").IsSet() {
		return 0, false, nil
	}
	q := backend.Query{Client: client, ID: int32(rec.Get("order_id").Int()), ForUpdate: true, Fields: []int{t.derived.order.ID}}
	if _, err := t.Get(ctx, t.derived.order, q); err != nil {
		return 0, false, fmt.Errorf("hold order %d of a line: %w", q.ID, gone(err))
	}
	return q.ID, true, nil
}

// gone turns the error of a missing record that the rules have seen into one that makes the rules
// judge again.
func gone(err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return fmt.Errorf("%w: it is gone", backend.ErrStale)
	}
	return err
}
