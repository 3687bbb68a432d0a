package config

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"frontdesk/config/strictyaml"
)

// Redactor removes values of environment variables from messages, because they may be
// secret. Its zero value, and nil, know none. It is safe for concurrent use.
type Redactor struct {
	mu     sync.Mutex
	found  [][2]string // text to hide, and its replacement
	sorted bool        // found is sorted, the longest text first
}

// shortestHidden is the length from which a value is hidden: shorter ones occur in any
// text.
const shortestHidden = 4

// Add hides the value of a variable, also where a message quotes or shortens it.
func (r *Redactor) Add(name, value string) {
	if len(value) < shortestHidden {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range []string{value, strings.Trim(strictyaml.Quote(value), `"…`)} {
		r.found = append(r.found, [2]string{form, "${" + name + "}"})
	}
	r.sorted = false
}

// Hide returns a message without values of variables.
func (r *Redactor) Hide(message string) string {
	if r == nil {
		return message
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sorted {
		slices.SortStableFunc(r.found, func(a, b [2]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
		r.sorted = true
	}
	for _, f := range r.found {
		message = strings.ReplaceAll(message, f[0], f[1])
	}
	return message
}

// Hide returns a message without the values of variables that the configuration refers
// to.
func (c *Config) Hide(message string) string { return c.hide.Hide(message) }
