package siege

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// blows are what attackers' processes do, by name.
var blows = map[string]func(*attacker){
	"announce": (*attacker).announce,
	"drip":     (*attacker).drip,
	"silence":  (*attacker).silence,
	"unread":   (*attacker).unread,
	"guess":    (*attacker).guess,
	"ask":      (*attacker).ask,
}

const (
	announced   = 16 << 20 // bytes of a body: as many as may be
	guesses     = 200      // wrong logins under way at once
	manyAddress = 2000     // from which they come
)

// announce sends headers that announce a large body, half of them without a session and for
// a path that there is not, and nothing more.
func (a *attacker) announce() {
	a.crowd(360, 500*time.Millisecond, func(i int) {
		a.connected(i%2, func(c net.Conn, in *bufio.Reader) {
			if i%4 < 2 {
				fmt.Fprintf(c, "POST /webservice_v2/nowhere HTTP/1.1\r\nHost: desk\r\nContent-Length: %d\r\n\r\n", announced)
			} else {
				_, _ = io.WriteString(c, a.posting())
			}
			a.answered(in)
		})
	})
}

func (a *attacker) posting() string {
	return fmt.Sprintf("POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n", a.Token, announced)
}

// drip sends large bodies a KiB at a time, after the first 64.
func (a *attacker) drip() {
	a.crowd(360, 500*time.Millisecond, func(i int) {
		a.connected(i%2, func(c net.Conn, in *bufio.Reader) {
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			_, err := io.WriteString(c, a.posting()+strings.Repeat(" ", 64<<10))
			for err == nil {
				select {
				case <-tick.C:
					_, err = io.WriteString(c, strings.Repeat(" ", 1<<10))
				case <-a.ctx.Done():
					return
				}
			}
			a.answered(in)
		})
	})
}

// silence connects from one address, more often than there are descriptors, and says
// nothing.
func (a *attacker) silence() {
	a.crowd(1200, time.Second, func(int) {
		a.connected(0, func(_ net.Conn, in *bufio.Reader) { a.answered(in) })
	})
}

// unread asks for a result over and over, every other connection by an address that is
// wrong, and reads nothing of what comes.
func (a *attacker) unread() {
	a.crowd(120, time.Second, func(i int) {
		a.connected(i%2, func(c net.Conn, _ *bufio.Reader) {
			link := a.Link
			if i%4 < 2 {
				link += "x"
			}
			asks := strings.Repeat("GET "+link+" HTTP/1.1\r\nHost: desk\r\n\r\n", 1000)
			for {
				if _, err := io.WriteString(c, asks); err != nil { // the desk has had enough
					return
				}
			}
		})
	})
}

// guess logs in with wrong passwords, each over a connection of its own, from many
// addresses in turn: a third of them as a user that there is, a third as the customer.
func (a *attacker) guess() {
	var last atomic.Int64
	a.crowd(guesses, 0, func(int) {
		n := int(last.Add(1))
		a.connected(n%manyAddress, func(c net.Conn, in *bufio.Reader) {
			user := [...]string{"demo", customerName, fmt.Sprint("nobody-", n)}[n%3]
			fmt.Fprintf(c, "GET /webservice_v2%s HTTP/1.1\r\nHost: desk\r\n\r\n", fmt.Sprintf(a.Query, user))
			a.answered(in)
		})
	})
}

// ask sends requests in turn over connections that are kept, each as soon as the one
// before was answered.
func (a *attacker) ask() {
	a.crowd(a.Crowd, 0, func(i int) {
		a.connected(i%2, func(c net.Conn, in *bufio.Reader) {
			for n := i; a.ctx.Err() == nil; n++ {
				_, err := io.WriteString(c, a.Requests[n%len(a.Requests)])
				if err != nil || !a.answered(in) {
					return
				}
			}
		})
	})
}
