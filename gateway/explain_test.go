package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestExplain(t *testing.T) {
	g := tableOnly(t)
	g.o.Location, g.o.Log = time.UTC, zap.NewNop()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"POST", "/order"})

	for name, c := range map[string]struct {
		asked   Asked
		stopped string
		status  int
		unread  bool
		answer  string
	}{
		"goes on to the backend": {asked: Asked{Method: "GET", Target: "/webservice_v2/order/5", Key: key}},
		"absolute":               {asked: Asked{Method: "GET", Target: "https://api.example.nl/webservice_v2/order", Key: key}},
		"not below":              {asked: Asked{Method: "GET", Target: "/order", Key: key}, stopped: "endpoint", status: 400, answer: "Invalid endpoint: /order"},
		"not granted":            {asked: Asked{Method: "DELETE", Target: "/webservice_v2/order/5?x=1", Key: key}, stopped: "allowlist", status: 400, answer: "Method: DELETE not supported for endpoint: /order/5"},
		"hidden":                 {asked: Asked{Method: "GET", Target: "/webservice_v2/vehicle", Key: key}, stopped: "allowlist", status: 400, answer: "Invalid endpoint: /vehicle"},
		"query":                  {asked: Asked{Method: "GET", Target: "/webservice_v2/order?page=0", Key: key}, stopped: "query", status: 400, answer: "Parameter invalid page value must be greater than 0"},
		"no body given":          {asked: Asked{Method: "POST", Target: "/webservice_v2/order", Key: key}, unread: true},
		"empty body":             {asked: Asked{Method: "POST", Target: "/webservice_v2/order", Key: key, Body: []byte{}}, stopped: "body", status: 400, answer: "Empty body"},
		"record":                 {asked: Asked{Method: "POST", Target: "/webservice_v2/order", Key: key, Body: []byte(`{"colour":1}`)}, stopped: "record", status: 403, answer: "Field: colour not found in model"},
		"no token":               {asked: Asked{Method: "GET", Target: "/webservice_v2/order", Key: key, NoToken: true}, stopped: "session", status: 401, answer: "Not authorized"},
		"no key":                 {asked: Asked{Method: "GET", Target: "/webservice_v2/order"}, stopped: "session", status: 401, answer: "Not authorized"},
		"open":                   {asked: Asked{Method: "GET", Target: "/webservice_v2/authenticate?username=a&password=b&api_key=c"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.asked.At = now
			e := g.Explain(c.asked)
			require.Equal(t, c.stopped, e.Stopped, "%s", e.Answer)
			require.Equal(t, c.status, e.Status)
			require.Equal(t, c.unread, e.Unread)
			require.Equal(t, c.stopped == "endpoint" || c.stopped == "allowlist", e.Reason != "")
			if c.answer == "" {
				require.Empty(t, e.Answer)
				return
			}
			require.Contains(t, string(e.Answer), `"message":"`+c.answer+`"`)
			require.Contains(t, string(e.Answer), `"request_id":"`+ExplainedID+`"`)
		})
	}
}

func TestMethodsOfAPath(t *testing.T) {
	g := tableOnly(t)
	require.Equal(t, []string{"GET", "POST", "PUT", "DELETE"}, g.Methods("/order"))
	require.Equal(t, []string{"GET", "PUT", "DELETE"}, g.Methods("/order/5"))
	require.Equal(t, []string{"GET"}, g.Methods("/model/order"))
	require.Equal(t, []string{"PUT"}, g.Methods("/vehicle/publishstop"))
	require.Nil(t, g.Methods("/model"))
	require.Nil(t, g.Methods("/order/"))
}
