package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestWhatColumnsTake: before, a third and what only a program writes so were taken for numbers,
// and one of a million digits was computed.
func TestWhatColumnsTake(t *testing.T) {
	text := mapping.TextValue
	decimal := mapping.DecimalValue
	for _, c := range []struct {
		column Column
		takes  []mapping.Value
		not    []mapping.Value
	}{
		{Column{Type: "integer"},
			[]mapping.Value{text("12"), text(" -12 "), text("+1.5e2"), text(".5"), mapping.IntValue(1<<31 - 1), decimal(-21474836480, 1), decimal(21474836474, 1)},
			[]mapping.Value{text("1/3"), text("0x1p-2"), text("0b1"), text("1_000"), text("Inf"), text("1e1000000"), text("1e-1000000"), text(""), text("abc"), mapping.IntValue(1 << 31), decimal(21474836480, 1)}},
		{Column{Type: "smallint unsigned"}, []mapping.Value{mapping.IntValue(0), mapping.IntValue(65535)}, []mapping.Value{mapping.IntValue(-1), mapping.IntValue(65536)}},
		{Column{Type: "numeric", Precision: 5, Scale: 1}, []mapping.Value{decimal(999994, 2), text("9999.9")}, []mapping.Value{decimal(999995, 2), text("x")}},
		{Column{Type: "float"}, []mapping.Value{mapping.FloatValue(3e38)}, []mapping.Value{mapping.FloatValue(1e39)}},
		{Column{Type: "varchar", Length: 3}, []mapping.Value{text("één"), text("abc  "), mapping.IntValue(999)}, []mapping.Value{text("abcd"), mapping.IntValue(1000)}},
		{Column{Type: "varbinary", Length: 2}, []mapping.Value{mapping.BytesValue([]byte{1, 2})}, []mapping.Value{mapping.BytesValue([]byte{1, 2, 3})}},
	} {
		c.column.sorted("mariadb")
		for _, v := range c.takes {
			require.True(t, takes(&c.column, "mariadb", v), "%s: %s", c.column.Type, v)
		}
		for _, v := range c.not {
			require.False(t, takes(&c.column, "mariadb", v), "%s: %s", c.column.Type, v)
			require.True(t, takes(&c.column, "sqlite", v), "%s: %s", c.column.Type, v)
		}
	}
	require.False(t, takes(&Column{Type: "bit", Length: 3}, "postgres", text("1010")), "cast to it, it would be cut")
}
