package records

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// BenchmarkCopy lists 50 of 100,000 orders by a field that no index has, from the built-in
// administration, and from the copy before a service that has the same orders and is asked before
// each list what has changed; and asks it that, as the gateway does.
func BenchmarkCopy(b *testing.B) {
	const filter = "/order?kind=sales&page_size=50&fields=id,number,kind,reference"
	builtIn := rig.Start(b, rig.Options{DSN: benchDSN(b), Extra: "log: {access: false}"})
	token := builtIn.Login(rig.FullKey, "demo")
	var orders []json.RawMessage
	for after := 0; ; {
		var page struct{ Data []json.RawMessage }
		require.NoError(b, json.Unmarshal(builtIn.Call("GET", fmt.Sprintf("/order?page_size=1000&after=%d", after), token, "").Body, &page))
		if len(page.Data) == 0 {
			break
		}
		orders = append(orders, page.Data...)
		var last struct{ ID int }
		require.NoError(b, json.Unmarshal(page.Data[len(page.Data)-1], &last))
		after = last.ID
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		page := orders[offset:min(offset+1000, len(orders))]
		if r.URL.Query().Has("since") {
			page = nil
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(append([]json.RawMessage{}, page...))
	}))
	b.Cleanup(service.Close)
	o, _ := rig.BySheet(b, "remote", `format: 2
source: {http: {url: "${URL}"}}
keep: keep.db
rules: backend
client: ""
accounts: {users: [{username: demo, email: demo@example.com, password_hash: "${HASH}", client: {id: 1, name: Demo}}]}
resources:
  order:
    path: /order
    key: id
    shared: true
    operations: {only: [get, list]}
    walk: {query: {offset: "{page.offset}"}, paging: {style: offset, size: 1000}, since: {query: {since: "{since}"}}}
    fields: {number: number, contact_id: {absent: true}, kind: kind, order_status: order_status, order_date: order_date, reference: reference, modified_at: modified_at}
`, "${URL}", service.URL, "${HASH}", rig.PasswordHash("demo"))
	o.Extra, o.Edit = "log: {access: false}", strings.NewReplacer(`"GET /order", "GET /orderline"`, `"GET /order"`)
	copied := rig.Start(b, o)
	user := copied.Login(rig.FullKey, "demo")
	await.True(b, func() bool { return copied.Call("GET", filter, user, "").Status == http.StatusOK })
	require.Equal(b, string(builtIn.Call("GET", filter, token, "").Body), string(copied.Call("GET", filter, user, "").Body))
	for _, row := range []struct{ name, url, token string }{
		{"built-in", builtIn.Base + filter, token}, {"copy", copied.Base + filter, user}, {"since", service.URL + "/order?since=2026-11-28T10:00:00.000Z", ""},
	} {
		request, err := http.NewRequest("GET", row.url, nil)
		require.NoError(b, err)
		request.Header.Set("token", row.token)
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				a, err := http.DefaultClient.Do(request)
				if err != nil || a.StatusCode != http.StatusOK {
					b.Fatal(a, err)
				}
				_, _ = io.Copy(io.Discard, a.Body)
				_ = a.Body.Close()
			}
		})
	}
}
