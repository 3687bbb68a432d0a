package backend

import (
	"context"

	"frontdesk/mapping"
)

// closed reports whether an order in that status takes no more changes, neither
// of itself nor of its lines.
func closed(status mapping.Value) bool {
	return status.Text() == "invoiced" || status.Text() == "cancelled"
}

// orderStatus protects closed orders: nothing can be added to them, changed in them or
// deleted from them, and no order is created closed.
func orderStatus(ctx context.Context, tx Reader, c *Change) error {
	if c.Resource.Field("order_id") == nil {
		return ownStatus(ctx, tx, c)
	}
	order, ok, err := hold(ctx, tx, c, "order_id")
	if !ok {
		return err
	}
	return forbidden(order.Get("order_status"))
}

// ownStatus is the part of orderStatus that needs only the order itself; it does not
// judge lines.
func ownStatus(_ context.Context, _ Reader, c *Change) error {
	if c.Resource.Field("order_status") == nil {
		return nil
	}
	if c.Op == mapping.OpCreate {
		return forbidden(c.After.Get("order_status"))
	}
	return forbidden(c.Before.Get("order_status"))
}

func forbidden(status mapping.Value) error {
	if closed(status) {
		return mapping.Fail(mapping.StatusForbidsChange, mapping.Literal("order_status"), status.Text())
	}
	return nil
}
