package sheet

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Sum is a sum of 63 bits over values and their kinds, the same over restarts:
// the version of a record whose system has none.
func Sum(values []Raw) int64 {
	var sum xxhash.Digest
	sum.Reset()
	var head [17]byte
	for _, v := range values {
		head[0] = byte(v.Kind)
		binary.LittleEndian.PutUint64(head[1:], uint64(v.Int))
		binary.LittleEndian.PutUint64(head[9:], uint64(len(v.Text)))
		_, _ = sum.Write(head[:]) // never fails
		_, _ = sum.WriteString(v.Text)
	}
	return int64(sum.Sum64() >> 1)
}
