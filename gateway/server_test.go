package gateway_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// TestServerStoppedAsItStarts: whoever stops a server that has only just begun to
// serve, or has not yet, must not wait for it for ever.
func TestServerStoppedAsItStarts(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	g := gateway.New(gateway.Options{BasePath: "/webservice_v2", Offer: backend.Offer{Model: model}})
	for range 500 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server, served := gateway.NewServer(g, gateway.ServerOptions{}), make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-served)
	}
}
