package remote

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"frontdesk/mapping/sheet"
)

// versionOf is what changes with every change of a record: the number at the
// sheet's version, where that is one, or else a sum of 63 bits, of what is there
// or, without a version, of all that is read. It stays the same over restarts.
func (r *resource) versionOf(values []sheet.Raw) int64 {
	if r.version < 0 {
		return sumOf(values)
	}
	if v := values[r.version]; v.Kind == sheet.RawInt {
		return v.Int
	}
	return sumOf(values[r.version : r.version+1])
}

func sumOf(values []sheet.Raw) int64 {
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
