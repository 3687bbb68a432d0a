package strictyaml_test

import (
	"testing"

	"frontdesk/config/strictyaml"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocumentAt(t *testing.T) {
	const src = `# a file
inner: {name: x,
  allow: [a, b]}
labels:
  a.b[0]: c
keys:
  - name: first

  - allow:
      - GET /order
maybe:
`
	var into sheet
	doc, problems := strictyaml.Decode("a.yaml", []byte(src), &into, strictyaml.Options{})
	require.Empty(t, problems)
	tests := []struct {
		path         string
		line, column int
		has          bool
	}{
		{"", 2, 1, true},
		{"inner", 2, 8, true},
		{"inner.name", 2, 15, true},
		{"inner.allow[1]", 3, 14, true},
		{"inner.allow[2]", 3, 10, false},
		{"labels", 4, 1, true},
		{`labels["a.b[0]"]`, 5, 11, true},
		{`labels["x.y[0]"]`, 4, 1, false},
		{"keys", 6, 1, true},
		{"keys[0].allow", 7, 5, false},
		{"keys[1].allow", 9, 5, true},
		{"keys[1].allow[0]", 10, 9, true},
		{"maybe.name", 11, 1, false},
		{"listen", 2, 1, false},
	}
	for _, tt := range tests {
		p := doc.At(tt.path)
		assert.Equal(t, []any{tt.path, tt.line, tt.column, tt.has}, []any{p.Path, p.Line, p.Column, doc.Has(tt.path)}, tt.path)
	}
}

func TestDocumentBroken(t *testing.T) {
	var into sheet
	doc, _ := strictyaml.Decode("a.yaml", []byte("inner: text\nkeys: [{nam: x}, {allow: [[]]}]\nlisten: a"), &into, strictyaml.Options{})
	for path, want := range map[string]bool{
		"": false, "inner": true, "inner.name": true, "listen": false,
		"keys": false, "keys[0]": false, "keys[0].name": false, "keys[0].nam": true, "keys[1].allow": false, "keys[1].allow[0]": true,
	} {
		assert.Equal(t, want, doc.Broken(path), path)
	}
}

func TestDocumentOfWhatIsNotYAML(t *testing.T) {
	var into sheet
	doc, _ := strictyaml.Decode("a.yaml", []byte("a: [\n"), &into, strictyaml.Options{})
	assert.Equal(t, "a.yaml:1:1: inner.name: ", doc.At("inner.name").String())
}

func TestSuggest(t *testing.T) {
	known := []string{"allow", "name", "per_second", "GET /order", "info"}
	for seen, want := range map[string]string{
		"alow": "allow", "Allow": "allow", "allwo": "allow", "nmae": "name", "per": "per_second", "get /order": "GET /order", "inform": "info",
		"": "", "x": "", "zebra": "",
	} {
		if want != "" {
			want = ", did you mean " + want + "?"
		}
		assert.Equal(t, want, strictyaml.Suggest(seen, known), seen)
	}
}
