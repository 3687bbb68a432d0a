package reference

import (
	"context"
	"strings"

	"frontdesk/backend"
)

// netherlands is the ISO number, and so the ID, of the only country that the
// address book knows.
const netherlands = 528

// addressBook knows streets by postcode. It is a small extract, not a register:
// it lacks most places.
type addressBook map[string][]street

// street is a range of house numbers that share a postcode.
type street struct {
	name, city string
	from, to   int
	parity     string // odd, even or all
}

func loadAddressBook() addressBook {
	t, book := readTable("addresses"), addressBook{}
	for i := range t.rows {
		code := barePostcode(t.get(i, "postcode"))
		book[code] = append(book[code], street{
			name: t.get(i, "street"), city: t.get(i, "city"), from: t.number(i, "from"), to: t.number(i, "to"), parity: t.get(i, "parity"),
		})
	}
	return book
}

// barePostcode is a postcode in the form in which the book compares it.
func barePostcode(s string) string { return strings.ToUpper(strings.ReplaceAll(s, " ", "")) }

// has reports whether a house number lies in the range.
func (s street) has(number int) bool {
	if number < s.from || number > s.to {
		return false
	}
	switch s.parity {
	case "odd":
		return number%2 == 1
	case "even":
		return number%2 == 0
	default:
		return true
	}
}

// FindAddress implements backend.AddressBook for postcodes of the Netherlands.
func (b addressBook) FindAddress(_ context.Context, a backend.Address) (backend.Address, bool, error) {
	if a.CountryID != netherlands {
		return a, false, nil
	}
	for _, s := range b[barePostcode(a.Postcode)] {
		if s.has(a.HouseNumber) {
			a.Street, a.City = s.name, s.city
			return a, true, nil
		}
	}
	return a, false, nil
}
