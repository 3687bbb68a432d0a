package sheet

import (
	"slices"
	"time"
)

// UsernamePlace is where Facts have the user's name, by which one is found; ""
// where they have none.
func (f *Facts) UsernamePlace() string {
	if from := f.fields[factUsername].From; len(from) > 0 {
		return from[0]
	}
	return ""
}

// TrimsRight tells that blanks behind the field's value do not count, so that a
// value is to be looked for with and without them.
func (f *Field) TrimsRight() bool { return f.codec.trimRight }

// IsSameRow tells whether two columns are looked up in the same row.
func (l *Lookup) IsSameRow(other *Lookup) bool {
	return l.Table == other.Table && slices.Equal(l.Match, other.Match)
}

// Zone is the one that the times of the field's places are read in; nil where it has
// none, or they are instants.
func (f *Field) Zone() *time.Location {
	if f.source != fromPlace || !f.codec.isWall() {
		return nil
	}
	return f.codec.loc
}

// DeletedWhen returns what all deleted records have in common: the values of
// SoftDelete that are always the same.
func (r *Resource) DeletedWhen() []Assignment {
	var out []Assignment
	for _, f := range r.softDelete {
		if f.now == nil {
			out = append(out, Assignment{Place: f.place, Value: f.value})
		}
	}
	return out
}
