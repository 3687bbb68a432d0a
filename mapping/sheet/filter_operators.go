package sheet

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// ranges are the operators that compare by the order of values.
var ranges = mapping.OperatorsOf(mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below)

// sentOperators are those whose value can be sent to an HTTP service, by a placeholder of its
// own: {filter.order_date.gte}.
var sentOperators = [...]mapping.Operator{mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below, mapping.AnyOf, mapping.IsNull, mapping.Contains}

// Placeholder is where a request has what a field is filtered by.
func Placeholder(f *mapping.Field, o mapping.Operator) string {
	if o == mapping.Equals {
		return "filter." + f.Name
	}
	return operand(f.Name, o)
}

// isList tells whether a placeholder stands for several values.
func isList(name string) bool {
	return strings.HasPrefix(name, "filter.") && strings.HasSuffix(name, "."+mapping.AnyOf.String())
}

// list is the placeholder of a template that stands for several values; "" for none.
func (t template) list() string {
	for _, p := range t.parts {
		if isList(p.name) {
			return p.name
		}
	}
	return ""
}

// eachOf calls do for each value of a placeholder that stands for several.
func (f *filling) eachOf(name string, do func(*filling)) {
	if f.List == nil {
		return
	}
	for _, v := range f.List(name) {
		one := *f
		one.Get = func(asked string) Raw {
			if asked == name {
				return v
			}
			return f.Get(asked)
		}
		do(&one)
		f.err = one.err
	}
}

// operand is the placeholder for the value of an operator.
func operand(field string, o mapping.Operator) string { return "filter." + field + "." + o.String() }

// operators notes which operators other than equality the calls of a list have.
func (d *draft) operators(path string, q *Request, c callContext) {
	for _, f := range d.drafted {
		for _, o := range sentOperators {
			if !q.uses[operand(f.Name, o)] {
				continue
			}
			if !f.FilterableBy(o) && o != mapping.AnyOf { // which a part of one value brings with it
				d.fail(path, "found {%s}: lists have no filter %s of a %s", operand(f.Name, o), o.Param(f.Name), f.Type)
			}
			if o == mapping.AnyOf || o == mapping.IsNull {
				continue // which do not depend on the order of values
			}
			if f.source != fromPlace || !f.codec.sendable(o) {
				d.fail(path, "found {%s}, which does not come in the order of the values, or as a part of them, in the system", operand(f.Name, o))
			}
		}
	}
}

// sendable tells whether a service can compare its values with the form in which a filter is
// sent.
func (c *codec) sendable(o mapping.Operator) bool {
	if o == mapping.Contains {
		return c.searched()
	}
	return c.field.Type == mapping.Timestamp && c.ordered() || c.field.Type != mapping.Timestamp && c.codes == nil
}

// Operand is what a service is sent for a filter that is not equality, under the name of
// its placeholder; it is false if the request has none. A service may keep finer times than
// clients see: where the request can say so, those up to a time are those before the next one. Of
// decimals that it may keep finer it is asked from one unit below, or up to one above: see IsLoose.
func (r *Resource) Operand(q *Request, f *mapping.Field, o mapping.Operator, v mapping.Value) (name string, raw Raw, ok bool) {
	if v.Kind() == mapping.KindTime {
		if by := map[mapping.Operator]mapping.Operator{mapping.AtMost: mapping.Below, mapping.Above: mapping.AtLeast}[o]; q.Uses(operand(f.Name, by)) {
			o, v = by, next(v)
		}
	}
	if name = operand(f.Name, o); !q.Uses(name) {
		return name, Raw{}, false
	}
	c := &r.Fields[f.Index].codec
	if c.epoch > 0 && o.IsRange() && mod(v.Int(), c.epoch) != 0 {
		return name, Raw{}, false // within a second, of which the service may have parts
	}
	switch {
	case o == mapping.IsNull:
		return name, boolRaw(v.Int() == 1), !r.Fields[f.Index].IsOpen(mapping.NullValue())
	case o == mapping.Contains:
		return name, textRaw(v.Text()), true
	case v.Kind() == mapping.KindTime && (o == mapping.AtLeast || o == mapping.Below):
		raw, _ = c.atLeast(v.Int(), leastWall)
		return name, raw, c.clock == nil && c.says(v, raw, Raw{})
	case v.Kind() == mapping.KindTime:
		if o == mapping.AtMost {
			v = next(v) // which may be too much: see IsLoose
		}
		raw, _ = c.writeTime(v.Int())
		return name, raw, c.clock == nil && c.says(v, raw, Raw{})
	}
	if c.rounds() {
		switch o {
		case mapping.AtLeast:
			v = mapping.DecimalValue(v.Int()-1, v.Scale())
		case mapping.AtMost:
			v = next(v)
		}
	}
	raw, _, bad := c.write(v)
	return name, raw, bad == nil
}

// rounds tells whether the system may keep decimals beyond those of the field.
func (c *codec) rounds() bool {
	return c.field.Type == mapping.Float8 && c.field.Scale >= 0 && c.codes == nil && (c.decimals > c.field.Scale || c.decimals == 0 && c.system != sysInteger)
}

// MayDiffer tells whether a service may keep what is shown as v otherwise, and not find it if it is asked
// for v: a time or a decimal finer than clients see, a text with blanks or not in the case that is written.
func (f *Field) MayDiffer(v mapping.Value) bool {
	c := &f.codec
	if v.IsSet() && !f.isFixed() && c.rounds() {
		return true
	}
	if v.Kind() == mapping.KindText && f.source == fromPlace && c.codes == nil {
		raw, _ := c.writeText(v)
		return c.trimLeft || c.trimRight || (c.upper || c.lower) && raw.Text != v.Text()
	}
	if v.Kind() != mapping.KindTime || f.isFixed() || c.codes != nil || c.clock != nil || c.system == sysDate {
		return false
	}
	return c.format == nil || slices.ContainsFunc(c.format.parts, func(p layoutPart) bool { return p.unit == 'S' && p.width > 3 })
}

// ShowsAlike tells whether a text that is asked for would be shown as v.
func (f *Field) ShowsAlike(asked, v mapping.Value) bool {
	if v.Kind() != mapping.KindText || asked.Kind() != mapping.KindText {
		return false
	}
	text, c := asked.Text(), &f.codec
	if c.trimLeft {
		text = strings.TrimLeft(text, " ")
	}
	if c.trimRight {
		text = strings.TrimRight(text, " ")
	}
	return text == v.Text() || (c.upper || c.lower) && strings.EqualFold(text, v.Text())
}

// IsLoose tells whether a service that is sent an operand may list more than the filter lets
// through: what reads as the time after it, or as another number once it is rounded.
func (f *Field) IsLoose(o mapping.Operator, name string) bool {
	return o.IsRange() && f.codec.rounds() || f.Type == mapping.Timestamp && name == operand(f.Name, mapping.AtMost)
}

// unsent are the operators other than equality that the calls do not have.
func (d *draft) unsent(f *Field) (lacks mapping.Operators) {
	if f.isFixed() {
		return 0 // decided without it
	}
	list := d.resource.Operations[mapping.OpList]
	for _, o := range mapping.AllOperators {
		if list == nil || list.Request == nil || !list.Request.Uses(operand(f.Name, o)) {
			lacks |= mapping.OperatorsOf(o)
		}
	}
	return lacks
}

// Fixed is the value that the field has in every record; false if it varies.
func (f *Field) Fixed() (mapping.Value, bool) { return f.constant, f.isFixed() }

// searched tells whether a part of a value is a part of what the system stores.
func (c *codec) searched() bool { return c.codes == nil && c.system == sysText && !c.padZero }

// Bound is the system's value at which a range begins or ends.
type Bound struct {
	// At are the places with their values at the bound. Of a date and a time the date comes first.
	At []Assignment
	// Open tells that the bound itself is not in the range.
	Open bool
	// Before tells that the range ends at the bound; otherwise it begins there.
	Before bool
}

// firstTime is the earliest time that engines can compare with. An earlier one is replaced by it.
var firstTime = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()

// Range returns the bound of the values that an operator lets through.
func (r *Resource) Range(f *mapping.Field, o mapping.Operator, v mapping.Value) Bound {
	before := o == mapping.Below || o == mapping.AtMost
	isTime, of := v.Kind() == mapping.KindTime, &r.Fields[f.Index]
	if o == mapping.Above || o == mapping.AtMost {
		v = next(v)
	}
	if isTime && v.Int() < firstTime {
		v = mapping.MilliValue(firstTime)
	}
	b := of.from(v)
	if isTime && (v.Int() > maxMilli || !of.says(v, b)) { // every time is before it: from the first one on
		b, before = of.from(mapping.MilliValue(firstTime)), !before
	}
	b.Before = before
	return b
}

// says tells whether the system can say a bound in time.
func (f *Field) says(v mapping.Value, b Bound) bool {
	var clock Raw
	if len(b.At) > 1 {
		clock = b.At[1].Value
	}
	return f.codec.says(v, b.At[0].Value, clock)
}

// next is the lowest value above another.
func next(v mapping.Value) mapping.Value {
	switch v.Kind() {
	case mapping.KindTime:
		return mapping.MilliValue(v.Int() + 1)
	case mapping.KindDecimal:
		return mapping.DecimalValue(v.Int()+1, v.Scale())
	case mapping.KindFloat:
		return mapping.FloatValue(math.Nextafter(v.Float(), math.Inf(1)))
	default:
		return mapping.IntValue(v.Int() + 1)
	}
}

// from is where the system's values begin that read as v or higher.
func (f *Field) from(v mapping.Value) Bound {
	at := func(place int, raw Raw) Assignment {
		return Assignment{Place: f.From[place], Value: raw, Field: f.Field}
	}
	switch c := &f.codec; {
	case v.Kind() == mapping.KindTime:
		raw, clock := c.atLeast(v.Int(), leastWall)
		if c.clock == nil {
			return Bound{At: []Assignment{at(0, c.firstText(raw))}}
		}
		return Bound{At: []Assignment{at(0, raw), at(1, clock)}}
	case v.Kind() == mapping.KindDecimal:
		raw, open := c.fromDecimal(v)
		return Bound{At: []Assignment{at(0, raw)}, Open: open}
	case v.Kind() == mapping.KindFloat:
		return Bound{At: []Assignment{at(0, c.writeFloat(v))}}
	default:
		return Bound{At: []Assignment{at(0, intRaw(v.Int()))}}
	}
}

// fromDecimal is where the numbers begin that round, half away from zero, to v or higher.
func (c *codec) fromDecimal(v mapping.Value) (raw Raw, open bool) {
	scale := v.Scale() + 1
	half, open := v.Int()*10-5, v.Int() <= 0
	if c.decimals == 0 && c.system == sysDecimal {
		return Raw{Kind: RawNumber, Text: apd.New(half, -int32(scale)).Text('f')}, open
	}
	// Whole numbers, with decimals implied or not: the first that is not before it.
	for ; scale < c.decimals; scale++ {
		half *= 10
	}
	unit := int64(math.Pow10(scale - c.decimals))
	n := (half - mod(half, unit)) / unit
	if n*unit < half || open {
		n++
	}
	return c.digits(n), false
}

// leastWall is the earliest time on a clock in loc that reads as an instant or a later one.
func leastWall(ms int64, loc *time.Location) int64 {
	wall := WallOf(ms, loc)
	began, ends := time.UnixMilli(ms).In(loc).ZoneBounds()
	switch read := instantOf(wall, loc); { // it differs within an hour that the clock shows twice
	case read > ms:
		return WallOf(ends.UnixMilli(), loc)
	case read < ms:
		return began.UnixMilli() + offset(began.UnixMilli()-1, loc)
	default:
		return wall
	}
}
