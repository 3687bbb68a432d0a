package sheet

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// source says how a field gets its value.
type source uint8

const (
	fromNothing   source = iota // of common fields that are not mapped: null
	fromConstant                // Field.constant
	fromPlace                   // by the codec
	fromKey                     // the record's own ID
	fromReference               // the kept ID of another record
	fromReferred                // the same, of the resource that another field names
	fromCEL
	fromList     // whether a list has an element
	fromElements // of an array
)

// errHidden says that a row is no record that the client sees.
var errHidden = errors.New("hidden")

// Decode makes a record of a row aligned with Places. An error says which field could not be
// converted and why, and shows at most 40 characters of the value. ok is false for a record
// that the sheet hides, and for one of another client.
func (r *Resource) Decode(row []Raw, client auth.Client, ids IDs) (rec mapping.Record, ok bool, err error) {
	system, err := r.shown(row, client)
	if err != nil {
		if errors.Is(err, errHidden) {
			err = nil
		}
		return mapping.Record{}, false, err
	}
	rec = mapping.NewRecord(r.Resource)
	for i := range r.Fields {
		f := &r.Fields[i]
		var why fault
		switch f.source {
		case fromPlace:
			var clock Raw
			if f.clockAt >= 0 {
				clock = row[f.clockAt]
			}
			if rec.Values[i], why = f.codec.read(row[f.fromAt[0]], clock); why != "" {
				return rec, false, r.unfit(f, row[f.fromAt[0]], why)
			}
		case fromConstant:
			rec.Values[i] = f.constant
		case fromNothing:
			rec.Values[i] = mapping.NullValue()
		case fromKey:
			rec.Values[i], err = r.decodeID(row, client, ids)
		case fromReference:
			rec.Values[i], err = r.decodeReference(f, f.Target, row, client, ids)
		case fromCEL:
			rec.Values[i], err = r.compute(f, row)
		case fromList:
			if rec.Values[i], why = f.isIn(row[f.fromAt[0]]); why != "" {
				return rec, false, r.unfit(f, row[f.fromAt[0]], why)
			}
		}
		if err != nil {
			return rec, false, err
		}
	}
	for _, i := range r.referred {
		if rec.Values[i], err = r.decodeReferred(&r.Fields[i], rec, row, client, ids); err != nil {
			return rec, false, err
		}
	}
	switch {
	case system || r.clientAt < 0 && r.Through == nil:
		rec.Owner = mapping.OfAll
	case r.clientAt >= 0:
		rec.Owner = client.ID
	} // else whoever reads the record that it belongs to can tell
	if system {
		rec.Values[r.IsSystem] = mapping.IntValue(1)
	}
	return rec, true, nil
}

// shown tells whether the client sees the record of a row, and whether it belongs to all
// clients.
func (r *Resource) shown(row []Raw, client auth.Client) (system bool, err error) {
	if len(row) != len(r.Places) {
		return false, fmt.Errorf("%s: a row of %d places, expected %d", r.Name, len(row), len(r.Places))
	}
	if r.clientAt >= 0 {
		of := row[r.clientAt] // absent, null or empty: the record belongs to nobody
		switch {
		case r.isSystem(of):
			system = true
		default:
			if id, ok := clientIn(of); !ok || id != client.ID {
				return false, errHidden
			}
		}
	}
	if r.hidden != nil {
		hides, err := r.hidden.holds(row)
		if err != nil {
			return false, fmt.Errorf("%s: hidden: %w", r.Name, err)
		}
		if hides {
			return false, errHidden
		}
	}
	return system, nil
}

// isSystem tells whether the client's place holds the mark of records of all clients.
func (r *Resource) isSystem(of Raw) bool {
	return r.SystemClient != "" && strings.TrimRight(of.String(), " ") == r.SystemClient
}

// clientIn returns the number of the client that a place holds: of a text its digits and nothing
// else, as 01 may be another's.
func clientIn(of Raw) (id int64, ok bool) {
	if of.Kind == RawInt {
		return of.Int, true
	}
	text := strings.TrimRight(of.String(), " ")
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && strconv.FormatInt(id, 10) == text
}

// longestShown is how many characters of a system's value an error shows.
const longestShown = 40

// unfit is the error of a value that could not be converted.
func (r *Resource) unfit(f *Field, raw Raw, why fault) error {
	return fmt.Errorf("%s.%s: %s has %s: %s", r.Name, f.Name, strings.Join(f.From, ", "), shown(raw), string(why))
}

func shown(raw Raw) string {
	if raw.Kind == RawBytes {
		return fmt.Sprintf("%d bytes", len(raw.Text))
	}
	text := []rune(raw.String())
	if len(text) > longestShown {
		return strictyaml.Quote(string(text[:longestShown])) + "…"
	}
	return strictyaml.Quote(string(text))
}

// decodeID is the record's own ID.
func (r *Resource) decodeID(row []Raw, client auth.Client, ids IDs) (mapping.Value, error) {
	f := &r.Fields[r.ID]
	if err := r.keyed(row); err != nil {
		return mapping.Value{}, err
	}
	if !r.Key.Kept {
		v, why := r.idIn(row[r.keyAt[0]])
		if why != "" {
			return v, r.unfit(f, row[r.keyAt[0]], why)
		}
		return v, nil
	}
	var room [4]Raw
	key := r.key(room[:0], row)
	id, ok := r.given(key, client, ids)
	if !ok {
		return mapping.Value{}, fmt.Errorf("%s: no ID was given out for key %s", r.Name, strictyaml.Quote(r.JoinKey(key)))
	}
	return mapping.IntValue(int64(id)), nil
}

// idIn is the ID in a key that is the ID itself.
func (r *Resource) idIn(key Raw) (v mapping.Value, why fault) {
	switch v, why = r.Fields[r.ID].codec.read(key, Raw{}); {
	case why != "":
	case v.Int() < 1:
		why = "not an ID, which is a whole number from 1"
	case r.Key.width > 0 && key.Kind == RawText && !r.isPadded(strings.TrimRight(key.Text, " "), v.Int()):
		why = "not written as pad and width say, so that it would not be found by its ID" // and a row that is written so may be there as well
	}
	return v, why
}

// isPadded tells whether a text is a number as pad and width write it.
func (r *Resource) isPadded(text string, n int64) bool {
	key, ok := r.NumberKey(n)
	return ok && text == key.Text
}

// given returns the ID of a key's parts.
func (r *Resource) given(parts []Raw, client auth.Client, ids IDs) (int32, bool) {
	whose := int64(0)
	if r.Client != "" {
		whose = client.ID
	}
	var room [keyRoom]byte
	id, ok := ids[KeyRef{Resource: r.Name, Client: whose, Key: string(appendKey(room[:0], parts, r.keyBlanks()))}] // which makes no string of it
	return id, ok
}

// KeyOf returns the key's parts of a row aligned with Places.
func (r *Resource) KeyOf(row []Raw) []Raw { return r.Padded(r.key(make([]Raw, 0, len(r.keyAt)), row)) }

// KeyRef names the record of a row.
func (r *Resource) KeyRef(row []Raw, client auth.Client) KeyRef {
	var room [4]Raw
	return r.RefOf(r.key(room[:0], row), client)
}

// key appends the key's parts of a row.
func (r *Resource) key(parts, row []Raw) []Raw {
	for _, at := range r.keyAt {
		parts = append(parts, row[at])
	}
	return parts
}

// RefOf names a record by its key's parts.
func (r *Resource) RefOf(parts []Raw, client auth.Client) KeyRef {
	ref := KeyRef{Resource: r.Name, Key: r.JoinKey(parts)}
	if r.Client != "" {
		ref.Client = client.ID
	}
	return ref
}

// reference appends the parts of the key that a field's places refer to; set is false if they
// refer to none.
func (r *Resource) reference(parts []Raw, f *Field, target *Resource, row []Raw, client auth.Client) (key []Raw, set bool) {
	if target.Key.ByClient && len(f.fromAt) == len(target.Key.Places)-1 {
		parts = append(parts, intRaw(client.ID))
	}
	for _, at := range f.fromAt {
		part := row[at]
		if !part.IsSet() || f.codec.zero != nil && f.codec.isZero(part) {
			return nil, false
		}
		if part.Kind == RawText && strings.Trim(part.Text, " ") == "" {
			return nil, false
		}
		own := r.compared.Load()
		if padded := own == nil && target.keyBlanks() != nil || own != nil && !own.places[at]; part.Kind == RawText && (padded || f.codec.trimRight) {
			part.Text = strings.TrimRight(part.Text, " ")
		}
		parts = append(parts, part)
	}
	return parts, true
}

func (r *Resource) decodeReference(f *Field, target *Resource, row []Raw, client auth.Client, ids IDs) (mapping.Value, error) {
	var room [4]Raw
	key, set := r.reference(room[:0], f, target, row, client)
	if !set {
		if len(f.fromAt) == 1 && row[f.fromAt[0]].Kind == RawAbsent {
			return mapping.Value{}, nil
		}
		return mapping.NullValue(), nil
	}
	id, ok := target.given(key, client, ids)
	if !ok {
		return mapping.Value{}, fmt.Errorf("%s.%s: no ID was given out for key %s of %s", r.Name, f.Name, strictyaml.Quote(target.JoinKey(key)), target.Name)
	}
	return mapping.IntValue(int64(id)), nil
}

// decodeReferred decodes a reference to the resource that another field names.
func (r *Resource) decodeReferred(f *Field, rec mapping.Record, row []Raw, client auth.Client, ids IDs) (mapping.Value, error) {
	target := r.sheet.byName[rec.Get(f.ReferenceBy).Text()]
	if target != nil && target.Key.Kept {
		return r.decodeReference(f, target, row, client, ids)
	}
	v, why := f.codec.read(row[f.fromAt[0]], Raw{})
	if why != "" {
		return v, r.unfit(f, row[f.fromAt[0]], why)
	}
	return v, nil
}

// compute evaluates a field's expression.
func (r *Resource) compute(f *Field, row []Raw) (mapping.Value, error) {
	out, err := f.cel.eval(row)
	if err != nil {
		return mapping.Value{}, fmt.Errorf("%s.%s: cel: %w", r.Name, f.Name, err)
	}
	raw, err := resultRaw(out)
	if err != nil {
		return mapping.Value{}, fmt.Errorf("%s.%s: cel: %w", r.Name, f.Name, err)
	}
	v, why := f.codec.read(raw, Raw{})
	if why != "" {
		return v, fmt.Errorf("%s.%s: cel gives %s: %s", r.Name, f.Name, shown(raw), string(why))
	}
	return v, nil
}

// Refs adds the keys that Decode will ask IDs for: the record's own and those of records that
// it refers to. It adds none if keys are the IDs themselves, or if Decode does not show the
// row.
func (r *Resource) Refs(row []Raw, client auth.Client, add func(KeyRef)) error {
	if !r.refers {
		return nil
	}
	if _, err := r.shown(row, client); err != nil {
		if errors.Is(err, errHidden) {
			err = nil
		}
		return err
	}
	if r.Key.Kept {
		if err := r.keyed(row); err != nil {
			return err
		}
		add(r.KeyRef(row, client))
	}
	var room [4]Raw
	for i := range r.Fields {
		f := &r.Fields[i]
		target := f.Target
		switch f.source {
		case fromReference:
		case fromReferred:
			by := &r.Fields[r.Field(f.ReferenceBy).Index]
			if by.source != fromPlace {
				continue
			}
			name, why := by.codec.read(row[by.fromAt[0]], Raw{})
			if why != "" {
				return r.unfit(by, row[by.fromAt[0]], why)
			}
			if target = r.sheet.byName[name.Text()]; target == nil || !target.Key.Kept {
				continue
			}
		default:
			continue
		}
		if key, set := r.reference(room[:0], f, target, row, client); set {
			add(target.RefOf(key, client))
		}
	}
	return nil
}
