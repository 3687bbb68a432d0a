package strictyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config/strictyaml"
)

type common struct {
	Note string `yaml:"note"`
}

type colour struct{ name string }

func (c *colour) UnmarshalText(text []byte) error {
	switch string(text) {
	case "red":
	case "":
		return errors.New("expected a colour, found none")
	default:
		return fmt.Errorf("hue: %w", strictyaml.Expected("red"))
	}
	c.name = string(text)
	return nil
}

// amount is written as a number or as {value, unit}.
type amount struct {
	Value int    `yaml:"value"`
	Unit  string `yaml:"unit"`
}

func (a *amount) UnmarshalYAML(n strictyaml.Node) error {
	type fields amount
	switch n.Kind() {
	case strictyaml.Scalar:
		n.Decode(&a.Value)
	case strictyaml.Mapping:
		n.Decode((*fields)(a))
	default:
		return fmt.Errorf("found %s, expected a number or {value, unit}", n.Kind())
	}
	return nil
}

type inner struct {
	Name  string   `yaml:"name"`
	Allow []string `yaml:"allow"`
}

type sheet struct {
	common
	Listen   string            `yaml:"listen"`
	Port     uint16            `yaml:"port"`
	Count    int               `yaml:"count"`
	Ratio    float64           `yaml:"ratio"`
	Access   bool              `yaml:"access"`
	Wait     time.Duration     `yaml:"wait"`
	Mode     string            `yaml:"mode" schema:"enum=enforce|shadow"`
	Colour   colour            `yaml:"colour"`
	Amount   amount            `yaml:"amount"`
	Inner    inner             `yaml:"inner"`
	Keys     []inner           `yaml:"keys"`
	Maybe    *inner            `yaml:"maybe"`
	Labels   map[string]string `yaml:"labels"`
	Nested   map[string][]int  `yaml:"nested"`
	Untagged string
}

var unexported = cmp.AllowUnexported(sheet{}, common{}, colour{})

func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want sheet
	}{
		{"nothing", "", sheet{}},
		{"comments only", "# nothing yet\n", sheet{}},
		{"text keeps what was written", "listen: 010\nnote: 1e3\ninner: {name: 2027-01-01}", sheet{Listen: "010", common: common{"1e3"}, Inner: inner{Name: "2027-01-01"}}},
		{"quoted and folded text", "listen: \"a\\tb\"\nnote: >-\n  x\n  y\n", sheet{Listen: "a\tb", common: common{"x y"}}},
		{"numbers", "port: 8080\ncount: -5\nratio: 0.5\naccess: true", sheet{Port: 8080, Count: -5, Ratio: 0.5, Access: true}},
		{"whole number as a float", "ratio: 50", sheet{Ratio: 50}},
		{"duration", "wait: 1h30m", sheet{Wait: 90 * time.Minute}},
		{"TextUnmarshaler", "colour: red", sheet{Colour: colour{"red"}}},
		{"one shape", "amount: 5", sheet{Amount: amount{Value: 5}}},
		{"other shape", "amount: {value: 5, unit: kg}", sheet{Amount: amount{5, "kg"}}},
		{"lists", "keys:\n- name: a\n  allow: [x, 'y']\n- name: b\n", sheet{Keys: []inner{{"a", []string{"x", "y"}}, {"b", nil}}}},
		{"empty section, list and map", "inner:\nkeys:\nlabels:\n", sheet{Keys: []inner{}, Labels: map[string]string{}}},
		{"pointer", "maybe: {name: a}", sheet{Maybe: &inner{Name: "a"}}},
		{"empty pointer", "maybe: ~", sheet{}},
		{"maps", "labels: {a.b: c, 1: one}\nnested: {x: [1, 2]}", sheet{Labels: map[string]string{"a.b": "c", "1": "one"}, Nested: map[string][]int{"x": {1, 2}}}},
		{"alias", "inner: {allow: &reading [x, y]}\nkeys: [{allow: *reading}]", sheet{Inner: inner{Allow: []string{"x", "y"}}, Keys: []inner{{Allow: []string{"x", "y"}}}}},
		{"byte order mark, directive, CRLF", "\ufeff%YAML 1.2\r\n---\r\nlisten: a\r\n", sheet{Listen: "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got sheet
			_, problems := strictyaml.Decode("a.yaml", []byte(tt.src), &got, strictyaml.Options{})
			require.NoError(t, problems.Err())
			assert.Empty(t, cmp.Diff(tt.want, got, unexported), "decoded (-want +got)")
		})
	}
}

func TestDecodeKeepsDefaults(t *testing.T) {
	got := sheet{Listen: "default", Count: 7, Inner: inner{Name: "kept"}, Labels: map[string]string{"old": "x"}}
	_, problems := strictyaml.Decode("a.yaml", []byte("inner: {allow: [x]}\ncount: many\nlabels: {new: y}"), &got, strictyaml.Options{})
	if len(problems) != 1 {
		t.Fatalf("problems: %v", problems)
	}
	want := sheet{Listen: "default", Count: 7, Inner: inner{"kept", []string{"x"}}, Labels: map[string]string{"new": "y"}}
	assert.Empty(t, cmp.Diff(want, got, unexported), "decoded (-want +got)")
}

func TestProblems(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"unknown key", "lisen: a", "1:1: lisen: unknown key, did you mean listen? [unknown-key]"},
		{"secret after a forgotten colon", "listen whsec_TOPSECRET: a", "1:1: [\"listen w…\"]: unknown key, expected note, listen, port, count, ratio, access, wait, mode, colour, amount, inner, keys, maybe, labels or nested [unknown-key]"},
		{"secret taken for a key", "\"0b5f6f3c-1c1f-4d0e-9a52-5f1d2f0c9a11\": a", "1:1: [\"0b5f6f3c…\"]: unknown key, expected note, listen, port, count, ratio, access, wait, mode, colour, amount, inner, keys, maybe, labels or nested [unknown-key]"},
		{"unknown key, nothing near", "inner:\n  zzz: a", "2:3: inner.zzz: unknown key, expected name or allow [unknown-key]"},
		{"unknown key of an embedded struct", "nota: a", "1:1: nota: unknown key, did you mean note? [unknown-key]"},
		{"untagged fields are no keys", "inner: {}\nUntagged: a", "2:1: Untagged: unknown key, expected note, listen, port, count, ratio, access, wait, mode, colour, amount, inner, keys, maybe, labels or nested [unknown-key]"},
		{"duplicate keys", "listen: a\ninner:\n  name: x\n  name: y\nlisten: b", "4:3: inner.name: key given twice, first at 3:3 [key-twice]\n5:1: listen: key given twice, first at 1:1 [key-twice]"},
		{"none of a few words", "keys: []\nmode: shadwo", "2:7: mode: found \"shadwo\", expected one of enforce, shadow, did you mean shadow? [word]"},
		{"none of a few words, nothing near", "mode: \"\"", "1:7: mode: found \"\", expected one of enforce, shadow [word]"},
		{"none of a few words, behind an alias", "note: &n shadows\nmode: *n", "2:7: mode: found \"shadows\", expected one of enforce, shadow, did you mean shadow? [word]"},
		{"a list for a word", "mode: [shadow]", "1:7: mode: found a list, expected text [wrong-kind]"},
		{"text for a list", "inner: {allow: GET /order}", "1:16: inner.allow: found a single value, expected a list, between [ and ] or one - per line [wrong-kind]"},
		{"mapping for a list", "keys:\n  name: a", "2:3: keys: found a mapping, expected a list [wrong-kind]"},
		{"list for text", "listen: [a]", "1:9: listen: found a list, expected text [wrong-kind]"},
		{"text for a section", "inner: a", "1:8: inner: found a single value, expected a mapping with name or allow [wrong-kind]"},
		{"list for a map", "labels: [a]", "1:9: labels: found a list, expected a mapping [wrong-kind]"},
		{"nothing for text", "listen:\n", "1:1: listen: found nothing, expected text (\"\" for none) [wrong-kind]"},
		{"nothing for a number", "count: ~", "1:8: count: found nothing, expected a whole number [wrong-kind]"},
		{"list for the document", "- a", "1:1: found a list, expected a mapping with note, listen, port, count, ratio, access, wait, mode, colour, amount, inner, keys, maybe, labels or nested [wrong-kind]"},
		{"not a number", "count: many", "1:8: count: found many, expected a whole number [wrong-value]"},
		{"fraction", "count: 1.5", "1:8: count: found 1.5, expected a whole number [wrong-value]"},
		{"number in quotes", `count: "5"`, `1:8: count: found "5", expected a whole number [wrong-value]`},
		{"octal", "count: 010", "1:8: count: found 010, expected a whole number without a leading zero [wrong-value]"},
		{"hexadecimal", "count: 0x1F", "1:8: count: found 0x1F, expected a whole number [wrong-value]"},
		{"out of range", "port: 70000", "1:7: port: found 70000, expected a whole number from 0 to 65535 [wrong-value]"},
		{"negative", "port: -1", "1:7: port: found -1, expected a whole number from 0 to 65535 [wrong-value]"},
		{"far out of range", "count: 99999999999999999999", "1:8: count: found 99999999999999999999, expected a whole number from -9223372036854775808 to 9223372036854775807 [wrong-value]"},
		{"not a finite number", "ratio: .inf", "1:8: ratio: found .inf, expected a number [wrong-value]"},
		{"infinity by name", "ratio: Infinity", "1:8: ratio: found Infinity, expected a number [wrong-value]"},
		{"boolean of old", "access: yes", "1:9: access: found yes, expected true or false [wrong-value]"},
		{"duration without unit", "wait: 30", "1:7: wait: found 30, expected a duration such as 30s or 1h30m [wrong-value]"},
		{"duration, long and unprintable", `wait: "` + strings.Repeat("x", 70) + `\n"`, `1:7: wait: found "` + strings.Repeat("x", 60) + `…", expected a duration such as 30s or 1h30m [wrong-value]`},
		{"TextUnmarshaler", "colour: blue", "1:9: colour: found blue, expected red [wrong-value]"},
		{"TextUnmarshaler with a message of its own", `colour: ""`, "1:9: colour: expected a colour, found none [wrong-value]"},
		{"TextUnmarshaler on a list", "colour: [red]", "1:9: colour: found a list, expected text [wrong-kind]"},
		{"neither shape", "amount: [5]", "1:9: amount: found a list, expected a number or {value, unit} [wrong-value]"},
		{"inside a shape", "amount: {valu: 5, unit: [kg]}", "1:10: amount.valu: unknown key, did you mean value? [unknown-key]\n1:25: amount.unit: found a list, expected text [wrong-kind]"},
		{"paths", "keys:\n  - allow: [a, {}]\nnested: {a.b: [x]}", "2:16: keys[0].allow[1]: found a mapping, expected text [wrong-kind]\n3:16: nested[\"a.b\"][0]: found x, expected a whole number [wrong-value]"},
		{"columns count characters", "labels: {é: ü, ï: []}", "1:19: labels[\"ï\"]: found a list, expected text [wrong-kind]"},
		{"alias without anchor", "inner: {allow: &reading []}\nkeys: *readin", "2:7: keys: alias has no anchor above it, did you mean *reading? [alias-unknown]"},
		{"alias as near to two anchors", "inner: {allow: &a2 []}\nmaybe: {allow: &a1 []}\nkeys: *a3", "3:7: keys: alias has no anchor above it, did you mean *a1? [alias-unknown]"},
		{"text taken for an alias", "inner: {allow: [* /order]}", "1:17: inner.allow[0]: alias has no anchor above it, expected quotes around text that begins with * [alias-unknown]"},
		{"alias of its own value", "inner: &x\n  name: *x", "2:9: inner.name: alias has no anchor above it, expected quotes around text that begins with * [alias-unknown]"},
		{"problem behind an alias", "inner: &x {name: a}\nkeys:\n  - *x\n  - allow: [*x]", "4:13: keys[1].allow[0]: found a mapping, expected text [wrong-kind]"},
		{"merge key", "inner: &x {name: a}\nmaybe:\n  <<: *x", "3:3: maybe.<<: merge keys are not supported, write the keys out [merge-key]"},
		{"tag", "listen: !!str 010", "1:9: listen: tags, which begin with !, are not supported, put text in quotes instead [tag]"},
		{"secret taken for a tag", "listen: !hush\n", "1:9: listen: tags, which begin with !, are not supported, put text in quotes instead [tag]"},
		{"secret taken for an alias", "listen: *hush", "1:9: listen: alias has no anchor above it, expected quotes around text that begins with * [alias-unknown]"},
		{"secret taken for a header", "listen: |hush", "1:9: not valid YAML: invalid header option: … [syntax]"},
		{"key that is no word", "? {a: b}\n: c", "2:1: not valid YAML: found an invalid key for this map [syntax]"},
		{"key that is nothing", "labels:\n  ~: a", "2:3: labels: not supported as a key, expected a plain word [unsupported]"},
		{"two documents", "listen: a\n---\nlisten: b", "3:1: found a second document, expected one per file [second-document]"},
		{"syntax", "listen: a\n  b: c", "1:9: not valid YAML: mapping value is not allowed in this context: do all keys of a section begin in the same column, and is text with a colon in quotes? [syntax]"},
		{"unclosed list", "keys: [a\nlisten: b", "2:1: not valid YAML: ',' or ']' must be specified [syntax]"},
		{"tab", "inner:\n\tname: a", `2:1: not valid YAML: found character '\t' that cannot start any token: lines begin with blanks, not with tabs [syntax]`},
		{"not UTF-8", "listen: a\nnote: \xff", "2:7: not valid UTF-8 [not-utf-8]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into sheet
			_, problems := strictyaml.Decode("a.yaml", []byte(tt.src), &into, strictyaml.Options{})
			want := "a.yaml:" + strings.ReplaceAll(tt.want, "\n", "\na.yaml:")
			assert.Empty(t, cmp.Diff(want, problems.Error()), "problems (-want +got)")
		})
	}
}

func TestAliasesCannotExplode(t *testing.T) {
	type tree struct {
		Next map[string][]tree `yaml:"next"`
	}
	var src strings.Builder
	src.WriteString("next:\n  a0: &a0 [{}, {}, {}, {}, {}, {}, {}, {}, {}]\n")
	for i := range 12 {
		branch := fmt.Sprintf("{next: {x: *a%d}}, ", i)
		fmt.Fprintf(&src, "  a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(branch, 9))
	}
	var into tree
	_, problems := strictyaml.Decode("a.yaml", []byte(src.String()), &into, strictyaml.Options{})
	if len(problems) != 1 || problems[0].Message != "aliases stand for more than 10000 values" {
		t.Fatalf("problems: %v", problems)
	}
}

// TestDepthIsBounded: the parser's memory would grow with the square of the depth.
func TestDepthIsBounded(t *testing.T) {
	const deep = 20_000
	var block strings.Builder
	for i := range 200 {
		block.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, src := range map[string]string{
		"lists":               strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"lists left open":     strings.Repeat("[", deep),
		"mappings":            strings.Repeat("{a: ", deep) + strings.Repeat("}", deep),
		"lists in one line":   strings.Repeat("- ", deep) + "x",
		"keys that are keys":  strings.Repeat("? ", deep) + "x",
		"brackets in indents": "a:\n  b:\n    - " + strings.Repeat("[{a: ", deep),
		"indents":             block.String(),
	} {
		t.Run(name, func(t *testing.T) {
			var into sheet
			_, problems := strictyaml.Decode("a.yaml", []byte(src), &into, strictyaml.Options{})
			if len(problems) != 1 || problems[0].Rule != "too-deep" || problems[0].Message != "values stand in each other more than 100 deep" {
				t.Errorf("problems: %.300v", problems)
			}
		})
	}
	many := "keys:\n" + strings.Repeat("  - name: a # one of many\n    allow:\n      - GET /order\n      - {}\n", 1000)
	if _, problems := strictyaml.Decode("a.yaml", []byte(many), new(sheet), strictyaml.Options{}); len(problems) != 1000 {
		t.Errorf("a long file that is not deep has %d problems, want the 1000 of its mappings", len(problems))
	}
}

func TestExpand(t *testing.T) {
	expand := strictyaml.Options{Expand: func(text string) (string, error) {
		if strings.Contains(text, "$missing") {
			return "", errors.New("missing is not set")
		}
		return strings.NewReplacer("$number", "12", "$secret", "hush: [", "$empty", "", "$almost", "shadwo").Replace(text), nil
	}}
	src := "count: \"$number\"\nlisten: a $secret\nport: $secret\nnote: $missing\nlabels: {$number: x}\ncolour: $empty\nkeys: [{name: $secret}]\nmode: $almost"
	var got sheet
	_, problems := strictyaml.Decode("a.yaml", []byte(src), &got, expand)
	want := "a.yaml:3:7: port: found $secret, expected a whole number [wrong-value]\na.yaml:4:7: note: missing is not set [variable]\n" +
		"a.yaml:6:9: colour: found \"$empty\", which does not stand for a valid value [wrong-value]\n" +
		"a.yaml:8:7: mode: found \"$almost\", expected one of enforce, shadow [word]"
	assert.Empty(t, cmp.Diff(want, problems.Error()), "problems (-want +got)")
	expanded := sheet{Count: 12, Listen: "a hush: [", Labels: map[string]string{"$number": "x"}, Keys: []inner{{Name: "hush: ["}}, Mode: "shadwo"}
	assert.Empty(t, cmp.Diff(expanded, got, unexported), "decoded (-want +got)")
}

func TestDocumentWritten(t *testing.T) {
	expand := strictyaml.Options{Expand: func(text string) (string, error) { return strings.ReplaceAll(text, "$", "x"), nil }}
	var into sheet
	doc, _ := strictyaml.Decode("a.yaml", []byte("listen: a $\nnote: a"), &into, expand)
	if text, expanded := doc.Written("listen"); text != "a $" || !expanded {
		t.Errorf("Written(listen) = %q, %v", text, expanded)
	}
	if text, expanded := doc.Written("note"); text != "" || expanded {
		t.Errorf("Written(note) = %q, %v", text, expanded)
	}
}

func TestDecodePanicsOnTypesItDoesNotKnow(t *testing.T) {
	for _, into := range []any{nil, sheet{}, (*sheet)(nil), new(any), new(chan int), &map[int]string{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T: no panic", into)
				}
			}()
			strictyaml.Decode("a.yaml", []byte("a: b"), into, strictyaml.Options{})
		}()
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"listen: a\nkeys:\n  - {name: x, allow: [a, &b c, *b]}\n",
		"a: &x [*x]", "<<: {}", "? a\n: b", "!!map {}", "a: |\n b\n", "{", "%YAML 1.2\n---\n", "\xff", "amount: {value: 1}", "- - -", "a: b: c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var into sheet
		doc, problems := strictyaml.Decode("a.yaml", src, &into, strictyaml.Options{})
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.Contains(p.String(), "\n") {
				t.Errorf("malformed problem %q", p.String())
			}
		}
		doc.At("keys[0].allow[9]")
	})
}

func ExampleDecode() {
	var into struct {
		Listen string   `yaml:"listen"`
		Ports  []uint16 `yaml:"ports"`
	}
	doc, problems := strictyaml.Decode("frontdesk.yaml", []byte("lisen: localhost\nports: [443, 70000]\n"), &into, strictyaml.Options{})
	fmt.Println(problems)
	fmt.Println(doc.At("ports[0]"))
	// Output:
	// frontdesk.yaml:1:1: lisen: unknown key, did you mean listen? [unknown-key]
	// frontdesk.yaml:2:14: ports[1]: found 70000, expected a whole number from 0 to 65535 [wrong-value]
	// frontdesk.yaml:2:9: ports[0]:
}

// ordered remembers how it was written.
type ordered struct {
	keys   []strictyaml.Key
	values map[string]scalarNode
}

type scalarNode struct {
	text, path string
}

func (s *scalarNode) UnmarshalYAML(n strictyaml.Node) error {
	s.path = n.Path()
	n.Decode(&s.text)
	return nil
}

func (o *ordered) UnmarshalYAML(n strictyaml.Node) error {
	o.keys = n.Keys()
	n.Decode(&o.values)
	return nil
}

func TestNodeTellsOrderAndQuotes(t *testing.T) {
	var into struct {
		Codes ordered `yaml:"codes"`
	}
	_, problems := strictyaml.Decode("a.yaml", []byte("codes: {Z: 1, \"A\": 2, a.b: x}"), &into, strictyaml.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []strictyaml.Key{{"Z", true}, {"A", false}, {"a.b", true}}
	assert.Empty(t, cmp.Diff(want, into.Codes.keys), "keys (-want +got)")
	if got := into.Codes.values["a.b"].path; got != `codes["a.b"]` || got != strictyaml.Child("codes", "a.b") {
		t.Errorf("path = %s", got)
	}
}

// TestSyntaxTellsTheCause: the usual slips are told in words of those who made them.
func TestSyntaxTellsTheCause(t *testing.T) {
	const blank, column = "is there a blank behind the colon, as in name: webshop?", "do all keys of a section begin in the same column, and is text with a colon in quotes?"
	for text, want := range map[string]string{
		"keys:\n  - name:webshop\n    allow: []\n": "a.yaml:2:5: not valid YAML: unexpected key name: " + blank,
		"b: c\nname:webshop\n":                     "a.yaml:2:1: not valid YAML: non-map value is specified: " + blank,
		"keys:\n  - name: a\n   allow: []\n":       "a.yaml:3:4: not valid YAML: value is not allowed in this context: " + column,
		"b:\n  c: d\n    e: f\n":                   "a.yaml:2:6: not valid YAML: mapping value is not allowed in this context: " + column,
		"b: c: d\n":                                "a.yaml:1:4: not valid YAML: mapping value is not allowed in this context: " + column,
	} {
		var into struct{}
		_, problems := strictyaml.Decode("a.yaml", []byte(text), &into, strictyaml.Options{})
		if got := problems.Error(); got != want+" [syntax]" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestDecodeShort takes the value of one key in place of a section.
func TestDecodeShort(t *testing.T) {
	type inner struct {
		Name  string `yaml:"name" schema:"short; enum=a|b"`
		Other int    `yaml:"other"`
	}
	type outer struct {
		inner
		More bool `yaml:"more"`
	}
	var into struct {
		All map[string]outer `yaml:"all"`
	}
	_, problems := strictyaml.Decode("a.yaml", []byte("all: {x: a, y: {name: b, other: 2, more: true}, z: c, l: [a], n: }"), &into, strictyaml.Options{})
	assert.Equal(t, map[string]outer{"x": {inner: inner{Name: "a"}}, "y": {inner{"b", 2}, true}, "z": {inner: inner{Name: "c"}}, "l": {}, "n": {}}, into.All)
	assert.Equal(t, `a.yaml:1:52: all.z: found "c", expected one of a, b [word]
a.yaml:1:58: all.l: found a list, expected text [wrong-kind]`, problems.Error())
}

// TestConstraints are judged by the tags of fields, at the place of the value.
func TestConstraints(t *testing.T) {
	type item struct {
		Name string `yaml:"name" schema:"required [named]: a name; pattern=^[a-z]+$ [form]: small letters"`
	}
	type constrained struct {
		Few     int           `yaml:"few" schema:"range=1..3 [few]"`
		Many    uint16        `yaml:"many" schema:"min=10"`
		Most    float64       `yaml:"most" schema:"max=1: one at most"`
		Wait    time.Duration `yaml:"wait" schema:"above=0s [wait]"`
		Even    string        `yaml:"even" schema:"format=even [even]"`
		Ports   []uint16      `yaml:"ports" schema:"min=1; unique [again]"`
		Only    []string      `yaml:"only" schema:"items=get|list"`
		Secrets []string      `yaml:"secrets" schema:"unique [again]: the same secret"`
		Kind    string        `yaml:"kind" schema:"required; enum=a|b"`
		Items   []item        `yaml:"items" schema:"required: at least one item"`
		Maybe   *int          `yaml:"maybe" schema:"min=1"`
		Unsaid  string        `yaml:"unsaid" schema:"required"`
		Hidden  []string      `yaml:"hidden" schema:"format=hidden"`
	}
	o := strictyaml.Options{
		Expand: func(text string) (string, error) { return strings.ReplaceAll(text, "$odd", "123"), nil },
		Formats: map[string]strictyaml.Format{
			"even":   {Is: func(text string) bool { return len(text)%2 == 0 }, Expected: "an even number of characters"},
			"hidden": {Is: func(string) bool { return false }, Expected: "none", Hidden: true},
		},
	}
	for src, want := range map[string]string{
		"few: 1\nmany: 10\nmost: 1\nwait: 1ns\neven: ab\nports: [1, 2]\nonly: [get, list]\nsecrets: [a, b]\nkind: a\nitems: [{name: a}]\nmaybe: ~": "",
		"kind: a\nitems:\n- {}\n- ~\n- {name: A}\n- name:\n": "3:3: items[0].name: missing, expected a name [named]\n4:3: items[1].name: missing, expected a name [named]\n" +
			"5:10: items[2].name: found \"A\", expected small letters [form]\n6:3: items[3].name: found nothing, expected text (\"\" for none) [wrong-kind]",
		"items: []\nfew: 4\nmany: 9\nmost: 1.5\nwait: -1m\neven: abc\nmaybe: 0": "1:1: kind: missing, expected one of a, b\n1:8: items: missing, expected at least one item\n2:6: few: found 4, expected from 1 to 3 [few]\n" +
			"3:7: many: found 9, expected 10 or more\n4:7: most: found 1.5, expected one at most\n5:7: wait: found -1m, expected more than 0s [wait]\n6:7: even: found \"abc\", expected an even number of characters [even]\n7:8: maybe: found 0, expected 1 or more",
		"kind: a\nitems: [{name: a}]\nports: [5, 0, 5, x, y]\nonly: [get, lst]\nsecrets: [$odd, $odd, $odd]\neven: $odd\nhidden: [a, \"\"]": "3:12: ports[1]: found 0, expected 1 or more\n3:15: ports[2]: found 5 again [again]\n3:18: ports[3]: found x, expected a whole number [wrong-value]\n" +
			"3:21: ports[4]: found y, expected a whole number [wrong-value]\n4:13: only[1]: found \"lst\", expected one of get, list, did you mean list?\n5:17: secrets[1]: found the same secret again [again]\n" +
			"5:23: secrets[2]: found the same secret again [again]\n6:7: even: found \"$odd\", expected an even number of characters [even]\n" +
			"7:10: hidden[0]: expected none\n7:13: hidden[1]: found nothing, expected none",
	} {
		_, problems := strictyaml.Decode("a.yaml", []byte(src), new(constrained), o)
		assert.Equal(t, want, strings.ReplaceAll(problems.Error(), "a.yaml:", ""), src)
	}
	assert.Panics(t, func() { strictyaml.Constraints("minimum=1") }, "a constraint that is not known")
}

// TestNUL: no value has one, whether it is written or an escape.
func TestNUL(t *testing.T) {
	for _, src := range []string{"name: \"a\\0b\"", "name: a\x00b", "name: |\n  a\x00b\n"} {
		_, problems := strictyaml.Decode("a.yaml", []byte(src), new(inner), strictyaml.Options{})
		require.Len(t, problems, 1, "%q", src)
		require.Contains(t, problems.Error(), "NUL", "%q", src)
	}
}
