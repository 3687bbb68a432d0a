package rig

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
)

// LockedBuffer is a buffer that several goroutines write to.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *LockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Reset empties the buffer and returns what was in it.
func (l *LockedBuffer) Reset() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := bytes.Clone(l.b.Bytes())
	l.b.Reset()
	return held
}

// RequireLogged waits until a line was logged, and checks that it was once.
func (c *Child) RequireLogged(line string) {
	c.T.Helper()
	await.True(c.T, func() bool { return strings.Contains(c.Log.String(), line) })
	require.Equal(c.T, 1, strings.Count(c.Log.String(), line), "the log is flooded")
}

// Told waits until the log, which is written now and then, tells something.
func (d *Desk) Told(text string) {
	d.T.Helper()
	await.True(d.T, func() bool { return strings.Contains(d.Log.String(), text) })
}

// Accessed returns the access line of a request, which comes after its answer.
func (d *Desk) Accessed(requestID string) (line struct{ Key, Client, Cause, Reason, Address string }) {
	d.T.Helper()
	await.True(d.T, func() bool {
		for candidate := range strings.Lines(d.Log.String()) {
			if strings.Contains(candidate, `"request"`) && strings.Contains(candidate, requestID) {
				return json.Unmarshal([]byte(candidate), &line) == nil
			}
		}
		return false
	}, "no access line of %s", requestID)
	return line
}

// Logged returns the log line of a failed request, which may come a little late.
func (d *Desk) Logged(requestID string) (line string) {
	d.T.Helper()
	await.True(d.T, func() bool {
		for candidate := range strings.Lines(d.Log.String()) {
			if strings.Contains(candidate, requestID) && strings.Contains(candidate, `"request failed"`) {
				line = candidate
				return true
			}
		}
		return false
	}, "nothing is logged under %s", requestID)
	return line
}

// LogWithoutAccess returns the log without its access lines.
func (d *Desk) LogWithoutAccess() string {
	var told strings.Builder
	for line := range strings.Lines(d.Log.String()) {
		if !strings.Contains(line, `"request",`) {
			told.WriteString(line)
		}
	}
	return told.String()
}

// RequireLimited checks that a request was refused, and by which limit.
func (d *Desk) RequireLimited(a Answer, cause string, longest int) {
	d.T.Helper()
	require.Equal(d.T, 429, a.Status, "%s", a.Body)
	e := a.Failure(d.T)
	require.Equal(d.T, "Too many requests", e.Message)
	require.Equal(d.T, "too_many_requests", e.Reason)
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(d.T, err)
	require.GreaterOrEqual(d.T, wait, 1)
	require.LessOrEqual(d.T, wait, longest)
	line := d.Accessed(e.RequestID)
	require.Equal(d.T, "bound", line.Key)
	require.Equal(d.T, cause, line.Cause)
	require.NotContains(d.T, string(a.Body), cause)
}

// RequireFailure checks that an answer says nothing of its cause, and the log does.
func (d *Desk) RequireFailure(a Answer, reason, cause string) {
	d.T.Helper()
	require.Equal(d.T, 500, a.Status, "%s", a.Body)
	e := a.Failure(d.T)
	require.Equal(d.T, "Internal server error", e.Message)
	require.Equal(d.T, reason, e.Reason)
	require.NotContains(d.T, string(a.Body), cause)
	require.Contains(d.T, d.Logged(e.RequestID), cause)
}
