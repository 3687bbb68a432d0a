package allowlist

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// TestAuditRulesAreWrittenDown: every rule of the code, and no other.
func TestAuditRulesAreWrittenDown(t *testing.T) {
	var code, docs []string
	for _, m := range regexp.MustCompile(`a\.add\(\w+, "([a-z-]+)"`).FindAllStringSubmatch(rig.Read(t, "audit.go"), -1) {
		code = append(code, m[1])
	}
	doc := rig.Read(t, rig.Repository(t, "docs", "configuration.md"))
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:error|warning|note) \\|").FindAllStringSubmatch(doc, -1) {
		docs = append(docs, m[1])
	}
	slices.Sort(code)
	require.ElementsMatch(t, slices.Compact(code), docs)
}
