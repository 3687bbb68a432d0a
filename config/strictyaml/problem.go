package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a file. Line and Column count from 1, columns in
// characters; Path leads to the value, like api_keys[1].allow[0], and is empty for the
// document as a whole. Message is one line without a full stop. Rule is the stable name of
// the broken rule, such as unknown-key; it may be empty.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Rule    string `json:"rule"`
}

// String gives the problem in the form editors can jump to:
//
//	frontdesk.yaml:12:5: api_keys[0].alow: unknown key, did you mean allow? [unknown-key]
func (p Problem) String() string {
	at := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Path)
	if p.Path != "" {
		at += ": "
	}
	if p.Rule == "" {
		return at + p.Message
	}
	return at + p.Message + " [" + p.Rule + "]"
}

// Problems is an error that lists every problem, one per line.
type Problems []Problem

// Error lists the problems in the order they have.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, nil when there are none. Use it rather
// than an assignment: empty Problems in an error variable are not nil.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Sort orders the problems by file and position.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path),
		)
	})
}
