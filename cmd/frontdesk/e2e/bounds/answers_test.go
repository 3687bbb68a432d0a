package bounds

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
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
			start := func(memory string) *rig.Practice {
				d := rig.Start(t, rig.Options{DSN: dsn, Server: "  body_limit: 1MiB\n  body_memory: " + memory})
				return &rig.Practice{T: t, Desk: d, Token: d.Login(rig.FullKey, "demo")}
			}
			p := start("8MiB")
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

			refused := p.Call("GET", query+",content", p.Token, "")
			require.Equal(t, 400, refused.Status)
			require.Equal(t, "page_too_large", refused.Failure(t).Reason)
			require.Len(t, p.Page("/document?resource=contact&resource_id=1&name=long&fields=content&page_size=2&page=3").Data, 2)
			require.Len(t, p.Page(query).Data, 9)

			p.Shutdown() // a file of SQLite has one gateway
			p = start("2MiB")
			pages = p.Pages(query + ",content&after=0")
			require.Equal(t, made, rig.Ids(pages...))
			require.Len(t, pages, 9, "one: a client alone has half of the memory")
			busy := p.Call("GET", "/document?resource=contact&resource_id=1&name=long&fields=content&page_size=2", p.Token, "")
			require.Equal(t, 503, busy.Status)
			require.Equal(t, "overloaded", busy.Failure(t).Reason)
			require.Contains(t, p.OpsText("/metrics"), "frontdesk_body_memory_used_bytes 0\n", "all of it was given back")
		})
	}
}
