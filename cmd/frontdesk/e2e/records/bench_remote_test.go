package records

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/cmd/frontdesk/rig"
)

// BenchmarkRemote is BenchmarkHTTP in front of another system, which answers every
// get and create with the same record at once. Its own work is in the figures too.
func BenchmarkRemote(b *testing.B) {
	d := rig.Start(b, rig.Options{Backend: fmt.Sprintf(", driver: remote, sheet: %q", trivialSheet(b)), Extra: "log: {access: false}"})
	token := d.Login(rig.FullKey, "demo")
	b.Run("get", func(b *testing.B) {
		rig.Drive(b, []string{d.Base}, answeredBy(200, func() []byte { return rig.Asked(token, "/order/12345") }))
	})
	b.Run("create", func(b *testing.B) {
		rig.Drive(b, []string{d.Base}, answeredBy(201, func() []byte { return rig.Posted(token, rig.BenchOrder) }))
	})
}

// trivialSheet starts the other system and returns its sheet.
func trivialSheet(b *testing.B) string {
	order := strings.TrimSuffix(rig.BenchOrder, "}") + `,"id":12345,"number":"O012345","total_excl":1234.56,"total_incl":1493.82,` +
		`"created_at":"2026-11-20T10:00:00.000Z","modified_at":"2026-11-20T10:00:00.000Z"}`
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := &fasthttp.Server{Handler: func(rc *fasthttp.RequestCtx) {
		rc.SetContentType("application/json")
		switch {
		case string(rc.Path()) == "/login":
			rc.SetBodyString(`{"client":1,"email":"demo@example.nl"}`)
		case rc.IsPost():
			rc.SetStatusCode(201)
			rc.SetBodyString(`{"id":12345}`)
		default:
			rc.SetBodyString(order)
		}
	}}
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	b.Cleanup(func() { // after the desk has stopped
		require.NoError(b, server.Shutdown())
		require.NoError(b, <-done)
	})
	fields := ""
	for _, f := range strings.Fields("number contact_id vehicle_id employee_id kind order_status order_date delivery_date mileage reference " +
		"description total_excl total_incl is_blocked is_archived created_at modified_at") {
		fields += "      " + f + ": " + f + "\n"
	}
	file := filepath.Join(b.TempDir(), "trivial.yaml")
	require.NoError(b, os.WriteFile(file, fmt.Appendf(nil, `format: 1
source: {http: {url: "http://%s", connections: 64}}
rules: backend
accounts: {verify: {path: /login}, result: {client_id: client, email: email}}
resources:
  orderline: {key: {columns: id}, operations: {get: {path: "/orderline/{key}"}}, fields: {order_id: order_id}}
  order:
    key: {columns: id, generated: answer}
    operations: {get: {path: "/order/{key}"}, create: {path: /order}}
    fields:
%s`, listener.Addr(), fields), 0o600))
	return file
}
