package remotetest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The namespaces that AutoLijn knows.
const (
	soapNS     = "http://schemas.xmlsoap.org/soap/envelope/"
	xsiNS      = "http://www.w3.org/2001/XMLSchema-instance"
	autolijnNS = "http://autolijn.example/2011/administratie"
)

// node is an element of a document, with either text or children.
type node struct {
	name     xml.Name
	isNil    bool // xsi:nil
	text     string
	children []*node
}

func (n *node) child(local string) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.name.Local == local {
			return c
		}
	}
	return nil
}

// value is the text of a child, "" where there is none.
func (n *node) value(local string) string {
	if c := n.child(local); c != nil {
		return strings.TrimSpace(c.text)
	}
	return ""
}

// parseXML reads a document. It takes no document type, so that nobody defines
// entities.
func parseXML(r io.Reader) (*node, error) {
	root := &node{}
	open := []*node{root}
	for dec := xml.NewDecoder(r); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > 32 {
				return nil, errors.New("nested too deep")
			}
			n := &node{name: t.Name}
			for _, a := range t.Attr {
				if a.Name == (xml.Name{Space: xsiNS, Local: "nil"}) {
					n.isNil = a.Value == "true" || a.Value == "1"
				}
			}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.text += string(t)
		case xml.Directive:
			return nil, errors.New("document types are not allowed")
		}
	}
	if len(root.children) != 1 {
		return nil, errors.New("no document")
	}
	return root.children[0], nil
}

// printer writes XML.
type printer struct{ strings.Builder }

func (p *printer) open(name string)  { p.WriteString("<" + name + ">") }
func (p *printer) close(name string) { p.WriteString("</" + name + ">") }
func (p *printer) none(name string)  { p.WriteString("<" + name + ` xsi:nil="true" />`) }

func (p *printer) leaf(name, text string) {
	if text == "" {
		p.WriteString("<" + name + " />")
		return
	}
	p.open(name)
	p.escape(text)
	p.close(name)
}

func (p *printer) escape(text string) {
	_ = xml.EscapeText(&p.Builder, []byte(text)) // a Builder takes everything
}

// envelope puts a body into its envelope.
func envelope(body string) string {
	return `<?xml version="1.0" encoding="utf-8"?>` + "\n" +
		fmt.Sprintf(`<soap:Envelope xmlns:soap="%s" xmlns:xsi="%s"><soap:Body>%s</soap:Body></soap:Envelope>`, soapNS, xsiNS, body) + "\n"
}
