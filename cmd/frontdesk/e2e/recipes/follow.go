// Package recipes follows the recipes of docs/development.md ("How to add …"): it makes
// the changes that they name, and no other, and its tests look whether each addition works.
// What is added is in testdata, a folder a recipe: new files as they are, changes of others
// as diffs. It is not for programs.
package recipes

import (
	"encoding/json"
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
	{"A form of a text or a number", "validation"},
	{"A business rule", "rule"},
	{"A key of the configuration", "key"},
	{"A command", "command"},
	{"A backend", "driver"},
	{"An SQL engine", "engine"},
}

// notFollowed is a recipe that adds nothing which could be seen from outside.
const notFollowed = "A schema change of the built-in administration"

// unoptimized has our packages, which all have to be compiled again, compiled in two
// thirds of the time.
const unoptimized = "'-gcflags=frontdesk/...=-N -l -dwarf=false'"

// Build builds a program, frontdesk or frontdesk-kit, with what all recipes add, as it is shipped but for its speed.
// The compiler is told which files to take in place of others, and the tree stays as it is.
func Build(t testing.TB, name string) (program string) {
	t.Helper()
	dir := t.TempDir()
	replace, texts := map[string]string{}, followed(t)
	for path, text := range texts {
		file := filepath.Join(dir, fmt.Sprint(len(replace)))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		replace[rig.Repository(t, filepath.FromSlash(path))] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	build := exec.Command(rig.Repository(t, "deploy", "build"), program, name)
	build.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" "+unoptimized+" -overlay="+file)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// followed are the files that the recipes change or add, by their path in the tree.
func followed(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, r := range recipes {
		for _, c := range changesOf(t, r.folder) {
			old, changed := texts[c.path]
			file := rig.Repository(t, filepath.FromSlash(c.path))
			switch {
			case !c.diff:
				require.NoFileExists(t, file)
				require.False(t, changed, c.path)
				texts[c.path] = c.text
				continue
			case !changed:
				old = rig.Read(t, file)
			}
			text, err := patched(old, c.text)
			require.NoError(t, err, c.path)
			texts[c.path] = text
		}
	}
	return texts
}

// change is one file that a recipe adds or changes.
type change struct {
	path string // in the tree, with slashes
	diff bool   // else it is new
	text string
}

// changesOf reads what a recipe adds.
func changesOf(t testing.TB, folder string) (all []change) {
	t.Helper()
	root := rig.Repository(t, "cmd", "frontdesk", "e2e", "recipes", "testdata", folder)
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
