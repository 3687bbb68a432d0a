package desk

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
)

// longestSocket is how many bytes the name of a socket may have: systems allow 104 or 108, and bindSocket
// adds some.
const longestSocket = 96

// SocketOf returns the socket through which commands reach a running gateway: ops.socket, or a file beside
// the gateway's own SQLite file; "" if there is neither.
func SocketOf(c *config.Config) (string, error) {
	database, err := DatabaseOf(c)
	if err != nil {
		return "", err
	}
	return socketFile(c.Ops, database.file()), nil
}

func socketFile(c config.Ops, database string) string {
	if c.Socket == "" && database != "" {
		return database + "-socket"
	}
	return c.Socket
}

// canBind returns why a socket cannot be made; nil if it can be.
func canBind(file string) error {
	if len(file) > longestSocket {
		return fmt.Errorf("%s has %d bytes, expected at most %d in the name of a socket", file, len(file), longestSocket)
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is there and no socket, expected nothing or a socket", Absolute(file))
	}
	return canWrite(file)
}

// bindSocket listens at a socket that only this user may connect to. It replaces the socket of a gateway
// that was killed, but not that of a running one.
func bindSocket(file string) (l net.Listener, release func() error, err error) {
	if err := canBind(file); err != nil {
		return nil, nil, err
	}
	if c, err := net.Dial("unix", file); err == nil {
		_ = c.Close()
		return nil, nil, fmt.Errorf("%s is the socket of another frontdesk that runs: give each an ops.socket of its own", file)
	}
	// The socket is made in a private folder, since it gets its mode only after it is made.
	folder := file + ".new"
	made := filepath.Join(folder, "s")
	for _, left := range []string{made, folder} { // what a killed gateway may have left
		_ = os.Remove(left)
	}
	err = os.Mkdir(folder, 0o700)
	if err == nil {
		l, err = net.Listen("unix", made)
	}
	if err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false) // another gateway may have replaced the socket by then
		err = errors.Join(os.Chmod(made, 0o600), os.Rename(made, file), os.Remove(folder))
	}
	if err != nil {
		if l != nil {
			_ = l.Close()
		}
		return nil, nil, err
	}
	return l, func() error { return errors.Join(l.Close(), os.Remove(file)) }, nil
}

// listenCommands opens the socket for commands. If that fails, the gateway serves without one, unless
// ops.socket names it.
func listenCommands(h *Desk) (*opsServer, error) {
	file := socketFile(h.config.Ops, h.store.file)
	if file == "" {
		return nil, nil
	}
	listener, release, err := bindSocket(file)
	if err != nil && h.config.Ops.Socket == "" {
		h.log.Info("frontdesk sessions cannot ask this gateway: ops.socket names another place for its socket", zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ops.socket: %w", err)
	}
	h.onClose(release)
	s := newOpsServer(listener, SocketPatience, h.log)
	s.Get("/sessions", h.listSessions)
	s.Post("/sessions/end", h.endSessions)
	return s, nil
}

// SocketPatience is how long an answer to a command may take.
const SocketPatience = time.Minute
