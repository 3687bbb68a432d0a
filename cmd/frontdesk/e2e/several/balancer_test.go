package several

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// balancerSees is more than the load balancer takes to see what has become of a gateway.
const balancerSees = 2 * time.Second

// startHAProxy starts HAProxy before three gateways, with the configuration that is
// shipped and more of its environment, NAME=value; operators is the address of its own page.
func startHAProxy(t testing.TB, instances []*instance, env ...string) (address, operators string) {
	t.Helper()
	program := sqltest.Tool(t, "haproxy", "haproxy")
	require.Len(t, instances, 3, "haproxy.cfg knows as many")
	address, operators = rig.FreeAddress(t), rig.FreeAddress(t)
	command := exec.Command(program, "-W", "-db", "-f", rig.Repository(t, "deploy", "compose", "haproxy", "haproxy.cfg"))
	command.Env = append(append(os.Environ(), "BALANCER_BIND="+address, "BALANCER_OPS="+operators), env...)
	for n, i := range instances {
		_, port, _ := strings.Cut(i.Ops, ":")
		command.Env = append(command.Env, fmt.Sprintf("GATEWAY%d=%s", n+1, i.listen), fmt.Sprintf("GATEWAY%d_OPS=%s", n+1, port))
	}
	server := must.Have(sqltest.Start(command, "Loading success"))(t)
	t.Cleanup(func() { server.Stop(syscall.SIGTERM) })
	return address, operators
}

// balances reports whether HAProxy sends requests to all three gateways.
func balances(operators string) bool {
	_, table := soakGet("http://" + operators + "/;csv")
	return len(regexp.MustCompile(`(?m)^gateways,frontdesk\d,(?:[^,]*,){15}UP,`).FindAll(table, -1)) == 3
}

// TestForeignBalancerRepeatsNothing: what was sent to a gateway may have been done, so it
// is never sent to another one, and the client is told in frontdesk's own way.
func TestForeignBalancerRepeatsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	hangsUp := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked.Add(1)
		panic(http.ErrAbortHandler)
	})
	var instances []*instance
	for range 3 {
		instances = append(instances, &instance{listen: serveOn(t, hangsUp), Child: rig.Child{Desk: rig.Desk{Ops: serveOn(t, ready)}}})
	}
	address, _ := startHAProxy(t, instances)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for n, method := range []string{"POST", "GET"} {
		request := must.Have(http.NewRequest(method, "http://"+address+"/webservice_v2/contact", strings.NewReader(`{"kind":"person"}`)))(t)
		response := must.Have(client.Do(request))(t)
		body := must.Have(io.ReadAll(response.Body))(t)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusBadGateway, response.StatusCode)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		assert.Regexp(t, `^\{"errorCode":502,"message":"Internal server error","reason":"backend_unavailable","request_id":"[0-9a-f-]{36}"\}$`, string(body))
		assert.EqualValues(t, n+1, asked.Load(), method)
	}
}

// serveOn is the address of a server of loopback that ends with the test.
func serveOn(t testing.TB, handler http.Handler) string {
	t.Helper()
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
}
