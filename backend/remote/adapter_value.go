package remote

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// record makes a record of a row that is aligned with the resource's fields, and
// that the client asked for.
func (p *adapterPlan) record(r *mapping.Resource, from row, client auth.Client) (mapping.Record, error) {
	rec := mapping.NewRecord(r)
	if err := fill(rec, from.values); err != nil {
		return rec, err
	}
	rec.Owner = p.owner(from.values[len(r.Fields)+1], client)
	for n, i := range p.field {
		l := from.lists[n]
		if !l.there {
			continue
		}
		children := make([]mapping.Record, len(l.rows))
		for k, row := range l.rows {
			children[k] = mapping.NewRecord(r.Fields[i].Target())
			children[k].Owner = rec.Owner
			if err := fill(children[k], row.values); err != nil {
				return rec, err
			}
		}
		rec.SetElements(i, children)
	}
	version := from.values[len(r.Fields)]
	if version.Kind > sheet.RawNull && version.Kind != sheet.RawInt {
		return rec, unexpected(fmt.Errorf("_version of %s is no integer", r.Name))
	}
	rec.Version = version.Int
	return rec, nil
}

// owner returns the client that a record names as its owner, or null if it belongs to all
// clients. If the adapter does not name owners, the record belongs to the client that asked.
func (p *adapterPlan) owner(said sheet.Raw, client auth.Client) int64 {
	switch {
	case said.Kind == sheet.RawInt:
		return said.Int
	case said.Kind == sheet.RawNull:
		return mapping.OfAll
	case said.Kind == sheet.RawAbsent && !p.owned:
		return client.ID
	default:
		return 0
	}
}

func fill(rec mapping.Record, values []sheet.Raw) error {
	for i := range rec.Values {
		raw := values[i]
		if raw.Kind == sheet.RawAbsent {
			continue
		}
		f := &rec.Resource.Fields[i]
		v, ok := plainValue(f, raw)
		if !ok {
			return unexpected(fmt.Errorf("field %s.%s: %.40q is no %s", rec.Resource.Name, f.Name, raw.String(), f.Type))
		}
		rec.Values[i] = v
	}
	return nil
}

// plainValue reads a value in the form that the interface writes, or in another that it reads.
func plainValue(f *mapping.Field, raw sheet.Raw) (mapping.Value, bool) {
	switch raw.Kind {
	case sheet.RawNull:
		return mapping.NullValue(), true
	case sheet.RawInt:
		return integerValue(f, raw.Int)
	case sheet.RawNumber:
		if f.Type == mapping.Float8 {
			if v, ok := decimalValue(raw.Text, f.Scale); ok {
				return v, true
			}
			return parsed(f, raw.Text)
		}
	case sheet.RawText:
		switch f.Type {
		case mapping.Varchar, mapping.Text:
			return mapping.TextValue(raw.Text), strings.IndexByte(raw.Text, 0) < 0
		case mapping.Timestamp, mapping.Bytea:
			return parsed(f, raw.Text)
		}
	}
	return mapping.Value{}, false
}

// parsed reads a value as requests of the interface are read. A timestamp without a zone is
// refused: nothing says which zone it is in.
func parsed(f *mapping.Field, text string) (mapping.Value, bool) {
	if f.Type == mapping.Timestamp && len(text) < len("2006-01-02T15:04Z") {
		return mapping.Value{}, false
	}
	v, err := f.Parse(text, time.UTC)
	return v, err == nil
}

func integerValue(f *mapping.Field, n int64) (mapping.Value, bool) {
	switch f.Type {
	case mapping.Int4:
		return mapping.IntValue(n), n == int64(int32(n))
	case mapping.Float8:
		if f.Scale < 0 || n > 1e8 || n < -1e8 {
			return parsed(f, strconv.FormatInt(n, 10))
		}
		return mapping.DecimalValue(n*power10[f.Scale], f.Scale), true
	default:
		return mapping.Value{}, false
	}
}

var power10 = [...]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000}

// decimalValue reads a short decimal that has no more decimals than its field keeps. That it is
// a number of JSON is known.
func decimalValue(s string, scale int) (mapping.Value, bool) {
	n, decimals, ok := mapping.ParseDecimal(s, '.')
	if !ok || decimals > scale || len(s) > 12 {
		return mapping.Value{}, false
	}
	return mapping.DecimalValue(n*power10[scale-decimals], scale), true
}
