package legacy

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"frontdesk/mapping/sheet"
)

// integerBits are the sizes of whole numbers, by their types.
var integerBits = map[string]uint{
	"tinyint": 8, "smallint": 16, "int2": 16, "smallserial": 16, "mediumint": 24,
	"int": 32, "integer": 32, "int4": 32, "serial": 32, "bigint": 64, "int8": 64, "bigserial": 64,
}

// takes tells whether a column can hold a value, as far as its type says. SQLite's columns
// hold anything.
func (c *Column) takes(engine string, v sheet.Raw) bool {
	number := c.bits() > 0 || c.isDecimal()
	switch {
	case engine == "sqlite":
		return true
	case v.Kind == sheet.RawInt, v.Kind == sheet.RawNumber, v.Kind == sheet.RawText && number:
		text := strings.TrimSpace(v.String())
		if !sheet.IsDecimal(text) { // a big.Rat would take 1/3, too, and a number of any size
			return false
		}
		n, ok := new(big.Rat).SetString(text)
		return ok && c.takesNumber(engine, n)
	case v.Kind == sheet.RawText && engine == "postgres" && c.Type == "bit" && c.Length > 0: // cast to it, it would be cut
		return len(v.Text) == c.Length
	case v.Kind == sheet.RawText:
		return c.mostCharacters() == 0 || utf8.RuneCountInString(strings.TrimRight(v.Text, " ")) <= c.Length
	default:
		return v.Kind != sheet.RawBytes || c.Length == 0 || len(v.Text) <= c.Length
	}
}

func (c *Column) bits() uint { return integerBits[strings.TrimSuffix(c.Type, " unsigned")] }

// Span returns the range of whole numbers that a column holds; false if its type does not say.
func (c *Column) Span(engine string) (least, most int64, known bool) {
	bits := c.bits()
	if bits == 0 || engine == "sqlite" {
		return 0, 0, false
	}
	least, most = -1<<(bits-1), 1<<(bits-1)-1
	if c.isUnsigned(engine) {
		least = 0
		if bits < 64 {
			most = 1<<bits - 1
		}
	}
	return least, most, true
}

// isUnsigned tells whether an integer column holds no negative numbers.
func (c *Column) isUnsigned(engine string) bool {
	return strings.HasSuffix(c.Type, " unsigned")
}

func (c *Column) isDecimal() bool {
	return strings.HasPrefix(c.Type, "dec") || strings.HasPrefix(c.Type, "num") || strings.Contains(c.Type, "money")
}

// mostCharacters is how many characters a text may have; 0 if that is not known. If the length
// counts bytes, a text with more characters than that does not fit either.
func (c *Column) mostCharacters() int {
	if strings.Contains(c.Type, "char") || strings.Contains(c.Type, "text") {
		return c.Length
	}
	return 0
}

func (c *Column) takesNumber(engine string, n *big.Rat) bool {
	switch {
	case strings.HasSuffix(c.Type, " unsigned") && n.Sign() < 0:
		return false
	case c.bits() > 0:
		return withinBits(n, c.bits(), c.isUnsigned(engine))
	case c.isSingle(engine):
		f, _ := n.Float32()
		return f <= maxFloat32 && f >= -maxFloat32
	case c.Precision > 0 && c.isDecimal():
		// What is rounded half away from zero has so many digits before the point at most.
		bound := new(big.Rat).SetInt(power(c.Precision - c.Scale))
		bound.Sub(bound, new(big.Rat).SetFrac(big.NewInt(5), power(c.Scale+1)))
		return new(big.Rat).Abs(n).Cmp(bound) < 0
	default:
		return true
	}
}

// isSingle tells whether a column's numbers are floating-point ones of 32 bits.
func (c *Column) isSingle(engine string) bool {
	name := strings.TrimSuffix(c.Type, " unsigned")
	return engine != "sqlite" && (name == "real" || name == "float")
}

const maxFloat32 = 0x1p127 * (1 + (1 - 0x1p-23))

func withinBits(n *big.Rat, bits uint, unsigned bool) bool {
	least, beyond := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if !unsigned {
		beyond.Rsh(beyond, 1)
		least.Neg(beyond)
	}
	return n.Cmp(new(big.Rat).SetInt(least)) >= 0 && n.Cmp(new(big.Rat).SetInt(beyond)) < 0
}

func power(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(0, n))), nil)
}
