package remotetest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// ServeHTTP passes a request on, or does to it what the fault says.
func (p *FaultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.begin(r.RequestURI)
	if f.Kind != SlowBody && !p.wait(f) {
		panic(http.ErrAbortHandler) // no answer, and the connection ends
	}
	r = r.WithContext(p.ctx) // a client that gives up keeps nothing from the target
	var answer []byte
	switch f.Kind {
	case Healthy:
		p.forward.ServeHTTP(w, r)
		return
	case Storm:
		f.storm(w)
		return
	case ResetAfter, ResetMidAnswer, Truncate, SlowBody:
		answer = p.ask(r)
	case EndlessBody, TLSGarbage:
		// Closing on unread bytes would be a reset.
		_, _ = io.Copy(io.Discard, r.Body)
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	p.strike(f, conn.(*client).Conn, answer)
}

// wait waits at the gate of a fault. It is false when the proxy is closed.
func (p *FaultProxy) wait(f Fault) bool {
	if f.Gate != nil {
		select {
		case <-f.Gate:
		case <-p.ctx.Done():
			return false
		}
	}
	return true
}

// ask has the target answer, and returns the answer as it goes over the wire.
func (p *FaultProxy) ask(r *http.Request) []byte {
	recorder := httptest.NewRecorder()
	p.forward.ServeHTTP(recorder, r)
	resp := recorder.Result()
	if resp.ContentLength < 0 && recorder.Body.Len() > 0 {
		resp.TransferEncoding = []string{"chunked"} // as it came
	}
	var answer bytes.Buffer
	_ = resp.Write(&answer) // a Buffer takes everything
	return answer.Bytes()
}

// storm answers in the target's place.
func (f Fault) storm(w http.ResponseWriter) {
	w.Header().Set("Content-Type", f.contentType())
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	w.WriteHeader(cmp.Or(f.Status, http.StatusServiceUnavailable))
	_, _ = io.WriteString(w, f.Body)
}

func (f Fault) contentType() string { return cmp.Or(f.Type, "application/json") }

// strike does to a connection what the fault says, after which it is closed. answer
// is the target's, where it was asked.
func (p *FaultProxy) strike(f Fault, conn net.Conn, answer []byte) {
	send := func(b []byte) bool {
		_, err := conn.Write(b)
		return err == nil
	}
	body := bytes.Index(answer, []byte("\r\n\r\n")) + 4
	switch f.Kind {
	case HalfOpen:
		_, _ = io.Copy(io.Discard, conn)
	case EndlessBody:
		send(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n%s", f.contentType(), f.Body))
		for blank := bytes.Repeat([]byte(" "), 4096); send(blank); {
		}
	case TLSGarbage: // a record that no version of TLS knows
		send(append([]byte{0x16, 0x03, 0x03, 0x00, 0x20}, bytes.Repeat([]byte{0xFE}, 32)...))
	case Truncate:
		send(answer[:min(body+f.Bytes, len(answer))])
	case SlowBody:
		send(answer[:body])
		for i := body; i < len(answer); i++ {
			if !p.wait(f) || !send(answer[i:i+1]) {
				return
			}
		}
	case ResetMidAnswer:
		// An RST overtakes what the client has not read yet, and the test must not
		// hang on that: what was sent may arrive or not, the rest never does.
		send(answer[:min(f.Bytes, len(answer))])
		reset(conn)
	default:
		reset(conn)
	}
}
