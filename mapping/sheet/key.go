package sheet

import (
	"errors"
	"fmt"
	"strings"

	"frontdesk/auth"
)

// A record without its key is no record: KeyRef would give all of them one ID.

// MissingKey returns the place of a key's part that a row lacks; "" where it has
// its key. Null is as good as nothing, and so is blank text in an HTTP answer: an
// empty element. A column of a database may well hold a blank key.
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

// HidesRows tells whether the sheet hides rows, which only shows once they are read.
func (r *Resource) HidesRows() bool { return r.hidden != nil }

// Hides tells whether a row is no record to the client: a hidden one, or another
// client's.
func (r *Resource) Hides(row []Raw, client auth.Client) bool {
	_, err := r.shown(row, client)
	return errors.Is(err, errHidden)
}

// keyed is an error for a row that lacks its key.
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

// SameKey tells whether two kept keys, or parts of them, are one to the system.
func (r *Resource) SameKey(a, b []Raw) bool {
	one, other := JoinKey(a), JoinKey(b)
	return one == other || r.Key.IgnoresCase && FoldKey(one) == FoldKey(other)
}

// FoldKey writes a joined key as all those are written that differ in case alone.
// Letters that some collations take for one beyond that, such as e and é, stay two.
func FoldKey(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// number reads a key that is the ID itself, as the system or as frontdesk has it.
func (r *Resource) number(key Raw) (int64, bool) {
	if key.Kind == RawInt {
		return key.Int, true
	}
	v, why := r.Fields[r.ID].codec.read(key, Raw{})
	return v.Int(), why == ""
}
