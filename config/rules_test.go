package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestEveryRuleIsTried: each rule has a file that breaks it. Those of any file are tried where they
// are, and what only a machine or a gateway can tell is tried with check.
func TestEveryRuleIsTried(t *testing.T) {
	rules := map[string]bool{}
	tried := map[string]bool{}
	for _, file := range []string{"rules.go", "config.go", "key.go", "strictyaml/rules.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:ule[A-Za-z0-9]+ += "| \[)([a-z0-9-]+)(?:"|\][:;"])`).FindAllStringSubmatch(string(text), -1) {
			rules[m[1]] = true
			if strings.HasPrefix(file, "strictyaml/") {
				tried[m[1]] = true
			}
		}
	}
	files, err := filepath.Glob("testdata/*.bad.txt")
	ofCheck, wrong := filepath.Glob("../cmd/frontdesk/testdata/check/*.bad.txt")
	must(t, err, wrong)
	for _, file := range append(files, ofCheck...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			m := regexp.MustCompile(` \[([a-z0-9-]+)\]\n$`).FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: no rule in %q", file, line)
				continue
			}
			tried[m[1]] = true
		}
	}
	assert.Empty(t, cmp.Diff(rules, tried), "rules (-there +tried)")
}

// TestDocumentedConfiguration is right, and what it says of defaults is so.
func TestDocumentedConfiguration(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	withSecret := known
	withSecret.Env = func(string) (string, bool) { return "hush", true }
	c, err := config.Parse("example.yaml", []byte(example), withSecret)
	require.NoError(t, err)
	assert.Len(t, c.APIKeys, 1)
	defaults := config.Default()
	c.APIKeys, c.Include = nil, nil
	assert.Empty(t, cmp.Diff(defaults, c, comparable, cmpopts.EquateEmpty()), "the example differs from the defaults (-default +example)")
}
