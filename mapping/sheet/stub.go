package sheet

import "frontdesk/mapping"
import "time"

type (
	Translator struct{}
	Matcher    struct{}
	Request    struct{}
)

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
