package sheet

import (
	"frontdesk/config"
	"frontdesk/mapping"
)

type Request struct {
	secrets map[string]config.Secret
	headers []struct{}
}
type context struct {
	method string
	known  []string
}

const headerTemplate = 1

func (l *loader) request(path string, f requestFile, c context) *Request { return &Request{} }
func (l *loader) namedTemplate(path string, p pair, kind int, c context) struct{} {
	return struct{}{}
}
func (d *draft) call(path string, op mapping.Scope, of *operationFile, out *Operation) {}

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
