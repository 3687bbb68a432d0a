package main

import (
	"fmt"

	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/cmd/frontdesk/rig"
)

// journey is the way from a system that nobody here wrote to a gateway that is proved: a
// draft, the sheet that somebody made of it, a check, and the conformance suite.
type journey struct {
	title       string // in docs/map-tools.md
	driver      string
	init        []string
	check       []string
	sheet       string
	exceptions  string
	login       backendtest.Login
	other       backendtest.Login
	most        int    // lines that may be written by hand
	warns       string // what the check warns of
	environment map[string]string
	more        string // of the configuration
}

// TestForeignJourneys goes all of the way. Every line of a sheet that the draft does not have says
// why somebody had to write it.
func TestForeignJourneys(t *testing.T) {
	t.Run("pocketbase", func(t *testing.T) {
		s := foreigntest.Shop(t)
		login := func(name string) backendtest.Login {
			return backendtest.Login{Username: name + "@example.com", Password: foreigntest.Password}
		}
		j := journey{
			title: "PocketBase, five collections", driver: "remote", check: []string{"--client", "1:noord", "--other", "2:zuid", "--username", "noord@example.com"},
			sheet: rig.RemoteSheets(t, "shop.yaml"), exceptions: rig.RemoteSheets(t, "shop.exceptions.yaml"), login: login("noord"), other: login("zuid"), most: 60,
			environment: map[string]string{"SERVICE_URL": s.URL, "SERVICE_TOKEN": s.Token, "SERVICE_USER": foreigntest.Superuser, "SERVICE_PASSWORD": foreigntest.Password, "FRONTDESK_PASSWORD": foreigntest.Password},
		}
		for _, collection := range []string{"contacts", "parts", "groups", "orders", "orderlines", "users"} {
			j.init = append(j.init, "--ask", "/api/collections/"+collection+"/records?perPage=100")
		}
		j.run(t)
	})
	t.Run("northwind", func(t *testing.T) {
		s := sqlforeign.Northwind(t)
		journey{
			title: "Northwind, 14 tables", driver: "legacy", init: []string{"--engine", "postgres"}, sheet: s.Sheet, exceptions: filepath.Join(filepath.Dir(s.Sheet), "exceptions.yaml"),
			login: backendtest.Login{Username: "nancy", Password: "not-a-secret-1"}, most: 40, warns: "warnings: 3 sql.unindexed-filter",
			check: []string{"--username", "nancy"}, environment: map[string]string{"DATABASE_DSN": s.DSN, "FRONTDESK_PASSWORD": "not-a-secret-1"},
		}.run(t)
	})
}

func (j journey) run(t *testing.T) {
	for name, value := range j.environment {
		t.Setenv(name, value)
	}
	draft := filepath.Join(t.TempDir(), "draft.yaml")
	code, _, stderr := cli("", append([]string{"map", "init", "--out", draft}, j.init...)...)
	require.Zero(t, code, stderr)
	of, made := rig.Read(t, draft), rig.Read(t, j.sheet)
	written, dropped := editsOf(of, made)
	t.Logf("%d lines written, %d left out:\n%s\n\n%s", len(written), len(dropped), strings.Join(written, "\n"), strings.Join(dropped, "\n"))
	require.LessOrEqual(t, len(written), j.most)
	for _, line := range written {
		require.Contains(t, line, " # ", "a line that is written by hand says why")
	}
	code, out, stderr := cli("", append([]string{"map", "check", "--sheet", j.sheet}, j.check...)...)
	require.Zero(t, code, "%s%s", out, stderr)
	require.Contains(t, out, "\n0 error(s), ", out)
	require.Equal(t, j.warns, regexp.MustCompile(`(?m)^warnings: .*$`).FindString(out), out)
	conformSystem(t, j.driver, j.sheet, backendtest.Options{Login: j.login, Other: j.other, Exceptions: readExceptions(t, j.exceptions)}, j.more)
	row := fmt.Sprintf("| %s | %d | %d | %d |", j.title, len(settingsOf(made)), len(written), len(dropped))
	require.True(t, strings.Contains(rig.Read(t, rig.Repository(t, "docs", "map-tools.md")), row), "docs/map-tools.md is to say %s", row)
}

var remark = regexp.MustCompile(`(^| )# .*$`)

// settingsOf are the lines of a sheet that say something.
func settingsOf(sheet string) (lines []string) {
	for line := range strings.Lines(sheet) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(remark.ReplaceAllString(line, "")) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// editsOf are the lines of a sheet that its draft does not have, and those of the draft that
// the sheet does not have. What is said beside them counts for nothing.
func editsOf(draft, sheet string) (written, dropped []string) {
	dropped = settingsOf(draft)
	for _, line := range settingsOf(sheet) {
		said := func(other string) bool {
			return strings.TrimRight(remark.ReplaceAllString(other, ""), " ") == strings.TrimRight(remark.ReplaceAllString(line, ""), " ")
		}
		if i := slices.IndexFunc(dropped, said); i >= 0 {
			dropped = slices.Delete(dropped, i, i+1)
		} else {
			written = append(written, line)
		}
	}
	return written, dropped
}
