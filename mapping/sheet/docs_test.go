package sheet_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

const docsFile = "../../docs/sheet.md"

// docs are the parts of the page on sheets: what a sheet for a database has alone, what one for a
// service has alone, and what both have.
func docs(t *testing.T) (databases, services, both string) {
	t.Helper()
	text, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	parts := strings.Split(string(text), "\n## ")
	require.Len(t, parts, 4)
	return parts[1], parts[2], parts[0] + parts[3]
}

// TestDocsNameEveryKey holds each part to the structs that sheets of its kind are decoded into.
func TestDocsNameEveryKey(t *testing.T) {
	databases, services, both := docs(t)
	for _, of := range []struct {
		text   string
		schema []byte
	}{
		{databases + both, sheet.SQLSchema()},
		{services + both, sheet.HTTPSchema()},
	} {
		var schema struct {
			Properties map[string]any
			Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal(of.schema, &schema))
		named := regexp.MustCompile("[A-Za-z0-9_]+").FindAllString(strings.Join(regexp.MustCompile("`[^`\n]+`").FindAllString(of.text, -1), " "), -1)
		check := func(name string, keys map[string]any) {
			for key := range keys {
				if !slices.Contains(named, key) {
					t.Errorf("%s does not name %s of %s", docsFile, key, name)
				}
			}
		}
		check("the sheet", schema.Properties)
		for name, def := range schema.Defs {
			check(name, def.Properties)
		}
	}
}

// examples are the blocks of YAML in a text that begin with one of some keys.
func examples(text, keys string) (all []string) {
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if regexp.MustCompile("^(" + keys + "):").MatchString(block[1]) {
			all = append(all, block[1])
		}
	}
	return all
}

func TestDocsExampleLoads(t *testing.T) {
	databases, services, both := docs(t)
	all := examples(databases+services+both, "format")
	for _, text := range all {
		if _, err := sheet.Parse("sheet.md", []byte(text), model(t), options); err != nil {
			t.Error(err)
		}
	}
	require.Len(t, all, 2)
}

// TestDocsPartsLoad loads the examples that are a part of a sheet, within the rest of one: that of an HTTP service, or of a
// database.
func TestDocsPartsLoad(t *testing.T) {
	databases, services, both := docs(t)
	found := 0
	base := map[bool][]byte{}
	for tables, name := range map[bool]string{true: "part_tables", false: "part_service"} {
		text, err := os.ReadFile("testdata/" + name + ".yaml")
		require.NoError(t, err)
		base[tables] = text
	}
	for _, text := range []string{databases, both, services} {
		for _, example := range examples(text, "source|changes|resources|errors") {
			found++
			tables := text == databases || text == both && strings.Contains(example, "sqlstate:")
			var whole, part map[string]any
			require.NoError(t, errors.Join(yaml.Unmarshal(base[tables], &whole), yaml.Unmarshal([]byte(example), &part)))
			within(whole, part)
			text, err := yaml.Marshal(whole)
			require.NoError(t, err)
			o := options
			o.Env = func(string) (string, bool) { return "https://dms.example.nl", true }
			if _, err := sheet.Parse("sheet.md", text, model(t), o); err != nil {
				t.Errorf("%v in\n%s", err, example)
			}
		}
	}
	require.Greater(t, found, 4)
}

// within puts what a part says into the whole.
func within(whole, part map[string]any) {
	for key, v := range part {
		inner, is := v.(map[string]any)
		outer, was := whole[key].(map[string]any)
		if is && was {
			within(outer, inner)
		} else {
			whole[key] = v
		}
	}
}
