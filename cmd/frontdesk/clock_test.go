package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// byTheClock are tests that may go by the clock of the machine, and why. They are no names of what is slow: a
// test that waits awaits (rig/await), and what goes by time is in a synctest bubble.
var byTheClock = map[string]string{
	"cmd/frontdesk/e2e/siege":                              "attacks have a pace, and customers come at theirs",
	"cmd/frontdesk/e2e/several/bench_several_test.go":      "a benchmark has a rate",
	"cmd/frontdesk/e2e/several/several_soak_test.go":       "HAProxy looks at its gateways by its own clock",
	"cmd/frontdesk/e2e/several/several_soak_parts_test.go": "likewise",
	"cmd/frontdesk/e2e/copies/service_test.go":             "the clock of a database server is set back while it is read",
}

var (
	goesByTheClock = regexp.MustCompile(`\btime\.(Sleep|After|Tick|NewTimer|NewTicker|AfterFunc)\(|\.(Eventually|EventuallyWithT|Never)\(t`)
	hasABubble     = regexp.MustCompile(`synctest|[bB]ubble`)
)

// TestTestsWaitForEvents: how fast a machine is decides nothing. All of the simulation is in a
// bubble.
func TestTestsWaitForEvents(t *testing.T) {
	root := rig.Repository(t)
	files := strings.Fields(string(must.Have(exec.Command("git", "-C", root, "ls-files", "*_test.go").Output())(t)))
	require.Greater(t, len(files), 100)
	used := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		if !goesByTheClock.Match(text) || hasABubble.Match(text) || filepath.Dir(file) == "cmd/frontdesk/e2e/simulation" || file == "cmd/frontdesk/clock_test.go" {
			continue
		}
		why, named := byTheClock[file]
		if !named {
			file = filepath.Dir(file)
			why = byTheClock[file]
		}
		used[file] = true
		require.NotEmpty(t, why, "%s goes by the clock of the machine", file)
	}
	require.Len(t, used, len(byTheClock), "what is named, and goes by no clock any more, need not be")
}
