package legacy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSorts: before, a check took the bits of PostgreSQL for yes and no, and a row version
// of SQL Server for a moment.
func TestSorts(t *testing.T) {
	for _, c := range []struct{ engine, column, sort string }{
		{"sqlserver", "bit", "boolean"}, {"postgres", "bit", ""}, {"sqlserver", "timestamp", ""}, {"postgres", "timestamp", "datetime"},
		{"postgres", "timestamp with time zone", "timestamp"}, {"mysql", "tinyint", "integer"}, {"postgres", "point", ""}, {"mysql", "set", "text"},
		{"sqlserver", "uniqueidentifier", "text"}, {"postgres", "double precision", "decimal"}, {"mysql", "longblob", "bytes"}, {"sqlite", "", ""},
	} {
		require.Equal(t, c.sort, Column{Type: c.column}.Sort(c.engine), "%s of %s", c.column, c.engine)
	}
}
