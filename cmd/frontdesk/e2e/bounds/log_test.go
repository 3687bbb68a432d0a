package bounds

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestLogNobodyReads: every request is answered though nobody takes a line of the log.
// What is lost is counted, and the log says how much once somebody reads again.
func TestLogNobodyReads(t *testing.T) {
	t.Parallel()
	log, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	c := rig.StartChild(t, rig.Options{DSN: rig.Engines[0].DSN(t), Stderr: write})
	require.NoError(t, write.Close()) // the child has its own
	request := "GET /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\nX-Request-Id: " + strings.Repeat("x", 128) + "\r\n\r\n"
	const times, atOnce = 300, 50
	w := c.Socket()
	for range times {
		w.Send(strings.Repeat(request, atOnce))
		for range atOnce {
			require.Equal(t, 401, w.Answer("GET").Status)
		}
	}
	metrics := c.OpsText("/metrics")
	found := regexp.MustCompile(`frontdesk_log_lines_dropped_total\{stream="access"\} (\S+)\n`).FindStringSubmatch(metrics)
	require.NotNil(t, found, metrics)
	var number float64
	must.Have(fmt.Sscan(found[1], &number))(t)
	lost := int(number)
	require.Positive(t, lost)
	require.Contains(t, metrics, `frontdesk_log_lines_dropped_total{stream="app"} 0`)
	require.Contains(t, metrics, `frontdesk_log_lines_dropped_total{stream="audit"} 0`)
	status, _ := c.Ready()
	require.Equal(t, 200, status)

	requests := 0
	for scanner := bufio.NewScanner(log); scanner.Scan(); {
		if line := scanner.Text(); strings.Contains(line, "lines of the log were lost") {
			require.Contains(t, line, fmt.Sprintf(`"access":%d,"app":0,"audit":0,"lines":%d`, lost, lost))
			require.Contains(t, line, `"since":"20`)
			break
		} else if strings.Contains(line, `"msg":"request"`) {
			requests++
		}
	}
	require.Equal(t, times*atOnce, requests+lost)
}
