package remotetest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// errOver says that a connection has come to its end, as the fault wanted it.
var errOver = errors.New("connection is over")

// relay is one connection of a client, and the one to the target that goes
// with it.
type relay struct {
	*FaultProxy
	client   net.Conn
	reader   *bufio.Reader
	upstream net.Conn // nil until there is something to pass on
	answers  *bufio.Reader
}

func newRelay(p *FaultProxy, client net.Conn) *relay {
	return &relay{FaultProxy: p, client: client, reader: bufio.NewReader(client)}
}

func (r *relay) run() {
	defer func() {
		if r.upstream != nil {
			_ = r.upstream.Close()
		}
	}()
	for {
		first, err := r.reader.Peek(1)
		if err != nil {
			return
		}
		const handshake = 0x16 // the first byte of TLS
		if first[0] == handshake {
			r.opaque(r.begin(""))
			return
		}
		f := r.begin(r.path())
		if err := r.request(f); err != nil {
			return
		}
	}
}

// path is that of the request that is coming; "" where its first line is none.
func (r *relay) path() string {
	for n := 1; ; n++ {
		line, err := r.reader.Peek(max(n, r.reader.Buffered()))
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			if parts := bytes.Fields(line[:end]); len(parts) == 3 {
				return string(parts[1])
			}
			return ""
		}
		if err != nil {
			return ""
		}
		n = len(line)
	}
}

// wait spends the delay of a fault and waits at its gate. It fails when the
// proxy is closed.
func (r *relay) wait(f Fault) error {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.done:
			return errOver
		}
	}
	if f.Gate != nil {
		select {
		case <-f.Gate:
		case <-r.done:
			return errOver
		}
	}
	return nil
}

// request serves one request, or fails where no other can follow it.
func (r *relay) request(f Fault) error {
	if f.Kind != SlowBody {
		if err := r.wait(f); err != nil {
			return err
		}
	}
	switch f.Kind {
	case ResetBefore, Refuse, ResetOnAccept:
		reset(r.client)
		return errOver
	case HalfOpen:
		_, _ = io.Copy(io.Discard, r.reader)
		return errOver
	case TLSGarbage:
		return r.garbage()
	}
	req, err := http.ReadRequest(r.reader)
	if err != nil {
		return err
	}
	if f.Kind == Storm || f.Kind == EndlessBody {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return err
		}
		return r.invent(f)
	}
	answer, head, err := r.pass(req)
	if err != nil {
		// The target is not there. Whoever asked notices as if there were no proxy.
		reset(r.client)
		return err
	}
	r.note(func(s *FaultStats) { s.Passed++ })
	if err := r.answer(f, answer, head); err != nil {
		return err
	}
	if req.Close || answerCloses(answer[:head]) {
		return errOver
	}
	return nil
}

func answerCloses(head []byte) bool {
	return bytes.Contains(bytes.ToLower(head), []byte("\r\nconnection: close\r\n"))
}

// pass has the target answer, and returns the answer as it goes over the wire
// and where its body begins.
func (r *relay) pass(req *http.Request) (answer []byte, head int, err error) {
	if r.upstream == nil {
		var dialer net.Dialer
		if r.upstream, err = dialer.Dial("tcp", r.target); err != nil {
			return nil, 0, err
		}
		r.answers = bufio.NewReader(r.upstream)
	}
	// Closing the proxy must not wait for a target that does not answer.
	stop := r.closeWith(r.upstream)
	defer stop()
	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		req.Header.Del("Expect")
		if _, err := io.WriteString(r.client, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, 0, err
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "") // Write must not add its own
	}
	if err := req.Write(r.upstream); err != nil {
		return nil, 0, err
	}
	resp, err := http.ReadResponse(r.answers, req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	var out bytes.Buffer
	if err := resp.Write(&out); err != nil {
		return nil, 0, err
	}
	return out.Bytes(), bytes.Index(out.Bytes(), []byte("\r\n\r\n")) + 4, nil
}

// closeWith closes conn when the proxy is closed, until stop is called.
func (r *relay) closeWith(conn net.Conn) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-r.done:
			_ = conn.Close()
		case <-over:
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// answer sends the target's answer with what the fault does to it.
func (r *relay) answer(f Fault, answer []byte, head int) error {
	send := func(b []byte) error {
		_, err := r.client.Write(b)
		return err
	}
	switch f.Kind {
	case ResetAfter:
		reset(r.client)
		return errOver
	case ResetMidAnswer:
		// An RST overtakes what the client has not read yet, and the test must not
		// hang on that: what was sent may arrive or not, the rest never does.
		_ = send(answer[:min(f.Bytes, len(answer))])
		reset(r.client)
		return errOver
	case Truncate:
		_ = send(answer[:min(head+f.Bytes, len(answer))])
		return errOver
	case SlowBody:
		if err := send(answer[:head]); err != nil {
			return err
		}
		for i := head; i < len(answer); i++ {
			if err := r.wait(f); err != nil {
				return err
			}
			if err := send(answer[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	default:
		return send(answer)
	}
}

// invent answers in the target's place.
func (r *relay) invent(f Fault) error {
	contentType := f.Type
	if contentType == "" {
		contentType = "application/json"
	}
	var head strings.Builder
	if f.Kind == EndlessBody {
		fmt.Fprintf(&head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n%s", contentType, f.Body)
		if _, err := io.WriteString(r.client, head.String()); err != nil {
			return err
		}
		for blank := bytes.Repeat([]byte(" "), 4096); ; {
			if _, err := r.client.Write(blank); err != nil {
				return errOver
			}
		}
	}
	status := f.Status
	if status == 0 {
		status = http.StatusServiceUnavailable
	}
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", status, http.StatusText(status), contentType, len(f.Body))
	if f.RetryAfter > 0 {
		head.WriteString("Retry-After: " + strconv.Itoa(int(f.RetryAfter/time.Second)) + "\r\n")
	}
	_, err := io.WriteString(r.client, head.String()+"\r\n"+f.Body)
	return err
}

// garbage sends a TLS record that no version of TLS knows, and ends.
func (r *relay) garbage() error {
	_, _ = r.client.Write(append([]byte{0x16, 0x03, 0x03, 0x00, 0x20}, bytes.Repeat([]byte{0xFE}, 32)...))
	// Take in what has arrived: closing on unread bytes would be a reset.
	_, _ = r.reader.Discard(r.reader.Buffered())
	return errOver
}

// opaque passes on bytes that cannot be read as requests.
func (r *relay) opaque(f Fault) {
	switch f.Kind {
	case Healthy:
	case HalfOpen, TLSGarbage:
		_ = r.request(f)
		return
	default:
		reset(r.client)
		return
	}
	if r.wait(f) != nil {
		return
	}
	upstream, err := net.Dial("tcp", r.target)
	if err != nil {
		reset(r.client)
		return
	}
	r.upstream = upstream
	stop := r.closeWith(upstream)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(r.client, upstream)
		_ = r.client.Close()
	})
	_, _ = io.Copy(upstream, r.reader)
	_ = upstream.Close()
	wg.Wait()
}
