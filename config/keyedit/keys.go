package keyedit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// NewKey is a key that is added. Its texts are written as they are: a hash as
// hexadecimal digits, a date as config reads it.
type NewKey struct {
	Name, Hash string
	Expires    string // "" for never
	Allow      []string
}

// lines is the key as an item of api_keys, without indentation.
func (k NewKey) lines() []string {
	lines := []string{"- name: " + k.Name, fmt.Sprintf("  %s: [%q]", hashesField, k.Hash)}
	if k.Expires != "" {
		lines = append(lines, "  "+expiresField+": "+k.Expires)
	}
	if len(k.Allow) == 0 {
		return append(lines, `  allow: []   # nothing yet, for example ["GET /order", "* /vehicle"]`)
	}
	lines = append(lines, "  allow:")
	for _, rule := range k.Allow {
		lines = append(lines, fmt.Sprintf("    - %q", rule))
	}
	return lines
}

// String is the key as the section api_keys has it.
func (k NewKey) String() string {
	return keysField + ":\n  " + strings.Join(k.lines(), "\n  ") + "\n"
}

// AddKey puts a key at the end of api_keys, which is made where there is none.
func (f *File) AddKey(k NewKey) error {
	section := field(f.root, keysField)
	if section == nil {
		return f.addSection(k)
	}
	switch list := section.Value.(type) {
	case *ast.NullNode:
		at, err := f.offset(section.Key)
		if err != nil {
			return err
		}
		return f.addItem(at, 2, k)
	case *ast.SequenceNode:
		if list.IsFlowStyle {
			return f.fillList(section, list, k)
		}
		dash, err := f.offset(list)
		if err != nil {
			return err
		}
		if f.src[dash] != '-' {
			return unsure("line %d: %s is not a list of lines that begin with -", list.GetToken().Position.Line, keysField)
		}
		last, err := f.lastByte(list)
		if err != nil {
			return err
		}
		return f.addItem(last, list.GetToken().Position.Column-1, k)
	default:
		return unsure("%s is not a plain list", keysField)
	}
}

// addSection writes api_keys at the end of the file.
func (f *File) addSection(k NewKey) error {
	if f.root != nil && f.root.IsFlowStyle {
		return unsure("the whole file is one value in braces")
	}
	text := strings.ReplaceAll(k.String(), "\n", f.end)
	if len(f.src) > 0 && !bytes.HasSuffix(f.src, []byte("\n")) {
		text = f.end + text
	}
	f.replace(len(f.src), len(f.src), text)
	return nil
}

// fillList puts the first key where [] was written.
func (f *File) fillList(section *ast.MappingValueNode, list *ast.SequenceNode, k NewKey) error {
	from, err := f.offset(list)
	if err != nil {
		return err
	}
	if f.root.IsFlowStyle || !bytes.HasPrefix(f.src[from:], []byte("[]")) {
		return unsure("line %d: %s is a list in brackets", list.GetToken().Position.Line, keysField)
	}
	f.replace(from, from+len("[]"), "")
	at, err := f.offset(section.Key)
	if err != nil {
		return err
	}
	return f.addItem(max(at, from), 2, k)
}

// addItem writes a key's lines behind the line of the byte at offset.
func (f *File) addItem(offset, indent int, k NewKey) error {
	for _, line := range k.lines() {
		f.insertLine(offset, indent, line)
	}
	return nil
}

// lastByte is a byte in the last line of a list's text.
func (f *File) lastByte(list *ast.SequenceNode) (int, error) {
	last := list.GetToken()
	var visit visitor = func(n ast.Node) {
		if t := n.GetToken(); t != nil && t.Position != nil && t.Position.Line > last.Position.Line {
			last = t
		}
		switch n := n.(type) { // brackets and braces that close on a line of their own
		case *ast.SequenceNode:
			if n.End != nil && n.End.Position.Line > last.Position.Line {
				last = n.End
			}
		case *ast.MappingNode:
			if n.End != nil && n.End.Position.Line > last.Position.Line {
				last = n.End
			}
		}
	}
	for _, item := range list.Values {
		ast.Walk(visit, item)
		if over(item) {
			return 0, unsure("line %d: text over several lines in the last of %s", item.GetToken().Position.Line, keysField)
		}
	}
	return f.lines[last.Position.Line-1], nil
}

// visitor looks at every node.
type visitor func(ast.Node)

// Visit implements ast.Visitor.
func (v visitor) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

// over tells whether a value holds text that goes over several lines, whose last
// line the parser does not tell.
func over(n ast.Node) bool {
	found := false
	var visit visitor = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.LiteralNode:
			found = true
		case *ast.StringNode:
			found = found || strings.Contains(strings.TrimSpace(n.GetToken().Origin), "\n")
		}
	}
	ast.Walk(visit, n)
	return found
}

func (f *File) items() []*ast.MappingNode {
	section := field(f.root, keysField)
	if section == nil {
		return nil
	}
	list, ok := section.Value.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	var items []*ast.MappingNode
	for _, value := range list.Values {
		if item, ok := value.(*ast.MappingNode); ok {
			items = append(items, item)
		}
	}
	return items
}

// key finds a key by its name.
func (f *File) key(name string) (*ast.MappingNode, error) {
	for _, item := range f.items() {
		if pair := field(item, nameField); pair != nil {
			if text, _, _, err := f.scalar(pair.Value); err == nil && text == name {
				return item, nil
			}
		}
	}
	return nil, unsure("%s is not among the keys that are written out under %s", name, keysField)
}

// EndKey gives a key the end that expires says.
func (f *File) EndKey(name, expires string) error {
	item, err := f.key(name)
	if err != nil {
		return err
	}
	return f.setExpires(item, nameField, expires)
}

// EndHash gives one hash of a key the end that expires says.
func (f *File) EndHash(name, hash, expires string) error {
	list, err := f.hashes(name)
	if err != nil {
		return err
	}
	for _, item := range list.Values {
		if m, ok := item.(*ast.MappingNode); ok {
			pair := field(m, hashField)
			if pair == nil {
				continue
			}
			if text, _, _, err := f.scalar(pair.Value); err == nil && strings.EqualFold(text, hash) {
				return f.setExpires(m, hashField, expires)
			}
			continue
		}
		text, from, to, err := f.scalar(item)
		if err == nil && strings.EqualFold(text, hash) {
			f.replace(from, from, "{hash: ")
			f.replace(to, to, ", expires: "+expires+"}")
			return nil
		}
	}
	return unsure("one hash of %s is not written out", name)
}

// AddHash gives a key one more hash, behind those it has.
func (f *File) AddHash(name, hash string) error {
	list, err := f.hashes(name)
	if err != nil {
		return err
	}
	last := list.Values[len(list.Values)-1]
	if list.IsFlowStyle {
		to, err := f.endOf(last)
		if err != nil {
			return err
		}
		f.replace(to, to, fmt.Sprintf(", %q", hash))
		return nil
	}
	dash, err := f.offset(list)
	if err != nil {
		return err
	}
	at, err := f.lastByte(list)
	if err != nil {
		return err
	}
	if f.src[dash] != '-' {
		return unsure("line %d: %s is not a list of lines that begin with -", list.GetToken().Position.Line, hashesField)
	}
	f.insertLine(at, list.GetToken().Position.Column-1, fmt.Sprintf("- %q", hash))
	return nil
}

// endOf is the byte behind an item of a list in brackets.
func (f *File) endOf(n ast.Node) (int, error) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		_, _, to, err := f.scalar(n)
		return to, err
	}
	if m.End == nil || m.End.Position == nil {
		return 0, unsure("line %d: an item whose end is not told", n.GetToken().Position.Line)
	}
	at, err := f.offset(&ast.NullNode{BaseNode: &ast.BaseNode{}, Token: m.End})
	if err != nil {
		return 0, err
	}
	if f.src[at] != '}' {
		return 0, unsure("line %d: a brace that is not where it was read", m.End.Position.Line)
	}
	return at + 1, nil
}

func (f *File) hashes(name string) (*ast.SequenceNode, error) {
	item, err := f.key(name)
	if err != nil {
		return nil, err
	}
	pair := field(item, hashesField)
	if pair == nil {
		return nil, unsure("%s has no %s of its own", name, hashesField)
	}
	list, ok := pair.Value.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return nil, unsure("%s of %s is not a list that is written out", hashesField, name)
	}
	return list, nil
}

// setExpires gives a mapping its expires: in place of the one it has, or behind
// the field beside.
func (f *File) setExpires(m *ast.MappingNode, beside, expires string) error {
	if pair := field(m, expiresField); pair != nil {
		_, from, to, err := f.scalar(pair.Value)
		if err != nil {
			return err
		}
		f.replace(from, to, expires)
		return nil
	}
	pair := field(m, beside)
	_, from, to, err := f.scalar(pair.Value)
	if err != nil {
		return err
	}
	if m.IsFlowStyle {
		f.replace(to, to, ", "+expiresField+": "+expires)
		return nil
	}
	f.insertLine(from, pair.Key.GetToken().Position.Column-1, expiresField+": "+expires)
	return nil
}
