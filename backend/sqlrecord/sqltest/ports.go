package sqltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// ports are given out one after the other, each once. The tests of other packages run in
// processes of their own, and must not be given the same: a process takes a whole block of
// ports, by listening on the first of them until it ends.
type ports struct {
	first, blocks int // of blockSize ports each

	mu     sync.Mutex
	next   int // the block that is tried next
	tried  int
	taken  []net.Listener
	unused []int // of the block that was taken last
}

const blockSize, blockCount = 100, 200

var errNoPort = errors.New("there is no free port")

// take returns a port that nothing listens on.
func (p *ports) take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if len(p.unused) == 0 {
			if err := p.takeBlock(); err != nil {
				return 0, err
			}
		}
		port := p.unused[0]
		p.unused = p.unused[1:]
		if l, err := listen(port); err == nil {
			return port, l.Close()
		}
	}
}

func (p *ports) takeBlock() error {
	for ; p.tried < p.blocks; p.tried++ {
		first := p.first + (p.next+p.tried)%p.blocks*blockSize
		l, err := listen(first)
		if err != nil {
			continue // another process has it
		}
		p.taken = append(p.taken, l)
		for n := 1; n < blockSize; n++ {
			p.unused = append(p.unused, first+n)
		}
		p.tried++
		return nil
	}
	return errNoPort
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// freePorts are below those that the system gives out by itself: a client that tries to
// reach a server while it is stopped could be given the server's own port, and keep it from
// starting again.
var freePorts = &ports{first: 12000, blocks: blockCount, next: rand.IntN(blockCount)}

// FreePort is a port of this machine that nothing listens on, another one each time.
func FreePort() (int, error) { return freePorts.take() }
