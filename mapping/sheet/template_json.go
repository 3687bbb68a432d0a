package sheet

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/mapping"
)

// jsonNode is a part of a JSON body: exactly one of its kinds.
type jsonNode struct {
	literal []byte // as it is
	members []jsonMember
	items   []jsonNode
	object  bool
	array   bool
	value   string   // placeholder that is a JSON value
	text    template // a string with placeholders
	isText  bool
}

type jsonMember struct {
	key   []byte // with quotes
	value jsonNode
}

// mark stands before a placeholder outside of strings while a template is parsed.
const mark = "\x01"

// parseJSON compiles a JSON body. Its placeholders are within strings, or in place of a value.
func parseJSON(text string) (jsonNode, error) {
	if strings.Contains(text, mark) {
		return jsonNode{}, errors.New("it has a control character")
	}
	d := jsontext.NewDecoder(strings.NewReader(quotePlaceholders(text)))
	node, err := readJSON(d)
	if err != nil {
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			err = syntax.Err
		}
		return node, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := d.ReadToken(); err == nil {
		return node, errors.New("it goes on after the JSON value")
	}
	return node, nil
}

// quotePlaceholders turns placeholders outside of strings into strings.
func quotePlaceholders(text string) string {
	var b strings.Builder
	for inString := false; text != ""; {
		if !inString && text[0] == '{' {
			if at := placeholder.FindStringIndex(text); at != nil && at[0] == 0 {
				b.WriteString(`"\u0001` + text[1:at[1]-1] + `"`)
				text = text[at[1]:]
				continue
			}
		}
		if inString && text[0] == '\\' && len(text) > 1 {
			b.WriteString(text[:2])
			text = text[2:]
			continue
		}
		if text[0] == '"' {
			inString = !inString
		}
		b.WriteByte(text[0])
		text = text[1:]
	}
	return b.String()
}

func readJSON(d *jsontext.Decoder) (jsonNode, error) {
	t, err := d.ReadToken()
	if err != nil {
		return jsonNode{}, err
	}
	switch t.Kind() {
	case '{':
		return readObject(d)
	case '[':
		n := jsonNode{array: true}
		for d.PeekKind() != ']' {
			item, err := readJSON(d)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
		_, err := d.ReadToken()
		return n, err
	case '"':
		text := t.String()
		if name, ok := strings.CutPrefix(text, mark); ok {
			return jsonNode{value: name}, nil
		}
		if parts := split(text); len(parts) > 1 || len(parts) == 1 && parts[0].name != "" {
			return jsonNode{text: template{parts: parts}, isText: true}, nil
		}
		return jsonNode{literal: mapping.AppendJSONString(nil, text)}, nil
	default:
		return jsonNode{literal: []byte(t.String())}, nil
	}
}

func readObject(d *jsontext.Decoder) (jsonNode, error) {
	n := jsonNode{object: true}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return n, err
		}
		name := key.String()
		if strings.HasPrefix(name, mark) || placeholder.MatchString(name) {
			return n, errors.New("a placeholder cannot be a member's name")
		}
		value, err := readJSON(d)
		if err != nil {
			return n, err
		}
		n.members = append(n.members, jsonMember{mapping.AppendJSONString(nil, name), value})
	}
	_, err := d.ReadToken()
	return n, err
}

// names adds the placeholders in the node.
func (n jsonNode) names(add func(string)) {
	if n.value != "" {
		add(n.value)
	}
	n.text.names(add)
	for _, m := range n.members {
		m.value.names(add)
	}
	for _, item := range n.items {
		item.names(add)
	}
}

// texts implements body.
func (n *jsonNode) texts(see func(*template)) {
	if n.isText {
		see(&n.text)
	}
	for i := range n.members {
		n.members[i].value.texts(see)
	}
	for i := range n.items {
		n.items[i].texts(see)
	}
}

// append implements body.
func (n jsonNode) append(dst []byte, f *filling) ([]byte, error) {
	dst, _, err := n.fill(dst, f)
	return dst, err
}

// fill appends the node. If all its values are absent, it appends nothing and present is
// false.
func (n jsonNode) fill(dst []byte, f *filling) (out []byte, present bool, err error) {
	switch {
	case n.object:
		return fillParts(append(dst, '{'), '}', len(n.members), func(dst []byte, i int) ([]byte, bool, error) {
			m := &n.members[i]
			return m.value.fill(append(append(dst, m.key...), ':'), f)
		})
	case n.array:
		return fillParts(append(dst, '['), ']', len(n.items), func(dst []byte, i int) ([]byte, bool, error) {
			if f.each[n.items[i].value] == nil {
				return n.items[i].fill(dst, f)
			}
			from := len(dst) // elements of the record's array are items themselves
			dst, _, err := f.fillEach(dst, n.items[i].value)
			return dst, len(dst) > from, err
		})
	case n.value == "fields" && areFlat(f.Fields):
		return appendMembers(dst, f.Fields), true, nil
	case n.value == "fields" || strings.HasPrefix(n.value, "fields."):
		t, err := newTree(f.Fields)
		if err != nil {
			return dst, false, err
		}
		if t = t.at(strings.Split(n.value, ".")[1:]); t == nil {
			return dst, false, nil
		}
		return t.appendJSON(dst), true, nil
	case f.each[n.value] != nil:
		from := len(dst)
		if dst, present, err = f.fillEach(append(dst, '['), n.value); !present || err != nil {
			return dst[:from], false, err
		}
		return append(dst, ']'), true, nil
	case isList(n.value):
		dst = append(dst, '[')
		f.eachOf(n.value, func(one *filling) {
			if present {
				dst = append(dst, ',')
			}
			dst, present = appendRawJSON(dst, one.value(part{name: n.value})), true
		})
		return append(dst, ']'), present, nil
	case n.value != "":
		raw := f.value(part{name: n.value})
		return appendRawJSON(dst, raw), raw.Kind != RawAbsent, nil
	case n.isText:
		if name := n.text.only(); name != "" && f.get(name).Kind == RawNull {
			return append(dst, "null"...), true, nil
		}
		text, ok := n.text.fill(f)
		if !ok {
			return dst, false, nil
		}
		return mapping.AppendJSONString(dst, text), true, nil
	default:
		return append(dst, n.literal...), true, nil
	}
}

// fillParts appends so many members or items but for absent ones, and what ends them.
func fillParts(dst []byte, end byte, n int, fill func(dst []byte, i int) ([]byte, bool, error)) (out []byte, present bool, err error) {
	for first, i := true, 0; i < n; i++ {
		before := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		if dst, present, err = fill(dst, i); err != nil {
			return dst, false, err
		}
		if first = first && !present; !present {
			dst = dst[:before]
		}
	}
	return append(dst, end), true, nil
}

// appendRawJSON appends a value of the system as JSON.
func appendRawJSON(dst []byte, r Raw) []byte {
	switch r.Kind {
	case RawAbsent:
		return dst
	case RawNull:
		return append(dst, "null"...)
	case RawBool, RawInt, RawJSON:
		return r.append(dst)
	case RawNumber:
		return appendJSONNumber(dst, r.Text)
	case RawBytes:
		return mapping.AppendJSONString(dst, base64.StdEncoding.EncodeToString([]byte(r.Text)))
	default:
		return mapping.AppendJSONString(dst, r.String())
	}
}

// appendJSONNumber appends a decimal, which may have a form that JSON lacks: +1, .5, 5., 007.
// What is no number is text.
func appendJSONNumber(dst []byte, s string) []byte {
	if isPlainNumber(s) {
		return append(dst, s...)
	}
	if !IsDecimal(s) {
		return mapping.AppendJSONString(dst, s)
	}
	if s[0] == '-' {
		dst = append(dst, '-')
	}
	s = strings.TrimLeft(s, "+-")
	exponent := ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s, exponent = s[:i], s[i:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	dst = append(dst, whole...)
	if fraction != "" {
		dst = append(append(dst, '.'), fraction...)
	}
	return append(dst, exponent...)
}

// isPlainNumber tells whether s is a number as JSON has it, without an exponent: most are.
func isPlainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' || len(s) >= longestNumber {
		return false
	}
	if whole == len(s) {
		return true
	}
	fraction := s[whole+1:]
	return s[whole] == '.' && fraction != "" && digits(fraction) == len(fraction)
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// appendMembers appends fields that are flat as an object.
func appendMembers(dst []byte, fields []Assignment) []byte {
	dst = append(dst, '{')
	for i := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(mapping.AppendJSONString(dst, fields[i].Place), ':')
		dst = appendRawJSON(dst, fields[i].Value)
	}
	return append(dst, '}')
}
