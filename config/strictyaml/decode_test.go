package strictyaml_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
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
	require.Len(t, problems, 1)
	want := sheet{Listen: "default", Count: 7, Inner: inner{"kept", []string{"x"}}, Labels: map[string]string{"new": "y"}}
	assert.Empty(t, cmp.Diff(want, got, unexported), "decoded (-want +got)")
}

// holds decodes each file of a list in testdata, and holds what is said of it to the list.
func holds(t *testing.T, list string, into func() any, o strictyaml.Options) {
	t.Helper()
	text := must.Have(os.ReadFile("testdata/" + list))(t)
	cases := strings.Split("\n"+string(text), "\n-- ")[1:]
	require.NotEmpty(t, cases)
	for _, c := range cases {
		name, c, _ := strings.Cut(c, "\n")
		src, want, found := strings.Cut(strings.TrimRight(c, "\n"), "\n->")
		require.True(t, found, name)
		t.Run(name, func(t *testing.T) {
			src = strings.NewReplacer("<TAB>", "\t", "<FF>", "\xff").Replace(src)
			_, problems := strictyaml.Decode("a.yaml", []byte(src), into(), o)
			got := strings.ReplaceAll(problems.Error(), "a.yaml:", "")
			assert.Empty(t, cmp.Diff(strings.TrimPrefix(want, "\n"), got), "problems (-want +got)")
			for _, p := range problems {
				assert.Equal(t, "a.yaml", p.File)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	holds(t, "problems.txt", func() any { return new(sheet) }, strictyaml.Options{})
	_, problems := strictyaml.Decode("a.yaml", []byte("listen: [a]\n"), new(sheet), strictyaml.Options{})
	assert.Equal(t, "a.yaml:1:9: listen: found a list, expected text [wrong-kind]", problems.Error())
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
	require.Len(t, problems, 1)
	require.Equal(t, "aliases stand for more than 10000 values", problems[0].Message)
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
			require.Len(t, problems, 1)
			require.Equal(t, "too-deep values stand in each other more than 100 deep", string(problems[0].Rule)+" "+problems[0].Message)
		})
	}
	many := "keys:\n" + strings.Repeat("  - name: a # one of many\n    allow:\n      - GET /order\n      - {}\n", 1000)
	_, problems := strictyaml.Decode("a.yaml", []byte(many), new(sheet), strictyaml.Options{})
	assert.Len(t, problems, 1000, "one for each mapping of a long file that is not deep")
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
	require.Empty(t, problems)
	want := []strictyaml.Key{{"Z", true}, {"A", false}, {"a.b", true}}
	assert.Empty(t, cmp.Diff(want, into.Codes.keys), "keys (-want +got)")
	assert.Equal(t, `codes["a.b"]`, into.Codes.values["a.b"].path)
	assert.Equal(t, `codes["a.b"]`, strictyaml.Child("codes", "a.b"))
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
	holds(t, "constraints.txt", func() any { return new(constrained) }, o)
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
