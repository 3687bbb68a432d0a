package description

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

var update = flag.Bool("update", false, "write what the generators make of the description into docs/kits/generators.md")

// foreign are packages of npm that read descriptions: what runs them, and the folder that they
// are installed in.
func foreign(t *testing.T) (node, folder string) {
	t.Helper()
	node = sqltest.Tool(t, "npm", "node")
	folder = rig.Repository(t, ".ci", "generators")
	if _, err := os.Stat(filepath.Join(folder, "node_modules", ".installed")); err != nil {
		sqltest.Missing(t, "npm", "the generators are missing; .ci/install-node installs them")
	}
	return node, folder
}

// described starts a desk with an api_key that has an allowlist, and writes what path answers
// to it into a file.
func described(t *testing.T, allow, path string) (d *rig.Desk, file string) {
	t.Helper()
	d, _ = withAllowlists(t, rig.Options{}, allow)
	a := must.Have(d.Try("GET", path+"?api_key="+rig.ArrayKey(0), "", ""))(t)
	require.Equal(t, 200, a.Status)
	file = filepath.Join(t.TempDir(), "read.json")
	require.NoError(t, os.WriteFile(file, a.Body, 0o600))
	return d, file
}

// made is what became of a generator, as .ci/generators/try.mjs tells it.
type made struct {
	Made, Compiled, Failed string
	Seen                   *struct {
		Listed, Updated, AnyOf string
		Deleted                int
	}
}

// row is its line of the table: the version and what it can.
func (m made) row(name, version string) string {
	compiled, flow := "yes", "yes"
	if m.Compiled != "" {
		compiled = "no"
	}
	if m.Seen == nil {
		return fmt.Sprintf("| %s | %s | %s | no | |", name, version, compiled)
	}
	lists := "yes"
	if m.Seen.AnyOf != "2 found" {
		lists = "repeats the parameter: " + m.Seen.AnyOf
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", name, version, compiled, flow, lists)
}

// quick are the generators of the short form. With those of the kits, openapi-typescript and
// oapi-codegen, they are five.
var quick = []string{"oazapfts", "openapi-typescript-codegen", "orval"}

// TestForeignGenerators has generators that nobody here wrote make clients, compiles these
// strictly, has each make, list, change and delete an order, and holds the table of the kits
// to what came of it. It takes more than ten seconds, since each generator brings a compiler
// along; the soak tries more of them, and with a description of everything.
func TestForeignGenerators(t *testing.T) {
	node, folder := foreign(t)
	allow, names := `"* /order"`, quick
	if sqltest.Soak() || *update {
		names = nil
	}
	if sqltest.Soak() {
		allow = `"* /*"`
	}
	d, file := described(t, allow, "/openapi.json")
	out := t.TempDir()
	command := exec.Command(node, append([]string{filepath.Join(folder, "try.mjs"), file, out, d.Base, rig.ArrayKey(0)}, names...)...)
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	text := must.Have(os.ReadFile(filepath.Join(out, "result.json")))(t)
	results := must.JSON[map[string]made](t, text)
	require.GreaterOrEqual(t, len(results), len(quick))
	page := rig.Repository(t, "docs", "kits", "generators.md")
	table := newTable(t, page)
	for _, name := range slices.Sorted(maps.Keys(results)) {
		m := results[name]
		require.Empty(t, m.Made+m.Compiled+m.Failed, name)
		require.Equal(t, []any{"generated", "in_progress", 200}, []any{m.Seen.Listed, m.Seen.Updated, m.Seen.Deleted}, name)
		table.rows[name] = m.row(name, version(t, folder, name))
	}
	table.hold(t, page, *update)
}

// packageOf is the package of a generator that is called otherwise.
var packageOf = map[string]string{"hey-api": "@hey-api/openapi-ts", "orval-zod": "orval"}

// version is the pinned one.
func version(t *testing.T, folder, name string) string {
	text := must.Have(os.ReadFile(filepath.Join(folder, "package.json")))(t)
	pinned := must.JSON[struct{ Dependencies map[string]string }](t, text)
	if p, ok := packageOf[name]; ok {
		name = p
	}
	require.NotEmpty(t, pinned.Dependencies[name], name)
	return pinned.Dependencies[name]
}

// table is the one of a page, between its marks.
type table struct {
	before, after string
	written       []string
	rows          map[string]string
}

const tableHead = "| Generator | Version | Compiles with `strict` | Makes, lists, changes and deletes an order | Lists of values, `id[in]` |\n|---|---|---|---|---|\n"

func newTable(t *testing.T, page string) *table {
	parts := strings.SplitN(string(must.Have(os.ReadFile(page))(t)), tableHead, 2)
	require.Len(t, parts, 2, "the table of %s", page)
	rows := regexp.MustCompile(`^(\|.*\n)*`).FindString(parts[1])
	return &table{parts[0] + tableHead, strings.TrimPrefix(parts[1], rows), strings.Split(strings.TrimSpace(rows), "\n"), map[string]string{}}
}

// hold compares the rows with those of the page, or writes them.
func (b *table) hold(t *testing.T, page string, write bool) {
	if write {
		var rows strings.Builder
		for _, name := range slices.Sorted(maps.Keys(b.rows)) {
			rows.WriteString(b.rows[name] + "\n")
		}
		require.NoError(t, os.WriteFile(page, []byte(b.before+rows.String()+b.after), 0o644))
		return
	}
	for _, row := range b.rows {
		require.Contains(t, b.written, row, "go test -run TestForeignGenerators -update writes the table anew")
	}
}
