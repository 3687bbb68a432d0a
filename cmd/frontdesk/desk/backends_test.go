package desk

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// TestDrivers holds what a configuration can name to the drivers that there are.
func TestDrivers(t *testing.T) {
	named, _ := reflect.TypeFor[config.Backend]().FieldByName("Driver")
	require.ElementsMatch(t, strictyaml.Constraints(named.Tag.Get("schema"))[0].Words(), slices.Collect(maps.Keys(drivers())))
	for name, d := range drivers() {
		require.Equal(t, config.Backend{Driver: name}.BySheet(), d.judge != nil, "%s: a mapping sheet, and what judges it", name)
	}
}
