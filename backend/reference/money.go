package reference

import (
	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// Totals keep two decimals, rounded half away from zero. They stay below ten
// million million euros, where their float8 form still shows every cent.
const (
	moneyScale = 2
	mostCents  = 1e15
)

// exact is wide enough that no intermediate result of ours is rounded, and
// bounded so that no value can make it work for ever.
var exact = apd.Context{Precision: 80, MaxExponent: 500, MinExponent: -500, Rounding: apd.RoundHalfUp}

// vatRates are the percentages by the vat_kind of a turnover group. Other
// kinds bear no VAT on the order: zero and exempt have none, and under the
// margin scheme VAT is due on the profit and not shown.
var vatRates = map[string]int64{"high": 21, "low": 9}

// lineTotal is quantity × price × (1 − discount/100), excluding VAT. A null
// counts as 0. lineTotal returns false if the result is too large to store.
func lineTotal(quantity, price, discount mapping.Value) (mapping.Value, bool) {
	var total, part apd.Decimal
	calc := apd.MakeErrDecimal(&exact)
	calc.Sub(&part, apd.New(100, 0), discount.Decimal())
	calc.Mul(&total, quantity.Decimal(), price.Decimal())
	calc.Mul(&total, &total, &part)
	kept, ok := cents(&total, -2)
	return kept, ok && calc.Err() == nil
}

// taxed is a line's share of its order's totals.
type taxed struct {
	total   mapping.Value
	vatKind string
}

// orderTotals adds up lines, excluding and including VAT. VAT is computed on the
// sum per rate, and rounded once for each. orderTotals returns false if a sum is
// too large to store.
func orderTotals(lines []taxed) (excl, incl mapping.Value, ok bool) {
	var total apd.Decimal
	calc := apd.MakeErrDecimal(&exact)
	perRate := map[int64]*apd.Decimal{}
	for _, l := range lines {
		amount := l.total.Decimal()
		calc.Add(&total, &total, amount)
		rate := vatRates[l.vatKind]
		if rate == 0 {
			continue
		}
		if perRate[rate] == nil {
			perRate[rate] = new(apd.Decimal)
		}
		calc.Add(perRate[rate], perRate[rate], amount)
	}
	excl, ok = cents(&total, 0)
	for rate, amount := range perRate {
		calc.Mul(amount, amount, apd.New(rate, 0))
		vat, kept := cents(amount, -2)
		calc.Add(&total, &total, vat.Decimal())
		ok = ok && kept
	}
	incl, kept := cents(&total, 0)
	return excl, incl, ok && kept && calc.Err() == nil
}

// cents rounds d × 10^shift to money.
func cents(d *apd.Decimal, shift int32) (mapping.Value, bool) {
	var shifted apd.Decimal
	shifted.Set(d)
	shifted.Exponent += shift
	v, ok := mapping.DecimalOf(&shifted, moneyScale)
	return v, ok && v.Int() < mostCents && v.Int() > -mostCents
}
