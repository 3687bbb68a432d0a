package mapping

import "strings"

// plateShapes are the shapes of Dutch license plates: X stands for a letter, 9 for a digit, any other
// letter for itself. The side codes come first; their letters are not restricted, since older plates
// break later rules. The last line has the plates of the royal house, the diplomatic corps, the court
// of justice and one-day plates.
var plateShapes = [...]string{
	"XX-99-99", "99-99-XX", "99-XX-99", "XX-99-XX", "XX-XX-99", "99-XX-XX", "99-XXX-9",
	"9-XXX-99", "XX-999-X", "X-999-XX", "XXX-99-X", "X-99-XXX", "9-XX-999", "999-XX-9",
	"AA-99", "AA-9", "AA-999", "CD-99-99", "CDJ-999", "CD-999", "ZZ-99-99",
}

// DutchPlate returns a Dutch license plate in capitals with its dashes; it ignores
// the dashes, spaces and case of s. It returns false for anything else.
func DutchPlate(s string) (string, bool) {
	bare := strings.ReplaceAll(BarePlate(s), " ", "")
	for _, shape := range plateShapes {
		if plate, ok := fitPlate(bare, shape); ok {
			return plate, true
		}
	}
	return "", false
}

// BarePlate returns a plate in the form in which plates are compared: in capitals, without
// dashes. It changes the case of ASCII letters only, as every database can.
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

// fitPlate inserts the dashes of a shape into a bare plate; false if it does not fit.
func fitPlate(bare, shape string) (string, bool) {
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
		case want == 'X' && c >= 'A' && c <= 'Z':
		case want == c:
		default:
			return "", false
		}
		out = append(out, c)
	}
	return string(out), i == len(bare)
}
