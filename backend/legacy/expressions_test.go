package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpressionsThatTheDatabaseRefuses are told at the start, each with where it stands.
func TestExpressionsThatTheDatabaseRefuses(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		s := scripted(t, "shown.txt", "codes, and what stands for nothing")
		dsn, text := made(t, engine, s.of("tables", engine)...), strings.Join(s.of("sheet", engine), "\n")
		for old, c := range map[string]struct{ now, told string }{
			"dagen + 1":                  {"dagem + 1", "field payment_days: read: "},
			"dagen * :client":            {"nosuch(dagen)", "field note: read: "},
			"dagen + :client":            {"dagem", "version: read: "},
			"weg = 0":                    {"wech = 0", "where: "},
			"(SELECT adm FROM e_groep g": {"(SELECT adn FROM e_groep g", "client: read: "},
			"2.5 AS half FROM e_rel":     {"2.5 AS half FROM e_rol", "read: "},
		} {
			x, err := tryMade(t, engine, dsn, strings.Replace(text, old, c.now, 1), nil)
			require.NoError(t, err)
			require.Contains(t, x.Closed()[0].What, c.told)
		}
		x, err := tryMade(t, engine, dsn, strings.NewReplacer("dagen + 1", "dagem", "CONCAT(naam, '!')", "nam").Replace(text), nil)
		require.NoError(t, err)
		require.Contains(t, x.Closed()[0].What, "field name: read: ")
		require.Contains(t, x.Closed()[0].What, "field payment_days: read: ")
	})
}
