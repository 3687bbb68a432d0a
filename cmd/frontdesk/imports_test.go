package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// mayImport is testdata/imports.txt, by package.
func mayImport(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(rig.Read(t, rig.Repository(t, "cmd", "frontdesk", "testdata", "imports.txt"))) {
		if name, imported, is := strings.Cut(line, ":"); is && line[0] != '#' {
			all[name] = strings.Fields(imported)
		}
	}
	return all
}

// TestImports keeps the direction of dependencies, tests left aside, and the picture of
// them in docs/development.md, which -update draws anew.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "frontdesk/...").Output()
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen, house, may := 0, imports{}, mayImport(t)
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		name := strings.TrimPrefix(p.ImportPath, "frontdesk/")
		if strings.HasPrefix(name, "cmd/frontdesk/e2e/") && len(p.Imports) == 0 { // tests only
			continue
		}
		allowed, known := may[name]
		require.True(t, known, "%s: say in testdata/imports.txt what it may import", name)
		seen++
		for _, ours := range allowed {
			require.Contains(t, p.Imports, "frontdesk/"+ours, "%s no longer imports %s: take it out of testdata/imports.txt", name, ours)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, "frontdesk/"); ok {
				require.True(t, slices.Contains(allowed, ours), "%s must not import %s", name, ours)
				house[name] = append(house[name], ours)
			}
		}
	}
	require.Len(t, may, seen, "testdata/imports.txt names a package that is gone")
	for name := range house.below("cmd/frontdesk") {
		require.False(t, strings.HasPrefix(name, "backend/adopt") || strings.HasPrefix(name, "cmd/frontdesk-kit") || strings.HasSuffix(name, "test"), "frontdesk links %s, which is for frontdesk-kit or for tests", name)
	}

	page := rig.Repository(t, "docs", "development.md")
	before, rest, begins := strings.Cut(rig.Read(t, page), "```mermaid\n")
	drawn, after, ends := strings.Cut(rest, "```\n")
	require.True(t, begins && ends, "the page has no picture")
	is := house.draw("cmd/frontdesk")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+"```mermaid\n"+is+"```\n"+after), 0o644))
		drawn = is
	}
	require.Equal(t, is, drawn, "the picture is not of this house: go test ./cmd/frontdesk -run TestImports -update")
}

// imports are what packages of ours import of ours.
type imports map[string][]string

// below are all that a package stands on.
func (i imports) below(name string) map[string]bool {
	all := map[string]bool{}
	for _, one := range i[name] {
		all[one] = true
		maps.Copy(all, i.below(one))
	}
	return all
}

// draw is a picture of a program in mermaid's words: its packages in the rooms of their
// first folder, and lines between them, but for those that go without saying because
// others lead there.
func (i imports) draw(program string) string {
	rooms := map[string][]string{}
	linked := i.below(program)
	linked[program] = true
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		room, _, _ := strings.Cut(name, "/")
		rooms[room] = append(rooms[room], name)
	}
	node := strings.NewReplacer("/", "_").Replace
	var nodes, lines strings.Builder
	for _, room := range slices.SortedFunc(maps.Keys(rooms), func(a, b string) int { // what stands on more comes first
		return cmp.Or(cmp.Compare(len(i.below(rooms[b][0])), len(i.below(rooms[a][0]))), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&nodes, "  subgraph room_%s[ ]\n", room)
		for _, name := range rooms[room] {
			fmt.Fprintf(&nodes, "    %s[%s]\n", node(name), name)
			for _, on := range i[name] {
				if !slices.ContainsFunc(i[name], func(other string) bool { return i.below(other)[on] }) {
					fmt.Fprintf(&lines, "  %s --> %s\n", node(name), node(on))
				}
			}
		}
		nodes.WriteString("  end\n")
	}
	return "flowchart TD\n" + nodes.String() + lines.String()
}
