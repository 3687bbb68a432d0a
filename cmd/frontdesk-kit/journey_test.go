package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/cmd/frontdesk/rig"
)

// journey is the way from a system that nobody here wrote to a gateway that is proved: a
// draft of a database, the finished sheet, a check, and the conformance suite.
type journey struct {
	driver      string
	init        []string
	check       []string
	sheet       string
	exceptions  string // "" for none
	login       backendtest.Login
	other       backendtest.Login
	environment map[string]string
}

// TestForeignJourneys goes all of the way.
func TestForeignJourneys(t *testing.T) {
	t.Run("pocketbase", func(t *testing.T) {
		s := foreigntest.Shop(t)
		login := func(name string) backendtest.Login {
			return backendtest.Login{Username: name + "@example.com", Password: foreigntest.Password}
		}
		journey{
			driver: "remote", check: []string{"--client", "1:noord", "--other", "2:zuid", "--username", "noord@example.com"},
			sheet: rig.RemoteSheets(t, "shop.yaml"), login: login("noord"), other: login("zuid"),
			environment: map[string]string{"SERVICE_URL": s.URL, "SERVICE_TOKEN": s.Token, "SERVICE_USER": foreigntest.Superuser, "SERVICE_PASSWORD": foreigntest.Password, "FRONTDESK_PASSWORD": foreigntest.Password},
		}.run(t)
	})
	t.Run("northwind", func(t *testing.T) {
		s := sqlforeign.Northwind(t)
		journey{
			driver: "legacy", init: []string{"--engine", "postgres"}, sheet: s.Sheet, exceptions: filepath.Join(filepath.Dir(s.Sheet), "exceptions.yaml"),
			login: backendtest.Login{Username: "nancy", Password: "not-a-secret-1"},
			check: []string{"--username", "nancy"}, environment: map[string]string{"DATABASE_DSN": s.DSN, "FRONTDESK_PASSWORD": "not-a-secret-1"},
		}.run(t)
	})
}

func (j journey) run(t *testing.T) *backendtest.Report {
	for name, value := range j.environment {
		t.Setenv(name, value)
	}
	if j.init != nil {
		_, _ = runs(t, 0, append([]string{"map", "init", "--out", filepath.Join(t.TempDir(), "draft.yaml")}, j.init...)...)
	}
	out, _ := runs(t, 0, append([]string{"map", "check", "--sheet", j.sheet}, j.check...)...)
	require.Contains(t, out, "\n0 error(s), ", out)
	require.NotRegexp(t, `(?m)^warnings: `, out)
	o := backendtest.Options{Login: j.login, Other: j.other}
	if j.exceptions != "" {
		o.Exceptions = readExceptions(t, j.exceptions)
	}
	return conformSystem(t, j.driver, j.sheet, o)
}
