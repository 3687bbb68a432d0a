package legacy

import (
	"math"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping/sheet"
)

// A floating-point number of 32 bits is read as the shortest decimal that it stands for: 1234.56,
// where it is 1234.56005859375. Engines compare it with the latter, or make 32 bits of what it is
// compared with. So it is compared with the number of 32 bits at which decimals begin.

// singleFrom is the lowest such number that is read as a decimal or a higher one; above it, if
// open. Its own decimal is exact.
func singleFrom(decimal string, open bool) sheet.Raw {
	var bound, of apd.Decimal
	_, _, _ = bound.SetString(decimal) // it is one
	near, _ := strconv.ParseFloat(decimal, 32)
	at := float32(near)
	isFrom := func(x float32) bool {
		_, _, _ = of.SetString(strconv.FormatFloat(float64(x), 'f', -1, 32))
		n := of.Cmp(&bound)
		return n > 0 || n == 0 && !open
	}
	lowest, highest := float32(math.Inf(-1)), float32(math.Inf(1))
	for at > -math.MaxFloat32 && isFrom(at) {
		at = math.Nextafter32(at, lowest)
	}
	for at < math.MaxFloat32 && !isFrom(at) {
		at = math.Nextafter32(at, highest)
	}
	exact := float64(at)
	if !isFrom(at) {
		exact = 2 * math.MaxFloat32 // none is
	}
	return numberRaw(strconv.FormatFloat(exact, 'g', -1, 64))
}

// against appends how a place compares with a value.
func (t *table) against(b *statement, place, operator string, v sheet.Raw) *statement {
	if fromOn := operator == " >= " || operator == " < "; fromOn && v.Kind == sheet.RawWall && v.Int%dayLength == 0 && t.d.engine() == "sqlite" {
		v = textRaw(timeOf(v).Format(time.DateOnly)) // SQLite compares texts, and a day alone is below all times of it
	}
	if !t.isSingle(place, v) {
		return t.operand(b.expr(t.expr(place)).add(operator), place, v)
	}
	from := singleFrom(v.String(), operator == " > " || operator == " <= ")
	if operator == " > " {
		operator = " >= "
	} else if operator == " <= " {
		operator = " < "
	}
	b.expr(t.expr(place)).add(operator)
	if t.d.engine() == "postgres" { // which would make 32 bits of it
		return b.add("CAST(").arg(from).add(" AS double precision)")
	}
	return b.arg(from)
}

// isSingle tells whether a number is compared with a place of 32 bits.
func (t *table) isSingle(place string, v sheet.Raw) bool {
	return t.single[place] && (v.Kind == sheet.RawInt || v.Kind == sheet.RawNumber)
}
