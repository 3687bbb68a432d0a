package draft

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(legacytest.Run(m))) }

// engines are the databases that DEALERPAK runs on.
func engines() map[string]func(t testing.TB) string {
	return map[string]func(t testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres, "sqlite": legacytest.SQLite}
}

func drafted(t *testing.T, engine, dsn string) (string, Summary) {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	d, err := New(t.Context(), Options{Source: sheet.SQL{Engine: engine, DSN: config.Secret(dsn)}, Model: model})
	require.NoError(t, err)
	require.NotRegexp(t, `[0-9]%\)`, d.Text, "no percentages")
	require.Empty(t, problems(t, d.Text), "it always loads:\n%s", d.Text)
	return d.Text, d.Summary
}

// problems are what is wrong with a draft, each with the line that it is in.
func problems(t *testing.T, text string) (all []string) {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	_, err = sheet.Parse("draft.yaml", []byte(text), model, sheet.Options{
		Env:        func(string) (string, bool) { return "https://service.example", true },
		RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	if err == nil {
		return nil
	}
	var found strictyaml.Problems
	require.ErrorAs(t, err, &found)
	lines := strings.Split(text, "\n")
	for _, p := range found {
		all = append(all, p.String()+"\n\t"+lines[p.Line-1])
	}
	return all
}

// TestDraftLoads has the draft of a database read as a sheet.
func TestDraftLoads(t *testing.T) {
	for engine, start := range engines() {
		t.Run(engine, func(t *testing.T) {
			text, s := drafted(t, engine, start(t))
			require.Equal(t, 12, s.Resources)
			require.Equal(t, []string{"advertisementsite", "flatrate", "flatrateline", "vehicleadvertisementsite"}, s.Missing)
			require.NotContains(t, text, "127.0.0.1", "nothing of the DSN")
		})
	}
}
