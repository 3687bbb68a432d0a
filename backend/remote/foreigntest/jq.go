package foreigntest

import (
	"fmt"
	"sync"

	"github.com/itchyny/gojq"
)

// JQ computes something of what a service has.
type JQ string

// jqVars are the variables that a JQ may have; those that nobody sets are null.
var jqVars = []string{"$of", "$company", "$from", "$n", "$name", "$row"}

var jqCompiled sync.Map // by their text

// All are the values that the query yields for an input.
func (q JQ) All(in any, vars map[string]any) (all []any) {
	code, _ := jqCompiled.LoadOrStore(q, sync.OnceValue(q.compile))
	values := make([]any, len(jqVars))
	for i, name := range jqVars {
		values[i] = vars[name]
	}
	for found := code.(func() *gojq.Code)().Run(in, values...); ; {
		v, more := found.Next()
		if !more {
			return all
		}
		if err, fails := v.(error); fails {
			panic(fmt.Errorf("jq %s: %w", q, err))
		}
		all = append(all, v)
	}
}

func (q JQ) compile() *gojq.Code {
	query, err := gojq.Parse(string(q))
	if err == nil {
		var code *gojq.Code
		if code, err = gojq.Compile(query, gojq.WithVariables(jqVars)); err == nil {
			return code
		}
	}
	panic(fmt.Errorf("jq %s: %w", q, err))
}

// One is the only value that the query yields.
func (q JQ) One(in any, vars map[string]any) any { return q.All(in, vars)[0] }

// Text is One as a text.
func (q JQ) Text(in any, vars map[string]any) string { return fmt.Sprint(q.One(in, vars)) }
