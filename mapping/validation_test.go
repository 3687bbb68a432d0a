package mapping_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"frontdesk/mapping"
)

func TestDutchPlate(t *testing.T) {
	tests := []struct{ given, want string }{ // want "" where it is no Dutch plate
		// The side codes in the order they were issued.
		{"AB-12-34", "AB-12-34"}, {"12-34-AB", "12-34-AB"}, {"12-AB-34", "12-AB-34"}, {"AB-12-CD", "AB-12-CD"},
		{"AB-CD-12", "AB-CD-12"}, {"12-AB-CD", "12-AB-CD"}, {"12-ABC-3", "12-ABC-3"}, {"1-ABC-23", "1-ABC-23"},
		{"AB-123-C", "AB-123-C"}, {"A-123-BC", "A-123-BC"}, {"ABC-12-D", "ABC-12-D"}, {"A-12-BCD", "A-12-BCD"},
		{"1-AB-234", "1-AB-234"}, {"123-AB-4", "123-AB-4"},
		// However they are typed.
		{"gt-123-b", "GT-123-B"}, {"GT123B", "GT-123-B"}, {"gt123b", "GT-123-B"}, {"G-T123B", "GT-123-B"}, {"-GT-123-B-", "GT-123-B"}, {"12AB34", "12-AB-34"},
		// Outside the side codes.
		{"AA-86", "AA-86"}, {"aa1", "AA-1"}, {"AA-123", "AA-123"}, {"CD-12-34", "CD-12-34"}, {"CDJ-123", "CDJ-123"}, {"CD-123", "CD-123"}, {"ZZ-12-34", "ZZ-12-34"},
		// Letters are not restricted: older plates break later rules.
		{"AE-12-34", "AE-12-34"}, {"QY-99-XX", "QY-99-XX"},
		{"", ""}, {"-", ""}, {"GT", ""}, {"123456", ""}, {"ABCDEF", ""}, {"GT-123", ""}, {"GT-123-BB", ""}, {"GT-12-34-B", ""}, {"1234-AB", "12-34-AB"},
		{"AB-86", ""}, {"CDX-123", ""}, {"ÄB-12-34", ""}, {"GT_123_B", ""}, {"GT–123–B", ""}, {"GT-１23-B", ""}, {"GT-123-B\n", ""}, {"M-GT 1234", ""},
	}
	for _, tt := range tests {
		t.Run(tt.given, func(t *testing.T) {
			got, ok := mapping.DutchPlate(tt.given)
			assert.Equal(t, tt.want != "", ok)
			assert.Equal(t, tt.want, got)
			if ok {
				assert.Equal(t, mapping.BarePlate(tt.given), mapping.BarePlate(got), "only dashes and case change")
			}
		})
	}
	assert.Equal(t, "GT123B", mapping.BarePlate("gt-123-b"))
}

// TestPlateWithSpaces takes what people type instead of dashes.
func TestPlateWithSpaces(t *testing.T) {
	got, ok := mapping.DutchPlate("GT 123 B")
	assert.True(t, ok, "DutchPlate says that it takes spaces")
	assert.Equal(t, "GT-123-B", got)
}

func TestEmail(t *testing.T) {
	local64 := strings.Repeat("a", 64)
	label63 := strings.Repeat("b", 63)
	tests := []struct {
		address string
		ok      bool
	}{
		{"a@b.nl", true}, {"jan.de-vries+werk@post.example.nl", true}, {"J@EXAMPLE.NL", true}, {"o'neil@example.nl", true}, {"1@2.nl", true},
		{"a@xn--bcher-kva.example", true}, {"a@example.museum", true}, {local64 + "@example.nl", true}, {"a@" + label63 + ".nl", true},
		{"", false}, {"a", false}, {"@", false}, {"a@", false}, {"@example.nl", false}, {"a@localhost", false}, {"a@example", false}, {"a@.nl", false},
		{"a@example..nl", false}, {"a@example.nl.", false}, {"a@-example.nl", false}, {"a@example-.nl", false}, {"a@example.n", false}, {"a@example.1", false},
		{"a..b@example.nl", false}, {".a@example.nl", false}, {"a.@example.nl", false}, {"a@b@example.nl", false}, {"a b@example.nl", false},
		{"Jan <a@example.nl>", false}, {"<a@example.nl>", false}, {"a@example.nl, b@example.nl", false}, {"a@example.nl\r\nBcc: b@example.nl", false},
		{"a@[192.0.2.1]", false}, {"a@192.0.2.1", false}, {"mailto:a@example.nl", false}, {" a@example.nl", false}, {"a@example.nl ", false},
		{`"a"@example.nl`, false}, {`"a@b"@example.nl`, false}, {"a(x)@example.nl", false},
		{local64 + "a@example.nl", false}, {"a@" + label63 + "b.nl", false}, {"a@" + strings.Repeat("b.", 125) + "nl", true}, {"a@" + strings.Repeat("b.", 126) + "nl", false},
	}
	for _, tt := range tests {
		assert.Equalf(t, tt.ok, mapping.IsEmail(tt.address), "%q", tt.address)
	}
}

func TestDutchPostcode(t *testing.T) {
	for s, want := range map[string]bool{
		"3811 MH": true, "1000 AA": true, "9999 ZZ": true, "0999 AA": true, "3811 mh": true,
		"3811MH": false, "3811  MH": false, "3811 M": false, "3811 MHX": false, "381 MH": false,
		"38111 MH": false, "": false, " 3811 MH": false, "3811 MH\n": false, "3811\u00a0MH": false, "３811 MH": false, "3811 ÄB": false,
	} {
		assert.Equalf(t, want, mapping.DutchPostcode(s), "%q", s)
	}
}

// TestValidations tries the custom validations through the fields that name
// them.
func TestValidations(t *testing.T) {
	tests := []struct {
		resource, field string
		valid, invalid  []string // as JSON
	}{
		{"article", "ean", []string{`"8711253001202"`, `"96385074"`, `"036000291452"`, `"10012345678902"`, `"4006381333931"`, `"00000000"`}, []string{
			`"8711253001203"`, `"871125300120"`, `"96385075"`, `"9638507"`, `"87112530012O2"`, `" 96385074"`, `"９6385074"`, `"10012345678903"`}},
		{"vehicle", "vin", []string{`"WVWZZZ1KZAW000001"`, `"11111111111111111"`}, []string{
			`"WVWZZZ1KZAW00000"`, `"wvwzzz1kzaw000001"`, `"WVWZZZ1KZAW00000I"`, `"WVWZZZ1KZAW00000O"`, `"WVWZZZ1KZAW00000Q"`, `"WVWZZZ1KZAW00000-"`, `"WVWZZZ1KZAW00000\n"`}},
		{"orderline", "discount_percentage", []string{"0", "100", "12.5", "-0", "100.00001"}, []string{"-0.01", "100.01", "101", "-1"}},
		{"document", "external_url", []string{`"https://files.example.nl/42.pdf"`, `"https://files.example.nl"`, `"https://files.example.nl:8443/a?b#c"`, `"HTTPS://files.example.nl/"`}, []string{
			`"http://files.example.nl/"`, `"https://"`, `"https:///a"`, `"https:files"`, `"//files.example.nl"`, `"files.example.nl"`, `"https://user:secret@files.example.nl/"`, `"https://:443/"`, `"javascript:alert(1)"`, `"https://files.example.nl/\u0001"`}},
		{"document", "resource", []string{`"order"`, `"vehicle"`, `"document"`}, []string{`"Order"`, `"orders"`, `"order/1"`}},
		{"contactaddress", "postcode", []string{`"3811 MH"`, `"EC1A 1BB"`, `"1000"`, `"3811mh"`}, []string{`" "`, `"\u00a0"`}},
		{"employee", "email", []string{`"a@example.nl"`}, []string{`"a@"`}},
		{"vehicle", "license_plate", []string{`"GT-123-B"`, `"gt123b"`, `"AA-86"`}, []string{`"M-GT 1234"`, `"GT"`}},
	}
	for _, tt := range tests {
		t.Run(tt.resource+" "+tt.field, func(t *testing.T) {
			judge := func(json string) bool {
				b := decoded(t, tt.resource, `{"`+tt.field+`":`+json+`}`)
				v := append(b.CheckCreate(), b.CheckUpdate()...)
				return !mapping.Is(v.Err(), mapping.ValidationFailed) && !mapping.Is(v.Err(), mapping.FieldEmpty)
			}
			for _, json := range tt.valid {
				assert.Truef(t, judge(json), "%s is valid", json)
			}
			for _, json := range tt.invalid {
				assert.Falsef(t, judge(json), "%s is invalid", json)
			}
		})
	}
}
