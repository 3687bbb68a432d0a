package legacy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestDecimalsAgainstWholeNumbers: a column of whole numbers is compared with decimals as they are,
// on either side of each number and of 0.
func TestDecimalsAgainstWholeNumbers(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, driftSheet, append(driftTables(engine)[:1:1], "CREATE TABLE grp (id INTEGER, code VARCHAR(10), oms VARCHAR(40))",
			"ALTER TABLE art DROP COLUMN prijs", "ALTER TABLE art ADD COLUMN prijs INTEGER", "INSERT INTO art (nr, oms, prijs) VALUES ('a', 'a', -2), ('b', 'b', -1), ('c', 'c', 0), ('d', 'd', 1), ('e', 'e', 2), ('f', 'f', 3)")...)
		price := x.model.Resource("article").Field("price")
		for _, op := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
			for _, unscaled := range []int64{-20000, -15000, -10001, -10000, -9999, -1, 0, 1, 9999, 10000, 10001, 25000, 30000, 99999999} {
				f := backend.Filter{Field: price, Op: op, Value: mapping.DecimalValue(unscaled, 4)}
				var want, got []string
				for n := range 6 {
					if v := mapping.DecimalValue(int64(n-2)*10000, 4); f.Matches(v) {
						want = append(want, fmt.Sprint(v))
					}
				}
				for _, rec := range x.list(one, "article", f) {
					got = append(got, fmt.Sprint(rec.Get("price")))
				}
				require.True(t, slices.Equal(want, got), "%s %d: %v, and not %v", op, unscaled, got, want)
			}
		}
	})
}
