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

// XML is read as the JSON that mxj makes of it (github.com/clbanning/mxj), and written of JsonML
// (jsonml.org), which keeps the order of elements. mxj itself would not do: of a text that a comment
// or CDATA divides it keeps the last part, and it nests as deep as what it reads.

var errNotXML = errors.New("the answer is not XML")

// decodeXML reads an answer: an element is its text, or an object of its attributes (-name), its
// elements and its text (#text); elements of one name are a list. Prefixes of names are left out, and
// xsi:nil is null.
func decodeXML(text string) (sheet.JSON, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	root, err := elementIn(d, 0)
	if err == nil && len(root) != 1 {
		err = errors.New("not one element")
	}
	if err != nil {
		return sheet.JSON{}, fmt.Errorf("%w at byte %d", errNotXML, d.InputOffset()) // its text may show a value
	}
	return sheet.JSONOf(root)
}

// elementIn reads what is within an element, or at the top.
func elementIn(d *xml.Decoder, depth int) (map[string]any, error) {
	if depth > sheet.MaxDepth {
		return nil, errors.New("nested too deep")
	}
	all := map[string]any{}
	var text strings.Builder
	for {
		token, err := d.Token()
		switch t := token.(type) {
		case nil:
			if depth == 0 && errors.Is(err, io.EOF) && isBlank(strings.TrimPrefix(text.String(), "\ufeff")) {
				return all, nil
			}
			return nil, truncated(err)
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if content := strings.TrimSpace(text.String()); content != "" {
				all["#text"] = content
			}
			return all, nil
		case xml.StartElement:
			within, err := elementIn(d, depth+1)
			if err != nil {
				return nil, err
			}
			add(all, t.Name.Local, elementValue(t.Attr, within))
		}
	}
}

// elementValue is an element with its attributes.
func elementValue(attributes []xml.Attr, within map[string]any) any {
	for _, a := range attributes {
		if a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1") {
			return nil
		}
		within["-"+a.Name.Local] = a.Value
	}
	text, has := within["#text"]
	switch {
	case len(within) == 0:
		return ""
	case has && len(within) == 1:
		return text
	default:
		return within
	}
}

// add adds an element to those of its name.
func add(all map[string]any, name string, v any) {
	before, twice := all[name]
	list, several := before.([]any)
	switch {
	case !twice:
		all[name] = v
	case several:
		all[name] = append(list, v)
	default:
		all[name] = []any{before, v}
	}
}

// encodeXML writes JsonML: an element is a list of its name, an object of its attributes, which it
// need not have, and what is within. null is left out; a list without a name is what is in it.
func encodeXML(v any) ([]byte, error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("body: no element, expected JsonML, a list that begins with a name")
	}
	if _, is := list[0].(string); !is {
		return nil, errors.New("body: expected one element, a list that begins with its name")
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

func putXML(e *xml.Encoder, list []any) error {
	name, is := "", false
	if len(list) > 0 {
		name, is = list[0].(string)
	}
	if !is {
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

// putWithin writes what is within an element.
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

// isXML tells whether XML can have a text.
func isXML(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	})
}
