package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// TestRulesAreWrittenDown holds the list of the docs to that of the code.
func TestRulesAreWrittenDown(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(doc), "\n## Rules\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("docs/configuration.md has no section Rules, or none behind it")
	}
	var written, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| (.*) \\|$").FindAllStringSubmatch(section, -1) {
		written = append(written, m[1]+": "+m[2])
	}
	for _, rule := range config.Rules() {
		want = append(want, rule.ID+": "+rule.About)
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Errorf("docs/configuration.md, Rules (-code +docs):\n%s", diff)
	}
}

// TestEveryRuleIsTried: each has a file that breaks it. Those of any file are
// tried where they are, and what only a machine or a gateway can tell is tried with check.
func TestEveryRuleIsTried(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.txt")
	ofCheck, wrong := filepath.Glob("../cmd/frontdesk/testdata/check/*.bad.txt")
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	tried := map[string]bool{}
	for _, rule := range strictyaml.Rules() {
		tried[rule.ID] = true
	}
	for _, file := range append(files, ofCheck...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			m := regexp.MustCompile(` \[([a-z0-9-]+)\]\n$`).FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: no rule in %q", file, line)
				continue
			}
			tried[m[1]] = true
			if !slices.ContainsFunc(config.Rules(), func(r strictyaml.Rule) bool { return r.ID == m[1] }) {
				t.Errorf("%s: rule %s is not in the list", file, m[1])
			}
		}
	}
	for _, rule := range config.Rules() {
		if !tried[rule.ID] {
			t.Errorf("no file in testdata breaks rule %s", rule.ID)
		}
	}
}

// TestDocumentedConfiguration is right, and what it says of defaults is so.
func TestDocumentedConfiguration(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	withSecret := known
	withSecret.Env = func(string) (string, bool) { return "hush", true }
	c, err := config.Parse("example.yaml", []byte(example), withSecret)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.APIKeys) != 1 || len(c.Expect) != 2 {
		t.Errorf("the example has %d keys and %d expectations", len(c.APIKeys), len(c.Expect))
	}
	defaults := config.Default()
	c.APIKeys, c.Expect, c.Include = nil, nil, nil
	if diff := cmp.Diff(defaults, c, comparable, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
}
