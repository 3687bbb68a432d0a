package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
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
		info, err := os.Stat(rig.Repository(t, picture[1]))
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(150<<10), picture[1])
	}
}
