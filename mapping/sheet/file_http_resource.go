package sheet

import "frontdesk/config/strictyaml"

// httpResourceFile is how the service has one resource.
type httpResourceFile struct {
	// Path is where the records are: walked and created there; read, changed and removed at
	// PATH/{key}. Calls that say their own need none.
	Path textFile `yaml:"path"`
	// Key is what identifies a record in the service: a path, or a list of them.
	Key httpKeyFile `yaml:"key"`
	ownerFile
	// Select is jq over a record: those for which it yields nothing, false or null are hidden.
	Select exprFile `yaml:"select"`
	// Walk lists all records.
	Walk *walkFile `yaml:"walk"`
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

// recordCallFile is a call that answers a record.
type recordCallFile struct {
	callFile
	// Result is where the answer has the record; default the answer itself.
	Result spotFile `yaml:"result"`
	// NotFound recognises the answer that there is no such record; default status 404, with a
	// body of the service's format or none.
	NotFound answerFile `yaml:"not_found"`
}

// createFile stores a new record.
type createFile struct {
	callFile
	// Result is where the answer has the record; default the answer itself.
	Result spotFile `yaml:"result"`
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
	// Whole tells whether .record is the record as it was read, with the changes in it, or the
	// changes alone. Default: it is with method PUT.
	Whole *bool `yaml:"whole"`
}

// deleteFile removes a record.
type deleteFile struct {
	callFile
	// NotFound recognises the answer that there is no such record, as that of get.
	NotFound answerFile `yaml:"not_found"`
}

// httpKeySettings is the primary key in the service: one of path and read.
type httpKeySettings struct {
	// Path is the path of the key, or several. Elements within a record know it as _parent.
	Path spotsFile `yaml:"path"`
	// Read is jq of the key.
	Read exprFile `yaml:"read"`
	// ID is path when the key is an int4 itself (default for one path), kept when an int4 is
	// given out for every key and kept (default for several).
	ID string `yaml:"id" schema:"enum=path|kept"`
	// Case is ignore where the service compares keys without case, so that AB01 and ab01 are
	// one; default exact.
	Case string `yaml:"case" schema:"enum=exact|ignore"`
}

// httpFieldSettings is how one field is found: by path, read, or both; or exactly one of constant
// and absent; nothing for an array whose elements are records of their own. Absent, null and empty
// stay three things, unless the field says otherwise.
type httpFieldSettings struct {
	// Path is where the record has it: customer.id, lines.0.price. It is written there.
	Path textFile `yaml:"path"`
	// Read is jq over the record that yields the value as the interface shows it; of a reference
	// the key, several parts as a list. Without write the field is readonly. With path null
	// there is null, and jq is asked neither to read nor to write it.
	Read exprFile `yaml:"read"`
	// Write is jq over the value as clients see it, or a reference's key: with path it yields
	// what is put there, without an object that is merged into the record.
	Write exprFile `yaml:"write"`
	conversionFile
}

// httpKeyFile is a key; a path or a list of them is short for {path: …}.
type httpKeyFile struct{ httpKeySettings }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (k *httpKeyFile) UnmarshalYAML(n strictyaml.Node) error {
	return shorthand(n, &k.httpKeySettings, &k.Path)
}

// spotsFile is where the parts of a key are found: a path, or a list of them.
type spotsFile []spotFile

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (s *spotsFile) UnmarshalYAML(n strictyaml.Node) error {
	return oneOrMore(n, (*[]spotFile)(s))
}

// httpFieldFile is how one field is found; a text is short for {path: text}.
type httpFieldFile struct{ httpFieldSettings }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (f *httpFieldFile) UnmarshalYAML(n strictyaml.Node) error {
	return shorthand(n, &f.httpFieldSettings, &f.Path)
}

// httpFactFile is where a fact of a user is; a text is short for {path: text}.
type httpFactFile struct{ httpFactSettings }

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (f *httpFactFile) UnmarshalYAML(n strictyaml.Node) error {
	f.given = true
	return shorthand(n, &f.httpFactSettings, &f.Path)
}

// namedFile are query parameters, or headers, by name.
type namedFile = ordered[valueFile]

// valueFile is a text with placeholders, or {jq: JQ}; null leaves out what a default has.
type valueFile struct {
	textFile
	producedFile
	none bool
}

// producedFile is what jq makes.
type producedFile struct {
	// JQ yields the value over what the call knows.
	JQ exprFile `yaml:"jq" schema:"required"`
}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (v *valueFile) UnmarshalYAML(n strictyaml.Node) error {
	v.at = n.Path()
	switch v.none = n.Kind() == strictyaml.Null; {
	case v.none:
	case n.Kind() == strictyaml.Mapping:
		n.Decode(&v.producedFile)
	default:
		n.Decode(&v.text)
	}
	return nil
}
