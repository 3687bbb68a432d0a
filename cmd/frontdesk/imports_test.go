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

// mayImport says which of our packages each imports, and no other: its own
// subpackages follow the same line. Drivers never import each other, and nobody but cmd
// imports cmd; what works on several drivers (backend/adopt) is imported by frontdesk-kit alone.
var mayImport = map[string][]string{
	"config/strictyaml":           {},
	"config/schema":               {"config/strictyaml"},
	"config/schema/schematest":    {},
	"config":                      {"config/strictyaml"},
	"mapping":                     {"config/strictyaml"},
	"mapping/sheet":               {"auth", "config", "config/strictyaml", "mapping"},
	"auth":                        {"mapping"},
	"auth/authtest":               {"auth"},
	"auth/redis":                  {"auth", "mapping"},
	"auth/redis/redistest":        {"backend/sqlrecord/sqltest"},
	"backend":                     {"auth", "config/strictyaml", "mapping"},
	"backend/backendtest":         {"config/strictyaml", "mapping"},
	"backend/backupzip":           {"backend", "mapping"},
	"backend/drivertest":          {"auth", "backend", "backend/sqlrecord/sqltest", "mapping"},
	"backend/follow":              {"auth", "backend", "backend/sqlrecord", "mapping", "mapping/sheet"},
	"backend/idstore":             {"auth", "backend", "backend/sqlrecord", "mapping", "mapping/sheet"},
	"backend/legacy":              {"auth", "backend", "backend/backupzip", "backend/follow", "backend/sqlrecord", "mapping", "mapping/sheet"},
	"backend/legacy/legacytest":   {"backend/sqlrecord/sqltest"},
	"backend/legacy/foreigntest":  {"backend/drivertest", "backend/legacy/legacytest", "backend/sqlrecord/sqltest", "mapping"},
	"backend/adopt":               {"backend", "backend/legacy", "backend/sqlrecord", "config/strictyaml", "docs", "mapping", "mapping/sheet"},
	"backend/adopt/check":         {"auth", "backend", "backend/adopt", "backend/follow", "backend/legacy", "backend/remote", "backend/sqlrecord", "config/strictyaml", "mapping", "mapping/sheet"},
	"backend/reference":           {"backend", "backend/backupzip", "backend/sqlrecord", "auth", "config/strictyaml", "mapping"},
	"backend/reference/data":      {},
	"backend/remote":              {"auth", "backend", "backend/sqlrecord", "mapping", "mapping/sheet"},
	"backend/remote/foreigntest":  {"backend/sqlrecord/sqltest"},
	"backend/remote/remotetest":   {"backend/sqlrecord/sqltest"},
	"backend/sqlrecord":           {"backend", "auth", "mapping"},
	"backend/sqlrecord/sqltest":   {},
	"gateway":                     {"auth", "backend", "config/strictyaml", "gateway/openapi", "gateway/testpage", "gateway/webhook", "mapping"},
	"gateway/openapi":             {},
	"docs":                        {},
	"docs/bench/bareproxy":        {},
	"docs/bench/bareread":         {},
	"gateway/testpage":            {"docs", "mapping"},
	"gateway/webhook":             {"auth", "mapping"},
	"gateway/webhook/webhooktest": {},
	"gateway/webhook/jobstore":    {"backend", "backend/sqlrecord", "gateway/webhook", "mapping"},
	"cmd/frontdesk": {
		"auth", "backend", "backend/reference", "cmd/frontdesk/accesslog", "cmd/frontdesk/commandline", "cmd/frontdesk/allowlist", "cmd/frontdesk/atomicfile",
		"cmd/frontdesk/desk", "cmd/frontdesk/desk/neighbours", "cmd/frontdesk/keys",
		"cmd/frontdesk/terminal", "config", "config/strictyaml", "docs", "gateway/openapi", "gateway/webhook", "gateway/webhook/jobstore", "mapping",
	},
	"cmd/frontdesk/accesslog": {"cmd/frontdesk/terminal", "docs", "mapping"},
	"cmd/frontdesk-kit": {
		"auth", "backend/adopt", "backend/adopt/check", "backend/backendtest", "backend/idstore", "backend/legacy", "backend/remote", "backend/sqlrecord",
		"cmd/frontdesk/atomicfile", "cmd/frontdesk/commandline", "cmd/frontdesk/desk", "cmd/frontdesk/terminal", "config", "config/strictyaml", "mapping", "mapping/sheet",
	},
	"cmd/frontdesk/commandline":             {"cmd/frontdesk/desk", "config/strictyaml"},
	"cmd/frontdesk/accesslog/accesslogtest": {},
	"cmd/frontdesk/allowlist": {
		"auth", "cmd/frontdesk/accesslog", "cmd/frontdesk/desk", "cmd/frontdesk/terminal", "config", "config/strictyaml", "gateway", "gateway/webhook", "mapping",
	},
	"cmd/frontdesk/desk": {
		"auth", "auth/redis", "backend", "backend/follow", "backend/idstore", "backend/legacy", "backend/reference", "backend/remote", "backend/sqlrecord", "cmd/frontdesk/atomicfile", "cmd/frontdesk/chart", "cmd/frontdesk/desk/neighbours", "cmd/frontdesk/instrument", "config",
		"config/strictyaml", "gateway", "gateway/webhook", "gateway/webhook/jobstore", "mapping", "mapping/sheet",
	},
	"cmd/frontdesk/desk/neighbours": {"backend/sqlrecord", "mapping"},
	"cmd/frontdesk/terminal":        {"mapping"},
	"cmd/frontdesk/atomicfile":      {},
	"cmd/frontdesk/chart":           {},
	"cmd/frontdesk/instrument":      {"auth", "backend", "cmd/frontdesk/atomicfile", "gateway"},
	"cmd/frontdesk/keys":            {"cmd/frontdesk/atomicfile", "cmd/frontdesk/desk", "cmd/frontdesk/desk/neighbours", "cmd/frontdesk/terminal", "config", "config/strictyaml"},
	"cmd/frontdesk/rig": {
		"auth", "backend", "backend/backendtest", "backend/legacy/legacytest", "backend/reference", "backend/sqlrecord/sqltest", "cmd/frontdesk/desk", "cmd/frontdesk/desk/neighbours",
		"cmd/frontdesk/rig/await", "config", "gateway", "gateway/openapi", "gateway/webhook", "gateway/webhook/jobstore", "gateway/webhook/webhooktest", "mapping",
	},
	"cmd/frontdesk/rig/await":   {},
	"cmd/frontdesk/e2e/recipes": {"cmd/frontdesk/rig"},
}

// TestImports keeps the direction of dependencies, tests left aside, and the picture of
// them in docs/development.md, which -update draws anew.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "frontdesk/...").Output()
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen, house := 0, imports{}
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
		allowed, known := mayImport[name]
		require.True(t, known, "%s: say in mayImport what it may import", name)
		seen++
		for _, ours := range allowed {
			require.Contains(t, p.Imports, "frontdesk/"+ours, "%s no longer imports %s: take it out of mayImport", name, ours)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, "frontdesk/"); ok {
				require.True(t, slices.Contains(allowed, ours), "%s must not import %s", name, ours)
				house[name] = append(house[name], ours)
			}
		}
	}
	require.Len(t, mayImport, seen, "mayImport names a package that is gone")
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
