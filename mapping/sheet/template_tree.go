package sheet

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// areFlat tells whether fields are members of one object, each with a value and a name of its
// own. Most are, and need no tree.
func areFlat(fields []Assignment) bool {
	for i := range fields {
		a := &fields[i]
		if a.Rows != nil || a.Value.Kind == RawAbsent || strings.IndexByte(a.Place, '.') >= 0 {
			return false
		}
		for k := range i {
			if fields[k].Place == a.Place {
				return false
			}
		}
	}
	return true
}

// tree is {fields} while it is written into a body: the dotted paths as a tree, in the order
// in which they came.
type tree struct {
	key      string
	value    Raw     // of RawJSON, children are written into it
	rows     []*tree // elements of an array
	children []*tree
}

func newTree(fields []Assignment) (*tree, error) {
	root := &tree{}
	for _, a := range fields {
		at := root
		for _, step := range strings.Split(a.Place, ".") {
			if at.value.Kind != RawAbsent && at.value.Kind != RawJSON || at.rows != nil {
				return nil, fmt.Errorf("%s is written below a value", a.Place)
			}
			at = at.child(step)
		}
		if at.children != nil || at.value.Kind != RawAbsent || at.rows != nil {
			return nil, fmt.Errorf("%s is written twice", a.Place)
		}
		at.value = a.Value
		if a.Rows == nil {
			continue
		}
		at.rows = make([]*tree, 0, len(a.Rows))
		for _, row := range a.Rows {
			of, err := newTree(row)
			if err != nil {
				return nil, err
			}
			at.rows = append(at.rows, of)
		}
	}
	return root, nil
}

func (t *tree) child(key string) *tree {
	c := t.find(key)
	if c == nil {
		c = &tree{key: key}
		t.children = append(t.children, c)
	}
	return c
}

func (t *tree) find(key string) *tree {
	if i := slices.IndexFunc(t.children, func(c *tree) bool { return c.key == key }); i >= 0 {
		return t.children[i]
	}
	return nil
}

// at is the part of the tree below a path; nil if nothing is written there.
func (t *tree) at(path []string) *tree {
	for _, step := range path {
		if t = t.find(step); t == nil {
			return nil
		}
	}
	return t
}

func (t *tree) appendJSON(dst []byte) []byte {
	switch {
	case t.rows != nil:
		dst = append(dst, '[')
		for i, row := range t.rows {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = row.appendJSON(dst)
		}
		return append(dst, ']')
	case t.value.Kind != RawAbsent && t.children == nil:
		return appendRawJSON(dst, t.value)
	}
	dst = append(dst, '{')
	from := len(dst)
	name := func(name string) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = append(mapping.AppendJSONString(dst, name), ':')
	}
	written := map[string]bool{}
	for _, m := range t.siblings() {
		name(m.Name)
		if c := t.find(m.Name); c == nil {
			dst = append(dst, m.Text...)
		} else {
			c.value, written[m.Name] = c.within(m.Text), true
			dst = c.appendJSON(dst)
		}
	}
	for _, c := range t.children {
		if !written[c.key] {
			name(c.key)
			dst = c.appendJSON(dst)
		}
	}
	return append(dst, '}')
}

// siblings are the members that the object already has; the children are written among them.
func (t *tree) siblings() []Element {
	if t.value.Kind != RawJSON {
		return nil
	}
	members, _ := Elements(t.value.Text) // which came in an answer, and so is JSON
	return members
}

// within is the value into which a part of the tree is written.
func (t *tree) within(text string) Raw {
	if t.children != nil && strings.HasPrefix(text, "{") {
		return Raw{Kind: RawJSON, Text: text}
	}
	return t.value
}
