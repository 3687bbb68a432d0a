package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestSortOfWhatTheSystemCannot refuses what a mapping sheet says cannot be
// sorted by, and takes what can be sorted by but not filtered.
func TestSortOfWhatTheSystemCannot(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	narrowed := model.Narrow(map[string]mapping.Narrowing{"country": {Fields: map[string]mapping.FieldNarrowing{
		"code": {Unsortable: true}, "name": {Unfilterable: true},
	}}})
	x := &Exchange{Endpoint: &Endpoint{Resource: narrowed.Resource("country")}}
	v := parseSort(x, "-name,code")
	require.Len(t, v, 1)
	require.True(t, mapping.Is(v[0], mapping.FieldNotInModel))
	require.Len(t, x.Query.Sort, 1)
	require.True(t, x.Query.Sort[0].Descending)
}
