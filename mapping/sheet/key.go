package sheet

import (
	"context"
	"strings"

	"frontdesk/auth"
)

// Key says what identifies a record in the system.
type Key struct {
	Places []string
	// Kept says that the id store issues an int4 for every key. Otherwise the only place
	// holds the int4 itself.
	Kept bool
	// IgnoresCase says that kept keys that differ only in case are the same. If neither is
	// set, the driver calls Compare.
	IgnoresCase, CaseCounts bool
	Generated               string // for a database: identity, max+1, sql or supplied
	// ByClient says that the first place holds the client.
	ByClient bool
}

// KeyRef names a record by its key in the system.
type KeyRef struct {
	Resource string
	Client   int64  // 0 if all clients share the records
	Key      string // for a database the parts of the key, joined by JoinKey; for a service KeyText
}

// IDs are the int4s that stand for keys.
type IDs map[KeyRef]int32

// Keys are the keys by their IDs; "" for an ID that was never issued.
type Keys map[IDRef]string

// IDRef names a record by its ID in the interface.
type IDRef struct {
	Resource string
	ID       int32
}

// IDStore issues the IDs by which clients know records with other keys. It is safe for concurrent
// use. IDs that it returns are on disk.
type IDStore interface {
	// IDs returns the ID of every key. To a key without one it issues the next ID of the
	// resource, which no other key ever gets.
	IDs(ctx context.Context, refs []KeyRef) (IDs, error)
	// Given is IDs without issuing new ones: it leaves out keys without an ID.
	Given(ctx context.Context, refs []KeyRef) (IDs, error)
	// Keys returns the key of every ID. It leaves out IDs that were never issued, and those of
	// records of another client.
	Keys(ctx context.Context, client auth.Client, refs []IDRef) (Keys, error)
}

// KeysWithoutCase returns the resources whose kept keys are equal if they differ only in case.
func (s *Sheet) KeysWithoutCase() (names []string) {
	for _, r := range s.Resources {
		if r.ignoresCase() {
			names = append(names, r.Name)
		}
	}
	return names
}

// compared is how a database compares keys.
type compared struct {
	blanks      []bool // by part of the key: trailing blanks count
	ignoresCase bool
}

// Compare sets how the database compares kept keys, which only a driver knows: whether it ignores case, and
// at which places of the key trailing blanks count. A driver may call it again while records are read.
func (r *Resource) Compare(ignoresCase bool, countsBlanks func(place string) bool) {
	c := &compared{make([]bool, len(r.Key.Places)), ignoresCase}
	for i, place := range r.Key.Places {
		c.blanks[i] = countsBlanks(place)
	}
	r.compared.Store(c)
}

func (r *Resource) ignoresCase() bool {
	c := r.compared.Load()
	return r.Key.IgnoresCase || c != nil && c.ignoresCase
}

// part returns the canonical form of a part of a key: without trailing blanks, unless they count.
func (r *Resource) part(i int, text string) string {
	if c := r.compared.Load(); c == nil || i >= len(c.blanks) || !c.blanks[i] {
		text = strings.TrimRight(text, " ")
	}
	return text
}

// SamePart reports whether two values of a part of a kept key are the same to the database.
func (r *Resource) SamePart(i int, a, b string) bool {
	a, b = r.part(i, a), r.part(i, b)
	return a == b || r.ignoresCase() && FoldKey(a) == FoldKey(b)
}

// RefOf returns the KeyRef of a record of a client, by the parts of its key.
func (r *Resource) RefOf(parts []string, client auth.Client) KeyRef {
	ref := KeyRef{Resource: r.Name, Key: r.JoinKey(parts)}
	if r.client != "" {
		ref.Client = client.ID
	}
	return ref
}

var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`)

// JoinKey joins the parts of a key of a database to one text.
func (r *Resource) JoinKey(parts []string) (key string) {
	for i, part := range parts {
		if part = escapes.Replace(r.part(i, part)); i == 0 {
			key = part
		} else {
			key += "|" + part
		}
	}
	return key
}

// SplitKey is the inverse of JoinKey.
func SplitKey(key string) (parts []string) {
	var part []byte
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c == '|':
			parts, part = append(parts, string(part)), nil
		case c == '\\' && i+1 < len(key):
			i++
			part = append(part, key[i])
		default:
			part = append(part, c)
		}
	}
	return append(parts, string(part))
}

// FoldKey returns a form of a joined key that is the same for all keys that differ only in case.
// Letters that some collations treat as equal, too, such as e and é, stay different.
func FoldKey(key string) string { return strings.ToLower(strings.ToUpper(key)) }
