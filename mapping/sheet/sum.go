package sheet

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"frontdesk/mapping"
)

// Sum returns a checksum of 63 bits of a text, for versions that are no numbers. It is stable over restarts.
func Sum(text string) int64 {
	dst := append(make([]byte, 0, 64), 5) // the kind of a text in an earlier format, so that sums stay the same
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(text)))
	return int64(xxhash.Sum64(append(dst, text...)) >> 1)
}

// Tag returns the Tag of a record: a checksum of 63 bits of its version, its values and the elements
// of its arrays. The version alone is not enough: one in whole seconds can stay the same within a
// second, and that of an order may not change with its lines.
func Tag(rec mapping.Record, elements []mapping.Record) int64 {
	var room [2048]byte
	dst := appendTagged(room[:0], rec)
	if len(elements) == 0 {
		return int64(xxhash.Sum64(dst) >> 1)
	}
	d := xxhash.New()
	_, _ = d.Write(dst) // a hash never fails
	for _, e := range elements {
		dst = appendTagged(dst[:0], e)
		_, _ = d.Write(dst)
	}
	return int64(d.Sum64() >> 1)
}

// appendTagged appends the version of a record, and the length, the kind and the text of each of
// its values.
func appendTagged(dst []byte, rec mapping.Record) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(rec.Values)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(rec.Version))
	for i, v := range rec.Values {
		if rec.Resource.Fields[i].Type == mapping.Array {
			continue // arrays are present only if they were requested
		}
		head := len(dst)
		dst = binary.LittleEndian.AppendUint64(dst, 0) // the length, filled in below
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v.Kind()))
		from := len(dst)
		if text := v.Text(); text != "" {
			dst = append(dst, text...)
		} else {
			dst = v.AppendJSON(dst)
		}
		binary.LittleEndian.PutUint64(dst[head:], uint64(len(dst)-from))
	}
	return dst
}
