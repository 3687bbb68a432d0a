package legacy

import "frontdesk/mapping/sheet"

// versionOf is what changes with every change of a row: the number in the version
// column, where that is one, or else a sum of 63 bits, of the version column or,
// without one, of all that is read.
func (t *table) versionOf(row []sheet.Raw) int64 {
	i, ok := t.at[t.Version]
	if !ok || t.Version == "" {
		return sheet.Sum(row)
	}
	if row[i].Kind == sheet.RawInt {
		return row[i].Int
	}
	return sheet.Sum(row[i : i+1])
}
