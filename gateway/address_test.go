package gateway

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	ask := func(pairs ...string) answered {
		query := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			query.Set(pairs[i], pairs[i+1])
		}
		return demo.ask("GET", "/contact/checkaddress?"+query.Encode(), "")
	}
	const postcode, number, addition, country = "Postcode", "Huisnummer", "toevoeging", "CountryId"
	for _, c := range []struct {
		query []string
		want  string
	}{
		{[]string{postcode, "9999 ZZ", number, "12", addition, "A", country, "528"}, `{"data":{"valid":true,"verified":false,"street":null,"house_number":12,"addition":"A","postcode":"9999 ZZ","city":null,"country_id":528}}`},
		{[]string{postcode, "9999 ZZ", country, "528"}, `{"data":{"valid":true,"verified":false,"street":null,"house_number":null,"addition":null,"postcode":"9999 ZZ","city":null,"country_id":528}}`},
		{[]string{postcode, "1012 LG", number, "39", country, "528"}, `{"data":{"valid":true,"verified":true,"street":"Damrak","house_number":39,"addition":null,"postcode":"1012 LG","city":"Amsterdam","country_id":528}}`},
	} {
		a := ask(c.query...)
		require.Equal(t, 200, a.status, a.body)
		require.JSONEq(t, c.want, a.body)
	}
	const validation = "custom_validation_failed"
	for _, c := range []struct {
		query []string
		want  []fault
	}{
		{nil, []fault{{403, "Field: Postcode is required and not supplied in request", "field_required", postcode}, {403, "Field: CountryId is required and not supplied in request", "field_required", country}}},
		{[]string{postcode, "3811MH", country, "528"}, []fault{{403, "Field: Postcode has an invalid value: 3811MH for validation: postcode", validation, postcode}}},
		{[]string{postcode, "3811 MH", number, "12345678901", country, "528"}, []fault{{403, "Field: Huisnummer valuelength: 11 too long for type varchar (10)", "address_part_too_long", number}}},
		{[]string{postcode, "3811 MH", number, "1e1", country, "528"}, []fault{{403, "Field: Huisnummer has an invalid value: 1e1 for datatype: int4", "int4_invalid", number}}},
		{[]string{postcode, "3811 MH", country, "999"}, []fault{{403, "Field: CountryId has an invalid value: 999 for validation: country", validation, country}}},
		{[]string{postcode, "3811 MH", country, "NL"}, []fault{{403, "Field: CountryId has an invalid value: NL for validation: country", validation, country}}},
		{[]string{postcode, "12345678 AB", number, "1a", addition, "ééééééééééé", country, "0"}, []fault{
			{403, "Field: Postcode valuelength: 11 too long for type varchar (10)", "address_part_too_long", postcode},
			{403, "Field: toevoeging valuelength: 11 too long for type varchar (10)", "address_part_too_long", addition},
			{403, "Field: Huisnummer has an invalid value: 1a for datatype: int4", "int4_invalid", number},
			{403, "Field: CountryId has an invalid value: 0 for validation: country", validation, country},
		}},
	} {
		refused(t, ask(c.query...), c.want...)
	}
	require.Equal(t, 200, ask(postcode, "3811 MH", addition, "éééééééééé", country, "528").status, "a length is in characters")
}
