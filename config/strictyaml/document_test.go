package strictyaml_test

import (
	"testing"

	"frontdesk/config/strictyaml"
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
	if problems != nil {
		t.Fatal(problems)
	}
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
		if p.Path != tt.path || p.Line != tt.line || p.Column != tt.column || doc.Has(tt.path) != tt.has {
			t.Errorf("At(%q) = %d:%d, Has %v, want %d:%d, Has %v", tt.path, p.Line, p.Column, doc.Has(tt.path), tt.line, tt.column, tt.has)
		}
	}
}

func TestDocumentBroken(t *testing.T) {
	var into sheet
	doc, _ := strictyaml.Decode("a.yaml", []byte("inner: text\nkeys: [{nam: x}, {allow: [[]]}]\nlisten: a"), &into, strictyaml.Options{})
	for path, want := range map[string]bool{
		"": false, "inner": true, "inner.name": true, "listen": false,
		"keys": false, "keys[0]": false, "keys[0].name": false, "keys[0].nam": true, "keys[1].allow": false, "keys[1].allow[0]": true,
	} {
		if got := doc.Broken(path); got != want {
			t.Errorf("Broken(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestDocumentOfWhatIsNotYAML(t *testing.T) {
	var into sheet
	doc, _ := strictyaml.Decode("a.yaml", []byte("a: [\n"), &into, strictyaml.Options{})
	if got := doc.At("inner.name").String(); got != "a.yaml:1:1: inner.name: " {
		t.Errorf("At = %q", got)
	}
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
		if got := strictyaml.Suggest(seen, known); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", seen, got, want)
		}
	}
}
