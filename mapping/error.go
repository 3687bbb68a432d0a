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

// Error is one violation, without status and message: these come from the Catalogue,
// for the scope where it is answered. Only Fail makes one.
type Error struct {
	Reason Reason
	Args   []string // for the placeholders of the row

	// Path is the array element with the field, orderlines[0], if the row names the
	// field itself; "" for the record.
	Path string

	// Position is where a body stops being JSON; zero for any other error.
	Position Position

	// Cure, if not "", replaces the catalogue's Cure: ASCII without control characters.
	Cure string

	// RetryAfter, if not zero, is after how long the client should try again.
	RetryAfter time.Duration

	cause error
}

// Literal is an argument of Fail that is text of the model, not a value of the client.
// It is never cut.
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

// Because attaches the cause of an error, which is logged but never shown.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// Cured sets Cure.
func (e *Error) Cured(cure string) *Error {
	e.Cure = cure
	return e
}

// After sets RetryAfter.
func (e *Error) After(wait time.Duration) *Error {
	e.RetryAfter = wait
	return e
}

// At sets Path.
func (e *Error) At(path string) *Error {
	e.Path = path
	return e
}

// In returns the error with its first argument, a field, prefixed by an array
// element: orderlines[0].quantity.
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

// Err returns at most MaxViolations of v as an error; nil if v is empty.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return v[:min(len(v), MaxViolations)]
}

// Add appends the violations in err, if any. It returns an error that holds none: that
// is a failure, not the client's mistake.
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
	switch e := err.(type) { // a fast path for success and nearly every refusal
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
