package sheet

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"frontdesk/mapping"
)

// Sum is a sum of 63 bits over values and their kinds, the same over restarts:
// the version of a record whose system has none.
func Sum(values []Raw) int64 {
	var room [2048]byte
	dst := room[:0]
	for _, v := range values {
		dst = append(dst, byte(v.Kind))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Int))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(len(v.Text)))
		dst = append(dst, v.Text...)
	}
	return int64(xxhash.Sum64(dst) >> 1)
}

// Sum is Sum of a row aligned with Places, but for what is only read to be written back:
// services may write that now one way and now another.
func (r *Resource) Sum(row []Raw) int64 {
	if len(r.siblings) > 0 {
		row = slices.Clone(row)
		for _, at := range r.siblings {
			row[at] = Raw{}
		}
	}
	return Sum(row)
}

// Tag is the tag of a record: a sum of 63 bits over its version, its values and the elements
// of its arrays. A version in whole seconds can stay the same within a second, and that of an
// order may not change with its lines.
func Tag(rec mapping.Record, elements []mapping.Record) int64 {
	d := xxhash.New()
	add := func(n int, numbers ...int64) {
		var room [16]byte
		dst := binary.LittleEndian.AppendUint64(room[:0], uint64(n))
		for _, n := range numbers {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
		}
		_, _ = d.Write(dst) // a hash never fails
	}
	var room [64]byte
	plain := room[:0]
	one := func(rec mapping.Record) {
		add(len(rec.Values), rec.Version)
		for i, v := range rec.Values {
			if rec.Resource.Fields[i].Type == mapping.Array {
				continue // there or not, as they were asked for
			}
			if text := v.Text(); text != "" {
				add(len(text), int64(v.Kind()))
				_, _ = d.WriteString(text)
				continue
			}
			plain = v.AppendJSON(plain[:0])
			add(len(plain), int64(v.Kind()))
			_, _ = d.Write(plain)
		}
	}
	one(rec)
	for _, e := range elements {
		one(e)
	}
	return int64(d.Sum64() >> 1)
}
