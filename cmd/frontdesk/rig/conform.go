package rig

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
)

// ConformOptions are all that the suite can be given.
func ConformOptions(base string) backendtest.Options {
	login := func(name string) backendtest.Login { return backendtest.Login{Username: name, Password: name} }
	return backendtest.Options{
		BaseURL: base, APIKey: FullKey, Login: login("demo"), Other: login("other"),
		External: login("external"), NoEmail: login("noemail"), BadEmail: login("bademail"),
	}
}

// Conform runs the conformance suite.
func Conform(t *testing.T, o backendtest.Options) *backendtest.Report {
	t.Helper()
	report, err := backendtest.Run(context.Background(), o)
	require.NoError(t, err)
	return report
}

// Ended are the cases that ended in a status, with the resources they did on.
func Ended(report *backendtest.Report, s backendtest.Status) (names []string) {
	for _, r := range report.Results {
		if r.Status != s {
			continue
		}
		last := len(names) - 1
		if last >= 0 && r.Resource != "" && strings.HasPrefix(names[last], r.Case.ID+" [") {
			names[last] = strings.TrimSuffix(names[last], "]") + " " + r.Resource + "]"
			continue
		}
		names = append(names, r.Name())
	}
	return names
}

// Failures tells of the cases that failed, with what was expected and what came.
func Failures(report *backendtest.Report) string {
	var b strings.Builder
	for _, r := range report.Results {
		if r.Status == backendtest.Failed {
			b.WriteString(r.Name() + ": " + r.Reason + "\n  expected " + r.Expected + "\n  got      " + r.Got + "\n")
		}
	}
	return b.String()
}
