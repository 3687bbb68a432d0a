package remote

import "frontdesk/mapping/sheet"

// versionOf is what changes with every change of a record: the number at the
// sheet's version, where that is one, or else a sum of 63 bits, of what is there
// or, without a version, of all that is read. It stays the same over restarts.
func (r *resource) versionOf(values []sheet.Raw) int64 {
	if r.version < 0 {
		return sheet.Sum(values)
	}
	if v := values[r.version]; v.Kind == sheet.RawInt {
		return v.Int
	}
	return sheet.Sum(values[r.version : r.version+1])
}
