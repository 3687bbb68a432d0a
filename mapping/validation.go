package mapping

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validation is a custom validation: of a field whose check names it, or of one of the gateway's own
// parameters, which the gateway judges itself.
type Validation struct {
	Words           string // describes it; "" if its name is enough
	Format, Pattern string // of JSON Schema, for texts
	// judge judges a value that is set; it may depend on other fields of the body. If it is nil, no field
	// of the model can name the validation.
	judge func(b *Body, v Value) bool
}

// validations holds all validations by their names.
var validations = map[string]Validation{
	"percentage": {Words: "A percentage is a number from 0 to 100.", judge: func(_ *Body, v Value) bool { return v.Float() >= 0 && v.Float() <= 100 }},
	"license_plate": {Words: "A Dutch license plate is six letters and digits in three groups that fit a side code, such as GT-123-B, 12-ABC-3, AB-12-34 or 12-34-AB; dashes, blanks and case do not matter. " +
		"Plates of another country take its country_id.", judge: plateOfNoCountry},
	"postcode":  {Words: "A Dutch postcode is four digits, a blank and two letters: 1234 AB.", judge: func(_ *Body, v Value) bool { return strings.TrimSpace(v.text) != "" }},
	"vin":       {Words: "A VIN has 17 characters: capitals without I, O and Q, and digits.", Pattern: vin.String(), judge: func(_ *Body, v Value) bool { return vin.MatchString(v.text) }},
	"email":     {Words: "An e-mail address is alone, without a name, and its domain has a dot: info@example.nl.", Format: "email", judge: func(_ *Body, v Value) bool { return IsEmail(v.text) }},
	"ean":       {Words: "An EAN has 8, 12, 13 or 14 digits, of which the last one is the check digit.", Pattern: `^(\d{8}|\d{12,14})$`, judge: func(_ *Body, v Value) bool { return isEAN(v.text) }},
	"https_url": {Words: "An address begins with https://, and has no user.", Format: "uri", Pattern: "^https://", judge: func(_ *Body, v Value) bool { return isHTTPS(v.text) }},
	"resource":  {Words: "The name of a resource, such as order or vehicle.", judge: func(b *Body, v Value) bool { return b.Record.Resource.model.Resource(v.text) != nil }},

	"uuid":                {Format: "uuid"},
	"digits":              {Pattern: `^\d*$`},
	"dutch_postcode":      {Pattern: dutchPostcode.String()},
	"country":             {Words: "The ID of a country, as GET /country lists them."},
	"public address":      {Words: "Name a host that is reachable from the internet: not localhost, not a private address, not a name without a dot."},
	"3 to 255 characters": {Words: "A part that is looked for has 3 to 255 characters."},
	"at most 100 values":  {Words: "Ask for at most 100 values at once."},
}

// ValidationOf returns the validation with a name; the zero Validation if there is none.
func ValidationOf(check string) Validation { return validations[check] }

var (
	vin           = regexp.MustCompile(`^[A-HJ-NPR-Z0-9]{17}$`)
	dutchPostcode = regexp.MustCompile(`^[0-9]{4} [A-Za-z]{2}$`)
)

// plateOfNoCountry judges a plate as Dutch if the record names no country. If it names
// one, or is an update that leaves the country as it is, the backend's vehicle rule
// judges the plate, since that needs other records.
func plateOfNoCountry(b *Body, v Value) bool {
	country := b.Record.Get("country_id")
	if country.IsSet() || country.IsAbsent() && b.update {
		return true
	}
	_, ok := DutchPlate(v.text)
	return ok
}

// DutchPostcode reports whether s is four digits, a space and two letters.
func DutchPostcode(s string) bool { return dutchPostcode.MatchString(s) }

// IsPlain reports whether every character of a text is visible, or a blank, so that it can
// be shown on a line of a terminal. U+FFFD, which replaces invalid bytes, is not plain.
func IsPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || r == utf8.RuneError })
}

// IsEmail reports whether s is a bare e-mail address with a dotted domain.
func IsEmail(s string) bool {
	if len(s) > 254 || strings.ContainsAny(s, " \t\r\n<>") {
		return false
	}
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || a.Name != "" {
		return false
	}
	local, domain, _ := strings.Cut(s, "@")
	return len(local) <= 64 && hostName.MatchString(domain)
}

var hostName = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$`)

func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// isEAN judges a GTIN of 8, 12, 13 or 14 digits by its check digit.
func isEAN(s string) bool {
	switch len(s) {
	case 8, 12, 13, 14:
	default:
		return false
	}
	sum := 0
	for i := range len(s) {
		c := s[len(s)-1-i]
		if c < '0' || c > '9' {
			return false
		}
		weight := 1
		if i%2 == 1 {
			weight = 3
		}
		sum += weight * int(c-'0')
	}
	return sum%10 == 0
}
