package config

import (
	"fmt"

	"frontdesk/config/strictyaml"
)

// Expectation is a test of the allowlists: what is to become of a request with an
// api_key.
type Expectation struct {
	Key     string `yaml:"key" schema:"required"`                          // its name
	Request string `yaml:"request" schema:"required"`                      // a method and a path below the base path, as it is sent: DELETE /order/5
	Verdict string `yaml:"verdict" schema:"required,enum=allowed|refused"` // allowed or refused

	at         strictyaml.Problem // without a message
	keyAt      spot
	keyWritten string // Key, where a variable of the environment gives it
}

// At is where the expectation stands.
func (e *Expectation) At() Place { return Place{e.at.File, e.at.Line} }

// Unmet is the problem of an expectation that the allowlists do not meet.
func (e *Expectation) Unmet(format string, args ...any) strictyaml.Problem {
	p := e.at
	p.Rule, p.Message = ruleExpectUnmet, fmt.Sprintf(format, args...)
	return p
}
