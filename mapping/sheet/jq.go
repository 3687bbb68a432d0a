package sheet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// JQ is a jq program. It is safe for concurrent use.
type JQ struct {
	text, at string      // the text, and its path in the sheet
	query    *gojq.Query // includes the definitions of the sheet
	code     *gojq.Code  // nil for a program that does not compile
}

// ErrNothing says that a jq program yielded nothing.
var ErrNothing = errors.New("jq yields nothing")

// NewJQ compiles a program, which may use the definitions in prelude. The program has no access to
// files or environment.
func NewJQ(prelude, text string) (*JQ, error) {
	q := &JQ{text: text}
	return q, q.compile(prelude)
}

func (q *JQ) compile(prelude string) error {
	query, err := gojq.Parse(prelude + "\n" + q.text)
	if err != nil {
		return err
	}
	if q.code, err = gojq.Compile(query); err == nil {
		q.query = query
	}
	return err
}

// String returns the program.
func (q *JQ) String() string { return q.text }

// First returns the first value that the program yields for an input of JSON: nil, bool, json.Number,
// string, []any or map[string]any. It fails with ErrNothing if the program yields nothing, and when ctx
// ends. It does not change the input. It rounds calculated numbers to 15 digits, so that results of
// decimals are exact: 4.35 * 100 is 435. The value may be a constant of the program: copy it before you
// change it.
func (q *JQ) First(ctx context.Context, input any) (any, error) {
	v, ok := q.code.RunWithContext(ctx, input).Next()
	if !ok {
		return nil, ErrNothing
	}
	if err, failed := v.(error); failed {
		if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
			return nil, ErrNothing
		}
		return nil, fmt.Errorf("jq %s: %w", q.text, err)
	}
	v, _ = exact(v)
	return v, nil
}

// exact replaces the floating-point numbers in a value by decimals; changed reports whether there are any.
func exact(v any) (_ any, changed bool) {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return v, false
		}
		return json.Number(strconv.FormatFloat(v, 'g', 15, 64)), true
	case []any:
		out := v
		for i, element := range v {
			if of, is := exact(element); is {
				if !changed {
					out, changed = slices.Clone(v), true
				}
				out[i] = of
			}
		}
		return out, changed
	case map[string]any:
		out := v
		for name, member := range v {
			if of, is := exact(member); is {
				if !changed {
					out, changed = maps.Clone(v), true
				}
				out[name] = of
			}
		}
		return out, changed
	default:
		return v, false
	}
}

// Holds reports whether the program yields something that is neither false nor null.
func (q *JQ) Holds(ctx context.Context, input any) (bool, error) {
	v, err := q.First(ctx, input)
	if errors.Is(err, ErrNothing) {
		return false, nil
	}
	return v != nil && v != false, err
}
