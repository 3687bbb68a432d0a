package recipes

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// recipes are those of docs/development.md, by what they begin with there, in the order
// in which they are followed: the folder of testdata with what is added.
var recipes = []struct{ title, folder string }{
	{"A resource", "resource"},
	{"An error", "error"},
	{"A business rule", "rule"},
	{"A key of the configuration", "key"},
	{"A command", "command"},
	{"A backend", "driver"},
}

// notFollowed is a recipe that adds nothing which could be seen from outside.
const notFollowed = "A schema change of the built-in administration"

// change is one file that a recipe adds or changes.
type change struct {
	path string // in the tree, with slashes
	diff bool   // else it is new
	text string
}

// changesOf reads what a recipe adds.
func changesOf(t *testing.T, folder string) (all []change) {
	t.Helper()
	root := filepath.Join("testdata", folder)
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		path, diff := strings.CutSuffix(filepath.ToSlash(inside), ".diff")
		all = append(all, change{path, diff, rig.Read(t, file)})
		return nil
	}))
	require.NotEmpty(t, all, folder)
	return all
}

// follow makes the change in a tree.
func (c change) follow(t *testing.T, tree string) {
	t.Helper()
	file, text := filepath.Join(tree, filepath.FromSlash(c.path)), c.text
	if c.diff {
		var err error
		text, err = patched(rig.Read(t, file), c.text)
		require.NoError(t, err, c.path)
		require.NoError(t, os.Remove(file)) // it may be a link to the real one
	} else {
		require.NoFileExists(t, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// patched puts the hunks of a diff into a text. Each begins with @@, and its lines with a
// blank, - or +, as everywhere; but it says no line numbers, and how lines are indented
// and aligned does not matter, so that it stands many a change of what is around it.
func patched(text, diff string) (string, error) {
	lines := strings.Split(text, "\n")
	for _, hunk := range strings.Split("\n"+strings.TrimSuffix(diff, "\n"), "\n@@\n")[1:] {
		var old, anew []string
		for _, line := range strings.Split(hunk, "\n") {
			if line[0] != '+' {
				old = append(old, line[1:])
			}
		}
		at, err := place(lines, old)
		if err != nil {
			return "", err
		}
		next := at
		for _, line := range strings.Split(hunk, "\n") {
			switch line[0] {
			case '+':
				anew = append(anew, line[1:])
			case ' ':
				anew = append(anew, lines[next])
				fallthrough
			default:
				next++
			}
		}
		lines = slices.Replace(lines, at, next, anew...)
	}
	return strings.Join(lines, "\n"), nil
}

// place finds the only place where lines follow each other.
func place(lines, wanted []string) (int, error) {
	bare := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	found := -1
	for at := range len(lines) - len(wanted) + 1 {
		if slices.EqualFunc(lines[at:at+len(wanted)], wanted, func(a, b string) bool { return bare(a) == bare(b) }) {
			if found >= 0 {
				return 0, fmt.Errorf("these lines are there twice, the diff wants more around them:\n%s", strings.Join(wanted, "\n"))
			}
			found = at
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("these lines of the diff are not there any more:\n%s", strings.Join(wanted, "\n"))
	}
	return found, nil
}

// copyTree copies what git knows of the tree, and what is about to be known.
func copyTree(t *testing.T) string {
	t.Helper()
	root, tree := rig.Repository(t), t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skip("there is no git: this tree cannot be told from what lies about in it")
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(tree, name)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() { // it was deleted, and git has not been told
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		if os.Link(from, to) == nil {
			continue
		}
		text, err := os.ReadFile(from) // the copy is on another disk
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, info.Mode().Perm()))
	}
	return tree
}
