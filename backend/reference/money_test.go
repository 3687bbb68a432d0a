package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// amount reads a decimal as a field of four decimals does; "" is not set.
func amount(t *testing.T, s string) mapping.Value {
	t.Helper()
	if s == "" {
		return mapping.NullValue()
	}
	v, err := (&mapping.Field{Name: "x", Type: mapping.Float8, Scale: 4}).Parse(s, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLineTotal(t *testing.T) {
	for _, row := range []struct{ quantity, price, discount, want string }{
		{"1.5", "12.95", "10", "17.48"},   // 17.4825
		{"1", "0.005", "", "0.01"},        // half away from zero
		{"-1", "0.005", "", "-0.01"},      // on either side
		{"1", "0.0049", "", "0"},          //
		{"3", "33.3333", "", "100"},       // 99.9999
		{"0.3333", "0.0333", "", "0.01"},  // 0.01109889
		{"1", "100", "100", "0"},          // all of it off
		{"1", "100", "33.3333", "66.67"},  // 66.6667
		{"2.5", "0.10", "50", "0.13"},     // 0.125
		{"-2.5", "0.10", "50", "-0.13"},   //
		{"", "100", "", "0"},              // no quantity
		{"100", "", "10", "0"},            // no price
		{"0.0001", "0.0001", "", "0"},     //
		{"99999999", "1", "", "99999999"}, //
		{"1000000", "9999999.99", "", "9999999990000"},
	} {
		total, ok := lineTotal(amount(t, row.quantity), amount(t, row.price), amount(t, row.discount))
		require.True(t, ok)
		require.Equal(t, row.want, total.String(), "%+v", row)
	}
}

func TestLineTotalTooLarge(t *testing.T) {
	for _, row := range [][2]string{{"10000000", "1000000"}, {"-10000000", "1000000"}, {"99999999999", "99999999999"}} {
		_, ok := lineTotal(amount(t, row[0]), amount(t, row[1]), mapping.Value{})
		require.False(t, ok, row)
	}
}

func TestOrderTotals(t *testing.T) {
	type line struct {
		cents int64
		kind  string
	}
	for _, row := range []struct {
		name       string
		lines      []line
		excl, incl string
	}{
		{"no lines", nil, "0", "0"},
		{"high", []line{{10000, "high"}}, "100", "121"},
		{"low", []line{{10000, "low"}}, "100", "109"},
		{"zero", []line{{10000, "zero"}}, "100", "100"},
		{"exempt", []line{{10000, "exempt"}}, "100", "100"},
		{"margin bears none", []line{{1000000, "margin"}, {10000, "high"}}, "10100", "10121"},
		// Each line alone would give 0.0021, rounded to nothing ten times over.
		{"rounded once per rate", []line{{1, "high"}, {1, "high"}, {1, "high"}}, "0.03", "0.04"},
		{"every rate by itself", []line{{2, "high"}, {5, "low"}}, "0.07", "0.07"}, // 0.0042 and 0.0045: together they would be 0.01
		{"half away from zero", []line{{50, "high"}}, "0.5", "0.61"},              // 0.105
		{"and below it", []line{{-50, "high"}}, "-0.5", "-0.61"},
		{"returns cancel", []line{{10000, "high"}, {-10000, "high"}}, "0", "0"},
		{"no group", []line{{10000, ""}}, "100", "100"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var lines []taxed
			for _, l := range row.lines {
				lines = append(lines, taxed{total: mapping.DecimalValue(l.cents, moneyScale), vatKind: l.kind})
			}
			excl, incl, ok := orderTotals(lines)
			require.True(t, ok)
			require.Equal(t, row.excl, excl.String())
			require.Equal(t, row.incl, incl.String())
		})
	}
}

func TestOrderTotalsTooLarge(t *testing.T) {
	most := mapping.DecimalValue(mostCents-1, moneyScale)
	_, _, ok := orderTotals([]taxed{{most, "zero"}})
	require.True(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "high"}})
	require.False(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "zero"}, {most, "zero"}})
	require.False(t, ok)
}
