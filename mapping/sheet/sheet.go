package sheet

import (
	"context"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Sheet is a loaded mapping sheet. It is immutable and safe for concurrent use.
type Sheet struct {
	File string
	// Model is the model narrowed to the resources and fields that are mapped.
	// All *mapping.Resource and *mapping.Field below are of this model.
	Model        *mapping.Model
	Source       Source
	Location     *time.Location
	Keep         string // file or postgres:// of the gateway's own store; "" where none is given
	OwnRules     bool   // the system enforces the business rules itself
	changes      Changes
	WithoutRules []string
	Accounts     Accounts
	// ClientsKept tells that what identifies a client in the system is a text, for which the
	// id store has a number: that of KeyRef{Resource: "client", Key: text}.
	ClientsKept bool
	Errors      *Translator
	Resources   map[*mapping.Resource]*Resource

	byName map[string]*Resource
	now    func() time.Time
}

// Resource returns how the system has the resource of that name, or nil.
func (s *Sheet) Resource(name string) *Resource { return s.byName[name] }

// PathOf is where a sheet says something of a resource.
func PathOf(r *Resource, keys ...string) string {
	return strictyaml.Child("resources", append([]string{r.Name}, keys...)...)
}

// Supports tells whether the system has an operation of a resource.
func (s *Sheet) Supports(r *mapping.Resource, op mapping.Scope) bool {
	known := s.Resources[r]
	return known != nil && known.Operations[op] != nil
}

// Writes tells whether the system has a place for a field, even if clients cannot write it.
func (s *Sheet) Writes(r *mapping.Resource, f *mapping.Field) bool {
	known := s.Resources[r]
	return known != nil && known.Fields[f.Index].writable
}

// NeedsKeep tells whether the gateway issues IDs, which need the id store.
func (s *Sheet) NeedsKeep() bool {
	for _, r := range s.Resources {
		if r.Key.Kept {
			return true
		}
	}
	return s.ClientsKept
}

// KeysWithoutCase are the resources whose kept keys are equal if they differ only in case.
func (s *Sheet) KeysWithoutCase() (names []string) {
	for _, r := range s.Resources {
		if r.ignoresCase() {
			names = append(names, r.Name)
		}
	}
	return names
}

// Resource is how the system has one resource.
type Resource struct {
	*mapping.Resource
	Table string // what is written
	Read  string // what is read; Table where nothing else is said

	Key    Key
	Client string // place of the client's number; "" where there is none
	// Through is the reference to the record whose client it is; nil where it is
	// the record's own, or that of none.
	Through      *Field
	SystemClient string // its value in records of all clients
	Where        string // SQL
	Version      string // place; "" to hash the record
	Changes      Changes
	Order        []string
	Operations   map[mapping.Scope]*Operation // those that there are
	// Places are all that must be read to make a record, each once; a row is
	// aligned with it.
	Places []Place
	// Fields are aligned with the model's Resource.Fields.
	Fields []Field
	SQL    *ResourceSQL // nil unless the sheet is of format 2

	sheet      *Sheet
	places     map[string]int // positions in Places
	keyAt      []int
	compared   atomic.Pointer[compared] // see Compare; nil where no driver says more
	clientAt   int                      // -1 for none
	shared     bool                     // the resource itself says whose its records are
	hidden     *condition
	constants  []fixed
	softDelete []fixed
	stamps     []int // positions of fields with the present time
	referred   []int // positions of fields whose resource another field names
	refers     bool  // there are kept IDs in a record
	// siblings are the positions of the objects that changed places are written into, by
	// their names; none where an update has the changed places alone.
	siblings map[string]int
}

// Place is a column, or a path in an answer.
type Place struct {
	Name string
	// SQL is an expression to be read in place of a column; "" for none.
	SQL string
	// Owner tells that it is the client of the record that Through leads to.
	Owner bool
	// Whole tells that the object or the list there is read as it is, RawJSON.
	Whole bool
}

// Key says what identifies a record in the system.
type Key struct {
	Places []string
	// Kept tells that an int4 is given out for every key, and kept. Otherwise the
	// only place is the int4 itself.
	Kept bool
	// IgnoresCase tells that kept keys which differ in case alone are one. A driver that
	// knows it tells Compare, unless CaseCounts.
	IgnoresCase, CaseCounts bool
	// Numbers are those of the places that a service has as numbers.
	Numbers   []string
	Generated string // identity, max+1, sql, uuid, answer or supplied
	// ByClient tells that the first place is that of the client's number.
	ByClient bool

	width int // of a number in a key that is a text, with zeros before it; 0 where it is none
}

// Field is how one field is found and converted.
type Field struct {
	*mapping.Field
	From  []string // places read; none for constants
	Write []string // places written; none where it cannot be written
	// Target is the resource whose kept IDs the field holds; nil where the value
	// is the value, or where ReferenceBy tells it per record.
	Target   *Resource
	Children string // path of an array's elements within the parent; "" for records of their own

	source   source
	codec    codec
	fromAt   []int // positions of From in Places, but for the time of day's
	clockAt  int   // position of the time of day's place; -1 for none
	constant mapping.Value
	onCreate mapping.Value // written on create where none is supplied
	stamp    Stamp
	writable bool
	cel      *expression
	set      []setter
	has      Raw          // element of the list at From
	beside   []Assignment // constants in the object of a reference, which go out with it
}

// KeyRef names a record by its key in the system.
type KeyRef struct {
	Resource string
	Client   int64  // 0 where all clients share the records
	Key      string // the parts of the key as text, joined by JoinKey
}

// IDs are the int4s that stand for keys.
type IDs map[KeyRef]int32

// Keys are the keys that int4s stand for; "" for an ID that was never issued.
type Keys map[IDRef]string

// IDRef names a record by its ID in the interface.
type IDRef struct {
	Resource string
	ID       int32
}

// IDStore issues the IDs by which clients know records with other keys. It is safe for
// concurrent use. What it returns without an error is on disk.
type IDStore interface {
	// IDs returns the ID of every key. A key without one is given the next of its
	// resource, which is never given to another.
	IDs(ctx context.Context, refs []KeyRef) (IDs, error)
	// Given is IDs without giving any out: keys without one are left out.
	Given(ctx context.Context, refs []KeyRef) (IDs, error)
	// Keys returns the key of every ID; those never given out, or for a record of
	// another client, are left out.
	Keys(ctx context.Context, client auth.Client, refs []IDRef) (Keys, error)
}

// Assignment is a place and what is written there. Field is the field it comes from; nil for
// constants, the client's number and keys.
type Assignment struct {
	Place string
	Value Raw
	Field *mapping.Field
	// Rows are the elements of an array, each with its own assignments: only in
	// Values.Fields, where the array stands within its record.
	Rows [][]Assignment
	// Span is, of a filter, what else of the system clients see as Value: it may hold
	// more decimals, and finer moments. nil where it cannot.
	Span *Span
}

// Span is a range of a system's values, with its bounds unless they are open.
type Span struct {
	From, To         Raw
	OpenFrom, OpenTo bool // that bound is not of it
}

// Operation is one operation. With SQL it says nothing more.
type Operation struct {
	Request *Request // HTTP; nil where total has no call of its own
	Result  string   // path; "" for the answer itself
	Nothing bool     // the answer tells nothing
	// Key is where create's answer has the key of the new record, where it is not
	// within the record.
	Key      []string
	ReadBack bool
	SendAll  bool
	NotFound *Matcher // HTTP: status 404 where nothing else is said
	Paging   Paging
	Total    *Total
	Sort     *Sorting // HTTP; nil where the service is not told an order
}

// Paging is how a list is paged.
type Paging struct {
	Style   string // offset, page, cursor, link or none
	Size    int
	First   int
	Next    string // path; "header" for Link
	Cursors int
}

// Total is how the number of all records is found: at Result or in Header of the list's
// answer, or of the answer to Request if there is one.
type Total struct {
	Request        *Request
	Result, Header string
}

// Failure is a system's error, for Translate.
type Failure struct {
	SQLState, Code, Constraint, Message string
	Status                              int
	// At returns the text at a path of the answer, "" where there is none; nil
	// for SQL.
	At   func(path string) string
	Body []byte
	// Members returns those of the object, or the elements of the list, at a path of the
	// answer; nil where answers have none, or their names are not known.
	Members func(path string) []Member

	member *Member // that * stands for; nil where none is chosen
}

// Member is a member of an object, or an element of a list, whose name is its number.
type Member struct {
	Name string
	// At returns the text at a path within, its own for "".
	At func(path string) string
}

// Place returns the position of a place in a row; false where it is not read.
func (r *Resource) Place(name string) (int, bool) {
	at, ok := r.places[name]
	return at, ok
}
