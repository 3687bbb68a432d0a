package config

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
	"github.com/goccy/go-yaml/token"
)

// EditAllow returns src, which is the file of an api_key, with other entries in the key's
// allowlist. All else stays as it is written, with its comments; a comment in the line of an
// entry goes with it. The error says why this text cannot be edited: then a person has to.
// Whether the new text means what was intended, the caller finds out by loading it.
func (c *Config) EditAllow(src []byte, key *Key, drop func(Rule) bool, add []Rule) ([]byte, error) {
	place := 0
	for i := range c.APIKeys {
		if other := &c.APIKeys[i]; other.Name == key.Name {
			break
		} else if other.at.File == key.at.File {
			place++
		}
	}
	e := allowEditor{textEditor: newTextEditor(src)}
	if err := e.find(place); err != nil {
		return nil, err
	}
	if e.list == nil {
		return e.newList(add)
	}
	if len(e.list.Values) != len(key.Allow) {
		return nil, errors.New("its allowlist is written in another way than as a list")
	}
	for i, value := range e.list.Values {
		one, err := e.entry(value)
		if err != nil {
			return nil, err
		}
		one.gone = drop(key.Allow[i])
		e.entries = append(e.entries, one)
	}
	if e.list.IsFlowStyle {
		return e.inBrackets(add)
	}
	return e.inLines(add)
}

// textEditor changes a text in several places.
type textEditor struct {
	src   []byte
	lines []int // where each line begins
	edits []textEdit
}

// allowEditor edits one allowlist in a text.
type allowEditor struct {
	textEditor
	colon   int // behind that of allow
	name    *ast.MappingValueNode
	list    *ast.SequenceNode // nil where the key has none
	entries []allowEntry
}

// allowEntry is an entry of the list, and where its text is.
type allowEntry struct {
	from, to int
	gone     bool
}

// textEdit puts another text in place of a part.
type textEdit struct {
	from, to int
	text     string
}

var errOtherLayout = errors.New("its allowlist is not written as a list of its own")

// find finds the list of the api_key that is in that place in the file.
func (e *allowEditor) find(place int) error {
	file, err := parser.ParseBytes(bytes.ReplaceAll(e.src, []byte("\r\n"), []byte("\n")), 0) // which are two lines to the parser behind a comment
	if err != nil || len(file.Docs) == 0 {
		return errOtherLayout
	}
	keys, ok := member(file.Docs[0].Body, "api_keys").(*ast.SequenceNode)
	if !ok || place >= len(keys.Values) {
		return errOtherLayout
	}
	key, ok := keys.Values[place].(*ast.MappingNode)
	if !ok {
		return errOtherLayout
	}
	for _, pair := range key.Values {
		switch pair.Key.GetToken().Value {
		case "name":
			e.name = pair
		case "allow":
			e.colon = e.offset(pair.Start) + 1
			if e.list, ok = pair.Value.(*ast.SequenceNode); !ok {
				return errOtherLayout
			}
		}
	}
	if e.list == nil && (key.IsFlowStyle || e.name == nil) {
		return errOtherLayout
	}
	return nil
}

func member(n ast.Node, name string) ast.Node {
	mapping, ok := n.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, pair := range mapping.Values {
		if pair.Key.GetToken().Value == name {
			return pair.Value
		}
	}
	return nil
}

// entry finds the text of an entry: a scalar on one line.
func (e *allowEditor) entry(n ast.Node) (one allowEntry, err error) {
	text, ok := n.(*ast.StringNode)
	if !ok {
		return one, fmt.Errorf("an entry in line %d is no plain text", n.GetToken().Position.Line)
	}
	one.from = e.offset(text.Token)
	rest := e.src[min(one.from, len(e.src)):]
	length := -1
	switch text.Token.Type {
	case token.DoubleQuoteType, token.SingleQuoteType:
		if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
			length = bytes.IndexByte(rest[1:], rest[0]) + 2
		}
		if length < 2 || bytes.ContainsAny(rest[:length], "\\\n") || bytes.HasPrefix(rest[length:], rest[:1]) {
			length = -1
		}
	default:
		if bytes.HasPrefix(rest, []byte(text.Token.Value)) {
			length = len(text.Token.Value)
		}
	}
	if length < 0 {
		return one, fmt.Errorf("the entry in line %d is written in an unusual way", text.Token.Position.Line)
	}
	one.to = one.from + length
	return one, nil
}

// inLines edits a list with an entry in each line.
func (e *allowEditor) inLines(add []Rule) ([]byte, error) {
	left := len(add)
	for _, one := range e.entries {
		start, end := e.lineOf(one.from)
		if strings.Trim(string(e.src[start:one.from]), " -") != "" {
			return nil, errOtherLayout
		}
		if one.gone {
			e.edit(start, end, "")
		} else {
			left++
		}
	}
	if left == 0 {
		e.edit(e.colon, e.colon, " []")
		return e.edited(), nil
	}
	last := e.entries[len(e.entries)-1]
	start, end := e.lineOf(last.from)
	if !last.gone && e.src[end-1] != '\n' && len(add) > 0 {
		e.edit(end, end, e.eol())
	}
	e.insert(end, string(e.src[start:last.from]), add)
	return e.edited(), nil
}

// inBrackets edits a list such as ["GET /order", "* /vehicle"].
func (e *allowEditor) inBrackets(add []Rule) ([]byte, error) {
	kept := -1 // the last that stays
	for i, one := range e.entries {
		if !one.gone {
			kept = i
		}
	}
	end := e.offset(e.list.Start) + 1
	for i, one := range e.entries {
		if end = one.to; one.gone && i < kept {
			e.edit(one.from, e.entries[i+1].from, "")
		}
	}
	text := strings.Join(quotedRules(add), ", ")
	switch {
	case kept >= 0 && text != "":
		e.edit(e.entries[kept].to, end, ", "+text)
	case kept >= 0:
		e.edit(e.entries[kept].to, end, "")
	case len(e.entries) > 0:
		e.edit(e.entries[0].from, end, text)
	default:
		e.edit(end, end, text)
	}
	for _, edit := range e.edits {
		if bytes.ContainsAny(e.src[edit.from:edit.to], "#") {
			return nil, errors.New("a comment between its entries would be lost")
		}
	}
	return e.edited(), nil
}

// newList gives a key that has none a list, behind its name.
func (e *allowEditor) newList(add []Rule) ([]byte, error) {
	start, end := e.lineOf(e.offset(e.name.Key.GetToken()))
	indent := strings.Repeat(" ", e.offset(e.name.Key.GetToken())-start)
	if e.name.Value.GetToken().Position.Line != e.name.Key.GetToken().Position.Line {
		return nil, errOtherLayout
	}
	e.edit(end, end, indent+"allow:"+e.eol())
	e.insert(end, indent+"  - ", add)
	return e.edited(), nil
}

// insert puts entries into lines of their own.
func (e *allowEditor) insert(at int, before string, add []Rule) {
	for _, text := range quotedRules(add) {
		e.edit(at, at, before+text+e.eol())
	}
}

func quotedRules(rules []Rule) (all []string) {
	for _, rule := range rules {
		all = append(all, `"`+rule.String()+`"`) // which has no character that needs more
	}
	return all
}

func (e *textEditor) edit(from, to int, text string) {
	e.edits = append(e.edits, textEdit{from, to, text})
}

func (e *textEditor) edited() []byte {
	slices.SortStableFunc(e.edits, func(a, b textEdit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, edit := range e.edits {
		out.Write(e.src[at:edit.from])
		out.WriteString(edit.text)
		at = edit.to
	}
	out.Write(e.src[at:])
	return out.Bytes()
}

// eol is how the lines of the file end.
func (e *textEditor) eol() string {
	if bytes.Contains(e.src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineOf is the line that has an offset, with its end.
func (e *textEditor) lineOf(offset int) (start, end int) {
	i, found := slices.BinarySearch(e.lines, offset)
	if !found {
		i--
	}
	if i+1 < len(e.lines) {
		return e.lines[i], e.lines[i+1]
	}
	return e.lines[i], len(e.src)
}

// offset is where a token is.
func (e *allowEditor) offset(t *token.Token) int { return e.at(t.Position.Line, t.Position.Column) }

// at is where a line has a column, both counted from 1; columns are characters.
func (e *textEditor) at(line, column int) int {
	if line > len(e.lines) {
		return len(e.src)
	}
	at := e.lines[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRune(e.src[at:])
		at += size
	}
	return at
}

func newTextEditor(src []byte) textEditor {
	lines := []int{0}
	for i, b := range src {
		if b == '\n' && i+1 < len(src) {
			lines = append(lines, i+1)
		}
	}
	return textEditor{src: src, lines: lines}
}
