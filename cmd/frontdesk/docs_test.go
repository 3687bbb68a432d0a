package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

var (
	declaredTest = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	// namedTest is a test in a text: all that begin so with … behind it; ¹ is a note of the
	// page that says where it is, as "in `folder`" does.
	namedTest = regexp.MustCompile("`(Test\\w*)(…?)`( ¹)?(?:\\s+in\\s+`([\\w./]+)`)?")
)

// section is a chapter of a page.
func section(t *testing.T, page, title string) string {
	t.Helper()
	_, text, found := strings.Cut(rig.Read(t, rig.Repository(t, "docs", page)), "\n## "+title+"\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// TestDocumentedFields: the entries of docs/allowlists.md that take fields away are right, and explained as there.
func TestDocumentedFields(t *testing.T) {
	_, text, _ := strings.Cut(section(t, "allowlists.md", "Fields"), "```yaml\n")
	entries, text, _ := strings.Cut(text, "```")
	_, text, _ = strings.Cut(text, "```console\n$ frontdesk explain --config fields.yaml --key planner '")
	asked, said, _ := strings.Cut(text, "'\n")
	said, _, _ = strings.Cut(said, "```")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("fields.yaml", []byte("api_keys:\n  - name: planner\n    key_sha256: ["+shopHash+"]\n"+entries), 0o600))
	_, out, stderr := cli("", "explain", "--config", "fields.yaml", "--key", "planner", asked)
	require.Equal(t, said, out, stderr)
}

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

// declared reports whether there is a test of that name, or one that begins so, in a folder
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
	pages := must.Have(filepath.Glob(rig.Repository(t, "docs", "*.md")))(t)
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
	rows := 0
	for line := range strings.Lines(section(t, "reliability.md", "What befell others")) {
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

// namedFunction is a row of a table that ends with a file and functions in it.
var namedFunction = regexp.MustCompile("(?m)\\| `([\\w./]+\\.go)`((?: `\\w+`,?)+) \\|$")

// TestLivesOfRequests: whoever follows a request by docs/development.md finds each
// function in the file that is named.
func TestLivesOfRequests(t *testing.T) {
	life := section(t, "development.md", "The life of a request")
	rows := namedFunction.FindAllStringSubmatch(life, -1)
	require.Equal(t, strings.Count(life, "\n| ")-2, len(rows), "a row of the two tables names no function")
	for _, row := range rows {
		parsed, err := parser.ParseFile(token.NewFileSet(), rig.Repository(t, filepath.FromSlash(row[1])), nil, parser.SkipObjectResolution)
		require.NoError(t, err, row[0])
		for _, name := range strings.FieldsFunc(row[2], func(r rune) bool { return strings.ContainsRune("`, ", r) }) {
			require.True(t, slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
				function, is := d.(*ast.FuncDecl)
				return is && function.Name.Name == name
			}), "%s has no function %s", row[1], name)
		}
	}
}

var (
	quoted     = regexp.MustCompile("`([\\w./*]+)`")
	identifier = regexp.MustCompile(`^[A-Za-z]+$`)
)

// TestRecipesNameWhatThereIs: each file, folder and identifier that the recipes of
// docs/development.md name is in the tree. A name without a folder is of any.
func TestRecipesNameWhatThereIs(t *testing.T) {
	recipes := section(t, "development.md", "How to add …")
	var files []string
	var code strings.Builder
	root := rig.Repository(t)
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, file)
		files = append(files, "/"+filepath.ToSlash(name))
		if err == nil && strings.HasSuffix(file, ".go") {
			text, err := os.ReadFile(file)
			code.Write(text)
			return err
		}
		return err
	}))
	named := 0
	for _, words := range quoted.FindAllStringSubmatch(recipes, -1) {
		named++
		name := words[1]
		if dot := strings.IndexByte(name, '.'); identifier.MatchString(name) || !strings.ContainsAny(name, "/*") && !strings.HasSuffix(name, ".go") && identifier.MatchString(name[dot+1:]) {
			require.True(t, regexp.MustCompile(`\b`+name[dot+1:]+`\b`).MatchString(code.String()), "%s is nowhere in the code", name)
			continue
		}
		pattern := regexp.QuoteMeta("/" + strings.TrimSuffix(name, "/"))
		for _, any := range []string{`\*`, "NAME"} {
			pattern = strings.ReplaceAll(pattern, any, `[^/]+`)
		}
		is := regexp.MustCompile(pattern + "$")
		require.True(t, slices.ContainsFunc(files, is.MatchString), "there is no %s", name)
	}
	require.Greater(t, named, 30)
}

// TestPicturesShowWhatThereIs: the drawing of README.md has each driver that there is, all
// pictures are there, and none is large. What the other pictures show, make pictures renews.
func TestPicturesShowWhatThereIs(t *testing.T) {
	var drawn []string
	drawing := rig.Read(t, rig.Repository(t, "docs", "frontdesk.svg"))
	for _, match := range regexp.MustCompile(`id="driver-(\w+)"`).FindAllStringSubmatch(drawing, -1) {
		drawn = append(drawn, match[1])
	}
	driver, there := reflect.TypeFor[config.Backend]().FieldByName("Driver")
	require.True(t, there)
	require.Equal(t, driver.Tag.Get("schema"), "enum="+strings.Join(drawn, "|"))
	require.Contains(t, drawing, "prefers-color-scheme:dark")
	pictures := regexp.MustCompile(`!\[[^\]]*\]\((docs/[^)]+)\)`).FindAllStringSubmatch(rig.Read(t, rig.Repository(t, "README.md")), -1)
	require.Len(t, pictures, 3)
	for _, picture := range pictures {
		require.LessOrEqual(t, must.Have(os.Stat(rig.Repository(t, picture[1])))(t).Size(), int64(150<<10), picture[1])
	}
}

// TestReadmeShowsARefusal: what README.md sends is answered as it says there.
func TestReadmeShowsARefusal(t *testing.T) {
	_, text, _ := strings.Cut(rig.Read(t, rig.Repository(t, "README.md")), "$ curl -H \"token: $TOKEN\" -d '")
	body, text, _ := strings.Cut(text, "'")
	_, text, _ = strings.Cut(text, "/webservice_v2/order\n")
	shown, _, found := strings.Cut(text, "\n```")
	require.True(t, found)
	d := rig.OnSQLite(t, rig.Options{})
	a := d.Call("POST", "/order", d.Login(rig.FullKey, "demo"), body)
	require.Equal(t, strings.ReplaceAll(shown, "\n ", ""), strings.Replace(string(a.Body), a.Failure(t).RequestID, "…", 1))
}

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
	out := must.Have(exec.Command("go", "list", "-json=ImportPath,Imports", "frontdesk/...").Output())(t)
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

// draw is a picture of a program in mermaid's words: what each of its packages imports, but for
// what others that it imports lead to.
func (i imports) draw(program string) string {
	linked := i.below(program)
	linked[program] = true
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		var on []string
		for _, imported := range i[name] {
			if !slices.ContainsFunc(i[name], func(other string) bool { return i.below(other)[imported] }) {
				on = append(on, imported)
			}
		}
		if len(on) > 0 {
			fmt.Fprintf(&lines, "  %s --> %s\n", name, strings.Join(on, " & "))
		}
	}
	return "flowchart TD\n" + lines.String()
}
