package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// checkedDatabase is one of testdata/databases.yaml, which says what its members are.
type checkedDatabase struct {
	Name, Engine, Sheet string
	Tables              []string
	Steps               []checkStep
}

type checkStep struct {
	Run           []string
	Replace       [][2]string
	Asks, Writes  bool
	Says          []said
	Never         []string
	Looked, Sound string
}

type said struct{ Says, Seen, Remedy string }

// place is its rule and its path.
func (s said) place() string { return s.Says[strings.Index(s.Says, " ")+1:] }

// in are the findings that say so.
func (s said) in(r *Report) (found []Finding) {
	seen := regexp.QuoteMeta(s.Seen)
	if strings.HasPrefix(s.Seen, "^") {
		seen = s.Seen
	}
	for _, f := range r.Findings {
		if fmt.Sprint(f.Severity, " ", f.Rule, " ", f.Path) == s.Says && regexp.MustCompile(seen).MatchString(f.Seen) && strings.Contains(f.Remedy, s.Remedy) {
			found = append(found, f)
		}
	}
	return found
}

// TestDatabases holds what is told of a database, and where, to testdata/databases.yaml.
func TestDatabases(t *testing.T) {
	var all []checkedDatabase
	require.NoError(t, yaml.UnmarshalWithOptions(testdata(t, "databases.yaml"), &all, yaml.Strict()))
	require.NotEmpty(t, all)
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			dsn := map[string]func() string{
				"": func() string { return legacytest.EmptyMariaDB(t, "utf8mb4") }, "dealerpak": func() string { return legacytest.MariaDB(t) },
				"sqlite": func() string { return filepath.Join(t.TempDir(), "theirs.db") }, "postgres": func() string { return sqltest.Postgres(t) },
			}[d.Engine]()
			run := func(statements []string) {
				if d.Engine == "postgres" {
					require.NoError(t, sqltest.Execute(dsn, statements...))
				} else {
					execute(t, opened(t, dsn), statements...)
				}
			}
			run(d.Tables)
			for _, s := range d.Steps {
				run(s.Run)
				words := mistake{Replace: s.Replace}.words()
				path := ""
				if d.Engine == "dealerpak" {
					path = finished(t, "mariadb", words...)
				} else {
					path = sheetFile(t, d.Sheet, words...)
				}
				s.holds(t, s.check(t, path, dsn))
			}
		})
	}
}

func (s checkStep) check(t *testing.T, path, dsn string) *Report {
	t.Helper()
	o := loaded(t, path, dsn)
	if s.Writes {
		o.Rows, o.Write = 10, auth.Client{ID: 1}
	}
	if !s.Asks && !s.Writes && s.Looked == "" {
		o = o.through(func(d Database) Database { return unasked{d} })
	}
	return reported(t, o)
}

// holds holds a report to the step.
func (s checkStep) holds(t *testing.T, report *Report) {
	t.Helper()
	text := words(t, report)
	at := map[string]int{}
	for _, want := range s.Says {
		require.NotEmpty(t, want.in(report), "%s: %s", want.Says, text)
		at[want.place()]++
	}
	for place, n := range at {
		rule, path, _ := strings.Cut(place, " ")
		require.Len(t, report.has(rule, path), n, "%s: %s", place, text)
	}
	for _, f := range report.Findings {
		require.False(t, slices.ContainsFunc(s.Never, func(rule string) bool { return strings.HasPrefix(f.Rule+" "+f.Path, rule) }), text)
	}
	switch s.Sound {
	case "all":
		require.Zero(t, report.Count(Error)+report.Count(Warning), text)
	case "errors":
		require.Zero(t, report.Count(Error), text)
	}
	if strings.HasPrefix(s.Looked, "^") {
		require.Regexp(t, "(?m)"+s.Looked, text)
	} else {
		require.Contains(t, text, s.Looked)
	}
}
