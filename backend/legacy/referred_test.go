package legacy

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A PUT of a number alone keeps the resource that it is of, and the other way
// about: both are written.
func TestChangingHalfOfAReferenceKeepsTheOther(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		stored := x.create(one, records["document"][0])
		other := x.create(one, records["vehicle"][0])
		changed := x.update(one, stored.ID(), x.record("document", "resource_id", strconv.Itoa(int(other.ID()))))
		require.Equal(t, "vehicle", changed.Get("resource").Text())
		require.Equal(t, int64(other.ID()), changed.Get("resource_id").Int())
		require.Equal(t, shown(changed), shown(x.get(one, "document", stored.ID())))
	})
}
