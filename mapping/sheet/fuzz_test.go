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
			require.Len(t, r.Fields, len(of.Fields))
			require.NotEmpty(t, r.Key.Places)
			require.True(t, (r.SQL == nil) != (r.Service == nil), "it is of one system")
			if r.SQL != nil {
				require.Len(t, r.SQL.Fields, len(of.Fields))
			} else {
				require.Len(t, r.Service.Fields, len(of.Fields))
			}
		}
	})
}
