package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping/sheet"
)

// XML is read into the JSON that mxj makes of it (github.com/clbanning/mxj), and written from JsonML
// (jsonml.org), which keeps the order of elements. mxj itself is not used: of a text that a comment or
// CDATA divides it keeps only the last part, and it does not bound how deep elements nest.

var errNotXML = errors.New("the answer is not XML")

// element is an XML element. The decoder bounds how deep elements nest.
type element struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Text       string     `xml:",chardata"`
	Within     []element  `xml:",any"`
}

// decodeXML reads an answer: an element is its text, or an object of its attributes (-name), its
// elements and its text (#text); elements of one name are a list. Prefixes of names are left out, and
// xsi:nil is null.
func decodeXML(text string) (sheet.JSON, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var root element
	err := d.Decode(&root)
	if err == nil {
		err = atEnd(d)
	}
	var of sheet.JSON
	if err == nil {
		of, err = sheet.JSONOf(map[string]any{root.XMLName.Local: root.value()})
	}
	if err != nil {
		err = fmt.Errorf("%w at byte %d", errNotXML, d.InputOffset()) // the decoder's text may show a value
	}
	return of, err
}

// atEnd fails if more than comments and blanks follow.
func atEnd(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		switch t := token.(type) {
		case nil:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case xml.StartElement:
			return errors.New("not one element")
		case xml.CharData:
			if !isBlank(string(t)) {
				return errors.New("a text behind the element")
			}
		}
	}
}

// value is an element with its attributes.
func (e *element) value() any {
	all := map[string]any{}
	for _, a := range e.Attributes {
		if a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1") {
			return nil
		}
		all["-"+a.Name.Local] = a.Value
	}
	for i := range e.Within {
		name, v := e.Within[i].XMLName.Local, e.Within[i].value()
		switch before := all[name].(type) {
		case []any:
			all[name] = append(before, v)
		default:
			if _, twice := all[name]; twice {
				v = []any{before, v}
			}
			all[name] = v
		}
	}
	text := strings.TrimSpace(e.Text)
	if len(all) == 0 {
		return text
	}
	if text != "" {
		all["#text"] = text
	}
	return all
}

// encodeXML writes JsonML: an element is a list of its name, optionally an object of its attributes,
// and its content. null is left out; a list without a name is replaced by its content.
func encodeXML(v any) ([]byte, error) {
	list, _ := v.([]any)
	if elementName(list) == "" {
		return nil, errors.New("body: no element, expected JsonML, a list that begins with a name")
	}
	out := bytes.NewBufferString(xml.Header)
	e := xml.NewEncoder(out)
	err := putXML(e, list)
	if err == nil {
		err = e.Flush()
	}
	return out.Bytes(), err
}

var xmlName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*(:[A-Za-z_][A-Za-z0-9._-]*)?$`)

// elementName is the name that a list of JsonML begins with; "" for a list without one.
func elementName(list []any) string {
	if len(list) == 0 {
		return ""
	}
	name, _ := list[0].(string)
	return name
}

func putXML(e *xml.Encoder, list []any) error {
	name := elementName(list)
	if name == "" {
		return putWithin(e, list)
	}
	start := xml.StartElement{Name: xml.Name{Local: name}}
	list = list[1:]
	if len(list) > 0 {
		if attributes, is := list[0].(map[string]any); is {
			list = list[1:]
			for _, name := range slices.Sorted(maps.Keys(attributes)) {
				text, err := xmlText(attributes[name])
				if err != nil {
					return err
				}
				if attributes[name] != nil {
					start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: name}, Value: text})
				}
			}
		}
	}
	if !xmlName.MatchString(name) || slices.ContainsFunc(start.Attr, func(a xml.Attr) bool { return !xmlName.MatchString(a.Name.Local) }) {
		return errors.New("body: what is no name of an element or attribute")
	}
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	if err := putWithin(e, list); err != nil {
		return err
	}
	return e.EncodeToken(start.End())
}

// putWithin writes the content of an element.
func putWithin(e *xml.Encoder, all []any) error {
	for _, v := range all {
		within, is := v.([]any)
		if is {
			if err := putXML(e, within); err != nil {
				return err
			}
			continue
		}
		text, err := xmlText(v)
		if err == nil {
			err = e.EncodeToken(xml.CharData(text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func xmlText(v any) (string, error) {
	text, ok := sheet.ScalarText(v)
	switch {
	case v != nil && !ok:
		return "", errors.New("body: an object where a text is")
	case !isXML(text):
		return "", errors.New("body: a character that XML cannot have")
	default:
		return text, nil
	}
}

// isXML reports whether XML can have a text.
func isXML(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	})
}
