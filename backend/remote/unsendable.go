package remote

import "errors"

// unsendable is the error of a value that a request cannot carry, or that would be read there as
// something else than a value. The request was not sent. The error does not show the value.
type unsendable struct {
	Placeholder string // "" where a whole header or path is wrong
	Why         string
}

func (u *unsendable) Error() string {
	if u.Placeholder == "" {
		return "the request cannot be made: " + u.Why
	}
	return "{" + u.Placeholder + "} cannot be sent: " + u.Why
}

// isUnsendable tells whether a request could not be made because of a value.
func isUnsendable(err error) bool {
	return err != nil && errors.As(err, new(*unsendable))
}
