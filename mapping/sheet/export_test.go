package sheet

import (
	"maps"
	"slices"

	"frontdesk/mapping"
)

// Raisable are the reasons that a system's error may stand for.
func Raisable() []mapping.Reason { return slices.Sorted(maps.Keys(raisable())) }

// NamesField tells whether the message of a reason names a field.
func NamesField(r mapping.Reason) bool { return namesField(raisable()[r]) }

// OwnField is the field that the message of a reason names itself, and takes the value of.
func OwnField(r mapping.Reason) string { return ownField(raisable()[r]) }
