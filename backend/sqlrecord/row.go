package sqlrecord

import "frontdesk/mapping"

// largeValue is the size from which bytes are not kept by a connection: neither
// as its scratch space nor as a parameter of a statement at rest.
const largeValue = 1 << 16

// rowSpace is the space into which rows are read. All text of a row becomes one string, which its
// values share.
type rowSpace struct {
	values  []mapping.Value
	scratch []byte // the text of one row
	ends    []int  // where in scratch each text ends
}

// beginRow begins a row, and returns the space for its text.
func (r *rowSpace) beginRow(columns int) (text []byte) {
	if cap(r.values) < columns {
		r.values = make([]mapping.Value, columns)
	}
	r.values, r.ends = r.values[:columns], r.ends[:0]
	return r.scratch[:0]
}

// set notes a value. A text was appended to text; its value stays empty until endRow.
func (r *rowSpace) set(i int, v mapping.Value, text []byte) {
	if r.values[i] = v; v.Kind() == mapping.KindText {
		r.ends = append(r.ends, len(text))
	}
}

// endRow gives the texts of a row their parts of one string.
func (r *rowSpace) endRow(text []byte) {
	if len(r.ends) > 0 {
		all, start, next := string(text), 0, 0
		for i := range r.values {
			if r.values[i].Kind() == mapping.KindText {
				r.values[i] = mapping.TextValue(all[start:r.ends[next]])
				start = r.ends[next]
				next++
			}
		}
	}
	if cap(text) <= largeValue {
		r.scratch = text
	}
}
