package sheet

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
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
