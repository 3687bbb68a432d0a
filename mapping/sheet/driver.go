package sheet

import (
	"time"
)

// UsernamePlace is the place of the user's name, by which a user is found; "" if Facts have
// none.
func (f *Facts) UsernamePlace() string {
	if from := f.fields[FactUsername].From; len(from) > 0 {
		return from[0]
	}
	return ""
}

// Zone is the zone in which the times of the field's places are read; nil if they are
// instants, or no times.
func (f *Field) Zone() *time.Location {
	if f.source != fromPlace || !f.codec.isWall() {
		return nil
	}
	return f.codec.loc
}
