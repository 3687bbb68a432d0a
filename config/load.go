package config

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Known is what a configuration refers to and this package does not know.
type Known struct {
	// Endpoints lists the interface's endpoints for the model and the backend of a
	// configuration, whose keys are not loaded yet. Its error is a problem of the model
	// or the mapping sheet, as [strictyaml.Problems] or *Unreadable.
	Endpoints func(*Config) ([]Endpoint, error)

	// Env looks up a variable of the environment; nil means that of the process.
	Env func(name string) (value string, ok bool)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Written are files as they are to be, by path: they are read in place of what is on disk,
	// and need not be there yet.
	Written map[string][]byte
}

// Unreadable is the error of a file or a folder that a setting names, and that cannot
// be read.
type Unreadable struct {
	Setting string // backend.sheet
	Err     error
}

func (u *Unreadable) Error() string { return u.Err.Error() }
func (u *Unreadable) Unwrap() error { return u.Err }

// Expander returns what files of the configuration are expanded with, for [strictyaml.Options]. It
// replaces each ${NAME} by the variable that env has under that name, and $${ by ${. Values of
// variables are not expanded again. Any other dollar sign stands for itself.
func Expander(env func(name string) (value string, ok bool)) func(text string) (string, error) {
	return func(text string) (string, error) {
		if !strings.Contains(text, "${") {
			return text, nil
		}
		var out strings.Builder
		for {
			before, after, found := strings.Cut(text, "${")
			out.WriteString(before)
			if !found {
				return out.String(), nil
			}
			if strings.HasSuffix(before, "$") {
				out.WriteString("{")
				text = after
				continue
			}
			name, rest, closed := strings.Cut(after, "}")
			if !closed || !isVariable(name) {
				return "", errors.New("found ${ without a variable's name and }, expected ${NAME}, or $${ for ${ itself")
			}
			value, ok := env(name)
			if !ok {
				return "", fmt.Errorf("environment variable %s is not set", name)
			}
			out.WriteString(value)
			text = rest
		}
	}
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20
		if letter := c >= 'a' && c <= 'z' || name[i] == '_'; !letter && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != ""
}
