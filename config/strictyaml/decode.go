package strictyaml

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxAliased bounds the values that aliases may stand for in one file, since a
// few lines of aliases of aliases can stand for billions.
const maxAliased = 10_000

// Options are what decoding needs from outside. The zero value is valid.
type Options struct {
	// Expand rewrites the text of every scalar value, but not of keys, before it is decoded. Its
	// error becomes a problem at the value. The text that it returns is never parsed as YAML and
	// never appears in messages, which show the text as written.
	Expand func(text string) (string, error)
	// Formats are the formats of text that tags name; nil means that formats are not judged.
	Formats map[string]Format
}

// Format is a form of text.
type Format struct {
	Is       func(text string) bool
	Expected string // what a message says was expected
	Hidden   bool   // the text may hold a secret, and is not shown
}

// Decode decodes src into the value that into points to and returns every
// problem found, sorted by position. The file name is used in problems only.
//
// Into takes structs, pointers, slices, maps with text as keys, text, booleans, integers,
// floats, [time.Duration], [encoding.TextUnmarshaler] for scalars and [Unmarshaler]; it
// panics for anything else. A TextUnmarshaler should fail with [Expected]. Any other error
// becomes the message unchanged, so it should say what was found and what was expected,
// and must not repeat secrets. If Expand changed the value, such an error is not shown.
//
// The tag of a field has constraints on its value, in the syntax of [Constraints]. The decoder judges
// by them, and the JSON Schema is made from them. A value that does not fit is decoded, and is a
// problem.
//
// A null value makes a section, list or map empty, and a pointer nil unless it is to an Unmarshaler;
// anywhere else it is a problem. A list or a map replaces the earlier contents of into; a section is
// decoded over them. A value with a problem leaves the earlier contents of into there; an item of a
// list with a problem becomes its zero value, so that later items keep their index. The Document is
// never nil; if src is not YAML at all, it has no positions.
func Decode(file string, src []byte, into any, o Options) (*Document, Problems) {
	d := &decoder{doc: &Document{
		file: file, places: map[string]position{}, items: map[string][]position{}, broken: map[string]bool{}, written: map[string]string{},
	}, structs: map[reflect.Type]fields{}, Options: o}
	v := target(into)
	if body, ok := d.parse(src); ok {
		b := builder{report: d.report, anchors: map[string]*node{}}
		if root := b.build(body, ""); !root.invalid {
			if body != nil {
				d.doc.places[""] = root.at
			}
			d.value(root, v, "")
		}
	}
	d.problems.Sort()
	return d.doc, d.problems
}

func target(into any) reflect.Value {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic(fmt.Sprintf("strictyaml: cannot decode into %T, expected a pointer", into))
	}
	return v.Elem()
}

type decoder struct {
	Options
	doc      *Document
	problems Problems
	alias    *position // position of the alias being followed, used for all its contents
	aliased  int
	structs  map[reflect.Type]fields
}

func (d *decoder) report(at position, rule, path, message string) {
	d.doc.broken[path] = true
	d.problems = append(d.problems, Problem{d.doc.file, at.line, at.column, path, oneLine.Replace(message), rule})
}

// fail reports a problem at the position of path, or of its nearest parent.
func (d *decoder) fail(path, rule, message string) {
	at := d.doc.At(path)
	d.report(position{at.Line, at.Column}, rule, path, message)
}

func (d *decoder) problem(n *node, rule, path, format string, args ...any) {
	d.report(d.place(n.at), rule, path, fmt.Sprintf(format, args...))
}

func (d *decoder) place(at position) position {
	if d.alias != nil {
		return *d.alias
	}
	return at
}

// parse finds the one document in src; ok is false if there is none.
func (d *decoder) parse(src []byte) (body ast.Node, ok bool) {
	if !utf8.Valid(src) {
		d.report(firstInvalid(src), ruleUTF8, "", "not valid UTF-8")
		return nil, false
	}
	file, deep, err := parse(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))) // the parser counts \r\n after a comment as two lines
	if deep != nil {
		d.report(position{deep.Position.Line, deep.Position.Column}, ruleDepth, "", fmt.Sprintf("values stand in each other more than %d deep", maxDepth))
		return nil, false
	}
	if err != nil {
		at, message := position{1, 1}, err.Error()
		if located, ok := errors.AsType[yaml.Error](err); ok {
			message = withCause(quoted.ReplaceAllString(located.GetMessage(), "…")) // the quoted text may be a password after | or >
			if t := located.GetToken(); t != nil && t.Position != nil {
				at = position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
			}
		}
		d.report(at, ruleSyntax, "", "not valid YAML: "+message)
		return nil, false
	}
	for _, document := range file.Docs {
		switch document.Body.(type) {
		case nil, *ast.DirectiveNode, *ast.CommentGroupNode:
			continue
		}
		if body != nil {
			d.report(place(document.Body), ruleDocuments, "", "found a second document, expected one per file")
			return nil, false
		}
		body = document.Body
	}
	return body, true
}

// parse recovers from a panic of the parser: a file written by hand may hold anything, and
// a reload must not end a running program. If the file is nested too deep, it returns only
// the position.
func parse(src []byte) (file *ast.File, deep *token.Token, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the parser cannot make sense of it")
		}
	}()
	tokens := lexer.Tokenize(strings.TrimPrefix(string(src), "\ufeff"))
	if deep = tooDeep(tokens); deep != nil {
		return nil, deep, nil
	}
	file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	return file, nil, err
}

// withCause adds the rule that was broken if the parser only reports an unexpected token.
func withCause(message string) string {
	switch {
	case strings.Contains(message, "unexpected key name"), strings.Contains(message, "non-map value"):
		return message + ": is there a blank behind the colon, as in name: webshop?"
	case strings.HasSuffix(message, "value is not allowed in this context"):
		return message + ": do all keys of a section begin in the same column, and is text with a colon in quotes?"
	case strings.HasPrefix(message, "found character '\t'"):
		return message + ": lines begin with blanks, not with tabs"
	default:
		return message
	}
}

// quoted matches the text of the file that the parser repeats.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

var oneLine = strings.NewReplacer("\t", `\t`, "\r", `\r`, "\n", `\n`)

func firstInvalid(src []byte) position {
	before := src[:bytes.IndexRune(src, utf8.RuneError)]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(line) + 1}
}

// value decodes one node, following aliases and the interfaces a type may have.
func (d *decoder) value(n *node, v reflect.Value, path string) {
	if n.invalid {
		return
	}
	if n.alias && d.alias == nil {
		d.alias = &n.at
		defer func() { d.alias = nil }()
	}
	if d.alias != nil {
		if d.aliased++; d.aliased > maxAliased {
			if d.aliased == maxAliased+1 {
				d.problem(n, ruleAliases, path, "aliases stand for more than %d values", maxAliased)
			}
			return
		}
	}
	if v.Kind() == reflect.Pointer {
		d.pointer(n, v, path)
		return
	}
	if v.CanAddr() && v.Addr().CanInterface() {
		switch u := v.Addr().Interface().(type) {
		case Unmarshaler:
			if err := u.UnmarshalYAML(Node{d, n, path}); err != nil {
				d.problem(n, ruleValue, path, "%s", err)
			}
			return
		case encoding.TextUnmarshaler:
			d.text(n, path, "text", func(s scalar) error { return s.explain(u.UnmarshalText([]byte(s.text))) })
			return
		}
	}
	d.kind(n, v, path)
}

func (d *decoder) pointer(n *node, v reflect.Value, path string) {
	if _, decodesItself := reflect.Zero(v.Type()).Interface().(Unmarshaler); n.kind == Null && !decodesItself {
		v.SetZero()
		return
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	d.value(n, v.Elem(), path)
}
