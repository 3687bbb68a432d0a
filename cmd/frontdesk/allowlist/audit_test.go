package allowlist

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestAuditRulesAreWrittenDown: every rule of the code, and no other.
func TestAuditRulesAreWrittenDown(t *testing.T) {
	var code, docs []string
	src, err := os.ReadFile("audit.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`a\.add\(\w+, "([a-z-]+)"`).FindAllStringSubmatch(string(src), -1) {
		code = append(code, m[1])
	}
	doc, err := os.ReadFile(rig.Repository(t, "docs", "configuration.md"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:error|warning|note) \\|").FindAllStringSubmatch(string(doc), -1) {
		docs = append(docs, m[1])
	}
	slices.Sort(code)
	require.ElementsMatch(t, slices.Compact(code), docs)
}
