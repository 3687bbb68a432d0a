package reference

import (
	"context"
	"fmt"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// invoiceCounter numbers the invoices of a client, apart from its orders.
const (
	invoiceCounter = "invoice"
	invoiceFormat  = "F%06d"
)

// newOrder prices the lines that an order is created with and adds them up. An
// order without lines has totals of 0.
func (t *txn) newOrder(ctx context.Context, client auth.Client, rec mapping.Record) error {
	var all []taxed
	for n, line := range rec.Children[t.derived.orderlines] {
		if err := t.priceLine(line, line, fmt.Sprintf("orderlines[%d]", n)); err != nil {
			return err
		}
		one, err := t.taxed(ctx, client, line)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	excl, incl, ok := orderTotals(all)
	if !ok {
		return tooLarge(rec.Children[t.derived.orderlines][len(all)-1], fmt.Sprintf("orderlines[%d]", len(all)-1))
	}
	rec.Set("total_excl", excl)
	rec.Set("total_incl", incl)
	return t.invoice(ctx, client, mapping.Record{}, rec)
}

// invoice gives an order that becomes invoiced its invoice number, and the VAT
// of that moment. before has no Resource if the order is new.
func (t *txn) invoice(ctx context.Context, client auth.Client, before, patch mapping.Record) error {
	if patch.Get("order_status").Text() != "invoiced" || before.Resource != nil && before.Get("order_status").Text() == "invoiced" {
		return nil
	}
	if before.Resource != nil {
		excl, incl, err := t.addUp(ctx, client, before.ID())
		if err != nil {
			return err
		}
		patch.Set("total_excl", excl)
		patch.Set("total_incl", incl)
	}
	n, err := t.next(ctx, client, invoiceCounter)
	if err != nil {
		return err
	}
	patch.Set("invoice_number", mapping.TextValue(fmt.Sprintf(invoiceFormat, n)))
	return nil
}

// priceLine sets in patch the total of the line after. path is its path as an element.
func (t *txn) priceLine(after, patch mapping.Record, path string) error {
	total, ok := lineTotal(after.Get("quantity"), after.Get("price"), after.Get("discount_percentage"))
	if !ok {
		return tooLarge(after, path)
	}
	patch.Set("total", total)
	return nil
}

// tooLarge refuses a line if its amount, or the total of its order, is too large to store.
// The interface has no error row of its own for that.
func tooLarge(line mapping.Record, path string) error {
	err := mapping.Fail(mapping.Float8Invalid, mapping.Literal("price"), line.Get("price").String())
	if path != "" {
		return err.In(path)
	}
	return err
}

// taxed is the share of a line in its order's totals.
func (t *txn) taxed(ctx context.Context, client auth.Client, line mapping.Record) (taxed, error) {
	one := taxed{total: line.Get("total")}
	group := line.Get("turnover_group_id")
	if !group.IsSet() {
		return one, nil
	}
	id := int32(group.Int())
	kind, known := t.vatKinds[id]
	if !known {
		rec, err := t.Get(ctx, t.derived.turnovergroup, backend.Query{Client: client, ID: id})
		if err != nil {
			return one, fmt.Errorf("read turnover group %d: %w", id, gone(err))
		}
		kind = rec.Get("vat_kind").Text()
		t.vatKinds[id] = kind
	}
	one.vatKind = kind
	return one, nil
}

// totalOrder updates the totals of a locked order. Writing the line has already
// changed the order's version and modified_at; the totals are part of that change.
func (t *txn) totalOrder(ctx context.Context, client auth.Client, id int32) error {
	excl, incl, err := t.addUp(ctx, client, id)
	if err != nil {
		return err
	}
	_, err = t.conn.Exec(ctx, `UPDATE `+t.dialect.Quote(t.derived.order.Name)+` SET total_excl = ?2, total_incl = ?3 WHERE id = ?1`,
		mapping.IntValue(int64(id)), excl, incl)
	if err != nil {
		return fmt.Errorf("total order %d: %w", id, err)
	}
	return nil
}

// addUp adds up the stored lines of an order. VAT is computed by the current vat_kind of the
// turnover groups: a changed vat_kind affects an order when one of its lines changes or it is
// invoiced, and never a closed order.
func (t *txn) addUp(ctx context.Context, client auth.Client, id int32) (excl, incl mapping.Value, err error) {
	r := t.derived.orderline
	page, err := t.List(ctx, r, backend.Query{
		Client:  client,
		Fields:  []int{r.ID, r.Field("price").Index, r.Field("total").Index, r.Field("turnover_group_id").Index},
		Filters: []backend.Filter{{Field: r.Field("order_id"), Value: mapping.IntValue(int64(id))}},
	})
	if err != nil {
		return excl, incl, fmt.Errorf("read the lines of order %d: %w", id, err)
	}
	all := make([]taxed, len(page.Records))
	for i, line := range page.Records {
		if all[i], err = t.taxed(ctx, client, line); err != nil {
			return excl, incl, err
		}
	}
	excl, incl, ok := orderTotals(all)
	if !ok {
		return excl, incl, tooLarge(page.Records[len(all)-1], "")
	}
	return excl, incl, nil
}
