package sheet

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// xmlNode is a part of an XML body: exactly one of its kinds.
type xmlNode struct {
	name     string // of an element
	attrs    []template
	children []xmlNode
	text     template
	literal  string // a processing instruction, as it is
}

// xmlBody is an XML document.
type xmlBody []xmlNode

// nilAttribute says that an element is null.
const nilAttribute = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"`

// parseXML compiles an XML body. Its placeholders are in texts and attributes.
func parseXML(text string) (xmlBody, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	root := []xmlNode{{}}
	for {
		t, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				return nil, fmt.Errorf("it is no XML: %s", syntax.Msg)
			}
			return nil, fmt.Errorf("it is no XML: %w", err)
		}
		top := &root[len(root)-1]
		switch t := t.(type) {
		case xml.StartElement:
			n := xmlNode{name: qualified(t.Name)}
			for _, a := range t.Attr {
				n.attrs = append(n.attrs, template{name: qualified(a.Name), parts: split(a.Value)})
			}
			root = append(root, n)
		case xml.EndElement:
			if len(root) == 1 || top.name != qualified(t.Name) {
				return nil, fmt.Errorf("it is no XML: </%s> closes nothing", qualified(t.Name))
			}
			done := *top
			root = root[:len(root)-1]
			parent := &root[len(root)-1]
			parent.children = append(parent.children, done)
		case xml.CharData:
			if s := string(t); strings.TrimSpace(s) != "" {
				top.children = append(top.children, xmlNode{text: template{parts: split(s)}})
			}
		case xml.ProcInst:
			top.children = append(top.children, xmlNode{literal: "<?" + t.Target + " " + string(t.Inst) + "?>"})
		case xml.Directive:
			return nil, errors.New("it has a <!…> directive, which is not supported")
		}
	}
	if len(root) > 1 {
		return nil, fmt.Errorf("it is no XML: <%s> is not closed", root[len(root)-1].name)
	}
	return root[0].children, nil
}

func qualified(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// wrap puts a body in the place of {body}.
func (b xmlBody) wrap(inner xmlBody) (wrapped xmlBody, found bool) {
	for _, n := range b {
		if n.name == "" && n.literal == "" {
			var rest []part
			for _, p := range n.text.parts {
				if p.name != "body" {
					rest = append(rest, p)
					continue
				}
				found = true
				if len(rest) > 0 {
					wrapped = append(wrapped, xmlNode{text: template{parts: rest}})
				}
				wrapped, rest = append(wrapped, inner...), nil
			}
			n.text.parts = rest
			if rest == nil {
				continue
			}
		}
		below, ok := xmlBody(n.children).wrap(inner)
		n.children, found = below, found || ok
		wrapped = append(wrapped, n)
	}
	return wrapped, found
}

// texts implements body.
func (b xmlBody) texts(see func(*template)) {
	for i := range b {
		see(&b[i].text)
		for k := range b[i].attrs {
			see(&b[i].attrs[k])
		}
		xmlBody(b[i].children).texts(see)
	}
}

// append implements body.
func (b xmlBody) append(dst []byte, f *filling) ([]byte, error) {
	var err error
	for _, n := range b {
		if dst, err = n.append(dst, f); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (n xmlNode) append(dst []byte, f *filling) ([]byte, error) {
	switch {
	case n.literal != "":
		return append(dst, n.literal...), nil
	case n.name == "":
		return n.appendText(dst, f)
	}
	null := ""
	if len(n.children) == 1 && n.children[0].name == "" {
		if only := n.children[0].text.only(); only != "" && only != "fields" {
			switch f.get(only).Kind {
			case RawAbsent:
				return dst, nil
			case RawNull:
				null = nilAttribute
			}
		}
	}
	dst = append(append(dst, '<'), n.name...)
	for _, t := range n.attrs {
		text, ok := t.fill(f)
		if !ok {
			continue
		}
		dst = append(append(append(dst, ' '), t.name...), `="`...)
		dst = append(appendXMLText(dst, text), '"')
	}
	if null != "" {
		return append(append(dst, null...), "/>"...), nil
	}
	dst = append(dst, '>')
	dst, err := xmlBody(n.children).append(dst, f)
	if err != nil {
		return dst, err
	}
	return append(append(append(dst, "</"...), n.name...), '>'), nil
}

func (n xmlNode) appendText(dst []byte, f *filling) ([]byte, error) {
	for _, p := range n.text.parts {
		switch p.name {
		case "":
			dst = appendXMLText(dst, p.literal)
		case "fields":
			t, err := newTree(f.Fields)
			if err != nil {
				return dst, err
			}
			dst = t.appendXMLChildren(dst)
		default:
			dst = appendRawXML(dst, f.value(p))
		}
	}
	return dst, nil
}

func appendRawXML(dst []byte, r Raw) []byte {
	if r.Kind == RawBytes {
		return base64.StdEncoding.AppendEncode(dst, []byte(r.Text))
	}
	return appendXMLText(dst, r.String())
}

// appendXMLText escapes text for elements and attributes. Characters that XML
// cannot have become U+FFFD.
func appendXMLText(dst []byte, s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '<' || r == '>' || r == '&' || r == '"' || r == '\'' || r >= 0x7f
	}) {
		return append(dst, s...)
	}
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer never fails
	return append(dst, b.Bytes()...)
}

// appendXMLChildren appends the elements below t. An array is its element again
// for each row.
func (t *tree) appendXMLChildren(dst []byte) []byte {
	for _, c := range t.children {
		switch {
		case strings.HasPrefix(c.key, "@"):
		case c.rows != nil:
			for _, row := range c.rows {
				dst = row.appendXML(dst, c.key)
			}
		default:
			dst = c.appendXML(dst, c.key)
		}
	}
	return dst
}

func (t *tree) appendXML(dst []byte, name string) []byte {
	dst = append(append(dst, '<'), name...)
	for _, c := range t.children {
		if attr, ok := strings.CutPrefix(c.key, "@"); ok && c.value.IsSet() {
			dst = append(append(append(dst, ' '), attr...), `="`...)
			dst = append(appendRawXML(dst, c.value), '"')
		}
	}
	if t.value.Kind == RawNull {
		return append(append(dst, nilAttribute...), "/>"...)
	}
	dst = append(dst, '>')
	dst = appendRawXML(dst, t.value)
	dst = t.appendXMLChildren(dst)
	return append(append(append(dst, "</"...), name...), '>')
}
