package gateway

import (
	"context"
	"strconv"
	"unicode/utf8"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// addressPartLength is the most characters that Postcode, Huisnummer and
// toevoeging may have.
const addressPartLength = 10

func addressParams() []param {
	part := func(name, description, example string) param {
		p := named(name, description, example)
		p.Length = addressPartLength
		return p
	}
	number := part("Huisnummer", "House number, a whole number.", "1")
	number.Check = "digits"
	postcode := part("Postcode", "Four digits, a space and two letters.", "3811 MH").must()
	postcode.Check = "dutch_postcode"
	// It has no example: the ids of countries are the administration's own.
	country := param{Field: mapping.Field{Name: "CountryId", Type: mapping.Int4, Reference: "country", Description: "Primary ID of the country, as GET /country lists it."}, min: 1}
	return worded(postcode, number, part("toevoeging", "What follows the house number.", "A"), country.must())
}

func aboutAddress(model *mapping.Model) about {
	return about{
		name: "checkAddress", summary: "Check an address, and complete it where it is known", module: moduleOf(model, "contact"),
		row:  "GET /contact/checkaddress: query Postcode, Huisnummer, toevoeging, CountryId; answers the address check result",
		note: "`verified` is false where no register at hand knows the place: then only the form was judged.",
		early: []mapping.Reason{
			mapping.FieldRequired, mapping.AddressPartTooLong, mapping.Int4Invalid, mapping.VarcharInvalid, mapping.ValidationFailed,
		},
		asksBackend: true, answers: answers{form: dataForm, name: "AddressCheck", data: addressAnswer{}},
	}
}

type addressAnswer struct {
	Valid       bool  `json:"valid" example:"true"`
	Verified    bool  `json:"verified" doc:"Whether a register knows the place."`
	Street      any   `json:"street"`
	HouseNumber *int  `json:"house_number"`
	Addition    any   `json:"addition"`
	Postcode    any   `json:"postcode"`
	City        any   `json:"city"`
	CountryID   int32 `json:"country_id"`
}

// parseAddress judges the parameters of the address check in the order of the
// contract: required, length, int4, format. The country is looked up when the
// check is served.
func parseAddress(x *Exchange) mapping.Violations {
	var v mapping.Violations
	for _, name := range [...]string{"Postcode", "CountryId"} {
		if x.Param(name) == "" {
			v = append(v, mapping.Fail(mapping.FieldRequired, mapping.Literal(name)))
		}
	}
	long := map[string]bool{}
	for _, name := range [...]string{"Postcode", "Huisnummer", "toevoeging"} {
		if n := utf8.RuneCountInString(x.Param(name)); n > addressPartLength {
			long[name] = true
			v = append(v, mapping.Fail(mapping.AddressPartTooLong, mapping.Literal(name), n, mapping.Literal("varchar"), addressPartLength))
		}
	}
	for _, f := range []mapping.Field{{Name: "Huisnummer", Type: mapping.Int4}, {Name: "toevoeging", Type: mapping.Varchar, Length: addressPartLength}} {
		s := x.Param(f.Name)
		if _, bad := f.Parse(s, nil); bad != nil && s != "" && !long[f.Name] {
			v = append(v, bad)
		}
	}
	if s := x.Param("Postcode"); s != "" && !long["Postcode"] && !mapping.DutchPostcode(s) {
		v = append(v, mapping.Fail(mapping.ValidationFailed, mapping.Literal("Postcode"), s, mapping.Literal("postcode")))
	}
	if s := x.Param("CountryId"); s != "" {
		if _, ok := parseID(s); !ok {
			v = append(v, noCountry(s))
		}
	}
	return v
}

func noCountry(sent string) *mapping.Error {
	return mapping.Fail(mapping.ValidationFailed, mapping.Literal("CountryId"), sent, mapping.Literal("country"))
}

// checkAddress completes an address as far as a register at hand knows it.
func (g *Gateway) checkAddress(ctx context.Context, x *Exchange) error {
	country, _ := parseID(x.Param("CountryId"))
	_, err := g.backend.Get(ctx, g.o.Offer.Model.Resource("country"), backend.Query{Client: x.user().Client, ID: country})
	if mapping.Is(err, mapping.RecordNotFound) {
		return noCountry(x.Param("CountryId"))
	}
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(x.Param("Huisnummer")) // parseAddress has judged it
	numbered := err == nil
	given := backend.Address{Postcode: x.Param("Postcode"), HouseNumber: number, Addition: x.Param("toevoeging"), CountryID: country}
	found, known, err := g.backend.FindAddress(ctx, given)
	if err != nil {
		return err
	}
	if !known {
		found = given
	}
	answer := addressAnswer{
		Valid: number > 0 || !numbered, Verified: known, Street: textOrNull(found.Street), Addition: textOrNull(found.Addition),
		Postcode: textOrNull(found.Postcode), City: textOrNull(found.City), CountryID: country,
	}
	if numbered {
		answer.HouseNumber = &number
	}
	x.answerJSON(answer)
	return nil
}
