package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Error is one violation, still without words: the Catalogue gives it status
// and message in the scope where it is answered. Only Fail makes one.
type Error struct {
	Reason Reason
	Args   []string // what the row's placeholders take

	// Path is the array element that is meant, orderlines[0], where the row names
	// its field itself; "" for the record.
	Path string

	// Position is where a body is not JSON; the zero Position for any other error.
	Position Position

	// Cure, where it is not empty, says what to do about it in place of what the catalogue
	// says of the reason: ASCII without control characters.
	Cure string

	// RetryAfter, where it is not zero, tells the client when to come back.
	RetryAfter time.Duration

	cause error
}

// Literal is an argument of Fail that is the model's own text, not the client's
// value, and so is never cut.
type Literal string

// shownLength is how many characters of a client's value a message repeats.
const shownLength = 100

// Fail raises an error that a client sees. The arguments fill the placeholders
// of the row in order; strings are cut at 100 characters.
func Fail(r Reason, args ...any) *Error {
	e := &Error{Reason: r}
	if len(args) > 0 {
		e.Args = make([]string, len(args))
	}
	for i, a := range args {
		switch a := a.(type) {
		case string:
			e.Args[i] = shorten(a)
		case Literal:
			e.Args[i] = string(a)
		case int:
			e.Args[i] = strconv.Itoa(a)
		case int32:
			e.Args[i] = strconv.Itoa(int(a))
		default:
			e.Args[i] = shorten(fmt.Sprint(a))
		}
	}
	return e
}

// Because attaches the cause of an error: logged, never shown.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Cured says what to do about the error.
func (e *Error) Cured(cure string) *Error {
	e.Cure = cure
	return e
}

// After says when the client should try again.
func (e *Error) After(wait time.Duration) *Error {
	e.RetryAfter = wait
	return e
}

// At names the array element that a row's own field is of; "" for none.
func (e *Error) At(path string) *Error {
	e.Path = path
	return e
}

// In returns the error with its first argument, a field, named as a part of an
// array element: orderlines[0].quantity.
func (e *Error) In(path string) *Error {
	inner := *e
	inner.Args = append([]string{path + "." + e.Args[0]}, e.Args[1:]...)
	return &inner
}

func (e *Error) Error() string {
	s := string(e.Reason)
	if len(e.Args) > 0 {
		s += ": " + strings.Join(e.Args, ", ")
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// Violations are all the errors of one stage, in the order they are answered.
type Violations []*Error

func (v Violations) Error() string {
	parts := make([]string, len(v))
	for i, e := range v {
		parts[i] = e.Error()
	}
	return strings.Join(parts, "; ")
}

// Err returns v as an error, no more of it than is told, or nil when it is empty.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return v[:min(len(v), MaxViolations)]
}

// Add appends what err holds: nothing, one violation or several. An error that
// is not a violation is returned: it is a failure, not the client's mistake.
func (v *Violations) Add(err error) error {
	if err == nil {
		return nil
	}
	found, ok := AsViolations(err)
	if !ok {
		return err
	}
	*v = append(*v, found...)
	return nil
}

// AsViolations finds the violations in an error chain.
func AsViolations(err error) (Violations, bool) {
	switch e := err.(type) { // spares successes, and nearly every refusal, the search below
	case nil:
		return nil, false
	case *Error:
		return Violations{e}, true
	case Violations:
		return e, true
	}
	if v, ok := errors.AsType[Violations](err); ok {
		return v, true
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return Violations{e}, true
	}
	return nil, false
}

// Is reports whether err holds a violation of this reason.
func Is(err error, r Reason) bool {
	v, _ := AsViolations(err)
	return slices.ContainsFunc(v, func(e *Error) bool { return e.Reason == r })
}

func shorten(s string) string {
	if len(s) <= shownLength || utf8.RuneCountInString(s) <= shownLength {
		return s
	}
	n := 0
	for i := range s {
		if n == shownLength {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
