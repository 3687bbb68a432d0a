package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

var (
	declaredTest = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	// namedTest is a test in a text: all that begin so with … behind it; ¹ is a note of the
	// page that says where it is, as "in `folder`" does.
	namedTest = regexp.MustCompile("`(Test\\w*)(…?)`( ¹)?(?:\\s+in\\s+`([\\w./]+)`)?")
)

// testFolders are where each test is declared, by its name.
func testFolders(t *testing.T) map[string][]string {
	t.Helper()
	root, found := rig.Repository(t), map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, declared := range declaredTest.FindAllSubmatch(text, -1) {
			folder, _ := filepath.Rel(root, filepath.Dir(file))
			found[string(declared[1])] = append(found[string(declared[1])], filepath.ToSlash(folder))
		}
		return err
	}))
	return found
}

// declared tells whether there is a test of that name, or one that begins so, in a folder
// or below it; "" is anywhere.
func declared(folders map[string][]string, name string, begins bool, below string) bool {
	for test, in := range folders {
		if test != name && !(begins && strings.HasPrefix(test, name)) {
			continue
		}
		if slices.ContainsFunc(in, func(folder string) bool { return below == "" || strings.HasPrefix(folder+"/", below+"/") }) {
			return true
		}
	}
	return false
}

// TestDocsNameTestsThatThereAre holds the pages to it: whoever reads that a test shows
// something finds it where the page says.
func TestDocsNameTestsThatThereAre(t *testing.T) {
	folders, named := testFolders(t), 0
	pages, err := filepath.Glob(rig.Repository(t, "docs", "*.md"))
	require.NoError(t, err)
	for _, page := range append(pages, rig.Repository(t, "README.md")) {
		for _, name := range namedTest.FindAllStringSubmatch(rig.Read(t, page), -1) {
			named++
			below := name[4]
			switch {
			case name[3] != "":
				below = "gateway/webhook"
			case below == "" && filepath.Base(page) == "reliability.md":
				below = "cmd/frontdesk"
			}
			require.True(t, declared(folders, name[1], name[2] != "", below), "%s names %s, which is not below %q", filepath.Base(page), name[0], below)
		}
	}
	require.Greater(t, named, 50)
}

// TestEveryFailureOfOthersHasATest: each row of that table names one.
func TestEveryFailureOfOthersHasATest(t *testing.T) {
	_, section, found := strings.Cut(rig.Read(t, rig.Repository(t, "docs", "reliability.md")), "\n## What befell others\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.Contains(line, "| Test |") {
			continue
		}
		rows++
		require.Regexp(t, namedTest, cells[2], cells[1])
		require.NotEmpty(t, strings.TrimSpace(cells[3]), cells[1])
	}
	require.Equal(t, 17, rows)
}
