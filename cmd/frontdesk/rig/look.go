package rig

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Flood opens connections to an address that say nothing.
func Flood(t testing.TB, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue // also where nobody accepts any more
		}
		t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
	return all
}

// HangUp closes connections.
func HangUp(all []net.Conn) {
	for _, conn := range all {
		_ = conn.Close()
	}
}

// Host is where the desk listens.
func (d *Desk) Host() string {
	return strings.TrimSuffix(strings.TrimPrefix(d.Base, "http://"), "/webservice_v2")
}

// ContactAsked is a request for a contact, byte for byte.
func ContactAsked(token string) string {
	return "GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n\r\n"
}

// RequireServing waits until a new connection is served.
func (d *Desk) RequireServing(token string) {
	d.T.Helper()
	require.Eventually(d.T, func() bool {
		fresh, err := net.Dial("tcp", d.Host())
		if err != nil {
			return false
		}
		defer fresh.Close()
		_, err = fresh.Write([]byte(ContactAsked(token)))
		status, err2 := readAnswer(bufio.NewReader(fresh))
		return err == nil && err2 == nil && status == 200
	}, Patience, 20*time.Millisecond)
}

// RequireLogged waits until a line was logged, and checks that it was once.
func (c *Child) RequireLogged(line string) {
	c.T.Helper()
	require.Eventually(c.T, func() bool { return strings.Contains(c.Log.String(), line) }, Patience, 10*time.Millisecond)
	require.Equal(c.T, 1, strings.Count(c.Log.String(), line), "the log is flooded")
}

// Reset empties the buffer and returns what was in it.
func (l *LockedBuffer) Reset() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := bytes.Clone(l.b.Bytes())
	l.b.Reset()
	return held
}

// Accessed returns the access line of a request, which comes after its answer.
func (d *Desk) Accessed(requestID string) (line struct{ Key, Cause, Reason, Address string }) {
	d.T.Helper()
	require.Eventually(d.T, func() bool {
		for candidate := range strings.Lines(d.Log.String()) {
			if strings.Contains(candidate, `"request"`) && strings.Contains(candidate, requestID) {
				return json.Unmarshal([]byte(candidate), &line) == nil
			}
		}
		return false
	}, Patience, time.Millisecond, "no access line of %s", requestID)
	return line
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

// Patience is how long a test waits for what must happen soon.
const Patience = 30 * time.Second

// Logged returns the log line of a failed request, which may come a little late.
func (d *Desk) Logged(requestID string) (line string) {
	d.T.Helper()
	require.Eventually(d.T, func() bool {
		for candidate := range strings.Lines(d.Log.String()) {
			if strings.Contains(candidate, requestID) && strings.Contains(candidate, `"request failed"`) {
				line = candidate
				return true
			}
		}
		return false
	}, Patience, 10*time.Millisecond, "nothing is logged under %s", requestID)
	return line
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

// Ready asks for the desk's readiness.
func (d *Desk) Ready() (status int, circuit string) {
	d.T.Helper()
	a := d.AskOps("/readyz")
	var body struct{ Circuit string }
	require.NoError(d.T, json.Unmarshal(a.Body, &body))
	return a.Status, body.Circuit
}

// AskOps asks the operators' listener.
func (d *Desk) AskOps(path string) Answer {
	d.T.Helper()
	resp, err := d.HTTP.Get("http://" + d.Ops + path)
	require.NoError(d.T, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(d.T, err)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// OpsText is what a path of the operators' listener answers while all is well.
func (d *Desk) OpsText(path string) string {
	d.T.Helper()
	a := d.AskOps(path)
	require.Equal(d.T, 200, a.Status, "%s: %s", path, a.Body)
	return string(a.Body)
}

// FollowBackup fetches the result of a backup.
func (d *Desk) FollowBackup(token, location string) {
	d.T.Helper()
	at := location[strings.Index(location, "/webhook?"):]
	var a Answer
	require.Eventually(d.T, func() bool {
		a = d.Call("GET", at, token, "")
		return a.Status == 200
	}, 30*time.Second, 50*time.Millisecond)
	download := a.Data(d.T)["url"].(string)
	resp, err := d.HTTP.Get(download)
	require.NoError(d.T, err)
	defer resp.Body.Close()
	require.Equal(d.T, 200, resp.StatusCode)
}

// LifeOfAContact makes a contact, finds it, and changes it. It may run concurrently.
func (d *Desk) LifeOfAContact(token string) {
	expect := func(status int, method, path, body string) []byte {
		a, err := d.Try(method, path, token, body)
		if err != nil || a.Status != status {
			d.T.Errorf("%s %s: %v %d %s", method, path, err, a.Status, a.Body)
		}
		return a.Body
	}
	var made struct{ Data struct{ ID int } }
	if err := json.Unmarshal(expect(201, "POST", "/contact", NewContact), &made); err != nil {
		d.T.Error(err)
	}
	path := fmt.Sprint("/contact/", made.Data.ID)
	expect(200, "GET", path, "")
	expect(200, "GET", "/contact?total=1&sort=-id", "")
	expect(200, "GET", "/contact?name=Jansen&modified_since=2026-01-01T00:00:00Z", "")
	expect(200, "GET", "/order/1", "")
	expect(200, "PUT", path, `{"name":"Jansen"}`)
}

// Told waits until the log, which is written now and then, tells something.
func (d *Desk) Told(text string) {
	d.T.Helper()
	require.Eventually(d.T, func() bool { return strings.Contains(d.Log.String(), text) }, Patience, 5*time.Millisecond)
}
