package keyedit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrLayout is wrapped by errors about a file that is written in a way this
// package does not change. The file may be fine otherwise.
var ErrLayout = errors.New("is written in a way that is changed by hand only")

// The fields of the configuration that are read or changed here.
const (
	keysField    = "api_keys"
	nameField    = "name"
	hashesField  = "key_sha256"
	hashField    = "hash"
	expiresField = "expires"
)

// File is a configuration file and what is to be changed in it.
type File struct {
	src   []byte
	lines []int  // where each line begins
	end   string // of a line
	root  *ast.MappingNode
	edits []edit
}

// edit puts text in the place of src[from:to].
type edit struct {
	from, to int
	text     string
}

// Parse reads a file. One that holds nothing but comments is fine.
func Parse(src []byte) (*File, error) {
	f := &File{src: src, lines: []int{0}, end: "\n"}
	if bytes.Contains(src, []byte("\r\n")) {
		f.end = "\r\n"
	}
	for i, c := range src {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	// The parser loses count of places where lines end in two characters.
	parsed, err := parser.ParseBytes(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")), 0)
	if err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	docs := slices.DeleteFunc(parsed.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch {
	case len(docs) > 1:
		return nil, unsure("more than one document")
	case len(docs) == 0:
		return f, nil
	}
	switch body := docs[0].Body.(type) {
	case *ast.MappingNode:
		f.root = body
	case *ast.NullNode, *ast.CommentGroupNode:
	default:
		return nil, unsure("no mapping at the top")
	}
	return f, nil
}

func unsure(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLayout, fmt.Sprintf(format, args...))
}

// Text is the file with what was changed.
func (f *File) Text() []byte {
	edits := slices.Clone(f.edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, f.src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, f.src[at:]...)
}

func (f *File) replace(from, to int, text string) { f.edits = append(f.edits, edit{from, to, text}) }

// insertLine puts a line behind the one that holds the byte at offset.
func (f *File) insertLine(offset, indent int, text string) {
	at := f.lineEnd(offset)
	f.replace(at, at, f.end+strings.Repeat(" ", indent)+text)
}

// lineEnd is where the line of a byte ends, without what ends it.
func (f *File) lineEnd(offset int) int {
	end := len(f.src)
	if i := bytes.IndexByte(f.src[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	if end > offset && f.src[end-1] == '\r' {
		end--
	}
	return end
}

// offset is the byte at which a node's token begins.
func (f *File) offset(n ast.Node) (int, error) {
	t := n.GetToken()
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(f.lines) {
		return 0, unsure("a value without a place")
	}
	at := f.lines[t.Position.Line-1]
	for range t.Position.Column - 1 { // columns are characters
		if at >= len(f.src) || f.src[at] == '\n' {
			return 0, unsure("line %d: a value that is not where it was read", t.Position.Line)
		}
		_, size := utf8.DecodeRune(f.src[at:])
		at += size
	}
	return at, nil
}

// scalar is the text of a single value and where it stands, quotes included. A
// value that goes over several lines is refused.
func (f *File) scalar(n ast.Node) (value string, from, to int, err error) {
	if n == nil {
		return "", 0, 0, unsure("a value that is missing")
	}
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
	default:
		return "", 0, 0, unsure("line %d: expected a single value without anchor, alias or tag", n.GetToken().Position.Line)
	}
	if from, err = f.offset(n); err != nil {
		return "", 0, 0, err
	}
	value = n.GetToken().Value
	for _, quote := range []string{`"`, `'`, ""} {
		written := quote + value + quote
		if bytes.HasPrefix(f.src[from:], []byte(written)) {
			return value, from, from + len(written), nil
		}
	}
	return "", 0, 0, unsure("line %d: a value that is not where it was read", n.GetToken().Position.Line)
}

// field is the value of a key in a mapping, nil where it has none.
func field(m *ast.MappingNode, name string) *ast.MappingValueNode {
	if m == nil {
		return nil
	}
	for _, pair := range m.Values {
		if key, ok := pair.Key.(*ast.StringNode); ok && key.Value == name {
			return pair
		}
	}
	return nil
}
