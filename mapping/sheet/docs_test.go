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

func TestDocsNameEveryKey(t *testing.T) {
	docs, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(sheet.Schema(), &schema))
	named := regexp.MustCompile("[A-Za-z0-9_]+").FindAllString(strings.Join(regexp.MustCompile("`[^`\n]+`").FindAllString(string(docs), -1), " "), -1)
	check := func(of string, keys map[string]any) {
		for key := range keys {
			if !slices.Contains(named, key) {
				t.Errorf("%s does not name %s of %s", docsFile, key, of)
			}
		}
	}
	check("the sheet", schema.Properties)
	for name, def := range schema.Defs {
		check(name, def.Properties)
	}
}

func TestDocsExampleLoads(t *testing.T) {
	docs, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	found := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(docs), -1) {
		if !strings.HasPrefix(block[1], "format:") {
			continue
		}
		found++
		if _, err := sheet.Parse("sheet.md", []byte(block[1]), model(t), options); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no example in ", docsFile)
	}
}

// partOf is the sheet that examples are parts of which show one thing of an HTTP service.
const partOf = `
format: 1
source: {http: {url: "https://dms.example.nl"}}
rules: backend
accounts: {users: []}
resources:
  contact:
    key: {columns: nr}
    operations: {get: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name, number: {from: nr, readonly: true}, modified_at: {from: updated, readonly: true}}
`

// partOfTables is that of parts which show one thing of a database.
const partOfTables = `
format: 1
source: {sql: {engine: postgres, dsn: "postgres://x"}}
rules: backend
accounts: {users: []}
resources: {contact: {table: REL, key: {columns: RELNR}, fields: {kind: {constant: person}, name: NAAM}}}
`

// TestDocsPartsLoad loads the examples that are a part of a sheet, within the rest of one.
func TestDocsPartsLoad(t *testing.T) {
	docs, err := os.ReadFile(docsFile)
	require.NoError(t, err)
	found := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(docs), -1) {
		if !regexp.MustCompile("^(source|changes|resources|errors):").MatchString(block[1]) {
			continue
		}
		found++
		of := partOf
		if strings.Contains(block[1], " table:") || strings.Contains(block[1], "sqlstate:") {
			of = partOfTables
		}
		var whole, part map[string]any
		require.NoError(t, errors.Join(yaml.Unmarshal([]byte(of), &whole), yaml.Unmarshal([]byte(block[1]), &part)))
		within(whole, part)
		text, err := yaml.Marshal(whole)
		require.NoError(t, err)
		o := options
		o.Env = func(string) (string, bool) { return "https://dms.example.nl", true }
		if _, err := sheet.Parse("sheet.md", text, model(t), o); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	if found < 9 {
		t.Errorf("%d parts of sheets in %s", found, docsFile)
	}
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
