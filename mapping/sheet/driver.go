package sheet

import (
	"slices"
	"time"
)

// UsernamePlace is the place of the user's name, by which a user is found; "" if Facts have
// none.
func (f *Facts) UsernamePlace() string {
	if from := f.fields[factUsername].From; len(from) > 0 {
		return from[0]
	}
	return ""
}

// TrimsRight tells whether trailing blanks of the field's value do not count, so that a value
// has to be looked for with and without them.
func (f *Field) TrimsRight() bool { return f.codec.trimRight }

// IsSameRow tells whether two lookups read the same row.
func (l *Lookup) IsSameRow(other *Lookup) bool {
	return l.Table == other.Table && slices.Equal(l.Match, other.Match)
}

// Zone is the zone in which the times of the field's places are read; nil if they are
// instants, or no times.
func (f *Field) Zone() *time.Location {
	if f.source != fromPlace || !f.codec.isWall() {
		return nil
	}
	return f.codec.loc
}

// DeletedWhen returns what all deleted records have in common: those values of SoftDelete that
// never vary.
func (r *Resource) DeletedWhen() []Assignment {
	var out []Assignment
	for _, f := range r.softDelete {
		if f.now == nil {
			out = append(out, Assignment{Place: f.place, Value: f.value})
		}
	}
	return out
}
