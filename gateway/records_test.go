package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// one is an answer of one record.
type one struct{ Data map[string]any }

// TestFieldsOfOne come in the order of the model, each once.
func TestFieldsOfOne(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	whole := demo.ask("GET", "/order/2", "")
	for query, want := range map[string]string{
		"fields=kind,id,number,kind": `{"data":{"id":2,"number":"O000002","kind":"workshop"}}`,
		"fields=id%2Ckind":           `{"data":{"id":2,"kind":"workshop"}}`,
		"fields=":                    whole.body,
		"id=2&fields=id":             `{"data":{"id":2}}`,
	} {
		a := demo.ask("GET", "/order/2?"+query, "")
		require.Equal(t, want, a.body, query)
		require.Equal(t, whole.head("ETag"), a.head("ETag"), "it changes with any change, whatever was asked for")
	}
	lines := demo.ask("GET", "/order/2?fields=orderlines", "")
	require.Len(t, decode[one](t, lines).Data["orderlines"], 1)
	require.Equal(t, whole.head("ETag"), lines.head("ETag"))
	refused(t, demo.ask("GET", "/order/2?fields=id,colour,", ""),
		fault{403, "Field: colour not found in model", "field_not_in_model", "colour"},
		fault{403, "Field:  not found in model", "field_not_in_model", ""})
}
