package sheet

import (
	"regexp"
	"strings"

	"frontdesk/config/strictyaml"
)

// httpResourceFile is how the service has one resource.
type httpResourceFile struct {
	// Path is where the records are: walked and created there; read, changed and removed at
	// PATH/{key}. Calls that say their own need none.
	Path Text `yaml:"path"`
	// Key is what identifies a record in the service: a path, or a list of them.
	Key httpKeyFile `yaml:"key"`
	ownerFile
	// Select is jq over a record: those for which it yields nothing, false or null are hidden.
	Select *JQ `yaml:"select"`
	// Walk lists all records.
	Walk *Walk `yaml:"walk"`
	// Get reads one record. It knows key, client, secret and token.
	Get recordCallFile `yaml:"get"`
	// Create stores a new record. It knows record, value, client, idempotency_key, secret and
	// token.
	Create createFile `yaml:"create"`
	// Update changes a record. It knows key, record, value, version, client, secret and token.
	Update updateFile `yaml:"update"`
	// Delete removes a record. It knows key, version, client, secret and token.
	Delete deleteFile `yaml:"delete"`
	// Fields are how the fields are found, by their name in the interface. Fields not named do
	// not exist for clients. Default: all, each at the member of its own name.
	Fields map[string]httpFieldFile `yaml:"fields"`
}

// recordCallFile is a call of one record.
type recordCallFile struct {
	ServiceCall
	// NotFound recognises the answer that there is no such record; default status 404, with a
	// body of the service's format or none.
	NotFound Match `yaml:"not_found"`
}

// createFile stores a new record.
type createFile struct {
	ServiceCall
	// Nothing tells that the answer says nothing of the record: it is read again.
	Nothing bool `yaml:"nothing"`
	// Key is where the answer has the key of the new record, where that is not within a record.
	Key spotsFile `yaml:"key"`
}

// updateFile changes a record.
type updateFile struct {
	recordCallFile
	// Nothing tells that the answer says nothing of the record: it is read again.
	Nothing bool `yaml:"nothing"`
	// Whole reports whether .record is the record as it was read, with the changes in it, or the
	// changes alone. Default: it is with method PUT.
	Whole *bool `yaml:"whole"`
}

// deleteFile removes a record.
type deleteFile struct {
	call
	// NotFound recognises the answer that there is no such record, as that of get.
	NotFound Match `yaml:"not_found"`
}

// httpKeyFile is the primary key in the service: one of path and read.
type httpKeyFile struct {
	// Path is the path of the key, or several. Elements within a record know it as _parent.
	Path spotsFile `yaml:"path" schema:"short"`
	// Read is jq of the key.
	Read *JQ `yaml:"read"`
	// ID is path when the key is an int4 itself (default for one path), kept when an int4 is
	// given out for every key and kept (default for several).
	ID string `yaml:"id" schema:"enum=path|kept"`
	// Case is ignore where the service compares keys without case, so that AB01 and ab01 are
	// one; default exact.
	Case string `yaml:"case" schema:"enum=exact|ignore"`
}

// httpFieldFile is how one field is found: by path, read, or both; or exactly one of constant
// and absent; nothing for an array whose elements are records of their own. Absent, null and empty
// stay three things, unless the field says otherwise.
type httpFieldFile struct {
	// Path is where the record has it: customer.id, lines.0.price. It is written there.
	Path Path `yaml:"path" schema:"short"`
	// Read is jq over the record that yields the value as the interface shows it; of a reference
	// the key, several parts as a list. Without write the field is readonly. With path null
	// there is null, and jq is asked neither to read nor to write it.
	Read *JQ `yaml:"read"`
	// Write is jq over the value as clients see it, or a reference's key: with path it yields
	// what is put there, without an object that is merged into the record.
	Write *JQ `yaml:"write"`
	conversionFile
}

// spotsFile is where the parts of a key are found: a path, or a list of them.
type spotsFile []Spot

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *spotsFile) UnmarshalYAML(n strictyaml.Node) error {
	return oneOrMore(n, (*[]Spot)(s))
}

// Parameters are query parameters, or headers.
type Parameters []Named

// Named is a header or a parameter of the query: a text with placeholders, or jq. One whose
// placeholder, or jq, has no value is left out; a list is sent as several.
type Named struct {
	Name string
	Text Text // where JQ is nil
	JQ   *JQ
	none bool // leaves out what a default has
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (p *Parameters) UnmarshalYAML(n strictyaml.Node) error {
	var named map[string]Named
	n.Decode(&named)
	for _, key := range n.Keys() {
		of := named[key.Name]
		of.Name = key.Name
		*p = append(*p, of)
	}
	return nil
}

// producedFile is what jq makes.
type producedFile struct {
	// JQ yields the value over what the call knows.
	JQ *JQ `yaml:"jq" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (v *Named) UnmarshalYAML(n strictyaml.Node) error {
	switch v.none = n.Kind() == strictyaml.Null; {
	case v.none:
	case n.Kind() == strictyaml.Mapping:
		var of producedFile
		n.Decode(&of)
		v.JQ = of.JQ
	default:
		n.Decode(&v.Text)
	}
	return nil
}

// Text is a text with placeholders. It is safe for concurrent use.
type Text []TextPart

// TextPart is a literal, or a placeholder: the path of a value that the call knows.
type TextPart struct {
	Literal string
	Path    Path
}

var placeholder = regexp.MustCompile(`\{[A-Za-z][A-Za-z0-9_.-]*\}`)

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (t *Text) UnmarshalYAML(n strictyaml.Node) error {
	text, end := "", 0
	n.Decode(&text)
	for _, at := range placeholder.FindAllStringIndex(text, -1) {
		if end < at[0] {
			*t = append(*t, TextPart{Literal: text[end:at[0]]})
		}
		end = at[1]
		*t = append(*t, TextPart{Path: ParsePath(text[at[0]+1 : end-1])})
	}
	if end < len(text) || end == 0 {
		*t = append(*t, TextPart{Literal: text[end:]})
	}
	return nil
}

// String is the text as a sheet has it.
func (t Text) String() string {
	var b strings.Builder
	for _, part := range t {
		if part.Path == nil {
			b.WriteString(part.Literal)
		} else {
			b.WriteString("{" + part.Path.String() + "}")
		}
	}
	return b.String()
}

// Spot is where a value is found: at a path, or by jq over the record or answer. The zero
// Spot is nowhere.
type Spot struct {
	Path Path
	JQ   *JQ
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *Spot) UnmarshalYAML(n strictyaml.Node) error {
	var of spotFile
	err := of.UnmarshalYAML(n)
	*s = of.spot()
	return err
}

// spot is where a service has what is at a place.
func (f spotFile) spot() Spot {
	if f.Read.given() {
		return Spot{JQ: &JQ{text: f.Read.text, at: f.Read.at}}
	}
	return Spot{Path: ParsePath(f.text)}
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (p *Path) UnmarshalYAML(n strictyaml.Node) error {
	text := ""
	n.Decode(&text)
	*p = ParsePath(text)
	return nil
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (q *JQ) UnmarshalYAML(n strictyaml.Node) error {
	q.at = n.Path()
	n.Decode(&q.text)
	return nil
}
