package sheet_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"frontdesk/mapping/sheet"
)

const docsFile = "../../docs/sheet.md"

func TestDocsNameEveryKey(t *testing.T) {
	docs, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(sheet.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
