package bounds

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// sleepingLog starts a program whose log nobody reads, until the returned end of it is
// read.
func sleepingLog(t *testing.T) (c *rig.Child, log *os.File) {
	t.Helper()
	log, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	c = rig.StartChild(t, rig.Options{DSN: rig.Engines[0].DSN(t), Stderr: write})
	require.NoError(t, write.Close()) // the child has its own
	return c, log
}

// askMany sends so many requests that need no session, and wants every one answered.
func askMany(t *testing.T, c *rig.Child, many int) {
	t.Helper()
	request := "GET /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nX-Request-Id: " + strings.Repeat("x", 128) + "\r\n\r\n"
	const atOnce = 50
	w := c.Socket()
	for range many / atOnce {
		w.Send(strings.Repeat(request, atOnce))
		for range atOnce {
			require.Equal(t, 401, w.Answer("GET").Status)
		}
	}
}

var droppedLines = regexp.MustCompile(`frontdesk_log_lines_dropped_total\{stream="access"\} (\S+)\n`)

// TestLogNobodyReads: every request is answered though nobody takes a line of the log.
// What is lost is counted, and the log says how much once somebody reads again.
func TestLogNobodyReads(t *testing.T) {
	t.Parallel()
	c, log := sleepingLog(t)
	const many = 15_000
	askMany(t, c, many)
	metrics := c.OpsText("/metrics")
	found := droppedLines.FindStringSubmatch(metrics)
	require.NotNil(t, found, metrics)
	number, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	lost := int(number)
	require.Positive(t, lost)
	require.Contains(t, metrics, `frontdesk_log_lines_dropped_total{stream="app"} 0`)
	require.Contains(t, metrics, `frontdesk_log_lines_dropped_total{stream="audit"} 0`)
	status, _ := c.Ready()
	require.Equal(t, 200, status)

	lines := make(chan string, 2*many)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(log); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	requests := 0
	for line := range lines {
		if strings.Contains(line, `"msg":"request"`) {
			requests++
		}
		if strings.Contains(line, "lines of the log were lost") {
			require.Contains(t, line, fmt.Sprintf(`"access":%d,"app":0,"audit":0,"lines":%d`, lost, lost))
			require.Contains(t, line, `"since":"20`)
			break
		}
	}
	require.Equal(t, many, requests+lost)
	askMany(t, c, 50)
	require.NoError(t, c.Process.Process.Signal(syscall.SIGTERM))
	<-c.Ended
	require.Zero(t, c.Code)
	for line := range lines {
		if strings.Contains(line, `"msg":"request"`) {
			requests++
		}
	}
	require.Equal(t, many+50, requests+lost, "a stop loses nothing")
}

// TestLogStopNobodyReads: whoever does not read the log, or read it and ended, takes nobody with
// him, and to stop waits for nobody.
func TestLogStopNobodyReads(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		c, log := sleepingLog(t)
		if gone {
			require.NoError(t, log.Close())
		}
		askMany(t, c, 1000) // more than a pipe holds
		require.NoError(t, c.Process.Process.Signal(syscall.SIGTERM))
		<-c.Ended
		require.Zero(t, c.Code, "gone: %t", gone)
	}
}
