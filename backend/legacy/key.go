package legacy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// asWhole converts a text that isWhole to a number, and returns any other value as it is.
func asWhole(v mapping.Value) mapping.Value {
	if v.Kind() != mapping.KindText || !isWhole(v.Text()) {
		return v
	}
	n, _ := strconv.ParseInt(v.Text(), 10, 64)
	return mapping.IntValue(n)
}

// newKey makes the key of a new row as the sheet says. Parts that the engine makes are absent.
func (w *write) newKey(ctx context.Context) error {
	missing := w.knownKey()
	how := w.t.Key.Generated
	if how == "identity" {
		// The engine makes the last part, whatever the sheet would write there.
		w.key[len(w.key)-1] = mapping.Value{}
		return nil
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(missing) > 1:
		return fmt.Errorf("%w: nothing gives %s and %s of a new row of %s", backend.ErrUnexpected,
			w.t.Key.Places[missing[0]], w.t.Key.Places[missing[1]], w.t.Name)
	case how == "max+1":
		return w.next(ctx, missing[0])
	}
	for _, text := range w.t.SQL.NewKey {
		if err := w.statement(ctx, text); err != nil {
			return err
		}
	}
	if w.key[missing[0]].IsAbsent() {
		return fmt.Errorf("%w: nothing gives %s of a new row of %s", backend.ErrUnexpected, w.t.Key.Places[missing[0]], w.t.Name)
	}
	return nil
}

// knownKey notes the parts of the key that the write sets, and returns the positions of those
// it does not.
func (w *write) knownKey() (missing []int) {
	w.key = make([]mapping.Value, len(w.t.Key.Places))
	for i, name := range w.t.Key.Places {
		if name == w.t.SQL.Client.Column && name != "" {
			w.key[i] = w.clientPart()
		}
		for _, s := range w.sets {
			if s.column == name && s.plain.IsSet() {
				w.key[i] = mapping.TextValue(textOf(s.plain))
				if !w.t.Key.Kept {
					w.key[i] = s.plain
				}
			}
		}
		if w.key[i].IsAbsent() {
			missing = append(missing, i)
		}
	}
	return missing
}

// clientPart is the client's identity as a part of a key.
func (w *write) clientPart() mapping.Value {
	return mapping.TextValue(w.identity(w.client))
}

// next makes the number after the highest one in the rows with the same other parts of the
// key, including rows that clients do not see.
func (w *write) next(ctx context.Context, at int) error {
	b := w.writer().Add("SELECT MAX(", w.t.Keys[at], ") FROM ", w.t.Written)
	n := 0
	where := func() *sqlrecord.Writer {
		n++
		return b.Add([...]string{" WHERE ", " AND "}[min(n-1, 1)])
	}
	for i, k := range w.t.Keys {
		if i != at {
			w.t.partOperand(where().Add(k, " = "), w.t.ColumnOf(w.t.Key.Places[i]).Sort, w.key[i])
		}
	}
	if w.t.perClient && !slices.Contains(w.t.Key.Places, w.t.SQL.Client.Column) {
		where().Add(w.d.Quote(w.t.SQL.Client.Column), " = ").Expr(w.t.clientOperand())
	}
	text, args := b.Add(w.d.LockRange).Statement()
	last := int64(0)
	err := w.conn.Query(ctx, text, oneInt, args, func(row []mapping.Value) error {
		last = row[0].Int()
		return nil
	})
	if err == nil && !w.t.Key.Kept && last >= math.MaxInt32 {
		err = fmt.Errorf("%w: there is no further number for %s: they are int4", backend.ErrUnexpected, w.t.Name)
	}
	w.key[at] = w.t.keyValue(last + 1)
	return w.refused(ctx, err)
}
