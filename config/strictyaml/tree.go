package strictyaml

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// node is one YAML value, freed of the syntax it was written in.
type node struct {
	kind    Kind
	at      position
	text    string  // Scalar
	plain   bool    // written without quotes: only then it may be a number, a boolean, or null
	entries []entry // Mapping, each key once
	items   []*node // List
	alias   bool    // stands for a value that is written elsewhere
	invalid bool    // a problem was reported; there is no value
}

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	plain bool // written without quotes
	at    position
	value *node
}

// builder turns the parser's tree into nodes and reports unsupported syntax. An anchor is
// known only after its value, so no value can contain itself.
type builder struct {
	report  func(at position, rule, path, message string)
	anchors map[string]*node
}

func (b *builder) build(n ast.Node, path string) *node {
	switch n := n.(type) {
	case nil:
		return &node{at: position{1, 1}}
	case *ast.NullNode:
		return &node{at: place(n), plain: n.Token.Type == token.NullType}
	case *ast.MappingNode:
		return b.mapping(n, path)
	case *ast.SequenceNode:
		return b.list(n, path)
	case *ast.AnchorNode:
		value := b.build(n.Value, path)
		b.anchors[name(n.Name)] = value
		return value
	case *ast.AliasNode:
		return b.resolve(n, path)
	case *ast.LiteralNode:
		return &node{kind: Scalar, at: place(n), text: n.Value.Value}
	case *ast.StringNode:
		return &node{kind: Scalar, at: place(n), text: n.Value, plain: n.Token.Type == token.StringType}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: Scalar, at: place(n), text: n.GetToken().Value, plain: true}
	case *ast.TagNode:
		// The message does not show the text, here and at an alias below: it may be a
		// password that begins with this sign.
		return b.refuse(n, ruleTag, path, "tags, which begin with !, are not supported, put text in quotes instead")
	default:
		return b.refuse(n, ruleUnsupported, path, "not supported here, expected a value, a list or a mapping")
	}
}

func (b *builder) list(n *ast.SequenceNode, path string) *node {
	list := &node{kind: List, at: place(n)}
	for i, item := range n.Values {
		list.items = append(list.items, b.build(item, element(path, i)))
	}
	return list
}

func (b *builder) mapping(n *ast.MappingNode, path string) *node {
	m := &node{kind: Mapping, at: place(n)}
	seen := make(map[string]position, len(n.Values))
	for _, pair := range n.Values {
		key, plain, ok := b.key(pair.Key, path)
		if !ok {
			continue
		}
		at, below := place(pair.Key), Child(path, key)
		value := b.build(pair.Value, below)
		if value.kind == Null && !value.plain && !value.invalid && !value.alias {
			value.at = at
		}
		if first, twice := seen[key]; twice {
			b.report(at, ruleTwice, below, "key given twice, first at "+first.String())
			continue
		}
		seen[key] = at
		m.entries = append(m.entries, entry{key: key, plain: plain, at: at, value: value})
	}
	return m
}

// key is the text of a mapping's key; only scalars are keys.
func (b *builder) key(n ast.MapKeyNode, path string) (text string, plain, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, n.Token.Type == token.StringType, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true, true
	case *ast.MergeKeyNode:
		b.refuse(n, ruleMerge, Child(path, "<<"), "merge keys are not supported, write the keys out")
	default:
		b.refuse(n, ruleUnsupported, path, "not supported as a key, expected a plain word")
	}
	return "", false, false
}

// resolve gives the value an alias stands for, placed where the alias is.
func (b *builder) resolve(n *ast.AliasNode, path string) *node {
	value, ok := b.anchors[name(n.Value)]
	if !ok {
		known := make([]string, 0, len(b.anchors))
		for anchor := range b.anchors {
			known = append(known, "*"+anchor)
		}
		slices.Sort(known) // so that Suggest always picks the same of several near anchors
		hint := Suggest("*"+name(n.Value), known)
		if hint == "" {
			hint = ", expected quotes around text that begins with *"
		}
		return b.refuse(n, ruleAlias, path, "alias has no anchor above it"+hint)
	}
	copied := *value
	copied.at, copied.alias = place(n), true
	return &copied
}

func (b *builder) refuse(n ast.Node, rule, path, message string) *node {
	b.report(place(n), rule, path, message)
	return &node{at: place(n), invalid: true}
}

// name is the name of an anchor or an alias.
func name(n ast.Node) string {
	if n == nil {
		return ""
	}
	return n.GetToken().Value
}

// place is where a node begins; the parser gives a block mapping the place of
// its first colon.
func place(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return place(m.Values[0].Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}
