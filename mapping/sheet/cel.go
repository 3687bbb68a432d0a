package sheet

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"frontdesk/mapping"
)

// maxCost bounds what one evaluation of an expression may cost, in CEL's units.
const maxCost = 100_000

// expression is a compiled CEL expression over row.
type expression struct {
	program cel.Program
	reads   []rowPath
}

// rowPath is a place that an expression reads: row.customer.id are two steps of
// the place customer.id.
type rowPath struct {
	steps []string
	at    int // position in the resource's Places
}

// condition is an expression that is true or false.
type condition struct{ *expression }

// setter computes a place out of a field's value, and of what the record has already.
type setter struct {
	place string
	*expression
}

// rowEnv is the environment of expressions over a record of the system.
var rowEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.Variable("row", cel.MapType(cel.StringType, cel.DynType)))
})

// compileRow compiles an expression over row. place tells the position of a
// place, which it adds where it is new.
func compileRow(text string, place func(name string) int, wants ...*cel.Type) (*expression, error) {
	env, err := rowEnv()
	if err != nil {
		return nil, err
	}
	return compileOver(env, text, place, wants)
}

func compileOver(env *cel.Env, text string, place func(name string) int, wants []*cel.Type) (*expression, error) {
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		messages := make([]string, 0, 1)
		for _, e := range issues.Errors() {
			messages = append(messages, fmt.Sprintf("%s at character %d", e.Message, e.Location.Column()+1))
		}
		return nil, fmt.Errorf("%s", strings.Join(messages, "; "))
	}
	out := checked.OutputType()
	fits := false
	for _, want := range wants {
		fits = fits || out.IsExactType(want) || out.Kind() == types.DynKind || out.Kind() == types.NullTypeKind
	}
	if !fits {
		names := make([]string, len(wants))
		for i, want := range wants {
			names[i] = want.String()
		}
		return nil, fmt.Errorf("it gives %s, expected %s", out, strings.Join(names, " or "))
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return nil, err
	}
	e := &expression{program: program}
	for _, steps := range rowPaths(ast.NavigateAST(checked.NativeRep())) {
		e.reads = append(e.reads, rowPath{steps, place(strings.Join(steps, "."))})
	}
	return e, nil
}

// rowPaths finds what an expression reads of row.
func rowPaths(root ast.NavigableExpr) [][]string {
	var paths [][]string
	seen := map[string]bool{}
	var walk func(e ast.NavigableExpr)
	walk = func(e ast.NavigableExpr) {
		if steps := pathOf(e); len(steps) > 0 {
			if joined := strings.Join(steps, "\x00"); !seen[joined] {
				seen[joined] = true
				paths = append(paths, steps)
			}
			return
		}
		for _, child := range e.Children() {
			walk(child)
		}
	}
	walk(root)
	return paths
}

// pathOf returns the steps of row.a.b or row["a.b"]; none for any other expression.
func pathOf(e ast.Expr) []string {
	var of ast.Expr
	var step string
	switch e.Kind() {
	case ast.SelectKind:
		of, step = e.AsSelect().Operand(), e.AsSelect().FieldName()
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != "_[_]" || len(call.Args()) != 2 || call.Args()[1].Kind() != ast.LiteralKind {
			return nil
		}
		key, ok := call.Args()[1].AsLiteral().Value().(string)
		if !ok {
			return nil
		}
		of, step = call.Args()[0], key
	default:
		return nil
	}
	if isRow(of) {
		return []string{step}
	}
	if steps := pathOf(of); steps != nil {
		return append(steps, step)
	}
	return nil
}

func isRow(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "row" }

// eval computes the expression over a row aligned with Places.
func (e *expression) eval(row []Raw) (ref.Val, error) {
	out, _, err := e.program.Eval(map[string]any{"row": e.of(row)})
	return out, err
}

// of is what the expression reads of a row; nil stands for the row of a record that does not
// exist yet.
func (e *expression) of(row []Raw) map[string]any {
	values := make(map[string]any, len(e.reads))
	if row == nil {
		return values
	}
	for _, read := range e.reads {
		in := values // has(row.a.b) needs an a, whatever the answer has
		for _, step := range read.steps[:len(read.steps)-1] {
			inner, ok := in[step].(map[string]any)
			if !ok {
				inner = map[string]any{}
				in[step] = inner
			}
			in = inner
		}
		if raw := row[read.at]; raw.Kind != RawAbsent {
			in[read.steps[len(read.steps)-1]] = native(raw)
		}
	}
	return values
}

// holds evaluates a condition.
func (c condition) holds(row []Raw) (bool, error) {
	out, err := c.eval(row)
	if err != nil {
		return false, err
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it gives %s, not true or false", out.Type().TypeName())
	}
	return holds, nil
}

// native is a raw as a value of CEL. Decimals become double, since CEL has no others.
func native(r Raw) any {
	switch r.Kind {
	case RawBool:
		return r.Int != 0
	case RawInt:
		return r.Int
	case RawNumber:
		f, _ := strconv.ParseFloat(r.Text, 64)
		return f
	case RawText:
		return r.Text
	case RawBytes:
		return []byte(r.Text)
	case RawTime, RawWall:
		return time.UnixMilli(r.Int).UTC()
	default:
		return nil
	}
}

// resultRaw is the result of an expression as a value of the system.
func resultRaw(out ref.Val) (Raw, error) {
	switch v := out.(type) {
	case types.Null:
		return Raw{Kind: RawNull}, nil
	case types.Bool:
		return boolRaw(bool(v)), nil
	case types.Int:
		return intRaw(int64(v)), nil
	case types.Uint:
		return Raw{Kind: RawNumber, Text: strconv.FormatUint(uint64(v), 10)}, nil
	case types.Double:
		return Raw{Kind: RawNumber, Text: strconv.FormatFloat(float64(v), 'f', -1, 64)}, nil
	case types.String:
		return textRaw(string(v)), nil
	case types.Bytes:
		return Raw{Kind: RawBytes, Text: string(v)}, nil
	case types.Timestamp:
		return Raw{Kind: RawTime, Int: v.UnixMilli()}, nil
	default:
		return Raw{}, fmt.Errorf("it gives %s, which is no value", out.Type().TypeName())
	}
}

// celTypes are the types that a field's expression may give, and the one that
// its value has in set.
func celTypes(f *mapping.Field) (gives []*cel.Type, value *cel.Type) {
	switch f.Type {
	case mapping.Int4:
		return []*cel.Type{cel.IntType, cel.UintType, cel.BoolType, cel.DoubleType}, cel.NullableType(cel.IntType)
	case mapping.Float8:
		return []*cel.Type{cel.DoubleType, cel.IntType, cel.UintType}, cel.NullableType(cel.DoubleType)
	case mapping.Timestamp:
		return []*cel.Type{cel.TimestampType, cel.StringType}, cel.NullableType(cel.TimestampType)
	case mapping.Bytea:
		return []*cel.Type{cel.BytesType}, cel.NullableType(cel.BytesType)
	default:
		return []*cel.Type{cel.StringType}, cel.NullableType(cel.StringType)
	}
}

// compileSet compiles an expression over the value of a field, and row. at tells the
// position of a place, as for compileRow.
func compileSet(place, text string, f *mapping.Field, at func(name string) int) (setter, error) {
	_, value := celTypes(f)
	if f.Type == mapping.Timestamp { // CEL has no nullable one
		value = cel.DynType
	}
	env, err := rowEnv()
	if err != nil {
		return setter{}, err
	}
	if env, err = env.Extend(cel.Variable("value", value)); err != nil {
		return setter{}, err
	}
	e, err := compileOver(env, text, at, []*cel.Type{cel.StringType, cel.IntType, cel.UintType, cel.DoubleType, cel.BoolType, cel.BytesType, cel.TimestampType})
	return setter{place, e}, err
}

// set computes the place from a value and the record's row; the row is nil if there is none
// yet.
func (s setter) set(v mapping.Value, row []Raw) (Raw, error) {
	var value any
	switch v.Kind() {
	case mapping.KindInt:
		value = v.Int()
	case mapping.KindDecimal, mapping.KindFloat:
		value = v.Float()
	case mapping.KindText:
		value = v.Text()
	case mapping.KindTime:
		value = v.Time()
	case mapping.KindBytes:
		value = []byte(v.Text())
	}
	out, _, err := s.program.Eval(map[string]any{"value": value, "row": s.of(row)})
	if err != nil {
		return Raw{}, err
	}
	return resultRaw(out)
}

// boolType is the type of conditions.
var boolType = cel.BoolType
