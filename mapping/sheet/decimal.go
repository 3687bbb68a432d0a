package sheet

import (
	"math"
	"regexp"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// longestNumber is the longest text that is read as a number.
const longestNumber = 400

var decimalForm = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?$`)

// IsDecimal reports whether s is a number: digits, perhaps with a sign, a point and an exponent,
// of bounded length.
func IsDecimal(s string) bool { return len(s) <= longestNumber && decimalForm.MatchString(s) }

// parseDecimal reads a number.
func parseDecimal(s string) (*apd.Decimal, bool) {
	if n, scale, ok := mapping.ParseDecimal(s, '.'); ok { // the usual case
		return apd.New(n, -int32(scale)), true
	}
	if !IsDecimal(s) {
		return nil, false
	}
	d, _, err := apd.NewFromString(s)
	return d, err == nil && d.Form == apd.Finite && d.Exponent > -longestNumber && d.Exponent < longestNumber
}

// sameNumber reports whether two texts are the same number, as 0 and 0.00 are.
func sameNumber(a, b string) bool {
	x, isX := parseDecimal(a)
	y, isY := parseDecimal(b)
	return isX && isY && x.Cmp(y) == 0
}

// number converts a decimal to a float8 value, with the scale of the field.
func number(f *mapping.Field, d *apd.Decimal) (mapping.Value, bool) {
	if f.Scale < 0 {
		x, err := d.Float64()
		return mapping.FloatValue(x), err == nil && !math.IsInf(x, 0)
	}
	v, ok := mapping.DecimalOf(d, f.Scale)
	return v, ok && v.Int() < 1e15 && v.Int() > -1e15
}
