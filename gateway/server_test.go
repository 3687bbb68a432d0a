package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

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
		server, served := gateway.NewServer(gateway.ServerOptions{Current: func() (*gateway.Gateway, fasthttp.RequestHandler) { return g, nil }}), make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-served)
	}
}

// TestServerStopsBetweenRequests: what was done is answered, whenever the server stops. Fiber's own
// stop closes connections whose next request has just come, and does what they ask.
func TestServerStopsBetweenRequests(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	g := gateway.New(gateway.Options{BasePath: "/webservice_v2", Offer: backend.Offer{Model: model}})
	var done, answered atomic.Int64
	for range 30 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server := gateway.NewServer(gateway.ServerOptions{Current: func() (*gateway.Gateway, fasthttp.RequestHandler) {
			return g, func(*fasthttp.RequestCtx) { done.Add(1) }
		}})
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		var clients sync.WaitGroup
		started := make(chan struct{}, 64)
		for range cap(started) {
			conn, err := net.Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			clients.Go(func() {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				for n := 0; ; n++ {
					if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
						return
					}
					if _, err := http.ReadResponse(reader, nil); err != nil {
						return
					}
					if answered.Add(1); n == 0 {
						started <- struct{}{}
					}
				}
			})
		}
		for range cap(started) {
			<-started
		}
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-served)
		clients.Wait()
		require.Equal(t, done.Load(), answered.Load())
	}
}
