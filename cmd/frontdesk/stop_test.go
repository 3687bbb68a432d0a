package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// underway is a request whose header the desk has read and whose body it waits
// for: the desk has said so, with 100 Continue.
func (d *desk) underway(token, body string) *socket {
	d.t.Helper()
	w := d.socket()
	_, err := fmt.Fprintf(w, "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nExpect: 100-continue\r\ntoken: %s\r\nContent-Length: %d\r\n\r\n", token, len(body))
	require.NoError(d.t, err)
	line, err := w.reader.ReadString('\n')
	require.NoError(d.t, err)
	require.Equal(d.t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = w.reader.ReadString('\n')
	require.NoError(d.t, err)
	return w
}

// requireRefusing waits until nobody listens at the desk's address any more.
func (d *desk) requireRefusing() {
	d.t.Helper()
	address := strings.TrimSuffix(strings.TrimPrefix(d.base, "http://"), "/webservice_v2")
	require.Eventually(d.t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	}, patience, 10*time.Millisecond)
}

// requireAtRest checks that a SQLite file was left complete, with nothing beside
// it that would have to be read into it.
func requireAtRest(t testing.TB, dsn string) {
	t.Helper()
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return
	}
	for _, beside := range []string{"-wal", "-shm", "-journal"} {
		require.NoFileExists(t, path+beside)
	}
	require.Equal(t, []string{"ok"}, askSQLite(t, path, "PRAGMA integrity_check"))
}

// TestStopSignal stops the program with SIGTERM and Ctrl-C while requests are
// under way, twice on the same database.
func TestStopSignal(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			c := startChild(t, deskOptions{dsn: dsn})
			token := c.login(fullKey, "demo")
			idle := c.socket() // says nothing, and must not be waited for
			kept := c.socket().send("GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n\r\n")
			require.Equal(t, 200, kept.answer("GET").Status)
			var all []*socket
			for range 8 {
				all = append(all, c.underway(token, newContact))
			}
			require.NoError(t, c.process.Process.Signal(signal))
			c.requireRefusing()
			for _, w := range all {
				_, err := io.WriteString(w, newContact)
				require.NoError(t, err)
			}
			for _, w := range all {
				a := w.answer("POST")
				require.Equal(t, 201, a.Status, "%s", a.Body)
				w.requireClosed("after the last answer")
			}
			idle.requireClosed("a client that said nothing")
			kept.requireClosed("a client with nothing under way")
			<-c.ended
			require.Zero(t, c.code, "%s", c.log)
			requireAtRest(t, dsn)
		}
		d := startDesk(t, deskOptions{dsn: dsn})
		require.Len(t, d.list(d.login(fullKey, "demo"), "/contact?name=Visser&page_size=1000&modified_since="+time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05Z")), 16)
	})
}

// TestStopWaits stops while the administration itself is at work.
func TestStopWaits(t *testing.T) {
	dsn := engines[0].dsn(t)
	var f faults
	d := startDesk(t, deskOptions{dsn: dsn, wrap: f.wrap})
	token := d.login(fullKey, "demo")
	const many = 8
	entered, release := make(chan struct{}, many), make(chan struct{})
	f.set(func(context.Context) error {
		entered <- struct{}{}
		<-release
		return nil
	})
	answers := make(chan answer, many)
	for range many {
		go func() {
			a, err := d.try("GET", "/contact/1", token, "")
			if err != nil {
				d.t.Error(err)
			}
			answers <- a
		}()
	}
	for range many {
		<-entered
	}
	d.stop()
	d.requireRefusing()
	select {
	case <-d.stopped:
		t.Fatal("the desk stopped with requests under way")
	default:
	}
	close(release)
	for range many {
		require.Equal(t, 200, (<-answers).Status)
	}
	<-d.stopped
	require.Zero(t, d.code, "%s", d.log)
	requireAtRest(t, dsn)
}

// TestStopGivesUp stops while the administration hangs: after shutdown_timeout
// the program ends all the same, and says that it was not in order.
func TestStopGivesUp(t *testing.T) {
	dsn := engines[0].dsn(t)
	var f faults
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, deskConfig, "  shutdown_timeout: 100ms", "127.0.0.1:0", dsn, "", t.TempDir(), "", ""), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	read, write := io.Pipe()
	log := new(lockedBuffer)
	result := make(chan error, 1)
	go func() {
		result <- serveConfig(program{ctx: ctx, stdin: strings.NewReader(""), stdout: write, stderr: log, wrap: f.wrap}, file, true)
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	d := &desk{t: t, base: strings.TrimSuffix(strings.TrimPrefix(line, "ready: "), "/\n"), log: log, http: &http.Client{Transport: &http.Transport{}}}
	token := d.login(fullKey, "demo")
	entered := make(chan struct{})
	f.set(func(ctx context.Context) error {
		close(entered)
		<-ctx.Done() // which ends when the desk gives up, well before backend.timeout
		return ctx.Err()
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = d.try("GET", "/contact/1", token, "") // an answer or none
	}()
	<-entered
	stop()
	require.ErrorContains(t, <-result, "requests under way")
	<-ended
	d.http.CloseIdleConnections()
	requireAtRest(t, dsn)
}
