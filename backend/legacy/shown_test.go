package legacy

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// findsShown filters by each value that is shown of some fields, and reads all in their order.
func (x *tables) findsShown(resource string, fields ...string) {
	x.t.Helper()
	all := x.list(one, resource)
	for _, name := range fields {
		x.walksInOrder(all[0].Resource, all[0].Resource.Field(name), true)
		for _, rec := range all {
			f := rec.Resource.Field(name)
			x.findsBy(f, rec.Values[f.Index], all)
		}
	}
}

// findsBy filters by a value itself, and by the ranges that begin and end at it.
func (x *tables) findsBy(f *mapping.Field, v mapping.Value, all []mapping.Record) {
	x.t.Helper()
	resource := all[0].Resource
	for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
		if o != mapping.Equals && (!v.IsSet() || !f.FilterableBy(o)) {
			continue
		}
		var want []int32
		for _, other := range all {
			if (backend.Filter{Field: f, Op: o, Value: v}).Matches(other.Values[f.Index]) {
				want = append(want, other.ID())
			}
		}
		require.Equal(x.t, want, x.by(resource.Name, f.Name, o, v), fmt.Sprint(f.Name, o, v))
	}
}
