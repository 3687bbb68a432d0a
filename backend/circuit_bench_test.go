package backend_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// BenchmarkClosedCircuit is what the guards cost a call that succeeds.
func BenchmarkClosedCircuit(b *testing.B) {
	model, err := mapping.LoadModel("")
	require.NoError(b, err)
	c, err := backend.NewClient(newScripted(model, func(context.Context, *mapping.Resource) error { return nil }), model, backend.Options{Timeout: time.Minute})
	require.NoError(b, err)
	order, asked := model.Resource("order"), backend.Query{Client: auth.Client{ID: 1000}, ID: 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Get(b.Context(), order, asked); err != nil {
			b.Fatal(err)
		}
	}
}
