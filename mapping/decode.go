package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a body. A body that is nested deeper than MaxDepth is refused as no JSON; one with
// larger arrays or objects is refused as too large. At most MaxViolations are reported.
const (
	MaxDepth      = 32
	MaxElements   = 1000
	MaxMembers    = 1000
	MaxViolations = 1000
)

// DecodeBody reads a JSON object as a record of r. The error is EmptyBody,
// BodyNotJSON or BodyTooLarge, after which nothing else can be judged. All other
// problems are in Body.Violations.
func DecodeBody(r *Resource, data []byte, loc *time.Location) (*Body, error) {
	return DecodeBodyOf(r, nil, data, loc)
}

// DecodeBodyOf is DecodeBody for a caller whose model has only these arrays.
func DecodeBodyOf(r *Resource, arrays Arrays, data []byte, loc *time.Location) (*Body, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, Fail(EmptyBody)
	}
	text := string(data)
	if b, ok := decodePlain(r, arrays, text, loc); ok {
		return b, nil
	}
	return decodeAny(r, arrays, data, text, loc)
}

// decodeAny reads any body. text is data as a string, of which values are substrings.
func decodeAny(r *Resource, arrays Arrays, data []byte, text string, loc *time.Location) (*Body, error) {
	d := r.model.newDecoder(arrays, data, text, loc)
	defer r.model.free(d)
	return readWhole(d.json, data, func() (*Body, error) { return d.object(r) })
}

// readWhole reads data, which must be one JSON object. The error is BodyNotJSON or BodyTooLarge.
func readWhole[T any](d *jsontext.Decoder, data []byte, read func() (T, error)) (T, error) {
	var none T
	if len(data) > leastCrowded && isCrowded(data) {
		return none, Fail(BodyTooLarge)
	}
	if d.PeekKind() != '{' {
		return none, notJSON(data, 0, nil)
	}
	body, err := read()
	end := d.InputOffset()
	switch {
	case errors.Is(err, errTooMany):
		return none, Fail(BodyTooLarge)
	case err != nil:
		return none, notJSON(data, end, err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return none, notJSON(data, end, nil)
	}
	return body, nil
}

var errTooMany = errors.New("too many elements")

// errTooDeep is the offset of the byte at which a body nests too deep.
type errTooDeep int64

func (errTooDeep) Error() string { return "nested too deep" }

// decoder parses one body. text is a copy of the body; all texts of the record are substrings
// of it, so they need only one allocation.
type decoder struct {
	json   *jsontext.Decoder
	in     bytes.Buffer
	text   string
	loc    *time.Location
	arrays Arrays
}

func (m *Model) newDecoder(arrays Arrays, data []byte, text string, loc *time.Location) *decoder {
	d, _ := m.decoders.Get().(*decoder)
	if d == nil {
		d = &decoder{json: new(jsontext.Decoder)}
	}
	d.text, d.loc, d.in, d.arrays = text, loc, *bytes.NewBuffer(data), arrays
	d.json.Reset(&d.in)
	return d
}

// free drops the body and keeps the decoder for the next one.
func (m *Model) free(d *decoder) {
	d.text, d.loc, d.in, d.arrays = "", nil, bytes.Buffer{}, nil
	d.json.Reset(&d.in)
	m.decoders.Put(d)
}

func (d *decoder) object(r *Resource) (*Body, error) {
	if _, err := d.json.ReadToken(); err != nil {
		return nil, err
	}
	b := newBody(r)
	for d.json.PeekKind() != '}' {
		raw, err := d.json.ReadValue()
		if err != nil {
			return nil, err
		}
		name := d.unquote(raw)
		f := r.byName[name]
		switch {
		case f == nil || !f.In(d.arrays):
			if _, err := d.value(); err != nil {
				return nil, err
			}
			if len(b.Violations) < MaxViolations {
				b.Violations = append(b.Violations, Fail(FieldNotInModel, name))
			}
		case f.Type == Array && d.json.PeekKind() == '[':
			if err := d.array(b, f); err != nil {
				return nil, err
			}
		default:
			if err := d.field(b, f); err != nil {
				return nil, err
			}
		}
	}
	_, err := d.json.ReadToken()
	return b, err
}

// value reads the next value, and fails if it nests too deep.
func (d *decoder) value() (jsontext.Value, error) { return readBounded(d.json) }

func readBounded(d *jsontext.Decoder) (jsontext.Value, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if at := depthExceededAt(raw, MaxDepth-d.StackDepth()); at >= 0 {
		return nil, errTooDeep(d.InputOffset() - int64(len(raw)-at))
	}
	return raw, nil
}

func (d *decoder) field(b *Body, f *Field) error {
	raw, err := d.value()
	if err != nil {
		return err
	}
	b.supplied[f.Index] = true
	if f.Type == Array { // the value is not an array, and is judged like an empty one
		return nil
	}
	text := d.textOf(raw)
	v, ok := f.parseJSON(raw.Kind(), text, d.loc)
	if !ok {
		sent := sentText(raw)
		b.Violations = append(b.Violations, f.Invalid(sent))
		b.keepSent(f, sent)
		return nil
	}
	b.set(f, v, text)
	return nil
}

func (d *decoder) array(b *Body, f *Field) error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	b.supplied[f.Index] = true
	var lines []*Body
	var records []Record
	for d.json.PeekKind() != ']' {
		if len(lines) == MaxElements {
			return errTooMany
		}
		if d.json.PeekKind() == '{' {
			line, err := d.object(f.target)
			if err != nil {
				return err
			}
			lines, records = append(lines, line), append(records, line.Record)
			continue
		}
		raw, err := d.value()
		if err != nil {
			return err
		}
		element := Literal(fmt.Sprintf("%s[%d]", f.Name, len(lines)))
		b.Violations = append(b.Violations, Fail(VarcharInvalid, element, sentText(raw)))
		lines, records = append(lines, nil), append(records, NewRecord(f.target))
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	b.setLines(f, lines, records)
	return nil
}

// parseJSON reads a value of the field's datatype. It takes null, and an empty string if the field is a text
// or required, as null. The text of a string comes without quotes.
func (f *Field) parseJSON(kind jsontext.Kind, text string, loc *time.Location) (Value, bool) {
	if kind == '"' && text == "" && (f.IsText() || f.Required) {
		return NullValue(), true
	}
	wanted := jsontext.Kind('"')
	if f.Type == Int4 || f.Type == Float8 {
		wanted = '0'
	}
	switch kind {
	case 'n':
		return NullValue(), true
	case wanted:
		return f.parse(text, loc)
	default:
		return Value{}, false
	}
}

// part returns the value that was just read as a substring of the body's text.
func (d *decoder) part(raw jsontext.Value) string {
	end := int(d.json.InputOffset())
	return d.text[end-len(raw) : end]
}

// textOf returns the value that was just read as text, a string without its quotes.
func (d *decoder) textOf(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		return d.unquote(raw)
	}
	return d.part(raw)
}

// unquote returns the string that was just read.
func (d *decoder) unquote(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		s := d.part(raw)
		return s[1 : len(s)-1]
	}
	return unquote(raw)
}

func unquote(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "\x00" // a lone surrogate: no text field takes it
	}
	return string(b)
}

// sentText formats a value as messages repeat it: strings without quotes, all else compact.
func sentText(raw jsontext.Value) string {
	if raw.Kind() == '"' {
		b, _ := jsontext.AppendUnquote(nil, raw)
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	c := raw.Clone()
	if err := c.Compact(); err != nil {
		return string(raw)
	}
	return string(c)
}

// beyondDepth returns where a valid JSON value nests deeper than that, -1 if it does not.
func depthExceededAt(raw jsontext.Value, most int) int {
	if k := raw.Kind(); k != '{' && k != '[' {
		return -1
	}
	now, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if now++; now > most {
				return i
			}
		case c == '}' || c == ']':
			now--
		}
	}
	return -1
}

// leastCrowded is the length of the shortest body that may have an object with more than MaxMembers members.
const leastCrowded = MaxMembers * len(`"":0,`)

// isCrowded reports whether an object has more than MaxMembers members. It runs before the JSON decoder, which
// would keep all names of an object in memory to find duplicates.
func isCrowded(data []byte) bool {
	var commas [MaxDepth + 1]int // commas of the object at each depth; -1 for an array
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return false // the decoder refuses the body for its depth
			}
			commas[depth] = 0
			if c == '[' {
				commas[depth] = -1
			}
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
		case c == ',' && commas[depth] >= 0:
			if commas[depth]++; commas[depth] >= MaxMembers {
				return true
			}
		}
	}
	return false
}

// CutMember removes a member from a JSON object, and returns the rest of the object and
// the member's value: absent if there is none, text without quotes, anything else as it
// was sent. The error is BodyNotJSON.
func CutMember(data []byte, name string) (rest []byte, value Value, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	rest, err = readWhole(d, data, func() ([]byte, error) {
		_, _ = d.ReadToken() // readWhole has seen the {
		rest := []byte{'{'}
		for d.PeekKind() != '}' {
			member, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			member = member.Clone()
			raw, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			if unquote(member) == name {
				value = memberValue(raw)
				continue
			}
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, member...), ':'), raw...)
		}
		_, err := d.ReadToken()
		return append(rest, '}'), err
	})
	return rest, value, err
}

// memberValue returns a member's value in the form of CutMember.
func memberValue(raw jsontext.Value) Value {
	switch raw.Kind() {
	case 'n':
		return NullValue()
	case '"':
		return TextValue(unquote(raw))
	default:
		return BytesValue(raw)
	}
}
