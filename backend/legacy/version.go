package legacy

import "frontdesk/mapping/sheet"

// versionOf is a number that changes with every change of a row: the value of the version
// column, if that is a number; or else a sum of 63 bits, over the version column or, without
// one, over all that is read.
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
