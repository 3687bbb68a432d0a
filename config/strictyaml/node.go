package strictyaml

// Kind is the shape of a YAML value.
type Kind int

// The shapes a value can have. An absent or empty value, ~ and null are Null.
const (
	Null Kind = iota
	Scalar
	List
	Mapping
)

// String names the kind as a message does: "found a list".
func (k Kind) String() string {
	switch k {
	case Scalar:
		return "a single value"
	case List:
		return "a list"
	case Mapping:
		return "a mapping"
	default:
		return "nothing"
	}
}

// Unmarshaler is implemented, on a pointer, by a type that accepts more than
// one shape of YAML. UnmarshalYAML looks at the node's kind and decodes it into
// what fits. The error it returns becomes a problem at the node; problems below
// the node are reported by [Node.Decode] itself and need no error.
type Unmarshaler interface {
	UnmarshalYAML(n Node) error
}

// Node is a YAML value on its way into a Go value. It is valid only during the
// call that received it.
type Node struct {
	decoder *decoder
	node    *node
	path    string
}

// Kind returns the shape of the value.
func (n Node) Kind() Kind { return n.node.kind }

// Key is a key of a mapping. A Plain one is written without quotes, and may be meant as a number or
// a boolean.
type Key struct {
	Name  string
	Plain bool
}

// Keys returns the keys of a mapping in the order of the file.
func (n Node) Keys() []Key {
	keys := make([]Key, len(n.node.entries))
	for i, e := range n.node.entries {
		keys[i] = Key{e.key, e.plain}
	}
	return keys
}

// Path returns the path of the value, as in [Problem].
func (n Node) Path() string { return n.path }

// Decode decodes the value into what the pointer points to, with the rules of the package-level
// Decode, and reports its problems; ok reports that there are none. A type's own UnmarshalYAML must
// pass a type other than its own, or it calls itself.
func (n Node) Decode(into any) (ok bool) {
	before := len(n.decoder.problems)
	n.decoder.value(n.node, target(into), n.path)
	return len(n.decoder.problems) == before
}
