package legacy

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"frontdesk/mapping/sheet"
)

// versionOf is what changes with every change of a row: the number in the version
// column, where that is one, or else a sum of 63 bits, of the version column or,
// without one, of all that is read.
func (t *table) versionOf(row []sheet.Raw) int64 {
	i, ok := t.at[t.Version]
	if !ok || t.Version == "" {
		return sumOf(row)
	}
	if row[i].Kind == sheet.RawInt {
		return row[i].Int
	}
	return sumOf(row[i : i+1])
}

func sumOf(row []sheet.Raw) int64 {
	var sum xxhash.Digest
	sum.Reset()
	var head [17]byte
	for _, v := range row {
		head[0] = byte(v.Kind)
		binary.LittleEndian.PutUint64(head[1:], uint64(v.Int))
		binary.LittleEndian.PutUint64(head[9:], uint64(len(v.Text)))
		_, _ = sum.Write(head[:]) // never fails
		_, _ = sum.WriteString(v.Text)
	}
	return int64(sum.Sum64() >> 1)
}
