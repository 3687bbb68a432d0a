package recipes

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

var (
	recipeTitle = regexp.MustCompile(`(?m)^\*\*([^*]+):?\*\*`)
	quoted      = regexp.MustCompile("`([^`]+)`")
)

// TestRecipesNameEveryPlace wants each recipe followed by TestForeignRecipes, and no place changed
// there that the recipe does not name.
func TestRecipesNameEveryPlace(t *testing.T) {
	page := rig.Read(t, rig.Repository(t, "docs", "development.md"))
	_, page, found := strings.Cut(page, "\n## How to add …\n")
	require.True(t, found)
	page, _, _ = strings.Cut(page, "\n## ")
	texts := map[string]string{}
	begins := recipeTitle.FindAllStringSubmatchIndex(page, -1)
	for i, b := range begins {
		end := len(page)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		texts[strings.TrimSuffix(page[b[2]:b[3]], ":")] = page[b[1]:end]
	}
	require.Contains(t, texts, notFollowed)
	require.Len(t, texts, len(recipes)+1, "recipes of the page, and those that are followed")
	for _, r := range recipes {
		require.Contains(t, texts, r.title)
		var places []string
		for _, m := range quoted.FindAllStringSubmatch(texts[r.title], -1) {
			places = append(places, strings.ReplaceAll(m[1], "NAME", "*"))
		}
		for _, c := range changesOf(t, r.folder) {
			require.True(t, c.isNamed(places), "%s: the recipe does not name %s among %q", r.title, c.path, places)
		}
	}
}

// isNamed reports whether a place of a change is among those that a recipe names: a file, or a
// pattern of files, by itself or within a folder that is named too; for a new file that folder,
// and with a slash at its end one somewhere above the file.
func (c change) isNamed(places []string) bool {
	for _, place := range places {
		for _, folder := range append([]string{""}, places...) {
			if ok, _ := path.Match(path.Join(folder, place), c.path); ok {
				return true
			}
		}
		if !c.diff && (path.Dir(c.path) == place || strings.HasSuffix(place, "/") && strings.HasPrefix(c.path, place)) {
			return true
		}
	}
	return false
}

// TestNamed is what a recipe has to say of a place.
func TestNamed(t *testing.T) {
	for _, test := range []struct {
		change change
		places string
		want   bool
	}{
		{change{path: "a/b.go", diff: true}, "a/b.go", true},
		{change{path: "a/b.go", diff: true}, "a b.go", true},
		{change{path: "a/b_x.go", diff: true}, "a b_*.go", true},
		{change{path: "a/b.go", diff: true}, "a", false},
		{change{path: "a/b.go", diff: true}, "a/", false},
		{change{path: "a/b.go", diff: true}, "b.go", false},
		{change{path: "a/b.go"}, "a", true},
		{change{path: "a/b/c.go"}, "a/", true},
		{change{path: "a/b/c.go"}, "a", false},
		{change{path: "a/b/c.go"}, "a b/*.go", true},
	} {
		require.Equal(t, test.want, test.change.isNamed(strings.Fields(test.places)), "%s among %s", test.change.path, test.places)
	}
}
