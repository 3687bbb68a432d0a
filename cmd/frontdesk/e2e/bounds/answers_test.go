package bounds

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// long is the length of a content of which two, and no three, fit into a page where
// server.body_limit is 1 MiB.
const long = 700 << 10

// TestPagesEndBySize: a page of long contents ends where it is large enough, or where its
// client has no more of the memory, and the walk over all pages has each record once.
// A page by number that would be too large is refused as a whole.
func TestPagesEndBySize(t *testing.T) {
	const query = "/document?resource=contact&resource_id=1&name=long&page_size=1000&fields=id"
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			dsn := engine.DSN(t)
			start := func(memory int) *rig.Practice {
				d := rig.Start(t, rig.Options{DSN: dsn, Server: "  body_limit: 1MiB", Bound: bodyMemory(memory)})
				return &rig.Practice{T: t, Desk: d, Token: d.Login(rig.FullKey, "demo")}
			}
			p := start(8)
			var made []int
			for n := range 9 {
				content := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, long))
				made = append(made, p.Call("POST", "/document", p.Token, fmt.Sprintf(`{"name":"long","resource":"contact","resource_id":1,"content":%q}`, content)).ID(t))
			}
			pages := p.Pages(query + ",content&after=0")
			require.Equal(t, made, rig.Ids(pages...))
			require.Len(t, pages, 5, "two to a page")
			for _, page := range pages {
				for _, rec := range page.Data {
					require.Len(t, rec["content"], base64.StdEncoding.EncodedLen(long))
				}
			}
			require.Len(t, p.Pages(query+",content&after=0&total=1"), 5)

			refused := p.Gets(400, "GET", query+",content", p.Token, "")
			require.Equal(t, "page_too_large", refused.Failure(t).Reason)
			require.Len(t, p.Page("/document?resource=contact&resource_id=1&name=long&fields=content&page_size=2&page=3").Data, 2)
			require.Len(t, p.Page(query).Data, 9)

			p.Shutdown() // a file of SQLite has one gateway
			p = start(2)
			pages = p.Pages(query + ",content&after=0")
			require.Equal(t, made, rig.Ids(pages...))
			require.Len(t, pages, 9, "one: a client alone has half of the memory")
			busy := p.Gets(503, "GET", "/document?resource=contact&resource_id=1&name=long&fields=content&page_size=2", p.Token, "")
			require.Equal(t, "overloaded", busy.Failure(t).Reason)
			await.True(t, func() bool { // behind the answer
				return strings.Contains(p.OpsText("/metrics"), "frontdesk_body_memory_used_bytes 0\n")
			}, "all of it was given back")
		})
	}
}

// TestUnreadAnswers: whoever asks for more than his share of the memory and fetches
// nothing of it gets no more, whatever he asks for, and a write is not done then.
func TestUnreadAnswers(t *testing.T) {
	for _, engine := range rig.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			d := rig.Start(t, rig.Options{DSN: engine.DSN(t), Server: "  body_limit: 8MiB", Bound: bodyMemory(16)})
			p := &rig.Practice{T: t, Desk: d, Token: d.Login(rig.FullKey, "demo")}
			content := base64.StdEncoding.EncodeToString(make([]byte, 5<<20))
			body := fmt.Sprintf(`{"name":"unread","resource":"contact","resource_id":1,"content":%q}`, content)
			key := []string{"Idempotency-Key", "unread"}
			id := p.Call("POST", "/document", p.Token, body, key...).ID(t)
			record := fmt.Sprintf("/document/%d", id)

			list := "/document?resource=contact&resource_id=1&name=unread&fields=content&page_size=1"
			holder := d.Socket().Send("GET /webservice_v2" + list + "&after=0 HTTP/1.1\r\nHost: desk\r\ntoken: " + p.Token + "\r\n\r\n")
			line, err := holder.Reader.ReadString('\n') // and nothing after it
			require.NoError(t, err)
			require.Equal(t, "HTTP/1.1 200 OK\r\n", line)
			for _, ask := range []struct{ method, path, body string }{
				{"GET", list + "&after=0", ""},
				{"GET", list, ""},
				{"GET", record + "?fields=content", ""},
				{"PUT", record, `{"name":"renamed"}`},
			} {
				a := p.Call(ask.method, ask.path, p.Token, ask.body)
				require.Equal(t, 503, a.Status, "%s %s", ask.method, ask.path)
				require.Equal(t, "overloaded", a.Failure(t).Reason)
				require.NotEmpty(t, a.Header.Get("Retry-After"))
			}
			require.Equal(t, 201, p.Call("POST", "/contact", p.Token, rig.NewContact).Status, "what is small has its room")
			require.NoError(t, holder.Close())
			await.True(t, func() bool { return p.Call("GET", record+"?fields=content", p.Token, "").Status == 200 })
			require.Equal(t, "unread", p.Call("GET", record+"?fields=name", p.Token, "").Data(t)["name"], "what was refused is not done")
			require.Equal(t, 200, p.Call("PUT", record, p.Token, `{"name":"renamed"}`).Status)
			require.Equal(t, id, p.Call("POST", "/document", p.Token, body, key...).ID(t))
			await.True(t, func() bool { // behind the answer
				return strings.Contains(p.OpsText("/metrics"), "frontdesk_body_memory_used_bytes 0\n")
			}, "all of it was given back")
		})
	}
}

// bodyMemory has so many MiB for large bodies and answers.
func bodyMemory(mib int) func(*desk.Bounds) {
	return func(b *desk.Bounds) { b.BodyMemory = mib << 20 }
}
