package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

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
