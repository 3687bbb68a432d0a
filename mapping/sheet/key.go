package sheet

import (
	"context"
	"strings"

	"frontdesk/auth"
)

// Key says what identifies a record in the system.
type Key struct {
	Places []string
	// Kept tells that an int4 is given out for every key, and kept. Otherwise the
	// only place is the int4 itself.
	Kept bool
	// IgnoresCase tells that kept keys which differ in case alone are one. A driver that
	// knows it tells Compare, unless CaseCounts.
	IgnoresCase, CaseCounts bool
	Generated               string // of a database: identity, max+1, sql or supplied
	// ByClient tells that the first place is that of the client.
	ByClient bool
}

// KeyRef names a record by its key in the system.
type KeyRef struct {
	Resource string
	Client   int64  // 0 where all clients share the records
	Key      string // of a database the parts of the key, joined by JoinKey; of a service KeyText
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

// KeysWithoutCase are the resources whose kept keys are equal if they differ only in case.
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
	blanks      []bool // the parts of the key whose trailing blanks count
	ignoresCase bool
}

// Compare tells how the database compares kept keys, as only a driver knows: whether those are one
// that differ in case alone, and the places of the key at which it takes texts for different that
// differ in trailing blanks alone. It may be told again while records are read.
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

// part is a part of a key in the form that it always has: without trailing blanks, unless they
// count.
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

// RefOf names a record of a client by its key's parts.
func (r *Resource) RefOf(parts []string, client auth.Client) KeyRef {
	ref := KeyRef{Resource: r.Name, Key: r.JoinKey(parts)}
	if r.client != "" {
		ref.Client = client.ID
	}
	return ref
}

var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`)

// JoinKey writes the parts of a key of a database as one text.
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

// SplitKey separates the parts of a key that JoinKey wrote.
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

// FoldKey writes a joined key in a form that is the same for all keys that differ only in
// case. Letters that some collations also take for equal, such as e and é, stay different.
func FoldKey(key string) string { return strings.ToLower(strings.ToUpper(key)) }
