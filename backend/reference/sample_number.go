package reference

import (
	"fmt"
	"strings"
)

// The letters of Dutch plates since side code 7: no vowels, nothing that reads
// as another sign.
const plateLetters = "BDFGHJKLNPRSTVXZ"

// spread is coprime to the number of plates of every series below, so that
// multiplying by it visits each plate once, far from its neighbours.
const spread = 1845301

// plate returns a license plate of the series that was given out in that year,
// another for every n below two million.
func plate(n, year int) string {
	shape := "XXX-99-X"
	switch {
	case year < 2013:
		shape = "99-XXX-9"
	case year < 2015:
		shape = "9-XXX-99"
	case year < 2019:
		shape = "XX-999-X"
	case year < 2024:
		shape = "X-999-XX"
	}
	size := 1
	for i := range len(shape) {
		size *= plateSigns(shape[i])
	}
	rest := int((int64(n)*spread + 4711) % int64(size))
	out := []byte(shape)
	for i := len(out) - 1; i >= 0; i-- {
		signs := plateSigns(shape[i])
		switch shape[i] {
		case 'X':
			out[i] = plateLetters[rest%signs]
		case '9':
			out[i] = byte('1' + rest%signs)
		}
		rest /= signs
	}
	return string(out)
}

// plateSigns is how many characters can stand at a position of a plate. 0 is left out,
// because the numbers 00 and 000 are not issued.
func plateSigns(place byte) int {
	switch place {
	case 'X':
		return len(plateLetters)
	case '9':
		return 9
	default:
		return 1
	}
}

// makers are the first three characters of a VIN, by brand.
var makers = map[string]string{
	"Audi": "WAU", "BMW": "WBA", "Citroën": "VF7", "Cupra": "VSS", "Dacia": "UU1", "Fiat": "ZFA", "Ford": "WF0",
	"Honda": "JHM", "Hyundai": "TMA", "Kia": "U5Y", "Mazda": "JMZ", "Mercedes-Benz": "WDD", "MINI": "WMW",
	"Mitsubishi": "JMB", "Nissan": "SJN", "Opel": "W0L", "Peugeot": "VF3", "Polestar": "YSM", "Porsche": "WP0",
	"Renault": "VF1", "SEAT": "VSS", "Škoda": "TMB", "Suzuki": "TSM", "Tesla": "5YJ", "Toyota": "SB1",
	"Volkswagen": "WVW", "Volvo": "YV1",
}

// The signs of a VIN: model years from 2010 on, and the weights and values of
// its check digit (ISO 3779).
const (
	vinYears   = "ABCDEFGHJKLMNPRSTVWXY"
	vinLetters = "ABCDEFGHJKLMNPRSTUVWXYZ"
	vinValues  = "12345678123457923456789"
)

var vinWeights = [17]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2}

// vinOf returns a vehicle identification number with its check digit, another
// for every n below ten million.
func vinOf(n int, brand, model string, year int) string {
	maker := makers[brand]
	if maker == "" {
		maker = "XLR"
	}
	descriptor := ""
	for _, c := range strings.ToUpper(model) {
		if strings.ContainsRune(vinLetters, c) || c >= '0' && c <= '9' {
			descriptor += string(c)
		}
	}
	descriptor = (descriptor + "ZZZZZ")[:5]
	yearSign := vinYears[min(max(year-2010, 0), len(vinYears)-1)]
	plant := vinLetters[n/1000000%len(vinLetters)]
	vin := []byte(fmt.Sprintf("%s%s0%c%c%06d", maker, descriptor, yearSign, plant, n%1000000))
	sum := 0
	for i, c := range vin {
		value := int(c - '0')
		if at := strings.IndexByte(vinLetters, c); at >= 0 {
			value = int(vinValues[at] - '0')
		}
		sum += value * vinWeights[i]
	}
	vin[8] = "0123456789X"[sum%11]
	return string(vin)
}

// ean returns a number of 13 digits from the range that shops number for
// themselves, so that it belongs to no real product.
func ean(n int) string {
	digits := fmt.Sprintf("20%010d", n)
	sum := 0
	for i := range len(digits) {
		weight := 1
		if i%2 == 1 {
			weight = 3
		}
		sum += weight * int(digits[i]-'0')
	}
	return fmt.Sprintf("%s%d", digits, (10-sum%10)%10)
}

// mailName writes a name with the letters a to z only, for an e-mail address.
func mailName(s string) string {
	fold := map[rune]string{'ë': "e", 'é': "e", 'è': "e", 'ï': "i", 'ö': "o", 'ü': "u", 'ç': "c", 'ş': "s", 'ı': "i", 'ğ': "g", '&': "en"}
	out := ""
	for _, c := range strings.ToLower(s) {
		switch {
		case c >= 'a' && c <= 'z':
			out += string(c)
		default:
			out += fold[c]
		}
	}
	return out
}
