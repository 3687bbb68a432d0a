package remote

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"frontdesk/mapping/sheet"
)

// xmlScanner reads the places of a shape out of an XML document in one pass. Paths begin below
// the document's element, and namespaces do not count. A missing element is absent, xsi:nil is
// null, <a/> is the empty text. An element of a list may come any number of times, any other
// that is needed only once. Document types are refused, and with them all entities but the
// five of XML.
type xmlScanner struct {
	d    *xml.Decoder
	rows rows
}

var errNotXML = errors.New("the answer is not XML")

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// scan returns the row of the whole document.
func (x *xmlScanner) scan(s *shape, text string) (row, error) {
	x.d = xml.NewDecoder(strings.NewReader(text))
	x.d.CharsetReader = charset
	top, err := x.rows.next(s)
	if err != nil {
		return row{}, err
	}
	begun := false
	for {
		token, err := x.d.Token()
		if errors.Is(err, io.EOF) && begun {
			return top, nil
		}
		if err != nil {
			return row{}, fmt.Errorf("%w: %w", errNotXML, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if begun {
				return row{}, fmt.Errorf("%w: more after its end", errNotXML)
			}
			begun = true
			if err := x.element(t, s, s.top, &top, 1); err != nil {
				return row{}, err
			}
		case xml.Directive:
			return row{}, fmt.Errorf("%w: it has a document type", errNotXML)
		}
	}
}

// charset decodes what is not UTF-8, for the encodings that old services use.
func charset(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf-8", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "latin1", "windows-1252", "cp1252":
		return charmap.Windows1252.NewDecoder().Reader(in), nil
	case "iso-8859-15", "latin9":
		return charmap.ISO8859_15.NewDecoder().Reader(in), nil
	default:
		return nil, fmt.Errorf("unknown encoding %.20q", name)
	}
}

// element reads the content of an element into a row as node n says; if n is nil it skips the
// content.
func (x *xmlScanner) element(start xml.StartElement, s *shape, n *node, to *row, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested too deep", errNotXML)
	}
	null := false
	for _, a := range start.Attr {
		if a.Name.Local == "nil" && a.Name.Space == schemaInstance && (a.Value == "true" || a.Value == "1") {
			null = true
		}
		if n == nil {
			continue
		}
		if k := n.kid("@"+a.Name.Local, 0); k >= 0 && n.kids[k].place >= 0 {
			if err := put(n.kids[k], to, sheet.Raw{Kind: sheet.RawText, Text: a.Value}); err != nil {
				return err
			}
		}
	}
	text, elements, err := x.content(s, n, to, depth)
	if err != nil || n == nil || n.place < 0 {
		return err
	}
	switch {
	case null:
		return put(n, to, sheet.Raw{Kind: sheet.RawNull})
	case elements && len(n.kids) == 0:
		return fmt.Errorf("the answer has elements at %q in place of a value", n.name)
	case elements:
		return nil
	default:
		return put(n, to, sheet.Raw{Kind: sheet.RawText, Text: text})
	}
}

// content reads up to the end of the element, and returns the text in it.
func (x *xmlScanner) content(s *shape, n *node, to *row, depth int) (text string, elements bool, err error) {
	wanted := n != nil && n.place >= 0
	var b strings.Builder
	var nth map[int]int // elements there were, by kid
	for {
		token, err := x.d.Token()
		if err != nil {
			return "", false, fmt.Errorf("%w: %w", errNotXML, err)
		}
		switch t := token.(type) {
		case xml.CharData:
			if wanted {
				b.Write(t)
			}
		case xml.EndElement:
			return b.String(), elements, nil
		case xml.Directive:
			return "", false, fmt.Errorf("%w: it has a document type", errNotXML)
		case xml.StartElement:
			elements = true
			k := -1
			if n != nil {
				k = n.kid(t.Name.Local, 0)
			}
			if k < 0 {
				err = x.element(t, s, nil, to, depth+1)
			} else {
				if nth == nil {
					nth = map[int]int{}
				}
				err = x.member(t, s, n.kids[k], to, depth, nth[k])
				nth[k]++
			}
			if err != nil {
				return "", false, err
			}
		}
	}
}

// member reads an element that is needed; before is how many elements of its name came before
// it.
func (x *xmlScanner) member(start xml.StartElement, s *shape, kid *node, to *row, depth, before int) error {
	switch {
	case kid.list >= 0:
		inner := s.lists[kid.list]
		r, err := x.rows.next(inner)
		if err != nil {
			return err
		}
		if err := x.element(start, inner, inner.top, &r, depth+1); err != nil {
			return err
		}
		l := &to.lists[kid.list]
		l.there, l.rows = true, append(l.rows, r)
		return nil
	case kid.indexed:
		if i := kid.kid(strconv.Itoa(before), 0); i >= 0 {
			return x.element(start, s, kid.kids[i], to, depth+1)
		}
		return x.element(start, s, nil, to, depth+1)
	case before > 0:
		return fmt.Errorf("the answer has %q twice", kid.name)
	default:
		// A list within is there, though empty, where its parent is.
		for _, inner := range kid.kids {
			if inner.list >= 0 {
				to.lists[inner.list].there = true
			}
		}
		return x.element(start, s, kid, to, depth+1)
	}
}

func put(n *node, to *row, raw sheet.Raw) error {
	if to.values[n.place].Kind != sheet.RawAbsent {
		return fmt.Errorf("the answer has %q twice", n.name)
	}
	to.values[n.place] = raw
	return nil
}
