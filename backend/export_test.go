package backend

// What the search of attempts at a write needs.
type (
	ProgressEvent  = progressEvent
	ProgressEffect = progressEffect
)

// The events and effects of an Attempt.
const (
	Taking, Sending, Undoing, Answering = taking, sending, undoing, answering
	Losing, Succeeding, Failing         = losing, succeeding, failing
	Nothing, Begin, Finish, Abandon     = nothing, begin, finish, abandon
)

// After is after.
func (p Progress) After(e ProgressEvent) (Progress, ProgressEffect, error) { return p.after(e) }
