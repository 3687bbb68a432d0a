package sheet

import (
	"errors"
	"slices"

	"frontdesk/config/strictyaml"
)

// codesFile is a code list: the interface's values by the system's codes. The key "" is
// the empty text, the value null is null.
type codesFile []codeFile

type codeFile struct {
	stored string
	plain  bool
	shown  scalarFile
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *codesFile) UnmarshalYAML(n strictyaml.Node) error {
	var m map[string]scalarFile
	n.Decode(&m)
	*c = make(codesFile, 0, len(m))
	for _, key := range n.Keys() {
		*c = append(*c, codeFile{key.Name, key.Plain, m[key.Name]})
	}
	return nil
}

// names is one name, or a list of them.
type names []string

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (ns *names) UnmarshalYAML(n strictyaml.Node) error { return oneOrMore(n, (*[]string)(ns)) }

// oneOrMore decodes a list, or a single value in place of one.
func oneOrMore[T any](n strictyaml.Node, into *[]T) error {
	if n.Kind() != strictyaml.Scalar && n.Kind() != strictyaml.Mapping {
		n.Decode(into)
		return nil
	}
	*into = make([]T, 1)
	n.Decode(&(*into)[0])
	return nil
}

// scalarFile is a single value: text, a number, true, false or null.
type scalarFile struct {
	given bool
	text  string
	null  bool
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *scalarFile) UnmarshalYAML(n strictyaml.Node) error {
	s.given = true
	if s.null = n.Kind() == strictyaml.Null; !s.null {
		n.Decode(&s.text)
	}
	return nil
}

// codesRefFile is a code list, or the name of a shared one.
type codesRefFile struct {
	name string
	list codesFile
}

func (c codesRefFile) given() bool { return c.name != "" || c.list != nil }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *codesRefFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&c.name)
		return nil
	}
	n.Decode(&c.list)
	return nil
}

// textFile is a text and its path in the sheet, which problems need if the text comes from a default that
// holds for several resources.
type textFile struct{ text, at string }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (t *textFile) UnmarshalYAML(n strictyaml.Node) error {
	t.at = n.Path()
	n.Decode(&t.text)
	return nil
}

func (t textFile) given() bool { return t.at != "" }

// spotFile is where a value is found.
type spotFile struct {
	textFile // a column or a path
	readFile
}

// readFile is what is read in place of a column, or a path.
type readFile struct {
	// Read is SQL over the columns of what is read, or jq over the record, or the answer.
	Read textFile `yaml:"read" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *spotFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar || n.Kind() == strictyaml.List {
		return s.textFile.UnmarshalYAML(n)
	}
	s.at = n.Path()
	n.Decode(&s.readFile)
	return silent(n, s.Read.text, "a column or a path, or {read: …}")
}

// silent returns the error of a mapping without a value. Unknown keys have been reported.
func silent(n strictyaml.Node, given, expected string) error {
	keys := n.Keys()
	if given == "" && (len(keys) == 0 || slices.Contains([]string{"read", "through", "sql"}, keys[0].Name)) {
		return errors.New("found nothing, expected " + expected)
	}
	return nil
}

// throughFile tells whose record it is by the record that it belongs to.
type throughFile struct {
	// Through is the field that refers to the record whose client it is.
	Through string `yaml:"through" schema:"required"`
}

// whoseFile tells whose record it is: by a place, or through a reference.
type whoseFile struct {
	given bool
	spotFile
	throughFile
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *whoseFile) UnmarshalYAML(n strictyaml.Node) error {
	c.given = true
	if n.Kind() == strictyaml.Scalar || n.Kind() == strictyaml.List {
		return c.textFile.UnmarshalYAML(n)
	}
	var of struct {
		readFile
		throughFile
	}
	n.Decode(&of)
	c.at, c.readFile, c.throughFile = n.Path(), of.readFile, of.throughFile
	if c.Through != "" && c.Read.given() {
		return errors.New("found read and through, expected one of them")
	}
	return silent(n, c.Read.text+c.Through, "a column or a path, {read: …} or {through: FIELD}")
}
