package sheet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"frontdesk/auth"
)

// A record without its key is no record: KeyRef would give all of them one ID.

// MissingKey returns the place of a part of the key that a row lacks; "" if it has its key.
// Null counts as missing, and in an HTTP answer also blank text, such as an empty element. A
// column of a database may hold a blank key.
func (r *Resource) MissingKey(row []Raw) string {
	for i, at := range r.keyAt {
		if !r.hasPart(row[at]) {
			return r.Key.Places[i]
		}
	}
	return ""
}

func (r *Resource) hasPart(part Raw) bool {
	return part.IsSet() && !(r.sheet.Source.HTTP != nil && part.Kind == RawText && strings.Trim(part.Text, " ") == "")
}

// HidesRows tells whether the sheet hides rows, which shows only once they are read.
func (r *Resource) HidesRows() bool { return r.hidden != nil }

// Hides tells whether the client does not see a row: it is hidden, or another client's.
func (r *Resource) Hides(row []Raw, client auth.Client) bool {
	_, err := r.shown(row, client)
	return errors.Is(err, errHidden)
}

// keyed is the error for a row that lacks its key.
func (r *Resource) keyed(row []Raw) error {
	if place := r.MissingKey(row); place != "" {
		return fmt.Errorf("%s: a record without its key, at %s", r.Name, place)
	}
	return nil
}

// IsOf tells whether a row has the key that was asked for.
func (r *Resource) IsOf(row, key []Raw) bool {
	if r.Key.Kept {
		return r.SameKey(r.KeyOf(row), key)
	}
	asked, ok := r.number(key[0])
	came, read := r.number(row[r.keyAt[0]])
	return ok && read && asked == came
}

// NumberKey is a key, or the part of one, that is a number, as the system has it. It is false where
// the number is longer than such texts are.
func (r *Resource) NumberKey(n int64) (key Raw, ok bool) {
	key = r.Fields[r.ID].codec.digits(n)
	return key, r.Key.width == 0 || len(key.Text) <= r.Key.width
}

// Padded is a key as the system writes it, where it is the ID itself and was told as another form
// of the number.
func (r *Resource) Padded(key []Raw) []Raw {
	if r.Key.Kept || r.Key.width == 0 || !key[0].IsSet() {
		return key
	}
	if n, ok := r.number(key[0]); ok {
		if padded, ok := r.NumberKey(n); ok {
			key = []Raw{padded}
		}
	}
	return key
}

// SplitKey separates the parts of a kept key, as the system has them.
func (r *Resource) SplitKey(key string) []Raw {
	parts := SplitKey(key)
	for i, place := range r.Key.Places {
		if i < len(parts) && slices.Contains(r.Key.Numbers, place) && isPlainNumber(parts[i].Text) {
			parts[i].Kind = RawNumber
		}
	}
	return parts
}

// SameKey tells whether two kept keys are the same to the system.
func (r *Resource) SameKey(a, b []Raw) bool { return r.same(a, b, r.keyBlanks()) }

// SamePart tells whether two values of a part of a kept key are the same to the system.
func (r *Resource) SamePart(i int, a, b Raw) bool {
	var counts []bool
	if all := r.keyBlanks(); all != nil {
		counts = all[i : i+1]
	}
	return r.same([]Raw{a}, []Raw{b}, counts)
}

func (r *Resource) same(a, b []Raw, counts []bool) bool {
	one, other := string(appendKey(nil, a, counts)), string(appendKey(nil, b, counts))
	return one == other || r.ignoresCase() && FoldKey(one) == FoldKey(other)
}

// JoinKey writes the parts of a key of the resource as one text, with their trailing blanks where
// those count.
func (r *Resource) JoinKey(parts []Raw) string {
	var room [keyRoom]byte
	return string(appendKey(room[:0], parts, r.keyBlanks()))
}

// compared is how the system compares keys.
type compared struct {
	places, key []bool // whose blanks count, aligned with Places and with the key's
	ignoresCase bool
}

// Compare tells how the system compares kept keys, as only a driver knows: whether those are one
// that differ in case alone, and the places of the key, and of references, at which it takes texts
// for different that differ in trailing blanks alone. It may be told again while records are read.
func (r *Resource) Compare(ignoresCase bool, countsBlanks func(place string) bool) {
	c := &compared{make([]bool, len(r.Places)), make([]bool, len(r.keyAt)), ignoresCase}
	for i, p := range r.Places {
		c.places[i] = countsBlanks(p.Name)
	}
	for i, at := range r.keyAt {
		c.key[i] = c.places[at]
	}
	r.compared.Store(c)
}

func (r *Resource) ignoresCase() bool {
	c := r.compared.Load()
	return r.Key.IgnoresCase || c != nil && c.ignoresCase
}

// keyBlanks are the parts of the key whose trailing blanks count; nil for none.
func (r *Resource) keyBlanks() []bool {
	if c := r.compared.Load(); c != nil {
		return c.key
	}
	return nil
}

// FoldKey writes a joined key in a form that is the same for all keys that differ only in
// case. Letters that some collations also take for equal, such as e and é, stay different.
func FoldKey(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// Known returns the IDs of keys that have one: as the system says them, or as store has given
// them out. Keys of another client are left out where they tell so.
func (r *Resource) Known(ctx context.Context, store IDStore, client auth.Client, keys [][]Raw) (ids []int32, err error) {
	var refs []KeyRef
	for _, key := range keys {
		switch {
		case !r.OfClient(key, client):
		case r.Key.Kept:
			refs = append(refs, r.RefOf(key, client))
		default:
			if n, ok := r.number(key[len(key)-1]); ok && n > 0 && n <= math.MaxInt32 {
				ids = append(ids, int32(n))
			}
		}
	}
	if len(refs) == 0 {
		return ids, nil
	}
	given, err := store.Given(ctx, refs)
	for _, ref := range refs {
		if id, ok := given[ref]; ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// OfClient tells whether a key may be of a record of the client: that of another's does not
// begin with his number, where keys begin so.
func (r *Resource) OfClient(key []Raw, client auth.Client) bool {
	if !r.Key.ByClient || r.SystemClient != "" || r.sheet.ClientsKept {
		return true
	}
	id, ok := clientIn(key[0])
	return ok && id == client.ID
}

// number reads a key that is the ID itself, from the system or from frontdesk.
func (r *Resource) number(key Raw) (int64, bool) {
	if key.Kind == RawInt {
		return key.Int, true
	}
	v, why := r.Fields[r.ID].codec.read(key, Raw{})
	return v.Int(), why == ""
}
