package backend

import (
	"context"

	"frontdesk/mapping"
)

// closed tells whether an order in that status takes no more changes, neither
// of itself nor of its lines.
func closed(status mapping.Value) bool {
	return status.Text() == "invoiced" || status.Text() == "cancelled"
}

// orderStatus guards orders, and order lines by their order: nothing is added
// to, changed of or deleted from a closed one, and none is created closed.
func orderStatus(ctx context.Context, tx Driver, c *Change) error {
	var status mapping.Value
	switch {
	case c.Resource.Field("order_id") != nil:
		order, ok, err := hold(ctx, tx, c, "order_id")
		if !ok {
			return err
		}
		status = order.Get("order_status")
	case c.Op == mapping.OpCreate:
		status = c.After.Get("order_status")
	default:
		status = c.Before.Get("order_status")
	}
	if closed(status) {
		return mapping.Fail(mapping.StatusForbidsChange, mapping.Literal("order_status"), status.Text())
	}
	return nil
}
