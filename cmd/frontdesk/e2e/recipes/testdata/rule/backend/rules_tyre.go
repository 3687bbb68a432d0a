package backend

import (
	"context"

	"frontdesk/mapping"
)

// leastTread is what tyres must have, in millimetres.
const leastTread = 2

// tyreTread keeps worn tyres out.
func tyreTread(_ context.Context, _ Reader, c *Change) error {
	if tread := c.After.Get("tread"); c.Op != mapping.OpDelete && tread.Int() < leastTread {
		return mapping.Fail(mapping.TyreWorn, mapping.Literal("tread"), tread.String())
	}
	return nil
}
