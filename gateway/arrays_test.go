package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestArraysThatAreTheOnlyWay: where nobody is offered the elements by themselves,
// the array goes with the record that has it.
func TestArraysThatAreTheOnlyWay(t *testing.T) {
	model, err := sampleModel()
	require.NoError(t, err)
	lines := model.Resource("order").Field("orderlines")
	g := offering(backend.Offer{Model: model, Supports: func(r *mapping.Resource, op mapping.Scope) bool {
		return r.Name != "orderline" || op == mapping.OpCreate
	}})
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"POST", "/order"})
	require.True(t, g.routes.mayUse(key, lines, arrayRead))
	require.False(t, g.routes.mayUse(key, lines, arraySend))
	require.Equal(t, []ArrayNeed{{Field: "orderlines", Operation: Grant{"POST", "/order"}, Grant: Grant{"POST", "/orderline"}}}, g.ArraysWithheld(key))
}

func TestArraysOfAQuery(t *testing.T) {
	g := tableOnly(t)
	key := keyFor(g, Grant{"GET", "/order"})
	for query, lacks := range map[string][]string{
		"": nil, "fields=id": nil, "fields=%6eumber": nil, "fields=id,orderlines": {"GET /orderline"}, "f%69elds=id%2corder%6cines": {"GET /orderline"},
	} {
		for _, path := range []string{"/webservice_v2/order/5", "/webservice_v2/order"} {
			e := g.Explain(Asked{Method: "GET", Target: path + "?" + query, Key: key})
			require.Equal(t, lacks, e.Lacks, query)
			require.Equal(t, lacks != nil, e.Stopped == StageQuery, query)
		}
	}
}
