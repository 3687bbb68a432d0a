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
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// serving begins to serve, each time it is called, on a port of its own.
func serving(t *testing.T, handler fasthttp.RequestHandler) func() (server *gateway.Server, at string, served chan error) {
	g := gateway.New(gateway.Options{BasePath: "/webservice_v2", Offer: backend.Offer{Model: must.Have(mapping.LoadModel(""))(t)}})
	return func() (*gateway.Server, string, chan error) {
		listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
		server := gateway.NewServer(gateway.ServerOptions{Current: func() (*gateway.Gateway, fasthttp.RequestHandler) { return g, handler }})
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		return server, listener.Addr().String(), served
	}
}

// TestServerStoppedAsItStarts: whoever stops a server that has only just begun to
// serve, or has not yet, must not wait for it for ever.
func TestServerStoppedAsItStarts(t *testing.T) {
	serve := serving(t, nil)
	for range 500 {
		server, _, served := serve()
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-served)
	}
}

// TestServerStopsBetweenRequests: what was done is answered, whenever the server stops. Fiber's own
// stop closes connections whose next request has just come, and does what they ask.
func TestServerStopsBetweenRequests(t *testing.T) {
	var done, answered atomic.Int64
	serve := serving(t, func(*fasthttp.RequestCtx) { done.Add(1) })
	for range 30 {
		server, at, served := serve()
		var clients sync.WaitGroup
		started := make(chan struct{}, 64)
		for range cap(started) {
			conn := must.Have(net.Dial("tcp", at))(t)
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
