package mapping

// Body is a request body read against a resource: the values that could be
// read, the violations of those that could not, and every value as it was sent.
type Body struct {
	Record Record
	// Violations are unknown fields and ill-typed values, in body order.
	Violations Violations

	sent     []sentValue // values as they were sent, where messages need that
	supplied []bool      // by field position; true also for an ill-typed value
	update   bool        // the body is an update, and has only some of the fields
	lines    map[int][]*Body
}

// sentValue is the text that was sent for the field at a position.
type sentValue struct {
	field int
	text  string
}

// Supplied reports whether the body names the field, whatever its value.
func (b *Body) Supplied(index int) bool { return b.supplied[index] }

// Sent returns a field's value as it was sent, for messages.
func (b *Body) Sent(index int) string {
	for i := range b.sent {
		if b.sent[i].field == index {
			return b.sent[i].text
		}
	}
	return b.Record.Values[index].String()
}

func newBody(r *Resource) *Body {
	return &Body{Record: NewRecord(r), supplied: make([]bool, len(r.Fields))}
}

// BodyOf returns a body that supplies the fields that are present in rec.
func BodyOf(rec Record) *Body {
	b := &Body{Record: rec, supplied: make([]bool, len(rec.Values)), lines: map[int][]*Body{}}
	for i, v := range rec.Values {
		b.supplied[i] = !v.IsAbsent()
	}
	for i, children := range rec.Children {
		for _, child := range children {
			b.lines[i] = append(b.lines[i], BodyOf(child))
		}
	}
	return b
}

// Line returns the body of the n-th element of an array field.
func (b *Body) Line(field, n int) *Body { return b.lines[field][n] }

// set sets a value, and keeps the text that was sent for it if the value may not reproduce it.
func (b *Body) set(f *Field, v Value, sent string) {
	switch {
	case v.kind == KindTime, v.kind == KindDecimal, v.kind == KindFloat, v.kind == KindInt && sent == "-0":
		b.keepSent(f, sent)
	}
	b.Record.Values[f.Index] = v
}

func (b *Body) keepSent(f *Field, sent string) {
	if b.sent == nil {
		b.sent = make([]sentValue, 0, 8)
	}
	b.sent = append(b.sent, sentValue{f.Index, sent})
}

func (b *Body) setLines(f *Field, lines []*Body, records []Record) {
	if b.Record.Children == nil {
		b.Record.Children, b.lines = map[int][]Record{}, map[int][]*Body{}
	}
	b.Record.Values[f.Index] = RecordsValue()
	b.Record.Children[f.Index], b.lines[f.Index] = records, lines
}
