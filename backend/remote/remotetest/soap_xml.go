package remotetest

import (
	"bytes"
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
	XMLName  xml.Name
	Nil      bool    `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr"`
	Text     string  `xml:",chardata"`
	Children []*node `xml:",any"`
}

func (n *node) child(local string) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.Children {
		if c.XMLName.Local == local {
			return c
		}
	}
	return nil
}

// value is the text of a child, "" where there is none.
func (n *node) value(local string) string {
	if c := n.child(local); c != nil {
		return strings.TrimSpace(c.Text)
	}
	return ""
}

// parseXML reads a document. It takes no document type, so that nobody defines
// entities.
func parseXML(r io.Reader) (*node, error) {
	text, err := io.ReadAll(r)
	switch {
	case err != nil:
		return nil, err
	case bytes.Contains(text, []byte("<!DOCTYPE")):
		return nil, errors.New("document types are not allowed")
	}
	doc := &node{}
	return doc, xml.Unmarshal(text, doc)
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
