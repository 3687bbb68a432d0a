package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// longestShown bounds how much of a value a message repeats.
const longestShown = 60

// scalar is the text of a single value.
type scalar struct {
	text    string
	written string // before expansion; messages may show it
	quoted  bool   // in quotes, so meant as text; never true of an expanded value
}

var durationType = reflect.TypeFor[time.Duration]()

// scalar decodes the kinds that hold a single value.
func (d *decoder) scalar(n *node, v reflect.Value, path string) {
	switch kind := v.Kind(); {
	case v.Type() == durationType:
		d.text(n, path, "a duration such as 30s or 1h30m", func(s scalar) error { return setDuration(v, s) })
	case kind == reflect.String:
		d.text(n, path, "text", func(s scalar) error { v.SetString(s.text); return nil })
	case kind == reflect.Bool:
		d.text(n, path, "true or false", func(s scalar) error { return setBool(v, s) })
	case v.CanInt():
		d.text(n, path, "a whole number", func(s scalar) error { return setInt(v, s) })
	case v.CanUint():
		d.text(n, path, "a whole number", func(s scalar) error { return setUint(v, s) })
	case v.CanFloat():
		d.text(n, path, "a number", func(s scalar) error { return setFloat(v, s) })
	default:
		panic(fmt.Sprintf("strictyaml: cannot decode into %s at %q", v.Type(), path))
	}
}

// text passes the text of a scalar to set and reports the error of set; wants says what
// was expected if the node is not a scalar.
func (d *decoder) text(n *node, path, wants string, set func(scalar) error) {
	if n.kind == Null && wants == "text" {
		wants = `text ("" for none)`
	}
	if n.kind != Scalar {
		d.problem(n, ruleKind, path, "found %s, expected %s", n.kind, wants)
		return
	}
	s := scalar{text: n.text, written: n.text, quoted: !n.plain}
	if d.Expand != nil {
		expanded, err := d.Expand(n.text)
		if err != nil {
			d.problem(n, ruleVariable, path, "%s", err)
			return
		}
		if expanded != n.text {
			s.text, s.quoted = expanded, false
			d.doc.written[path] = n.text
		}
	}
	if strings.ContainsRune(s.text, 0) {
		d.problem(n, ruleValue, path, "found a NUL, expected characters that can be seen")
		return
	}
	if err := set(s); err != nil {
		d.problem(n, ruleValue, path, "%s", err)
	}
}

// Expected is the error for a value that is not as expected. It holds only what was expected:
// Expected("a size such as 16MiB"). Decode adds what was found.
type Expected string

// Error returns what was expected.
func (e Expected) Error() string { return "expected " + string(e) }

// explain turns the error of a TextUnmarshaler into a message.
func (s scalar) explain(err error) error {
	if expected, ok := errors.AsType[Expected](err); ok {
		return s.unfit(string(expected))
	}
	if err != nil && s.text != s.written {
		return fmt.Errorf("found %s, which does not stand for a valid value", Quote(s.written))
	}
	return err
}

// unfit returns an error with what was found, and what was expected.
func (s scalar) unfit(expected string) error {
	shown := Quote(s.written)
	if !s.quoted && s.written != "" && shown == `"`+s.written+`"` {
		shown = s.written
	}
	return fmt.Errorf("found %s, expected %s", shown, expected)
}

// Quote puts text in quotes for a message and shortens long text.
func Quote(text string) string {
	if r := []rune(text); len(r) > longestShown {
		text = string(r[:longestShown]) + "…"
	}
	return strconv.Quote(text)
}

func setDuration(v reflect.Value, s scalar) error {
	length, err := time.ParseDuration(s.text)
	if err != nil {
		return s.unfit("a duration such as 30s or 1h30m")
	}
	v.SetInt(int64(length))
	return nil
}

func setBool(v reflect.Value, s scalar) error {
	if s.quoted || s.text != "true" && s.text != "false" {
		return s.unfit("true or false")
	}
	v.SetBool(s.text == "true")
	return nil
}

func setInt(v reflect.Value, s scalar) error {
	bits := v.Type().Bits()
	i, err := strconv.ParseInt(s.text, 10, bits)
	if errors.Is(err, strconv.ErrRange) {
		return s.unfit(fmt.Sprintf("a whole number from %d to %d", math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits)))
	}
	if err != nil || s.quoted {
		return s.unfit("a whole number")
	}
	if leadingZero(s.text) {
		return s.unfit("a whole number without a leading zero")
	}
	v.SetInt(i)
	return nil
}

func setUint(v reflect.Value, s scalar) error {
	bits := v.Type().Bits()
	u, err := strconv.ParseUint(s.text, 10, bits)
	if errors.Is(err, strconv.ErrRange) || strings.HasPrefix(s.text, "-") {
		return s.unfit(fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-bits)))
	}
	if err != nil || s.quoted {
		return s.unfit("a whole number")
	}
	if leadingZero(s.text) {
		return s.unfit("a whole number without a leading zero")
	}
	v.SetUint(u)
	return nil
}

func setFloat(v reflect.Value, s scalar) error {
	f, err := strconv.ParseFloat(s.text, v.Type().Bits())
	if err != nil || s.quoted || strings.ContainsAny(s.text, "xXnN_") {
		return s.unfit("a number")
	}
	if leadingZero(s.text) {
		return s.unfit("a number without a leading zero")
	}
	v.SetFloat(f)
	return nil
}

// leadingZero reports whether other YAML parsers read a number as octal.
func leadingZero(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
}
