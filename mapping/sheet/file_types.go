package sheet

import (
	"errors"
	"strconv"

	"frontdesk/config/strictyaml"
)

// ordered is a mapping that keeps its order.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Key   string
	Value T
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(n strictyaml.Node) error {
	var m map[string]T
	n.Decode(&m)
	*o = make(ordered[T], 0, len(m))
	for _, key := range n.Keys() {
		*o = append(*o, entry[T]{key, m[key]})
	}
	return nil
}

type (
	// pairs are texts by name.
	pairs = ordered[string]
	// values are what is written, by place.
	values = ordered[valueFile]
	// codesFile is a code list: the interface's values by the system's codes. The key "" is
	// the empty text, the value null is null.
	codesFile = ordered[scalarFile]
)

type pair = entry[string]

// names is one name, or a list of them.
type names []string

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (ns *names) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() != strictyaml.Scalar {
		var list []string
		n.Decode(&list)
		*ns = list
		return nil
	}
	var one string
	n.Decode(&one)
	*ns = names{one}
	return nil
}

// scalarFile is a single value: text, a number, true, false or null. Quotes
// make it text.
type scalarFile struct {
	given bool
	text  string
	null  bool
	plain bool
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *scalarFile) UnmarshalYAML(n strictyaml.Node) error {
	s.given = true
	if s.null = n.Kind() == strictyaml.Null; s.null {
		return nil
	}
	s.plain = n.Plain()
	n.Decode(&s.text)
	return nil
}

// raw is the value as the system has it.
func (s scalarFile) raw() Raw {
	switch {
	case s.null:
		return Raw{Kind: RawNull}
	case s.plain && (s.text == "true" || s.text == "false"):
		return boolRaw(s.text == "true")
	case s.plain:
		if n, err := strconv.ParseInt(s.text, 10, 64); err == nil && strconv.FormatInt(n, 10) == s.text {
			return Raw{Kind: RawInt, Int: n}
		}
		if IsDecimal(s.text) {
			return Raw{Kind: RawNumber, Text: s.text}
		}
	}
	return Raw{Kind: RawText, Text: s.text}
}

// valueFile is a value that is written: a single one, or the present time as
// {now: FORMAT}.
type valueFile struct {
	scalar scalarFile
	now    *nowFile
}

// nowFile is the present time.
type nowFile struct {
	// Now is the format of the present time, as a field's format.
	Now string `yaml:"now" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (v *valueFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Mapping {
		v.now = new(nowFile)
		n.Decode(v.now)
		return nil
	}
	return v.scalar.UnmarshalYAML(n)
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

// unknownFile is what an unknown code becomes.
type unknownFile struct {
	how   string // fail, null, keep or value
	value scalarFile
}

// unknownValueFile is the value that stands for unknown codes.
type unknownValueFile struct {
	// Value stands for every code that is not in the list.
	Value scalarFile `yaml:"value" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (u *unknownFile) UnmarshalYAML(n strictyaml.Node) error {
	switch {
	case n.Kind() == strictyaml.Mapping:
		var v unknownValueFile
		n.Decode(&v)
		u.how, u.value = "value", v.Value
	case n.Kind() == strictyaml.Null:
		u.how = "null"
	default:
		n.Decode(&u.how)
	}
	return nil
}

// connectionsFile is how many connections there are, or that none is used twice.
type connectionsFile struct {
	most  int
	fresh bool
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *connectionsFile) UnmarshalYAML(n strictyaml.Node) (err error) {
	var word string
	n.Decode(&word)
	if c.fresh = word == fresh; !c.fresh {
		if c.most, err = strconv.Atoi(word); err != nil {
			return errors.New("expected a whole number from 1, or fresh")
		}
	}
	return nil
}

// fieldFile is how one field is found and converted; a text is short for {from:
// text}.
type fieldFile struct {
	fieldSettings
	given bool
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (f *fieldFile) UnmarshalYAML(n strictyaml.Node) error {
	f.given = true
	if n.Kind() == strictyaml.Scalar || n.Kind() == strictyaml.List {
		n.Decode(&f.From)
		return nil
	}
	n.Decode(&f.fieldSettings)
	return nil
}

// whoseFile tells whose record it is: by a place, or through a reference.
type whoseFile struct {
	given  bool
	place  string
	parent bool // through a reference
	throughFile
}

// throughFile tells whose record it is by the record that it belongs to.
type throughFile struct {
	// Through is the field that refers to the record whose client it is.
	Through string `yaml:"through" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (c *whoseFile) UnmarshalYAML(n strictyaml.Node) error {
	c.given = true
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&c.place)
		return nil
	}
	c.parent = true
	n.Decode(&c.throughFile)
	return nil
}

// hashFile is how passwords are hashed; a text is short for {algorithm: text}.
type hashFile struct{ hashSettings }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (h *hashFile) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() == strictyaml.Scalar {
		n.Decode(&h.Algorithm)
		return nil
	}
	n.Decode(&h.hashSettings)
	return nil
}
