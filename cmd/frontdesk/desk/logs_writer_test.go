package desk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

// pipedLogs are logs that go to a pipe, which nobody reads yet.
func pipedLogs(t *testing.T, patience time.Duration) (logs *Logs, read *io.PipeReader, write *io.PipeWriter) {
	t.Helper()
	read, write = io.Pipe()
	logs = must.Have(NewLogs(config.Log{Level: "info"}, write, time.Millisecond))(t)
	logs.lines.patience = patience
	t.Cleanup(func() {
		_ = read.Close() // a write that is held up fails
		logs.Stop()
	})
	return logs, read, write
}

// logLine is what the tests look at of a line.
type logLine struct {
	Msg                string
	N                  int
	Access, App, Audit int
	Lines              int
	Since              time.Time
}

// linesOf reads a log to its end.
func linesOf(t testing.TB, log io.Reader) (lines []logLine) {
	t.Helper()
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var line logLine
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line), "%s", scanner.Text())
		lines = append(lines, line)
	}
	require.NoError(t, scanner.Err())
	return lines
}

const lostMessage = "lines of the log were lost: whoever reads it did not take them"

// TestLogReaderAsleep: nobody who logs waits for whoever reads the log. What of each
// kind has no room any more is dropped, and told where it is missing.
func TestLogReaderAsleep(t *testing.T) { synctest.Test(t, logReaderAsleep) }

func logReaderAsleep(t *testing.T) {
	logs, read, write := pipedLogs(t, time.Minute)
	filler, logged := strings.Repeat("x", 200), 0
	began := time.Now()
	for range 1000 {
		logs.audit.Info("audit", zap.Int("n", logged))
	}
	for w := logs.lines; w.dropped[accessLog].Load() < 100; logged++ {
		logs.access.Info("access", zap.Int("n", logged), zap.String("filler", filler))
		logs.Log.Info("app", zap.Int("n", logged))
	}
	logs.audit.Info("audit", zap.Int("n", logged))
	require.Zero(t, logs.lines.dropped[appLog].Load(), "there is more room for them than they took")
	lost := int(logs.lines.dropped[accessLog].Load())

	var all []logLine
	go func() { all = linesOf(t, read) }()
	logs.lines.flush()
	logs.access.Info("access", zap.Int("n", logged)) // it has gone on
	logs.Stop()
	require.NoError(t, write.Close())
	synctest.Wait()

	next, gap, counted := map[string]int{}, false, map[string]int{}
	for _, line := range all {
		counted[line.Msg]++
		switch line.Msg {
		case lostMessage:
			require.Equal(t, [4]int{lost, 0, 0, lost}, [4]int{line.Access, line.App, line.Audit, line.Lines})
			require.True(t, began.Equal(line.Since), "%s", line.Since)
			require.Equal(t, logged-lost, next["access"], "it stands where they are missing")
			next["access"], gap = logged, true
		case "audit":
			require.GreaterOrEqual(t, line.N, next["audit"])
			next["audit"] = line.N
		default:
			require.Equal(t, next[line.Msg], line.N)
			next[line.Msg]++
		}
	}
	require.True(t, gap)
	require.Equal(t, map[string]int{"access": logged - lost + 1, "app": logged, "audit": 1001, lostMessage: 1}, counted)
}

// TestLogStops: a stop loses nothing where somebody reads, and waits only so long
// where nobody does.
func TestLogStops(t *testing.T) { synctest.Test(t, logStops) }

func logStops(t *testing.T) {
	logs, read, write := pipedLogs(t, time.Minute)
	var all []logLine
	go func() { all = linesOf(t, read) }()
	for n := range 10_000 {
		logs.access.Info("access", zap.Int("n", n))
	}
	func() { // as the last thing before a panic goes on
		defer func() { require.Equal(t, "broken", recover()) }()
		defer logs.Stop()
		panic("broken")
	}()
	require.NoError(t, write.Close())
	synctest.Wait()
	require.Len(t, all, 10_000)

	logs, _, _ = pipedLogs(t, time.Minute)
	for range 10_000 {
		logs.access.Info("access")
	}
	for _, stops := range []func(){func() { require.NoError(t, logs.audit.Sync()) }, logs.Stop} {
		began := time.Now()
		stops()
		require.Equal(t, time.Minute, time.Since(began))
	}
}

// fullDisk takes so many bytes and no more.
type fullDisk struct {
	mu    sync.Mutex
	room  int
	taken bytes.Buffer
}

func (f *fullDisk) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(p), f.room)
	f.taken.Write(p[:n])
	f.room -= n
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestLogDiskFull: what has no space on the disk is written once there is some, in
// its order and once.
func TestLogDiskFull(t *testing.T) {
	disk := &fullDisk{room: 1234}
	logs := must.Have(NewLogs(config.Log{Level: "info"}, disk, time.Hour))(t)
	for n := range 100 {
		logs.Log.Info("app", zap.Int("n", n))
		if n%10 == 0 {
			logs.lines.flush()
		}
	}
	since, _ := logs.lines.stalled()
	require.Zero(t, since, "for a moment")
	logs.lines.stuck.Add(-int64(stallPatience))
	since, why := logs.lines.stalled()
	require.NotZero(t, since)
	require.Contains(t, why, "no space left on device")
	h := &Desk{basis: &basis{logs: logs}}
	var told Health
	h.judgeLog(&told)
	require.Len(t, told.Reasons, 1)
	disk.mu.Lock()
	require.Equal(t, 1234, disk.taken.Len())
	disk.room = 1 << 20
	disk.mu.Unlock()
	logs.lines.flush()
	since, _ = logs.lines.stalled()
	require.Zero(t, since)
	logs.Stop()
	all := linesOf(t, &disk.taken)
	require.Len(t, all, 100)
	for n, line := range all {
		require.Equal(t, n, line.N)
	}
}
