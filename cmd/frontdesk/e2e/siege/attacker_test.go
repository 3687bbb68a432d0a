package siege

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
)

// attackVariable names to a process the blow that it is there for.
const attackVariable = "FRONTDESK_ATTACK"

// gentle is the attacker's nice value: what it computes itself would, elsewhere, be the
// work of another machine.
const gentle = 10

// target is what an attacker's process is told on its standard input, whose end is the
// attack's.
type target struct {
	Host     string   // where clients are served
	Token    string   // of a session of the attacker's
	Link     string   // of a result of the attacker's: path and query
	Crowd    int      // connections of the blow "ask"
	Requests []string // of the blow "ask", byte for byte
	Query    string   // of a wrong login; %d is for what makes it another one
	Gets     int      // the status that the attacker wants to be answered with; 0 for any
}

// tally is what an attacker's process did.
type tally struct {
	Connections int
	Answers     map[int]int // by status; 0 for connections that ended without one
}

// attacker is a process that means ill.
type attacker struct {
	target
	ctx context.Context

	mu   sync.Mutex
	done tally
}

// attackAs is the attacker's process, from its beginning to its exit code.
func attackAs(name string, in io.Reader, out io.Writer) int {
	a := &attacker{done: tally{Answers: map[int]int{}}}
	if err := json.NewDecoder(in).Decode(&a.target); err != nil {
		fmt.Fprintln(os.Stderr, "attacker:", err)
		return 1
	}
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, gentle); err != nil {
		fmt.Fprintln(os.Stderr, "attacker:", err)
		return 1
	}
	var stop context.CancelFunc
	a.ctx, stop = context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in) // also where the test's process ends
		a.doEnough()
		stop()
	}()
	fmt.Fprintln(out, "begun")
	blows[name](a)
	if err := json.NewEncoder(out).Encode(a.done); err != nil {
		return 1
	}
	return 0
}

// doEnough waits until the attacker has done what a row wants of it: on a busy machine it
// may not have come to that when the attack is over.
func (a *attacker) doEnough() {
	for last := time.Now().Add(mostAttack); time.Now().Before(last); <-time.After(10 * time.Millisecond) {
		a.mu.Lock()
		enough := a.done.enough(a.Gets)
		a.mu.Unlock()
		if enough {
			return
		}
	}
}

// mostAttack is how much longer than meant an attack takes at most.
const mostAttack = 20 * time.Second

// strike starts an attacker's process. What is returned ends it, and tells what it did.
func strike(t *testing.T, blow string, to target) (end func() tally) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	process := exec.Command(self)
	process.Env = append(os.Environ(), attackVariable+"="+blow)
	var said bytes.Buffer
	process.Stderr = &said
	in := must.Have(process.StdinPipe())(t)
	out := must.Have(process.StdoutPipe())(t)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() }) // it ended long ago, unless the test failed
	require.NoError(t, json.NewEncoder(in).Encode(to))
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	require.NoError(t, err, "%s", &said)
	return func() (done tally) {
		t.Helper()
		require.NoError(t, in.Close())
		require.NoError(t, json.NewDecoder(lines).Decode(&done), "%s", &said)
		require.NoError(t, process.Wait(), "%s", &said)
		return done
	}
}

// crowd has so many at work, each again and again and at most once in a pace, until
// the attack ends.
func (a *attacker) crowd(n int, pace time.Duration, turn func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for a.ctx.Err() == nil {
				next := time.After(pace)
				turn(i)
				select {
				case <-next:
				case <-a.ctx.Done():
				}
			}
		})
	}
	all.Wait()
}

// connected opens a connection from one of many addresses, which ends with use or with the
// attack. It is reset: thousands of closed ones would keep their ports for a minute.
func (a *attacker) connected(address int, use func(c net.Conn, in *bufio.Reader)) {
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(address>>8), byte(address))}
	c, err := (&net.Dialer{LocalAddr: from, Timeout: time.Second}).DialContext(a.ctx, "tcp", a.Host)
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetLinger(0)
	defer context.AfterFunc(a.ctx, func() { _ = c.Close() })()
	a.mu.Lock()
	a.done.Connections++
	a.mu.Unlock()
	use(c, bufio.NewReader(c))
}

// answered reads an answer, and reports whether another request can follow.
func (a *attacker) answered(in *bufio.Reader) bool {
	status := 0
	resp, err := http.ReadResponse(in, nil)
	if err == nil {
		status = resp.StatusCode
		_, err = io.Copy(io.Discard, resp.Body)
	}
	a.mu.Lock()
	a.done.Answers[status]++
	a.mu.Unlock()
	return err == nil && !resp.Close
}
