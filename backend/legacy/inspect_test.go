package legacy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInspect(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s, err := x.Inspect(t.Context())
		require.NoError(t, err)
		line := s.Table("ORDRGL")
		require.NotNil(t, line)
		require.Equal(t, []string{"BEDRNR", "ORDNR", "RGLNR"}, line.Primary)
		require.Len(t, line.Columns, 14)
		require.Equal(t, 60, line.Column("OMS").Length)
		require.True(t, line.Column("OMS").Nullable)
		require.False(t, line.Column("OGRP").Nullable)
		amount := line.Column("AANT")
		require.Equal(t, []int{9, 3}, []int{amount.Precision, amount.Scale}, amount.Type)
		require.Len(t, line.Foreign, 4)
		found := false
		for _, f := range line.Foreign {
			if f.Table == "ORDKOP" {
				found = true
				require.Equal(t, []string{"BEDRNR", "ORDNR"}, f.Columns)
				require.Equal(t, f.Columns, f.References)
			}
		}
		require.True(t, found)
		require.True(t, s.Table("V_RELATIE_ACTIEF").View)
		vehicle := s.Table("vtg")
		require.True(t, vehicle.Column("VTGID").Generated)
		require.False(t, vehicle.Column("BEDRNR").Generated)
		require.NotEmpty(t, vehicle.Column("WISDAT").Default)
		unique := 0
		for _, i := range vehicle.Indexes {
			if i.Unique && len(i.Columns) == 2 && i.Columns[1] == "KENT" {
				unique++
			}
		}
		require.Equal(t, 1, unique)
		if x.engine == "sqlite" {
			return // neither triggers nor procedures in it
		}
		require.NotEmpty(t, line.Triggers)
		for _, r := range s.Routines {
			if r.Name != "SP_NIEUWE_ORDER" {
				continue
			}
			require.False(t, r.Function)
			require.Len(t, r.Parameters, 6)
			last := r.Parameters[5]
			require.True(t, last.Out && !last.In, last.Name)
			return
		}
		t.Fatal("SP_NIEUWE_ORDER is not among the routines")
	})
}

// TestCollationsOfSQLite: how texts of a column compare is what the engine finds equal. Before, a column without an index and
// one of a view had no collation, and one with an index that has another had that.
func TestCollationsOfSQLite(t *testing.T) {
	x := open(t, "sqlite")
	makeTables(t, x,
		"CREATE TABLE v_soort (a varchar(8), b varchar(8) COLLATE NOCASE, c varchar(8) COLLATE RTRIM, d COLLATE RTRIM, e varchar(8) COLLATE RTRIM PRIMARY KEY)",
		"CREATE INDEX v_soort_a ON v_soort (a COLLATE NOCASE)", "CREATE INDEX v_soort_b ON v_soort (b COLLATE BINARY)", "INSERT INTO v_soort VALUES ('a', 'a', 'a', 'a', 'a')",
		"CREATE VIEW v_soorten AS SELECT a, b, c, d, e, c || '' AS f FROM v_soort")
	for _, name := range []string{"v_soort", "v_soorten"} {
		for _, c := range x.table1(t, name).Columns {
			equal := func(text string) bool {
				return x.row(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s = '%s'", name, c.Name, text)) == "1"
			}
			require.Equal(t, equal("A"), c.IgnoresCase, "case in %s.%s", name, c.Name)
			require.Equal(t, !equal("a "), c.CountsBlanks, "blanks in %s.%s", name, c.Name)
		}
	}
}
