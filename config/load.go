package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Known is what a configuration refers to but this package does not know.
type Known struct {
	// Endpoints lists the interface's endpoints for the model and the backend of a
	// configuration, whose keys are not loaded yet. Its error is a problem of the model
	// or the mapping sheet, as [strictyaml.Problems] or *Unreadable.
	Endpoints func(*Config) ([]Endpoint, error)

	// Env looks up an environment variable; nil means os.LookupEnv.
	Env func(name string) (value string, ok bool)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Written are texts that are to be written to files, by path: they are read in place of the
	// files, which need not exist yet.
	Written map[string][]byte
}

// Unreadable is the error for a file or a folder that a setting names and that cannot
// be read.
type Unreadable struct {
	Setting string // backend.sheet
	Err     error
}

func (u *Unreadable) Error() string { return u.Err.Error() }
func (u *Unreadable) Unwrap() error { return u.Err }

// Expander returns the Expand of [strictyaml.Options] for files of the configuration. It replaces
// each ${NAME} by the variable of that name in env, and $${ by ${. It does not expand the values of
// variables again. Any other dollar sign stands for itself.
func Expander(env func(name string) (value string, ok bool)) func(text string) (string, error) {
	return func(text string) (expanded string, err error) {
		if !strings.Contains(text, "${") { // the usual case
			return text, nil
		}
		expanded = variable.ReplaceAllStringFunc(text, func(found string) string {
			switch found {
			case "$${":
				return "${"
			case "${":
				err = cmp.Or(err, errors.New("found ${ without a variable's name and }, expected ${NAME}, or $${ for ${ itself"))
				return ""
			}
			name := found[len("${") : len(found)-len("}")]
			value, ok := env(name)
			if !ok {
				err = cmp.Or(err, fmt.Errorf("environment variable %s is not set", name))
			}
			return value
		})
		return expanded, err
	}
}

var variable = regexp.MustCompile(`\$\$\{|\$\{(?:[A-Za-z_][A-Za-z0-9_]*\})?`)
