// Package simulation lives a day in a minute: a gateway with clients that read, write, copy and
// try again, a system behind it that fails and changes, kills, stops, reloads, and hours in which
// nothing happens. All of it is in one synctest bubble, so that time passes when all wait; what a
// seed draws is drawn again by it.
package simulation

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) {
	keepTheDate()
	os.Exit(rig.Main(m))
}

// keepTheDate starts the goroutine that keeps fasthttp's date, and never ends, outside of all bubbles.
// Those that compress cannot be used in a bubble at all: nobody asks for compression here.
func keepTheDate() {
	l := fasthttputil.NewInmemoryListener()
	server := fasthttp.Server{Handler: func(*fasthttp.RequestCtx) {}}
	go func() { _ = server.Serve(l) }()
	conn, err := l.Dial()
	if err == nil {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err = io.ReadAtLeast(conn, make([]byte, 512), 32)
		_ = conn.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	_ = server.Shutdown()
}
