package sheet

import "frontdesk/mapping"
import "frontdesk/auth"
import "time"

type (
	codec      struct{}
	expression struct{}
	condition  struct{}
	setter     struct{}
	writing    struct{}
	fixed      struct{}
	Translator struct{}
	Matcher    struct{}
	Request    struct{}
	errStub    struct{}
)

func isDecimal(s string) bool { return false }

// Refs adds the keys that Decode will ask IDs of: the record's own and those of
// records that it refers to. Nothing is added where keys are int4s themselves.
func (r *Resource) Refs(row []Raw, client auth.Client, add func(KeyRef)) error { panic("not built") }

// Decode makes a record of a row aligned with Places. An error says which field
// could not be converted and why, and shows no more of the value than 40
// characters. ok is false for a record that the sheet hides, and for one of
// another client.
func (r *Resource) Decode(row []Raw, client auth.Client, ids IDs) (rec mapping.Record, ok bool, err error) {
	panic("not built")
}

// KeyOf returns the key's parts of a row aligned with Places.
func (r *Resource) KeyOf(row []Raw) []Raw { panic("not built") }

// KeyRef names the record of a row.
func (r *Resource) KeyRef(row []Raw, client auth.Client) KeyRef { panic("not built") }

// NeedsIDs adds the IDs that Encode and Filter will ask Keys of: those of
// records in rec that have kept keys.
func (r *Resource) NeedsIDs(rec mapping.Record, add func(IDRef)) { panic("not built") }

// Encode returns what is to be written for the fields present in rec, in the
// order of the model; on create with constants, defaults and the client's
// number. Children are not written. A violation (mapping.Fail) says that the
// system has no such value: an ID that was never given out is
// RelatedIDNotFound, a text outside the charset VarcharInvalid, …
func (r *Resource) Encode(rec mapping.Record, client auth.Client, keys Keys, create bool) ([]Assignment, error) {
	panic("not built")
}

// SoftDelete returns what DELETE sets in place of removing the record; none
// where it removes it.
func (r *Resource) SoftDelete() []Assignment { panic("not built") }

// Filter returns the alternatives that the value of f in q, a record that holds
// what is filtered by, is in the system: one of them must hold whole. None means
// that no record can match, an empty one that all do.
func (r *Resource) Filter(q mapping.Record, f *mapping.Field, client auth.Client, keys Keys) ([][]Assignment, error) {
	panic("not built")
}

// Since returns the places that tell when a record was changed, the coarser
// first, with what they have at v: a record counts when its values come after
// these or equal them. ok is false where the system cannot compare them.
func (r *Resource) Since(v mapping.Value) (bounds []Assignment, ok bool) { panic("not built") }

// Attempt is what a system refused.
type Attempt struct {
	Resource *Resource
	Op       mapping.Scope
	Record   mapping.Record // what was sent; zero where nothing was
	ID       int32          // of the record; 0 on create and list
}

// Translate words a failure as the first entry of the sheet that fits; nil
// where none does: it is then a failure that clients are not told of.
func (t *Translator) Translate(f Failure, a Attempt) *mapping.Error { panic("not built") }

// Match tells whether a failure is one that the matcher recognises.
func (m *Matcher) Match(f Failure) bool { panic("not built") }

// Values are what a template's placeholders stand for.
type Values struct {
	// Get returns the value of a placeholder, by the name between the braces
	// (without secret.*, which Build knows); absent where there is none. {fields}
	// and {body} are not asked for.
	Get func(name string) Raw
	// Fields are what {fields} stands for.
	Fields []Assignment
}

// Call is a request of an HTTP service, all escaped. It has no address: Target
// is put after that of the service.
type Call struct {
	Method, Target string // Target is path and query
	Headers        [][2]string
	Body           []byte
}

// Build fills the templates in. An error says that a value has no place in a
// request, such as one with a line break in a header.
func (q *Request) Build(v Values) (Call, error) { panic("not built") }

// Load reads the mapping sheet in the file at path and judges it against model.
// The error is strictyaml.Problems where the file can be read.
func Load(path string, model *mapping.Model, o Options) (*Sheet, error) { panic("not built") }

// Options are what a sheet refers to without this package knowing it.
type Options struct {
	// Env looks up a variable of the environment; nil means that of the process.
	Env func(name string) (value string, ok bool)
	// RuleFields returns the fields that a rule works with, those that may stand
	// for another joined by |; nil where there is no such rule.
	RuleFields func(rule string) []string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}
