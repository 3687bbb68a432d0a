package sheet

import (
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Sheet is a loaded mapping sheet. It is immutable and safe for concurrent use.
type Sheet struct {
	File string
	// Model is the model narrowed to the resources and fields that are mapped.
	// All *mapping.Resource and *mapping.Field below are of this model.
	Model     *mapping.Model
	Source    Source
	Location  *time.Location
	Keep      string // file of the gateway's own store; "" where none is needed
	OwnRules  bool   // the system keeps the business rules itself
	Accounts  Accounts
	Errors    *Translator
	Resources map[*mapping.Resource]*Resource
}

// Resource is how the system has one resource.
type Resource struct {
	*mapping.Resource
	Table string // what is written
	Read  string // what is read; Table where nothing else is said

	Key          Key
	Client       string // place of the client's number; "" where there is none
	SystemClient string // its value in records of all clients
	Where        string // SQL
	Version      string // place; "" to hash the record
	Order        []string
	SoftDelete   []Assignment
	Operations   map[mapping.Scope]*Operation // those that there are
	// Places are all that must be read to make a record, each once; a row is
	// aligned with it.
	Places []Place
	// Fields are aligned with Resource.Fields.
	Fields []Field
}

// Place is a column, or a path in an answer.
type Place struct {
	Name string
	// SQL is an expression to be read in place of a column; "" for none.
	SQL    string
	Lookup *Lookup
}

// Lookup is a place in another table.
type Lookup struct {
	Table string
	Match [][2]string // lookup's column, record's column
	Take  string
}

// Key says what identifies a record in the system.
type Key struct {
	Places []string
	// Kept tells that an int4 is given out for every key, and kept. Otherwise the
	// only place is the int4 itself.
	Kept      bool
	Generated string // identity, max+1, uuid, answer, supplied or sequence
	Sequence  string
}

// Field is how one field is found and converted.
type Field struct {
	*mapping.Field
	From  []string // places read; none for constants
	Write []string // places written; none where it cannot be written
	// Target is the resource whose kept IDs the field holds; nil where the value
	// is the value.
	Target     *Resource
	Children   string // path of an array's elements within the parent; "" for records of their own
	Filterable bool
	Sortable   bool

	convert converter
}

// KeyRef names a record by its key in the system.
type KeyRef struct {
	Resource string
	Client   int64  // 0 where all clients share the records
	Key      string // the parts of the key as text, joined by JoinKey
}

// IDs are the int4s that stand for keys.
type IDs map[KeyRef]int32

// Keys are the keys that int4s stand for; "" where none was given out.
type Keys map[IDRef]string

// IDRef names a record by its ID in the interface.
type IDRef struct {
	Resource string
	ID       int32
}

// Assignment is a place and what is written there. Field is the field it comes
// from, nil for constants and keys.
type Assignment struct {
	Place string
	Value Raw
	Field *mapping.Field
}

// Refs adds the keys that Decode will ask IDs of: the record's own and those of
// records that it refers to. Nothing is added where keys are int4s themselves.
func (r *Resource) Refs(row []Raw, client auth.Client, add func(KeyRef)) error { panic("not built") }

// Decode makes a record of a row aligned with Places. An error says which field
// could not be converted and why, and shows no more of the value than 40
// characters. ok is false for a record that the sheet hides.
func (r *Resource) Decode(row []Raw, client auth.Client, ids IDs) (rec mapping.Record, ok bool, err error) {
	panic("not built")
}

// NeedsIDs adds the IDs that Encode will ask Keys of.
func (r *Resource) NeedsIDs(rec mapping.Record, add func(IDRef)) { panic("not built") }

// Encode returns what is to be written for the fields present in rec, in the
// order of the model; on create with constants and defaults. A violation
// (mapping.Fail) says that the system has no such value: an ID that was never
// given out is RelatedIDNotFound, a text outside the charset VarcharInvalid, …
func (r *Resource) Encode(rec mapping.Record, client auth.Client, keys Keys, create bool) ([]Assignment, error) {
	panic("not built")
}

// Filter returns the alternatives that a value of a field is in the system: one
// of them must hold whole. None means that no record can match.
func (r *Resource) Filter(f *mapping.Field, v mapping.Value, keys Keys) ([][]Assignment, error) {
	panic("not built")
}

// KeyOf returns the key's parts of a row aligned with Places.
func (r *Resource) KeyOf(row []Raw) []Raw { panic("not built") }

// JoinKey writes the parts of a key as one text, and SplitKey takes them apart.
func JoinKey(parts []Raw) string          { panic("not built") }
func SplitKey(key string) ([]Raw, error)  { panic("not built") }

// Operation is one operation done otherwise than by plain SQL.
type Operation struct {
	Procedure string
	Arguments []string // places; ":client"
	Out       []string

	Request  Request
	Result   string // path; "" for the answer itself
	Nothing  bool   // the answer tells nothing
	ReadBack bool
	SendAll  bool
	NotFound Matcher
	Paging   Paging
	Total    *Total
}

// Failure is what a system said went wrong, for Translate.
type Failure struct {
	SQLState, Code, Constraint, Message string
	Status                              int
	// At returns the text at a path of the answer, "" where there is none; nil
	// for SQL.
	At   func(path string) string
	Body []byte
}
