package sheet

import (
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// longestNumber is the longest text that is read as a number.
const longestNumber = 400

// parseLong reads the numbers that mapping.ParseDecimal does not.
func parseLong(s string, point byte) (*apd.Decimal, bool) {
	if point != '.' {
		if strings.Contains(s, ".") {
			return nil, false
		}
		s = strings.Replace(s, string(point), ".", 1)
	}
	if !IsDecimal(s) {
		return nil, false
	}
	d, _, err := apd.NewFromString(s)
	return d, err == nil && d.Form == apd.Finite && d.Exponent > -longestNumber && d.Exponent < longestNumber
}

// sameNumber tells whether two texts are one number: 0 and 0.00.
func sameNumber(a, b string) bool {
	x, scaleX, isX := mapping.ParseDecimal(a, '.')
	y, scaleY, isY := mapping.ParseDecimal(b, '.')
	if isX && isY {
		scale := max(scaleX, scaleY)
		x, isX = rescale(x, scaleX, scale)
		y, isY = rescale(y, scaleY, scale)
		return isX && isY && x == y
	}
	longX, isX := parseLong(a, '.')
	longY, isY := parseLong(b, '.')
	return isX && isY && longX.Cmp(longY) == 0
}

// IsDecimal tells whether s is a number: digits, perhaps with a sign, a point and an exponent,
// of bounded length.
func IsDecimal(s string) bool {
	if len(s) > longestNumber {
		return false
	}
	mantissa, exponent, has := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, has = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	if len(mantissa)-len(strings.TrimLeft(mantissa, "+-")) > 1 || whole+fraction == "" || !isDigits(whole+fraction) {
		return false
	}
	if !has {
		return true
	}
	digits := strings.TrimLeft(exponent, "+-")
	return len(exponent)-len(digits) <= 1 && digits != "" && len(digits) <= 4 && isDigits(digits)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// rescale rounds a decimal half away from zero to another number of decimals.
func rescale(unscaled int64, from, to int) (int64, bool) {
	for ; from < to; from++ {
		if unscaled > math.MaxInt64/10 || unscaled < math.MinInt64/10 {
			return 0, false
		}
		unscaled *= 10
	}
	if from-to > mapping.MaxDigits {
		return 0, true
	}
	if from > to {
		unit := int64(1)
		for ; from > to; from-- {
			unit *= 10
		}
		whole, rest := unscaled/unit, unscaled%unit
		if rest >= unit-unit/2 {
			whole++
		} else if rest <= -(unit - unit/2) {
			whole--
		}
		return whole, true
	}
	return unscaled, true
}

// number makes a float8 value of a decimal, as exact as the field keeps it.
func number(f *mapping.Field, unscaled int64, scale int) (mapping.Value, bool) {
	if f.Scale < 0 {
		if scale == 0 {
			return mapping.FloatValue(float64(unscaled)), true
		}
		if scale > 0 && scale < len(exactPowers) && unscaled > -1<<53 && unscaled < 1<<53 {
			return mapping.FloatValue(float64(unscaled) / exactPowers[scale]), true
		}
		d, err := apd.New(unscaled, -int32(scale)).Float64()
		return mapping.FloatValue(d), err == nil
	}
	n, ok := rescale(unscaled, scale, f.Scale)
	if !ok || n >= 1e15 || n <= -1e15 {
		return mapping.Value{}, false
	}
	return mapping.DecimalValue(n, f.Scale), true
}

// exactPowers are the powers of ten that a float64 holds exactly. Dividing two exact numbers
// rounds once, which gives the float64 closest to the decimal.
var exactPowers = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// longNumber is number for a decimal of any length.
func longNumber(f *mapping.Field, d *apd.Decimal) (mapping.Value, bool) {
	if f.Scale < 0 {
		x, err := d.Float64()
		return mapping.FloatValue(x), err == nil && !math.IsInf(x, 0)
	}
	v, ok := mapping.DecimalOf(d, f.Scale)
	return v, ok && v.Int() < 1e15 && v.Int() > -1e15
}
