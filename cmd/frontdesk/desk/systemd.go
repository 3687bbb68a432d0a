package desk

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// The names that sockets are handed over by: FileDescriptorName= in the units of
// deploy/systemd.
const (
	PublicSocket = "public"
	opsSocket    = "ops"
)

// Supervisor is systemd, if it started the program: it may hand over listening sockets, and wants
// to know the state of the program. It is nil if the program was started by hand; then nothing is
// handed over or reported.
type Supervisor struct {
	sockets  map[string]net.Listener
	watchdog time.Duration // how long systemd waits for a sign of life; 0: it does not
}

// UnderSystemd takes over what systemd passed on, so that no child process inherits it. It must be
// called once, before anything else opens a file.
func UnderSystemd() (*Supervisor, error) {
	s := &Supervisor{sockets: make(map[string]net.Listener)}
	for name, files := range activation.FilesWithNames() {
		if name != PublicSocket && name != opsSocket || len(files) > 1 {
			return nil, fmt.Errorf("systemd handed over %d socket(s) named %q; expected one named %s, and perhaps one named %s (FileDescriptorName=)",
				len(files), name, PublicSocket, opsSocket)
		}
		listener, err := net.FileListener(files[0])
		files[0].Close() // FileListener has its own
		if err != nil {
			return nil, fmt.Errorf("the socket %s of systemd: %w", name, err)
		}
		if _, ok := listener.Addr().(*net.TCPAddr); !ok {
			return nil, fmt.Errorf("the socket %s of systemd is at %s; expected one with ListenStream=ADDRESS:PORT", name, listener.Addr())
		}
		s.sockets[name] = listener
	}
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, err
	}
	s.watchdog = watchdog
	return s, nil
}

// activated returns a copy of the listener that was handed over by that name, nil for none. It
// replaces the address in the configuration.
func (s *Supervisor) activated(name string) (net.Listener, error) {
	if s == nil || s.sockets[name] == nil {
		return nil, nil
	}
	file, err := s.sockets[name].(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return net.FileListener(file)
}

// ready notifies systemd that the program serves, or has ended a reload.
func (s *Supervisor) ready(status string) error {
	return s.notify(daemon.SdNotifyReady, "STATUS="+status)
}

// waiting notifies systemd why the program does not serve yet, and that the next notification comes
// within that time, by which systemd extends TimeoutStartSec.
func (s *Supervisor) waiting(status string, within time.Duration) error {
	return s.notify("STATUS="+status, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", within.Microseconds()))
}

// reloading notifies systemd that the configuration is being read again. ready ends that, whether or not
// the new configuration is used.
func (s *Supervisor) reloading() error {
	return s.notify(daemon.SdNotifyReloading, fmt.Sprintf("MONOTONIC_USEC=%d", monotonic().Microseconds()))
}

// stopping notifies systemd that the program takes no new requests.
func (s *Supervisor) stopping(status string) error {
	return s.notify(daemon.SdNotifyStopping, "STATUS="+status)
}

// notify sends systemd the states in one message. It does nothing if systemd has not asked for
// them.
func (s *Supervisor) notify(states ...string) error {
	if s == nil {
		return nil
	}
	for i, state := range states {
		states[i] = strings.ReplaceAll(state, "\n", " ") // a line break would begin another state
	}
	if _, err := daemon.SdNotify(false, strings.Join(states, "\n")); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}

// keepAlive sends the signs of life that WatchdogSec= asks for, twice as often as needed, until ctx
// ends. If the program hangs as a whole, it sends none, and systemd restarts it. Whether it can serve
// is not judged here but by /readyz.
func (s *Supervisor) keepAlive(ctx context.Context) {
	if s == nil || s.watchdog == 0 {
		return
	}
	every(ctx, time.After, s.watchdog/2, func() {
		_ = s.notify(daemon.SdNotifyWatchdog) // the next one makes up for a lost one
	})
}
