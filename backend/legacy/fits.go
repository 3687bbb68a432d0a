package legacy

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// takes tells whether a column can hold a value, as far as its type says. SQLite's columns hold
// anything.
func takes(c *Column, engine string, v mapping.Value) bool {
	_, _, isWholeNumber := c.Span()
	isNumber := isWholeNumber || isDecimal(c)
	switch text := v.String(); {
	case engine == "sqlite", v.Kind() == mapping.KindTime:
		return true
	case v.Kind() == mapping.KindBytes:
		return c.Length == 0 || len(v.Text()) <= c.Length
	case isNumber || v.Kind() == mapping.KindFloat:
		text = strings.TrimSpace(text)
		if !sheet.IsDecimal(text) { // a big.Rat would take 1/3, too, and a number of any size
			return false
		}
		n, ok := new(big.Rat).SetString(text)
		return ok && takesNumber(c, n)
	case engine == "postgres" && c.Type == "bit" && c.Length > 0: // cast to it, it would be cut
		return len(text) == c.Length
	default:
		return mostCharacters(c) == 0 || utf8.RuneCountInString(strings.TrimRight(text, " ")) <= c.Length
	}
}

// respells tells whether a column makes another text of one: a number of 012.
func respells(c *Column, v mapping.Value) bool {
	return v.Kind() == mapping.KindText && c.Sort == Integers && sheet.IsDecimal(v.Text()) && !isWhole(v.Text())
}

func isDecimal(c *Column) bool {
	return strings.HasPrefix(c.Type, "dec") || strings.HasPrefix(c.Type, "num") || strings.Contains(c.Type, "money")
}

// mostCharacters is how many characters a text may have; 0 if that is not known. If the length
// counts bytes, a text with more characters than that does not fit either.
func mostCharacters(c *Column) int {
	if strings.Contains(c.Type, "char") || strings.Contains(c.Type, "text") {
		return c.Length
	}
	return 0
}

func takesNumber(c *Column, n *big.Rat) bool {
	if strings.HasSuffix(c.Type, " unsigned") && n.Sign() < 0 {
		return false
	}
	if least, most, known := c.Span(); known {
		beyond := new(big.Rat).Add(new(big.Rat).SetInt64(most), big.NewRat(1, 1))
		return n.Cmp(new(big.Rat).SetInt64(least)) >= 0 && n.Cmp(beyond) < 0
	}
	switch {
	case c.Sort == Singles:
		f, _ := n.Float32()
		return !math.IsInf(float64(f), 0)
	case c.Precision > 0 && isDecimal(c):
		// What is rounded half away from zero has so many digits before the point at most.
		bound := new(big.Rat).SetInt(power(c.Precision - c.Scale))
		bound.Sub(bound, new(big.Rat).SetFrac(big.NewInt(5), power(c.Scale+1)))
		return new(big.Rat).Abs(n).Cmp(bound) < 0
	default:
		return true
	}
}

func power(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(0, n))), nil)
}
