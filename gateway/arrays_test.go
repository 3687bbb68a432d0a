package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestArraysThatAreTheOnlyWay: where nobody is offered the elements by themselves,
// the array goes with the record that has it.
func TestArraysThatAreTheOnlyWay(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	lines := model.Resource("order").Field("orderlines")
	g := New(Options{
		BasePath: "/webservice_v2", Resets: new(auth.Resets), Clock: time.Now, Policy: func() *Policy { return new(Policy) },
		Offer: backend.Offer{Model: model, Supports: func(r *mapping.Resource, op mapping.Scope) bool {
			return r.Name != "orderline" || op == mapping.OpCreate
		}},
	})
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"POST", "/order"})
	require.True(t, g.routes.mayUse(key, lines, arrayRead))
	require.False(t, g.routes.mayUse(key, lines, arraySend))
	require.Equal(t, []ArrayNeed{{Field: "orderlines", Operation: Grant{"POST", "/order"}, Grant: Grant{"POST", "/orderline"}}}, g.ArraysWithheld(key))
}

func TestArraysOfAQuery(t *testing.T) {
	g := tableOnly(t)
	key := keyFor(g, Grant{"GET", "/order"})
	for query, lacks := range map[string]string{
		"": "", "fields=": "", "fields=id": "", "x=orderlines": "", "fields=orderlines2,order": "", "fields=%6frder": "",
		"fields=orderlines": "GET /orderline", "a=1&fields=id,orderlines": "GET /orderline", "f%69elds=id%2corder%6cines": "GET /orderline",
	} {
		d := g.Decide(key, "GET", "/order/5", []byte(query))
		require.Equal(t, lacks, d.Lacks, query)
		require.Equal(t, lacks != "", d.Reason == mapping.FieldNotInModel, query)
		require.Equal(t, lacks, g.Decide(key, "GET", "/order", []byte(query)).Lacks, "of a list too")
	}
}
