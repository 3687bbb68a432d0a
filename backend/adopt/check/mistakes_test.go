package check

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	services "frontdesk/backend/remote/foreigntest"
	"frontdesk/config/strictyaml"
)

// mistake is one in a sheet, or in the rows, and what tells of it: a rule of the check, or the
// sheet itself, which then does not load.
type mistake struct {
	Name         string
	Replace      [][2]string // in the right sheet
	Spoil, Mend  []string    // statements, where the mistake is in the rows
	Says         string      // as told takes it; of the sheet itself "sheet PATH"
	Seen, Remedy string
}

// mistakes are those of a file in testdata.
func mistakes(t *testing.T, file string) (all []mistake) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalWithOptions(testdata(t, file), &all, yaml.Strict()))
	require.NotEmpty(t, all)
	return all
}

// words of the right sheet, and what stands in their place.
func (m mistake) words() (all []string) {
	for _, pair := range m.Replace {
		all = append(all, pair[0], pair[1])
	}
	return all
}

// isTold holds what is said to the mistake: once, at its place, with what to do.
func (m mistake) isTold(t *testing.T, problems strictyaml.Problems, report *Report) {
	t.Helper()
	path, ofSheet := strings.CutPrefix(m.Says, "sheet ")
	if ofSheet {
		require.True(t, slices.ContainsFunc(problems, func(p strictyaml.Problem) bool {
			return strings.HasPrefix(p.Path, path) && strings.Contains(p.Message, m.Seen) && strings.Contains(p.Message, m.Remedy) && p.Line > 1
		}), "%v", problems)
		return
	}
	require.Empty(t, problems)
	found := told(t, report, m.Says, m.Seen)
	require.Contains(t, found.Remedy, m.Remedy)
	require.Greater(t, found.Line, 1)
}

// TestFindings spoils the sheet of DEALERPAK, one thing at a time.
func TestFindings(t *testing.T) {
	dsn := legacytest.MariaDB(t)
	for _, m := range mistakes(t, "dealerpak.mistakes.yaml") {
		t.Run(m.Name, func(t *testing.T) { m.isTold(t, nil, checked(t, finished(t, "mariadb", m.words()...), dsn)) })
	}
}

// TestMistakesOfTheFindings: before, map check said 0 errors of a sheet with any of these, and
// clients lost money, days, changes or each other's records by it. Each is told of at its place
// with its cure now, the sheet without it has no errors, and nothing of a customer is said.
func TestMistakesOfTheFindings(t *testing.T) {
	dsn := legacytest.EmptyMariaDB(t, "utf8mb4")
	db := opened(t, dsn)
	execute(t, db, statements(t, "office.sql")...)
	hash, err := bcrypt.GenerateFromPassword([]byte("tafel-Berg-1"), bcrypt.MinCost)
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO llx_user (entity, login, lastname, job, pass_crypted, email) VALUES (1, 'anna', 'Visser', 'Chef', ?, 'a@example.nl'), (2, 'bram', 'Smit', 'Hulp', ?, 'b@example.nl')", hash, hash)
	require.NoError(t, err)
	check := func(t *testing.T, asks bool, replace ...string) (strictyaml.Problems, *Report) {
		o, problems := read(t, sheetFile(t, "office", replace...), dsn)
		if len(problems) > 0 {
			return problems, nil
		}
		if o.Open = opener(t); asks {
			o.Login = auth.Credentials{Username: "anna", Password: "tafel-Berg-1"}
		}
		report, err := SQL(t.Context(), o)
		require.NoError(t, err)
		for _, secret := range []string{"Jansen", "De Wit", "Neil", "Bakker", "Visser", "Chef", "anna", "tafel", "3811 XQ"} {
			require.NotContains(t, words(t, report), secret, "a report is sent on")
		}
		return nil, report
	}
	all := mistakes(t, "office.mistakes.yaml")
	right := func(t *testing.T) {
		problems, report := check(t, true)
		require.Empty(t, problems)
		require.Empty(t, report.has("sql.too-narrow", "resources.article.fields.turnover_group_id"), "nobody sends an ID below 0")
		require.Zero(t, report.Count(Error), words(t, report))
		require.Contains(t, words(t, report), "the user logs in, and works for client 1\n")
		for _, m := range all {
			says := strings.Fields(m.Says)
			require.Empty(t, report.has(says[len(says)-2], says[len(says)-1]), words(t, report))
		}
	}
	right(t)
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			execute(t, db, m.Spoil...)
			asks := []string{"login.refused", "data.unlisted", "data.invalid", "data.day-off", "data.fraction"}
			problems, report := check(t, slices.Contains(asks, strings.Fields(m.Says)[1]), m.words()...)
			execute(t, db, m.Mend...)
			m.isTold(t, problems, report)
		})
	}
	right(t)
}

// TestForeignMistakesOfServices makes mistakes in the sheet of a service that nobody here wrote.
func TestForeignMistakesOfServices(t *testing.T) {
	url := services.PocketBase(t).URL
	text, err := os.ReadFile("../../remote/testdata/pocketbase.yaml")
	require.NoError(t, err)
	env := map[string]string{"POCKETBASE_URL": url, "POCKETBASE_PASSWORD": services.Password}
	check := func(t *testing.T, replace ...string) (strictyaml.Problems, *Report) {
		driver, o, problems := inFront(t, string(text), env, replace...)
		if len(problems) > 0 {
			return problems, nil
		}
		o.Other, o.Login, o.Write = auth.Client{ID: 2, Name: "zuid"}, auth.Credentials{Username: "noord@example.com", Password: services.Password}, auth.Client{ID: 1, Name: "noord"}
		report, err := HTTP(t.Context(), driver, auth.Client{ID: 1, Name: "noord"}, o)
		require.NoError(t, err)
		for _, secret := range []string{"Oil filter", "O'Neil", "N000", "noord@", services.Password} {
			require.NotContains(t, words(t, report), secret, "a report is sent on")
		}
		return nil, report
	}
	right := func(t *testing.T) {
		problems, report := check(t)
		require.Empty(t, problems)
		require.Zero(t, report.Count(Error)+report.Count(Warning), words(t, report))
		require.Contains(t, words(t, report), "the user logs in, and works for client 1\n")
		require.Contains(t, words(t, report), "\ncontact: all 20 record(s), of 2 client(s)\n", "what was made is removed again")
	}
	right(t)
	for _, m := range mistakes(t, "pocketbase.mistakes.yaml") {
		t.Run(m.Name, func(t *testing.T) {
			problems, report := check(t, m.words()...)
			m.isTold(t, problems, report)
		})
	}
	right(t)
}
