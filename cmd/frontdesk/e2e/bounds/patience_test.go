package bounds

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestLimitsSlowClients: whoever is not done within server.read_timeout is told so, wherever he
// stopped, and others are served meanwhile.
func TestLimitsSlowClients(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, rig.Options{Server: "  read_timeout: 5s"}, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		head := "POST /webservice_v2/contact HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n"
		whole := head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(rig.NewContact), rig.NewContact)
		slow := map[string]*rig.Socket{}
		for _, start := range []string{
			"",                                     // says nothing at all
			"P",                                    // stops in the first word
			head,                                   // stops in the header
			head + "X-Slow: ",                      // drips the header on (slowloris)
			head + "Content-Length: 1000\r\n\r\n{", // stops in the body
			head + "Content-Length: 1000\r\n\r\n ", // drips the body on
			head + "Transfer-Encoding: chunked\r\n\r\n3e8\r\n{", // stops in a chunk
			whole + "0\r\n\r", // stops in the end of the last chunk
			head + "Content-Length: 2\r\n\r\n{}POST /webservice_v", // stops in its second request
		} {
			slow[start] = d.Socket().Send(start)
			if strings.HasSuffix(start, " ") {
				go drip(slow[start])
			}
		}
		began := time.Now()
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
		for start, w := range slow {
			if strings.Contains(start, "{}") { // the first request was complete
				require.Equal(t, 403, w.Answer("POST").Status)
			}
			if start != "" {
				require.Equal(t, "Invalid request", w.Answer("POST").Failure(t).Message, "%q", start)
			}
			w.RequireClosed(start)
		}
		require.Less(t, time.Since(began), 15*time.Second)
	})
}

// drip sends a byte now and then until the other side has had enough.
func drip(w *rig.Socket) {
	for err := error(nil); err == nil; time.Sleep(20 * time.Millisecond) {
		_, err = w.Write([]byte(" "))
	}
}

// TestBodiesAfterARest: a connection that rested for longer than an answer may take is still told to
// go on.
func TestBodiesAfterARest(t *testing.T) {
	t.Parallel()
	bound := func(b *desk.Bounds) { b.WriteTimeout = 2 * time.Second }
	rig.InBubble(t, rig.Options{Bound: bound}, func(t *testing.T, d *rig.Desk) {
		token, w := d.Login(rig.FullKey, "demo"), d.Socket()
		require.Equal(t, 200, w.Send(rig.ContactAsked(token)).Answer("GET").Status)
		time.Sleep(2500 * time.Millisecond)
		require.Equal(t, 201, w.Send(posting("/contact", token, len(rig.NewContact), "Expect: 100-continue\r\n")+rig.NewContact).Answer("POST").Status)
	})
}

// TestDownloadWithoutReading: whoever asks for a result without a right address
// has no longer to read the answer than others have.
func TestDownloadWithoutReading(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, rig.Options{}, func(t *testing.T, d *rig.Desk) {
		w, began := d.Socket(), time.Now()
		ask := strings.Repeat("GET /webservice_v2/webhook/download?x HTTP/1.1\r\nHost: desk\r\n\r\n", 1000)
		for err := error(nil); err == nil; { // until the desk does not read on, and then ends it
			_, err = io.WriteString(w, ask)
		}
		require.InDelta(t, 30, time.Since(began).Seconds(), 2)
	})
}

// TestDownloadBySlowClients: whoever has the address of a result has time for it as
// long as he takes something of it within each time for an answer, and no more than that
// where he takes nothing.
func TestDownloadBySlowClients(t *testing.T) {
	t.Parallel()
	const nobody = "https://hooks.example.com/"
	o := rig.Options{Extra: "webhooks: {allow_hosts: [hooks.example.com]}\ncallbacks: [\"GET /document\"]\n", Bound: func(b *desk.Bounds) { b.WriteTimeout = 10 * time.Second }}
	rig.InBubble(t, o, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		content := base64.StdEncoding.EncodeToString(make([]byte, 512<<10))
		d.Create(token, "document", fmt.Sprintf(`{"name":"large","resource":"contact","resource_id":1,"content":%q}`, content))
		id := d.Call("GET", "/document?resource=contact&resource_id=1&name=large&fields=content&webhook_url="+url.QueryEscape(nobody), token, "").Promise(t)
		await.True(t, func() bool { return d.Call("GET", "/webhook?id="+id, token, "").Status == 200 })
		_, target, _ := strings.Cut(d.Collect(token, id), "/webservice_v2")
		begin := func() *http.Response {
			w := d.Socket().Send("GET /webservice_v2" + target + " HTTP/1.1\r\nHost: desk\r\n\r\n")
			answer := must.Have(http.ReadResponse(w.Reader, &http.Request{Method: "GET"}))(t)
			require.Equal(t, 200, answer.StatusCode)
			return answer
		}
		asleep, slow, began := begin(), begin(), time.Now()
		for taken := int64(0); taken < slow.ContentLength; time.Sleep(9 * time.Second) {
			taken += must.Have(io.CopyN(io.Discard, slow.Body, min(64<<10, slow.ContentLength-taken)))(t)
		}
		require.Greater(t, time.Since(began), time.Minute)
		require.ErrorIs(t, must.Fail(io.Copy(io.Discard, asleep.Body)), io.ErrUnexpectedEOF)
	})
}

// TestLimitsDeadline: what the administration does not answer within backend.timeout fails.
func TestLimitsDeadline(t *testing.T) {
	t.Parallel()
	var f rig.Faults
	rig.InBubble(t, rig.Options{Wrap: f.Wrap, Backend: ", timeout: 8s"}, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		f.Set(func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("a secret that waited: %w", ctx.Err())
		})
		for _, a := range d.SideBySide(token, []rig.Rival{
			{Method: "GET", Path: "/contact/1"},
			{Method: "GET", Path: "/contact"},
			{Method: "POST", Path: "/contact", Body: rig.NewContact},
			{Method: "PUT", Path: "/contact/1", Body: `{"note":"x"}`},
			{Method: "DELETE", Path: "/contact/1"},
		}) {
			d.RequireFailure(a, "backend_timeout", "a secret that waited")
		}
		f.None()
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	})
}

// TestKeyEndsWhileInUse: a key that has come to its end is refused with all its sessions from
// then on: what was found right of it before is not kept.
func TestKeyEndsWhileInUse(t *testing.T) {
	t.Parallel()
	ends := time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC) // ten minutes after a bubble begins
	rig.InBubble(t, rig.Options{Keys: bound("expires: "+ends.Format(time.RFC3339)) + "\n"}, func(t *testing.T, d *rig.Desk) {
		token, other := d.Login(boundKey, "demo"), d.Login(rig.FullKey, "demo")
		before := d.Call("GET", "/contact/1", token, "")
		asked := func() int {
			return d.Call("GET", "/contact/1", token, "", "If-None-Match", before.Header.Get("ETag")).Status
		}
		time.Sleep(time.Until(ends) - time.Millisecond)
		require.Equal(t, 304, asked())
		time.Sleep(time.Until(ends))
		require.Equal(t, 401, asked())
		for _, path := range []string{"/contact/1", "/authenticate", "/authenticate/acces", rig.LoginPath(boundKey, "demo", "demo"), "/openapi.json?api_key=" + boundKey} {
			require.Equal(t, 401, d.Call("GET", path, token, "").Status, path)
		}
		require.Equal(t, 401, d.Call("POST", "/contact", token, rig.NewContact).Status)
		require.Equal(t, 200, d.Call("GET", "/contact/1", other, "").Status)
	})
}
