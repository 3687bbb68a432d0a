package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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
func decodeXML(text string) (any, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	root, err := elementIn(d, 0)
	if err == nil && len(root) != 1 {
		err = errors.New("not one element")
	}
	if err != nil {
		return nil, fmt.Errorf("%w at byte %d", errNotXML, d.InputOffset()) // its text may show a value
	}
	return root, nil
}

// elementIn reads what is within an element, or at the top.
func elementIn(d *xml.Decoder, depth int) (map[string]any, error) {
	if depth > maxDepth {
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
	var out bytes.Buffer
	out.WriteString(xml.Header)
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("body: no element, expected JsonML, a list that begins with a name")
	}
	if _, is := list[0].(string); !is {
		return nil, errors.New("body: expected one element, a list that begins with its name")
	}
	return appendXML(&out, list)
}

var xmlName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*(:[A-Za-z_][A-Za-z0-9._-]*)?$`)

func appendXML(out *bytes.Buffer, list []any) ([]byte, error) {
	name, is := "", false
	if len(list) > 0 {
		name, is = list[0].(string)
	}
	if !is {
		return out.Bytes(), appendWithin(out, list)
	}
	if !xmlName.MatchString(name) {
		return nil, errors.New("body: what is no name of an element")
	}
	out.WriteString("<" + name)
	list = list[1:]
	if len(list) > 0 {
		if attributes, is := list[0].(map[string]any); is {
			list = list[1:]
			if err := appendAttributes(out, attributes); err != nil {
				return nil, err
			}
		}
	}
	out.WriteByte('>')
	if err := appendWithin(out, list); err != nil {
		return nil, err
	}
	out.WriteString("</" + name + ">")
	return out.Bytes(), nil
}

func appendAttributes(out *bytes.Buffer, all map[string]any) error {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if all[name] == nil {
			continue
		}
		if !xmlName.MatchString(name) {
			return errors.New("body: what is no name of an attribute")
		}
		out.WriteString(" " + name + `="`)
		if err := appendText(out, all[name]); err != nil {
			return err
		}
		out.WriteByte('"')
	}
	return nil
}

// appendWithin writes what is within an element.
func appendWithin(out *bytes.Buffer, all []any) error {
	for _, v := range all {
		var err error
		switch v := v.(type) {
		case nil:
		case []any:
			_, err = appendXML(out, v)
		default:
			err = appendText(out, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func appendText(out *bytes.Buffer, v any) error {
	text, ok := sheet.ScalarText(v)
	if !ok {
		return errors.New("body: an object where a text is")
	}
	if !isXML(text) {
		return errors.New("body: a character that XML cannot have")
	}
	return xml.EscapeText(out, []byte(text))
}

// isXML tells whether XML can have a text.
func isXML(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
	})
}
