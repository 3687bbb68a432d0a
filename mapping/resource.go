package mapping

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// Field is one field of a resource. A Model makes fields, which never change
// afterwards. What has a yaml key is copied from the resource's file.
type Field struct {
	Index       int    // position in the record, and in every answer
	Name        string `yaml:"name"`
	Type        Datatype
	Length      int    // varchar and text: the most characters
	Scale       int    // float8: decimals kept exactly; -1 for plain floating point
	Description string `yaml:"description"`
	Example     string `yaml:"example"`

	Primary   bool // the primary ID
	Required  bool `yaml:"required"`  // must have a value
	Readonly  bool `yaml:"readonly"`  // kept by the backend, refused in requests
	Unique    bool `yaml:"unique"`    // no two records of a client share a value
	Immutable bool `yaml:"immutable"` // cannot be changed after create

	// UniquePer narrows Unique to the records that share this field's value.
	UniquePer string `yaml:"unique_per"`
	// UniqueWhen narrows Unique to these values, as their JSON text without
	// quotes: any other may repeat.
	UniqueWhen []string `yaml:"unique_when"`
	// Default is what a new record has where none is supplied, as JSON text
	// without quotes; "" for null.
	Default string `yaml:"default"`
	// IgnoreDashes compares values without dashes and without regard to case.
	IgnoreDashes bool `yaml:"ignore_dashes"`
	// OneOf lists the allowed values, as JSON text without quotes.
	OneOf []string `yaml:"one_of"`
	// Check names a custom validation.
	Check string `yaml:"check"`
	// After names the timestamp field that this one must be later than.
	After string `yaml:"after"`
	// Reference is the resource whose id this field holds; ReferenceBy is the
	// field that names that resource, where it differs by record.
	Reference   string `yaml:"reference"`
	ReferenceBy string `yaml:"reference_by"`
	// ArrayOf is the resource of an array's elements, ArrayKey the field of
	// those elements that refers back to this record.
	ArrayOf  string
	ArrayKey string `yaml:"array_key"`
	// Numbering is the format by which the backend numbers new records.
	Numbering string `yaml:"numbering"`
	// Since is the model version that brought the field.
	Since int `yaml:"since"`
	// Deprecated says that the field will be removed; nil if it stays.
	Deprecated *Deprecation
	// Unfiltered are operators that the system behind the gateway lacks for the field.
	Unfiltered Operators
	// Withheld are the writes in which an api_key may not send the field that it reads.
	Withheld Writes
	// SameRow says that the record is stored in the row of the record that the field refers
	// to: it does not count as use of that record, and is created and deleted with it.
	SameRow bool

	target *Resource // of Reference or ArrayOf
	after  *Field
}

// Each iterates over pointers to fields, of a resource or of a sheet. Loops on the path of requests
// index the slice themselves, which is faster.
func Each[F any](fields []F) iter.Seq2[int, *F] {
	return func(yield func(int, *F) bool) {
		for i := range fields {
			if !yield(i, &fields[i]) {
				return
			}
		}
	}
}

// AnyLength is the Length of a text without a limit of its own.
const AnyLength = math.MaxInt32

// Target returns the resource of a reference, or of an array's elements; else nil.
func (f *Field) Target() *Resource { return f.target }

// IsText reports whether the field's values are texts.
func (f *Field) IsText() bool { return f.Type == Varchar || f.Type == Text }

// IsState reports whether the field is a flag that clients set and that stops most other
// updates: is_blocked or is_archived.
func (f *Field) IsState() bool { return f.Name == isBlocked || f.Name == isArchived }

// InLists reports whether lists contain the field by default.
func (f *Field) InLists() bool { return f.Type != Bytea && f.Type != Array }

// Sortable reports whether GET many can be sorted by the field.
func (f *Field) Sortable() bool { return f.InLists() }

// Arrays says which array fields, and which fields that are withheld from some writes, the model of a caller
// has in one use; nil means all.
type Arrays interface{ Has(f *Field) bool }

// In reports whether a model with these arrays has the field.
func (f *Field) In(arrays Arrays) bool {
	return f.Type != Array && f.Withheld == 0 || arrays == nil || arrays.Has(f)
}

// Validation returns the name of the field's custom validation in messages.
func (f *Field) Validation() string {
	if len(f.OneOf) == 0 {
		return f.Check
	}
	return strings.Join(f.OneOf, "|")
}

// MustBeUnique reports whether no other record may have the same value v.
func (f *Field) MustBeUnique(v Value) bool {
	return f.Unique && v.IsSet() && (len(f.UniqueWhen) == 0 || slices.Contains(f.UniqueWhen, v.String()))
}

// DefaultValue returns what a new record has where none is supplied.
func (f *Field) DefaultValue() Value {
	if f.Default == "" {
		return NullValue()
	}
	v, _ := f.Parse(f.Default, time.UTC) // judged when the model was loaded
	return v
}

// Referrer is a field of a resource that holds IDs of another one. If By is not nil,
// the field refers to that other one only in records whose By names it.
type Referrer struct {
	Resource  *Resource
	Field, By *Field
}

// Resource is one kind of record. Like its fields it is immutable.
type Resource struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Module      string `yaml:"module"` // what GET /authenticate/modules groups it under
	Fields      []Field
	// ListRequires are the query parameters without which a list is refused.
	ListRequires []string `yaml:"list_requires"`
	// Rules name the business rules, in addition to the fields' own rules.
	Rules []string `yaml:"rules"`
	// SystemRecords says that the backend has records of its own, which every client
	// sees and none can change.
	SystemRecords bool `yaml:"system_records"`
	// Undated says that the system behind the gateway cannot list records by when they changed.
	Undated bool
	Since   int `yaml:"since"`
	// Deprecated says that the whole resource will be removed; nil if it stays.
	Deprecated *Deprecation

	// Positions of the fields that every resource has.
	ID, IsSystem, IsBlocked, IsArchived, CreatedAt, ModifiedAt int

	model     *Model
	doc       *strictyaml.Document // the file that it was read from
	byName    map[string]*Field
	referrers []Referrer
	owner     *Field
	plain     []int    // fields that a list answers by default
	all       []int    // fields that a single record answers by default
	members   []string // the JSON name of each field, with quotes and colon
	going     map[Scope]*Deprecation
	aging     bool // see HasDeprecated
}

// Field returns the field of that name, or nil.
func (r *Resource) Field(name string) *Field { return r.byName[name] }

// Problem returns a problem with a value of the resource's file, by its path there:
// rules[0], fields[3].type.
func (r *Resource) Problem(path, format string, args ...any) strictyaml.Problem {
	p := r.doc.At(path)
	p.Message = fmt.Sprintf(format, args...)
	return p
}

// FieldProblem is Problem for a part of a field. The resource must not be narrowed.
func (r *Resource) FieldProblem(f *Field, part, format string, args ...any) strictyaml.Problem {
	return r.Problem(fmt.Sprintf("fields[%d].%s", f.Index-1, part), format, args...) // field 0, the ID, is not in the file
}

// Referrers returns the fields of all resources that refer to this one, in
// model order. Array fields are not among them.
func (r *Resource) Referrers() []Referrer { return r.referrers }

// Owner returns the field that refers to the record whose array a record of the resource is an
// element of; nil if records of the resource are not elements.
func (r *Resource) Owner() *Field { return r.owner }

// ListFields returns the positions that a list answers by default.
func (r *Resource) ListFields() []int { return r.plain }

// RecordFields returns the positions that a single record answers by default: all but
// arrays.
func (r *Resource) RecordFields() []int { return r.all }

// HasArrays reports whether a record has fields that are arrays.
func (r *Resource) HasArrays() bool { return len(r.all) < len(r.Fields) }

// HasArray reports whether an array is among the fields at these positions.
func (r *Resource) HasArray(fields []int) bool {
	return slices.ContainsFunc(fields, func(i int) bool { return r.Fields[i].Type == Array })
}

// Model returns the model that the resource belongs to.
func (r *Resource) Model() *Model { return r.model }

// Record is a row of a resource: one value per field, in the order of
// Resource.Fields.
type Record struct {
	Resource *Resource
	Values   []Value
	// Children holds the elements of supplied or selected array fields, by
	// field position.
	Children map[int][]Record
	// Version changes with every change of the stored record; 0 if the backend has none.
	Version int64
	// Tag replaces Version in the entity tag if Version does not change with everything
	// that is shown of the record and of its elements. It is 0 if Version is enough, and
	// NoTag if no entity tag can be made.
	Tag int64
	// Owner is the client that the record belongs to, as its backend says. It is 0 if the
	// backend did not say, and such a record is rejected; OfAll if the record belongs to
	// all clients.
	Owner int64
}

// OfAll is the Owner of a record that every client sees.
const OfAll = math.MinInt64

// NoTag is the Tag of a record that has no entity tag.
const NoTag = -1

// NewRecord returns a record with every field absent.
func NewRecord(r *Resource) Record {
	return Record{Resource: r, Values: make([]Value, len(r.Fields))}
}

// Get returns the value of a field by name; absent when there is no such field.
func (rec Record) Get(name string) Value {
	if f := rec.Resource.byName[name]; f != nil {
		return rec.Values[f.Index]
	}
	return Value{}
}

// Set sets a field that the resource is known to have.
func (rec Record) Set(name string, v Value) { rec.Values[rec.Resource.byName[name].Index] = v }

// ID returns the primary ID; 0 if it is absent.
func (rec Record) ID() int32 { return int32(rec.Values[rec.Resource.ID].num) }

// Flag reports whether a 0/1 field at that position is not 0: administrations may have -1 or a count in
// place of 1.
func (rec Record) Flag(index int) bool { return rec.Values[index].num != 0 }

// SetElements gives the record the elements of its array field at that position.
func (rec *Record) SetElements(index int, elements []Record) {
	if rec.Children == nil {
		rec.Children = map[int][]Record{}
	}
	rec.Values[index], rec.Children[index] = RecordsValue(), elements
}

// Bytes returns the size of its texts and contents, elements included.
func (rec Record) Bytes() (n int) {
	for i := range rec.Values {
		n += len(rec.Values[i].text)
	}
	for _, children := range rec.Children {
		for _, child := range children {
			n += child.ElementBytes()
		}
	}
	return n
}

// BytesOf is Bytes for the fields at these positions; nil for all.
func (rec Record) BytesOf(fields []int) (n int) {
	if fields == nil {
		return rec.Bytes()
	}
	for _, i := range fields {
		n += len(rec.Values[i].text)
		for _, child := range rec.Children[i] {
			n += child.ElementBytes()
		}
	}
	return n
}

// valueBytes is about how many bytes the value of an element takes in an answer in addition to
// its text, for the name of its field and punctuation.
const valueBytes = 24

// ElementBytes returns how many bytes a record takes as the element of an array. With many
// elements, names and numbers may take more than the texts.
func (rec Record) ElementBytes() int { return rec.Bytes() + valueBytes*len(rec.Values) }

// Clone returns a record that can be changed without changing rec, children
// included.
func (rec Record) Clone() Record {
	clone := rec
	clone.Values = slices.Clone(rec.Values)
	if rec.Children != nil {
		clone.Children = make(map[int][]Record, len(rec.Children))
		for i, children := range rec.Children {
			clone.Children[i] = make([]Record, len(children))
			for k, child := range children {
				clone.Children[i][k] = child.Clone()
			}
		}
	}
	return clone
}

// FillDefaults gives a new record, and its children, the default of every field
// that is not supplied. Fields that the backend derives stay absent.
func (rec Record) FillDefaults() {
	for i := range rec.Resource.Fields {
		f := &rec.Resource.Fields[i]
		if rec.Values[i].IsAbsent() && f.Default != "" {
			rec.Values[i] = f.DefaultValue()
		}
	}
	rec.FillFlags()
	for _, children := range rec.Children {
		for _, child := range children {
			child.FillDefaults()
		}
	}
}

// FillFlags replaces null in the state flags by their default, 0.
func (rec Record) FillFlags() {
	for _, i := range [...]int{rec.Resource.IsBlocked, rec.Resource.IsArchived} {
		if rec.Values[i].kind == KindNull {
			rec.Values[i] = rec.Resource.Fields[i].DefaultValue()
		}
	}
}

// IsBlank reports whether no field is present.
func (rec Record) IsBlank() bool {
	return !slices.ContainsFunc(rec.Values, func(v Value) bool { return !v.IsAbsent() })
}

// Changes returns the patch without the values that the record already has; arrays stay.
func (rec Record) Changes(patch Record) Record {
	patch = patch.Clone()
	for i, v := range patch.Values {
		if v == rec.Values[i] && rec.Resource.Fields[i].Type != Array {
			patch.Values[i] = Value{}
		}
	}
	return patch
}

// Merge returns the record with the patch applied. It changes neither operand.
func (rec Record) Merge(patch Record) Record {
	merged := Record{Resource: rec.Resource, Values: slices.Clone(rec.Values), Version: rec.Version, Owner: rec.Owner}
	for i, v := range patch.Values {
		if !v.IsAbsent() {
			merged.Values[i] = v
		}
	}
	return merged
}

// AppendJSON appends the record as a JSON object holding the given fields, in
// the given order.
func (rec Record) AppendJSON(dst []byte, fields []int) []byte {
	arrays := rec.Resource.HasArrays()
	dst = append(dst, '{')
	for n, i := range fields {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, rec.Resource.members[i]...)
		if !arrays || rec.Resource.Fields[i].Type != Array {
			dst = rec.Values[i].AppendJSON(dst)
			continue
		}
		dst = append(dst, '[')
		for k, child := range rec.Children[i] {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = child.AppendJSON(dst, child.Resource.plain)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// NewForm returns a resource for reading the bodies of an endpoint that has no resource.
func NewForm(name string, fields ...Field) *Resource {
	r := &Resource{Name: name, Fields: fields, ID: -1, model: &Model{}, byName: map[string]*Field{}}
	r.index()
	r.nameMembers()
	return r
}

func (r *Resource) nameMembers() {
	r.members = make([]string, len(r.Fields))
	for i := range r.Fields {
		r.members[i] = `"` + r.Fields[i].Name + `":`
	}
}
