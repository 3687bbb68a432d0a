package legacy

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
)

// newKey makes the key of a new row as the sheet says. Parts that the engine makes are absent.
func (w *write) newKey(ctx context.Context) ([]sheet.Raw, error) {
	key, missing := w.knownKey()
	if w.t.Key.Generated == "identity" {
		// The last part is the engine's, whatever the sheet would write there.
		key[len(key)-1] = sheet.Raw{}
		missing = missing[:0]
	}
	switch {
	case len(missing) == 0:
		return key, nil
	case len(missing) > 1:
		return nil, fmt.Errorf("%w: nothing gives %s and %s of a new row of %s", backend.ErrUnexpected,
			w.t.Key.Places[missing[0]], w.t.Key.Places[missing[1]], w.t.Name)
	}
	var err error
	i := missing[0]
	switch w.t.Key.Generated {
	case "uuid":
		var id uuid.UUID
		if id, err = uuid.NewRandomFromReader(w.random); err == nil {
			key[i] = textRaw(id.String())
		}
	case "sequence":
		b := newStatement(w.d)
		w.d.nextOf(b, qualified(w.d, w.source.Schema, w.t.Key.Sequence))
		key[i], err = w.number(ctx, b)
	case "max+1":
		key[i], err = w.next(ctx, key, i)
	default:
		err = fmt.Errorf("%w: nothing gives %s of a new row of %s", backend.ErrUnexpected, w.t.Key.Places[i], w.t.Name)
	}
	if err == nil && key[i].Kind == sheet.RawInt {
		var fits bool
		if key[i], fits = w.t.NumberKey(key[i].Int); !fits {
			err = fmt.Errorf("%w: %s is the next key of %s, and longer than the sheet's width", backend.ErrUnexpected, key[i], w.t.Name)
		}
	}
	return key, err
}

// knownKey returns the parts of a key that the write sets, and the positions of those it does not.
func (w *write) knownKey() (key []sheet.Raw, missing []int) {
	key = make([]sheet.Raw, len(w.t.Key.Places))
	for i, place := range w.t.Key.Places {
		if v, ok := w.value(place); ok && v.IsSet() {
			key[i] = v
		} else {
			missing = append(missing, i)
		}
	}
	return key, missing
}

// next is the number after the highest one among the rows with the same other parts of the
// key, including rows that clients do not see.
func (w *write) next(ctx context.Context, key []sheet.Raw, at int) (sheet.Raw, error) {
	v, err := w.number(ctx, w.nextText(key, at))
	v.Int++
	return v, err
}

func (w *write) nextText(key []sheet.Raw, at int) *statement {
	b := newStatement(w.d).add("SELECT MAX(", w.t.keys[at], ") FROM ", w.t.name)
	first := true
	for i, k := range w.t.keys {
		if i == at {
			continue
		}
		w.t.operand(b.add([]string{" AND ", " WHERE "}[b2i(first)], k, " = "), w.t.Key.Places[i], key[i])
		first = false
	}
	if w.t.perClient && !w.t.Key.ByClient {
		b.add([]string{" AND ", " WHERE "}[b2i(first)], w.d.quote(w.t.Client), " = ")
		w.t.operand(b, w.t.Client, intRaw(w.client.ID))
	}
	return b.add(w.d.lockRange())
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number runs a query for one number; null is 0.
func (w *write) number(ctx context.Context, b *statement) (sheet.Raw, error) {
	row, err := queryOne(ctx, w.conn, b)
	if err != nil {
		return sheet.Raw{}, w.refused(ctx, err)
	}
	if len(row) == 0 || !row[0].IsSet() {
		return intRaw(0), nil
	}
	if row[0].Kind == sheet.RawInt {
		return row[0], nil
	}
	n, err := strconv.ParseInt(strings.TrimRight(row[0].String(), " "), 10, 64)
	if err != nil {
		return sheet.Raw{}, fmt.Errorf("%w: the key of %s is no number", backend.ErrUnexpected, w.t.Name)
	}
	return intRaw(n), nil
}
