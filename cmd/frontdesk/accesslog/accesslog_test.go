package accesslog

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"
	"frontdesk/mapping"
)

// TestEveryCauseHasHelp: whatever the log can have as a cause, or a reason, is explained.
func TestEveryCauseHasHelp(t *testing.T) {
	words := []string{"none", "malformed", "unknown", "logged_out", "expired", "key_revoked", "key_expired", "user_blocked", "new_password",
		"wrong_password", "unknown_user", "key_unknown", "key_malformed", "address", "certificate", "space"}
	for bound := auth.RateBound; bound <= auth.DayBound; bound++ {
		words = append(words, bound.String())
	}
	words = append(words, causesIn(t, filepath.Join("..", "..", "..", "auth"))...)
	for _, word := range words {
		help, found := helpOf(word)
		require.True(t, found, word)
		require.NotEmpty(t, help.Cause, word)
		require.NotEmpty(t, help.Cure, word)
	}
	l := Line{Status: 400, Reason: string(mapping.PageInvalid)}
	require.Equal(t, mapping.HelpFor(mapping.PageInvalid), l.help())
}

// causesIn are the constants of type Cause in a folder of Go.
func causesIn(t *testing.T, folder string) (words []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, constant := range regexp.MustCompile(`(?m)^\s*Cause\w+\s+Cause\s*=\s*"(\w+)"`).FindAllSubmatch(text, -1) {
			words = append(words, string(constant[1]))
		}
	}
	require.Greater(t, len(words), 10)
	return words
}

// endless is a log of so many lines, of which none is held.
type endless struct {
	lines, written int
	rest           []byte
}

func (e *endless) Read(b []byte) (int, error) {
	if len(e.rest) == 0 && e.written < e.lines {
		at := time.Date(2026, 11, 22, 2, 0, 0, e.written*int(time.Millisecond), time.UTC).Format("2006-01-02T15:04:05.000Z0700")
		id := fmt.Sprintf("id-%d", e.written)
		e.rest = []byte(accesslogtest.Request(at, id, fmt.Sprint("key-", e.written%7), "Garage Jansen", "/order", 401+e.written%100, "reason", "token_invalid", "cause", "unknown", "duration", float64(e.written%997)/1000) +
			accesslogtest.Line(at, "msg", "request failed", "request_id", id, "client", "Garage Jansen", "error", strings.Repeat("x", 200)) +
			accesslogtest.Line(at, "logger", "audit", "msg", "api_key changed", "key", id))
		e.written++
	}
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestLogsOfAnySize: a long log takes no more memory than a short one.
func TestLogsOfAnySize(t *testing.T) {
	held := func(lines int) uint64 {
		q := Inquiry{Client: "Garage Jansen", Limit: 3}
		requests := 0
		var l Line
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		read := &endless{lines: lines}
		require.NoError(t, readLines(t.Context(), read, func(text []byte) {
			q.take(text)
			if l.Read(text) {
				requests++
			}
		}))
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Equal(t, lines, requests)
		require.Len(t, q.reported, 3)
		runtime.KeepAlive(&q)
		return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
	}
	short, long := held(2_000), held(20_000)
	require.Less(t, long, short+2<<20, "of 2,000 requests %d bytes are held", short)
}

// TestStopped: whoever stops a command has given it no wrong log, whether it was in
// the middle of one or between two.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, lines := range []int{1, 4096} {
		logs := Logs{Names: []string{"-"}, Stdin: &endless{lines: lines}}
		_, err := logs.Requests(ctx, time.Time{}, func(*Line) {})
		require.ErrorIs(t, err, context.Canceled)
	}
	logs := Logs{Names: []string{"-", filepath.Join(t.TempDir(), "none")}, Stdin: &endless{lines: 1}}
	_, err := logs.Requests(t.Context(), time.Time{}, func(*Line) {})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestTooLongLine is judged by its own bytes, or not at all: what comes after it is read into the
// same memory.
func TestTooLongLine(t *testing.T) {
	var text strings.Builder
	text.WriteString(strings.Repeat("x", longestLine)) // which goes on with what looks like a line for people
	text.WriteString("2026-11-22\tinfo\trequest\t{}\n")
	text.WriteString(accesslogtest.Request("2026-11-22T02:00:00.000Z", "id", "key", "Garage Jansen", "/order", 200))
	var taken []string
	require.NoError(t, readLines(t.Context(), strings.NewReader(text.String()), func(line []byte) {
		taken = append(taken, string(line))
	}))
	require.Len(t, taken, 2)
	require.Empty(t, taken[0])
}
