package mapping

import "strings"

// sideCodes are the shapes of Dutch license plates: X a letter, 9 a digit. The
// letters themselves are not restricted, since older plates break later rules.
var sideCodes = [...]string{
	"XX-99-99", "99-99-XX", "99-XX-99", "XX-99-XX", "XX-XX-99", "99-XX-XX", "99-XXX-9",
	"9-XXX-99", "XX-999-X", "X-999-XX", "XXX-99-X", "X-99-XXX", "9-XX-999", "999-XX-9",
}

// specialPlates are the shapes of Dutch plates outside the side codes: the royal
// house, the diplomatic corps, the court of justice and one-day plates.
var specialPlates = [...]string{"AA-99", "AA-9", "AA-999", "CD-99-99", "CDJ-999", "CD-999", "ZZ-99-99"}

// DutchPlate returns a Dutch license plate in capitals with its dashes, whatever
// dashes, spaces and case it was given with. It is false for anything else.
func DutchPlate(s string) (string, bool) {
	bare := strings.ReplaceAll(BarePlate(s), " ", "")
	for _, shape := range sideCodes {
		if plate, ok := fitPlate(bare, shape, true); ok {
			return plate, true
		}
	}
	for _, shape := range specialPlates {
		if plate, ok := fitPlate(bare, shape, false); ok {
			return plate, true
		}
	}
	return "", false
}

// BarePlate returns a plate as plates are compared: in capitals, without dashes.
//
// Only ASCII letters have capitals here, as in every database.
func BarePlate(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return -1
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		default:
			return r
		}
	}, s)
}

// fitPlate lays a bare plate over a shape. X stands for any letter where
// wildcard is set; other letters, and every digit place, are matched as such.
func fitPlate(bare, shape string, wildcard bool) (string, bool) {
	out := make([]byte, 0, len(shape))
	i := 0
	for k := range len(shape) {
		want := shape[k]
		if want == '-' {
			out = append(out, '-')
			continue
		}
		if i == len(bare) {
			return "", false
		}
		c := bare[i]
		i++
		switch {
		case want == '9' && c >= '0' && c <= '9':
		case wildcard && want == 'X' && c >= 'A' && c <= 'Z':
		case !wildcard && want == c:
		default:
			return "", false
		}
		out = append(out, c)
	}
	return string(out), i == len(bare)
}
