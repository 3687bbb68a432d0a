package remote

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/must"
)

// drawnFault is one that strikes a request, or none.
func drawnFault(drawn *rand.Rand) remotetest.Fault {
	return remotetest.Fault{
		Kind: []remotetest.FaultKind{remotetest.Healthy, remotetest.ResetBefore, remotetest.ResetAfter, remotetest.ResetMidAnswer, remotetest.Truncate,
			remotetest.EndlessBody, remotetest.Storm, remotetest.TLSGarbage}[drawn.IntN(8)],
		Bytes: drawn.IntN(400), Status: []int{200, 302, 404, 500, 503}[drawn.IntN(5)], Type: []string{"text/html", "application/json"}[drawn.IntN(2)],
		Body: []string{"", "<html>", `{"id":1`, `[]`}[drawn.IntN(4)],
	}
}

// TestConnectorThroughFaults speaks to a service through a proxy that fails in drawn ways: what
// comes back is right or an error, a write arrives once at most, and after the last fault all is as the
// answers said.
func TestConnectorThroughFaults(t *testing.T) {
	s := remotetest.NewRack()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	proxy := must.Have(remotetest.NewFaultProxy(server.Listener.Addr().String()))(t)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	says := strings.NewReplacer("SINCE", "", "size: 10", "size: 100", `"${URL}"`, `"${SERVICE_URL}", retries: 1, max_answer: 1MiB`)
	c := speakingTo(t, says.Replace(remotetest.RackSheet), proxy.URL())
	r, drawn := c.of("contact"), rand.New(rand.NewPCG(3, 9))
	known, sent := map[string]string{}, map[string]bool{}
	for i := range 30 {
		sent[fmt.Sprintf("N%02d", i)] = true
	}
	for n := range 400 {
		if fault := drawnFault(drawn); drawn.IntN(2) == 0 {
			proxy.Next(fault)
		} else {
			proxy.Next(remotetest.Fault{})
		}
		s.Seen()
		switch op, name := drawn.IntN(3), fmt.Sprint("New ", n); {
		case op == 0 || len(known) == 0:
			sent[name] = true
			made, err := c.create(bg(), nil, r, noord, c.record(t, "contact", `{"kind":"person","name":"`+name+`"}`))
			require.LessOrEqual(t, len(s.Seen()), 2, "a write, and its record once more")
			if err == nil {
				require.Equal(t, name, made.rec.Get("name").Text())
				known[c.keyOf(made)] = name
			}
		case op == 1:
			all, err := c.walked(bg(), "contact", auth.Client{})
			if err == nil {
				require.GreaterOrEqual(t, len(all), 30+len(known))
			}
		default:
			for key, name := range known {
				row, err := c.get(bg(), r, noord, key)
				if err == nil {
					require.Equal(t, name, row.Object()["name"])
				}
				break
			}
		}
	}
	require.NoError(t, proxy.Set(remotetest.Fault{}))
	all := must.Have(c.walked(bg(), "contact", auth.Client{}))(t)
	there := map[string]int{}
	for _, of := range all {
		there[of.rec.Get("name").Text()]++
		require.True(t, sent[of.rec.Get("name").Text()])
		delete(known, c.keyOf(of))
	}
	require.Empty(t, known, "what was answered is there")
	for name, n := range there {
		require.Equal(t, 1, n, name)
	}
}
