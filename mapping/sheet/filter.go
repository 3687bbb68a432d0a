package sheet

import (
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// never and always are the results of a filter by a constant.
func never() [][]Assignment  { return nil }
func always() [][]Assignment { return [][]Assignment{{}} }

// Filter returns what the system may hold for the value of f in q, a record of the filtered
// values: a record matches if one of the alternatives holds completely. No alternatives mean
// that no record can match, an empty alternative that all do.
func (r *Resource) Filter(q mapping.Record, f *mapping.Field, client auth.Client, keys Keys) ([][]Assignment, error) {
	of := &r.Fields[f.Index]
	v := q.Values[f.Index]
	switch of.source {
	case fromConstant, fromNothing:
		if v == of.constant || !v.IsSet() && !of.constant.IsSet() {
			return always(), nil
		}
		return never(), nil
	case fromKey, fromReference, fromReferred:
		if of.source == fromReferred && v.IsSet() && !q.Get(f.ReferenceBy).IsSet() {
			return nil, mapping.Fail(mapping.ParametersRequired, mapping.Literal(f.ReferenceBy))
		}
		if target := r.keptTarget(of, q); target != nil {
			return r.filterKey(of, target, v, keys)
		}
	}
	places := of.From
	switch of.source {
	case fromKey:
		places = r.Key.Places
	case fromCEL:
		places = []string{""} // computed of any, but a service can be asked for it
	}
	alternatives := of.codec.alternatives(v)
	var out [][]Assignment
	for _, alternative := range alternatives {
		one := []Assignment{{Place: places[0], Value: alternative[0], Field: of.Field, Span: of.codec.span(v, alternative[0])}}
		if len(places) > 1 && alternative[1].Kind != RawAbsent {
			one = append(one, Assignment{Place: places[1], Value: alternative[1], Field: of.Field})
		}
		out = append(out, one)
	}
	return out, nil
}

// IsOpen tells whether codes that the sheet does not list may stand for a value, so that a
// service cannot be asked for it.
func (f *Field) IsOpen(v mapping.Value) bool {
	of := f.codec.codes
	return of != nil && (of.unknown == "value" && v == of.value || of.unknown == "null" && !v.IsSet())
}

// filterKey is Filter by a reference whose IDs are kept (id: kept).
func (r *Resource) filterKey(f *Field, target *Resource, v mapping.Value, keys Keys) ([][]Assignment, error) {
	places := f.From
	if f.source == fromKey {
		places = r.Key.Places
	}
	if !v.IsSet() {
		var out [][]Assignment
		for _, raw := range f.codec.alternatives(v) {
			out = append(out, []Assignment{{Place: places[len(places)-1], Value: raw[0], Field: f.Field}})
		}
		return out, nil
	}
	key := keys[IDRef{target.Name, int32(v.Int())}]
	if key == "" {
		return never(), nil
	}
	parts := target.SplitKey(key)
	if surplus := len(parts) - len(places); surplus > 0 {
		parts = parts[surplus:]
	}
	if len(parts) != len(places) {
		return never(), nil
	}
	one := make([]Assignment, len(places))
	for i, place := range places {
		one[i] = Assignment{Place: place, Value: parts[i], Field: f.Field}
	}
	return [][]Assignment{one}, nil
}

// alternatives are the raws of the first and second place that read as v.
func (c *codec) alternatives(v mapping.Value) [][2]Raw {
	var out [][2]Raw
	add := func(raw, clock Raw) {
		if pair := [2]Raw{raw, clock}; raw.Kind != RawAbsent && !slices.Contains(out, pair) {
			out = append(out, pair)
		}
	}
	if c.codes != nil {
		for _, raw := range c.codes.write[v] {
			add(raw, Raw{})
		}
		_, listed := c.codes.read[v.String()]
		if v.IsSet() && (c.codes.unknown != "keep" || listed) {
			return out
		}
		if v.IsSet() {
			plain := *c
			plain.codes = nil
			return append(out, plain.alternatives(v)...)
		}
	}
	if !v.IsSet() {
		for _, raw := range c.nulls() {
			add(raw, Raw{})
		}
		return out
	}
	raw, clock, e := c.write(v)
	if e != nil {
		return nil // the system has no such value
	}
	if back, why := c.read(raw, clock); why != "" || !c.same(back, v) {
		return nil
	}
	add(raw, clock)
	if c.padRight && raw.Kind == RawText {
		add(textRaw(v.Text()), Raw{})
	}
	return out
}

// isCount tells whether a value is a number that a boolean column is read as, and never written.
func (c *codec) isCount(v mapping.Value) bool {
	return c.system == sysBoolean && c.codes == nil && c.field.Type == mapping.Int4 && v.IsSet() && v.Int() != 0 && v.Int() != 1
}

// nulls are the raws that read as null, except codes that are not in the list.
func (c *codec) nulls() []Raw {
	written, _ := c.null()
	all := []Raw{{Kind: RawNull}, written, textRaw("")}
	for _, z := range c.zero {
		all = append(all, c.typed(z))
	}
	return slices.DeleteFunc(all, func(raw Raw) bool {
		v, why := c.read(raw, Raw{})
		return why != "" || v.IsSet() || raw == textRaw("") && c.systemName() != "text"
	})
}

// span is the range of values that also read as v, for places with finer times or decimals
// than clients see; nil if only raw does.
func (c *codec) span(v mapping.Value, raw Raw) *Span {
	switch {
	case c.codes != nil || !v.IsSet():
	case raw.Kind == RawTime, raw.Kind == RawWall && c.system == sysDatetime:
		next := raw
		next.Int++
		return &Span{From: raw, To: next, OpenTo: true}
	case raw.Kind == RawText && c.isoText && (c.system == sysDatetime || c.system == sysTimestamp):
		next, _ := c.writeTime(v.Int() + 1)
		if c.isWall() {
			next, _ = c.writeWall(WallOf(v.Int(), c.loc) + 1)
		}
		return &Span{From: c.firstText(raw), To: c.firstText(next), OpenTo: true}
	case raw.Kind == RawNumber && v.Kind() == mapping.KindDecimal && c.decimals == 0:
		n, ok := rescale(v.Int(), v.Scale(), c.field.Scale+1)
		if !ok {
			return nil
		}
		half := func(n int64) Raw { // which is rounded away from zero
			return Raw{Kind: RawNumber, Text: apd.New(n, -int32(c.field.Scale+1)).Text('f')}
		}
		return &Span{From: half(n - 5), To: half(n + 5), OpenFrom: n <= 0, OpenTo: n >= 0}
	}
	return nil
}

// firstText is the first of the texts by which a column of times may say one: SQLite compares them
// as texts, and those of whole seconds may have no fraction.
func (c *codec) firstText(raw Raw) Raw {
	if raw.Kind == RawText && c.isoText && c.system == sysDatetime {
		raw.Text = strings.TrimSuffix(raw.Text, ".000")
	}
	return raw
}

// same tells whether a value that was written reads as v does: case may differ
// where the system has but one.
func (c *codec) same(back, v mapping.Value) bool {
	return back == v || (c.upper || c.lower || c.dashless || c.trimRight || c.trimLeft) && v.Kind() == mapping.KindText
}

// Since returns the places that tell when a record was changed, the coarser first, with their
// values at v: a record counts if its values come after these or equal them. ok is false if
// the system cannot compare them.
func (r *Resource) Since(v mapping.Value) (bounds []Assignment, ok bool) {
	f := &r.Fields[r.ModifiedAt]
	if f.source != fromPlace || !f.codec.ordered() {
		return nil, false
	}
	ms := v.Int()
	if f.codec.epoch > 0 {
		ms -= mod(ms, f.codec.epoch) // a service may have parts of a second: one too many does no harm
	}
	raw, clock := f.codec.since(ms)
	bounds = []Assignment{{Place: f.From[0], Value: raw, Field: f.Field}}
	if f.codec.clock != nil {
		bounds = append(bounds, Assignment{Place: f.From[1], Value: clock, Field: f.Field})
	}
	return bounds, true
}

// since is the lowest value that the system may hold for a change at ms or later. In whole
// seconds that is the next second, unless ms is one.
func (c *codec) since(ms int64) (raw, clock Raw) { return c.atLeast(ms, FirstWall) }

// atLeast is the first that the system can tell apart of what it may have at ms or later;
// first is what a clock shows then.
func (c *codec) atLeast(ms int64, first func(int64, *time.Location) int64) (raw, clock Raw) {
	step := int64(1)
	switch {
	case c.clock != nil:
		step = c.clock.finest
	case c.epoch > 0:
		step = c.epoch
	case c.format != nil:
		step = c.format.finest
	case c.system == sysDate:
		step = dayLength
	}
	if c.isWall() {
		return c.writeWall(roundUp(first(ms, c.loc), step))
	}
	return c.writeTime(roundUp(ms, step))
}

func roundUp(n, step int64) int64 { return n + mod(-n, step) }

// ordered tells whether the system's order is that of the field's values.
func (c *codec) ordered() bool {
	if c.codes != nil {
		return false
	}
	switch c.field.Type {
	case mapping.Timestamp:
		return (c.format == nil || c.format.ordered) && (c.clock == nil || c.clock.ordered)
	case mapping.Int4, mapping.Float8:
		return c.system != sysText || c.padZero
	default:
		return !c.padZero || c.width > 0
	}
}
