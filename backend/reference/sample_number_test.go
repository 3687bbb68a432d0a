package reference

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestPlates(t *testing.T) {
	for _, year := range []int{2012, 2013, 2016, 2021, 2025} {
		seen := map[string]bool{}
		for n := range 50_000 {
			p := plate(n, year)
			if dutch, ok := mapping.DutchPlate(p); seen[p] || !ok || dutch != p {
				t.Fatalf("plate %d of %d: %s", n, year, p)
			}
			seen[p] = true
		}
	}
	require.NotEqual(t, plate(0, 2021), plate(1_999_999, 2021))
}

func TestVIN(t *testing.T) {
	form := regexp.MustCompile(`^[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{2}[0-9]{6}$`)
	for n := range 5_000 {
		if vin := vinOf(n*301, "Škoda", "Enyaq iV", 2008+n%20); !form.MatchString(vin) {
			t.Fatal(vin)
		}
	}
	require.Len(t, vinOf(1, "Unknown", "Ü", 2020), 17)
}

func TestEAN(t *testing.T) {
	f := &mapping.Field{Name: "ean", Type: mapping.Varchar, Length: 14, Check: "ean"}
	for n := range 1000 {
		_, err := f.Parse(ean(n), time.UTC)
		require.Nil(t, err)
		require.Len(t, ean(n), 13)
	}
	require.Equal(t, "2000000000015", ean(1))
}

func TestFindAddress(t *testing.T) {
	x := open(t, sqliteDSN(t))
	for _, row := range []struct {
		ask   backend.Address
		known bool
		city  string
	}{
		{backend.Address{Postcode: "3811 MH", HouseNumber: 12, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811mh", HouseNumber: 2, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 36, CountryID: 528}, true, "Amersfoort"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 13, CountryID: 528}, false, "x"}, // odd
		{backend.Address{Postcode: "3811 MH", HouseNumber: 38, CountryID: 528}, false, "x"}, // too high
		{backend.Address{Postcode: "3811 MH", HouseNumber: 0, CountryID: 528}, false, "x"},
		{backend.Address{Postcode: "9999 ZZ", HouseNumber: 12, CountryID: 528}, false, "x"},
		{backend.Address{Postcode: "3811 MH", HouseNumber: 12, CountryID: 56}, false, "x"}, // Belgium
		{backend.Address{Postcode: "8442 AB", HouseNumber: 99, CountryID: 528}, true, "Heerenveen"},
		{backend.Address{Postcode: "8442 AB", HouseNumber: 98, CountryID: 528}, true, "Heerenveen"},
	} {
		row.ask.City = "x"
		found, known, err := x.front.FindAddress(bg(), row.ask)
		require.NoError(t, err)
		require.Equal(t, row.known, known, "%+v", row.ask)
		require.Equal(t, row.city, found.City)
		require.Equal(t, row.ask.Postcode, found.Postcode)
	}
}

func TestOpenRefuses(t *testing.T) {
	model, err := loadModel()
	require.NoError(t, err)
	for _, dsn := range []string{"", "sqlite:", "mysql://root:secret@host/db", "frontdesk.db"} {
		_, err := Open(bg(), Options{DSN: dsn, Model: model, Hasher: hasher, Now: time.Now})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}
