package simulation

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// Where everybody listens.
const (
	public    = "127.0.0.1:8080"
	operators = "127.0.0.1:9090"
	receivers = "hooks.example.com:443"
	service   = "service.example.com:80"
)

// configName is the file of a gateway's configuration in its folder.
const configName = "frontdesk.yaml"

// gateway is one life of the program.
type gateway struct {
	name   string
	folder string // all that it has on disk
	log    *rig.LockedBuffer
	stop   context.CancelFunc
	ended  chan struct{}
	failed error
	killed bool
	judged time.Time // its log, up to then
}

// begin starts the program on the present folder, and returns when it serves.
func (w *world) begin() {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w.lives++
	g := &gateway{name: "gateway " + string(rune('A'+w.lives%26)) + strings.Repeat("'", w.lives/26), folder: w.folder(), log: new(rig.LockedBuffer), stop: stop, ended: make(chan struct{})}
	w.write()
	said, out := io.Pipe()
	program := desk.Program{
		Ctx: ctx, Stdin: strings.NewReader(""), Stdout: out, Stderr: g.log, Wrap: w.system.wrap(w), Signals: make(chan os.Signal), LogDelay: time.Second,
		Listen: func(_, address string) (net.Listener, error) { return w.net.Listen(g.name, address) }, Dial: w.net.Dialer(g.name),
	}
	go func() {
		defer close(g.ended)
		g.failed = desk.ServeConfig(program, filepath.Join(g.folder, configName), true)
		_ = out.Close()
	}()
	scanner := bufio.NewScanner(said)
	for scanner.Scan() && !strings.HasPrefix(scanner.Text(), "ready: ") {
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	if n := len(w.graves); n > 0 && w.graves[n-1].killed {
		w.kills = append(w.kills, time.Now())
	}
	w.serving.Store(g)
	w.tell("%s serves", g.name)
}

func (w *world) atSomeMoment() {
	for _, when := range pick(w.random, nil, []string{"before"}, []string{"within"}, []string{"after"}, []string{"promised"}, []string{"promised", "within"}, []string{"promised", "after"}, []string{"promised", "after"}) {
		w.awaited.Store(when)
		select {
		case <-w.moments:
		case <-time.After(time.Second): // there is none
		}
		w.awaited.Store("")
	}
}

// kill leaves of the program what a kill -9 leaves: its files as they are at this moment. What
// goes on of it is alone with files of its own, and nobody hears of it.
func (w *world) kill() {
	w.atSomeMoment()
	g := w.serving.Swap(nil)
	g.killed = true
	synctest.Wait()
	next := w.nextFolder()
	require.NoError(w.t, copyFolder(g.folder, next))
	w.net.Cut(g.name, true)
	w.tell("%s is killed", g.name)
	g.stop()
	w.buried.Go(func() { <-g.ended })
	w.graves = append(w.graves, g)
}

// end stops the program as SIGTERM does.
func (w *world) end() {
	w.atSomeMoment()
	g := w.serving.Load()
	w.tell("%s is stopped", g.name)
	g.stop()
	<-g.ended
	w.serving.Store(nil)
	if g.failed != nil {
		w.fault("a stop ended with %v", g.failed)
	}
	w.graves = append(w.graves, g)
}

// copyFolder copies files but for those that hold a lock or memory of a process.
func copyFolder(from, to string) error {
	err := os.CopyFS(to, os.DirFS(from))
	for _, pattern := range []string{"*-shm", "*-serve"} {
		files, _ := filepath.Glob(filepath.Join(to, pattern))
		for _, file := range files {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}
