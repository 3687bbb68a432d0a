package sheet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/mapping/sheet"

	"github.com/stretchr/testify/require"
)

// FuzzParse: no sheet ends the program, and one that is taken has all that
// drivers count on.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(src))
	}
	m := model(f)
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, "_file") {
			t.Skip("reads files")
		}
		s, err := sheet.Parse("a.yaml", []byte(src), m, options)
		if err != nil {
			return
		}
		for of, r := range s.Resources {
			if len(r.Fields) != len(of.Fields) || len(r.Key.Places) == 0 {
				t.Fatalf("%s has %d fields of %d and key %v", of.Name, len(r.Fields), len(of.Fields), r.Key)
			}
			row := make([]sheet.Raw, len(r.Places))
			rec, _, err := r.Decode(row, branch, nil)
			if err == nil && rec.Resource != nil {
				_, _ = r.Encode(rec, nil, branch, nil, true)
			}
			_ = r.Refs(row, branch, func(sheet.KeyRef) {})
		}
	})
}
