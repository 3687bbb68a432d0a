package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

func TestOrderTotalsTooLarge(t *testing.T) {
	most := mapping.DecimalValue(mostCents-1, moneyScale)
	_, _, ok := orderTotals([]taxed{{most, "zero"}})
	require.True(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "high"}})
	require.False(t, ok)
	_, _, ok = orderTotals([]taxed{{most, "zero"}, {most, "zero"}})
	require.False(t, ok)
}
