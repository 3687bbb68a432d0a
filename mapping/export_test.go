package mapping

import "time"

// Rows are the rows of the catalogue as they are written.
func Rows() []Entry { return append(interfaceRows(), contractRows()...) }

// DecodePlain reads only bodies that are plain.
func DecodePlain(r *Resource, arrays Arrays, data []byte, loc *time.Location) (*Body, bool) {
	return decodePlain(r, arrays, string(data), loc)
}

// DecodeAny reads every body the same way.
func DecodeAny(r *Resource, arrays Arrays, data []byte, loc *time.Location) (*Body, error) {
	return decodeAny(r, arrays, data, string(data), loc)
}
