package desk

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/gateway"
)

// TestNotices: what stands out is said once it is enough, of whom it is, and no more than a few.
// What the night brings about, TestNight has.
func TestNotices(t *testing.T) {
	at := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)
	h := instrument.New(func() time.Time { return at })
	texts := func() (all []string) {
		of := func(name string) *instrument.View {
			v := instrument.NewView(instrument.Spans[name], at)
			minutes, steps := h.Steps(v.At)
			v.Add(minutes)
			v.Add(steps)
			return v
		}
		for _, n := range notices(&gathered{View: of(noticeSpan), Refusals: h.Refusals()}, of("24h"), at) {
			all = append(all, n.Text)
		}
		return all
	}
	note := func(times int, a gateway.Answer) {
		a.At, a.Method, a.Took = at, "GET", max(a.Took, time.Millisecond)
		for range times {
			h.Answered(a)
		}
	}
	for range 70 { // an hour and more as usual
		note(20, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 200})
		note(30, gateway.Answer{Key: "planner", Endpoint: "/order", Status: 200})
		for range 6 {
			at = at.Add(instrument.Short)
			h.Take(instrument.Levels{})
		}
	}
	note(2, gateway.Answer{Key: "webshop", Endpoint: "/authenticate", Status: 401, Reason: "credentials_invalid", Cause: "wrong_password"})
	note(9, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 401, Reason: "token_invalid", Cause: "expired"})
	note(9, gateway.Answer{Endpoint: "/order", Status: 401, Reason: "token_invalid", Cause: "none"})
	note(9, gateway.Answer{Key: "webshop", Endpoint: "/order", Status: 404, Reason: "record_not_found"})
	require.Empty(t, texts(), "that is usual")

	note(1, gateway.Answer{Key: "webshop", Endpoint: "/authenticate", Status: 401, Reason: "credentials_invalid", Cause: "wrong_password", Address: "192.0.2.7"})
	require.Equal(t, []string{"3 logins of the key webshop were refused: wrong_password, the first now, the last now from 2 addresses"}, texts())
	at = at.Add(noticed + instrument.Short)
	h.Take(instrument.Levels{})
	require.Empty(t, texts(), "it is over")

	note(3000, gateway.Answer{Key: "webshop", Endpoint: "/vehicle", Status: 200})
	require.Equal(t, []string{"The key webshop makes 3000 of 3000 requests, 300 a minute; it makes 20 usually"}, texts())
	note(9, gateway.Answer{Key: "planner", Endpoint: "/authenticate", Status: 200, Took: 4 * time.Second, Backend: 60 * time.Millisecond})
	require.Len(t, texts(), 1, "a login is delayed after failed ones")
	note(2, gateway.Answer{Key: "planner", Client: "Garage", Endpoint: "/order", Status: 500, Reason: "backend_timeout", Took: 3 * time.Second, Backend: time.Second})
	note(1, gateway.Answer{Key: "planner", Client: "Autos", Endpoint: "/order", Status: 500, Reason: "backend_timeout", Took: 3 * time.Second, Backend: time.Second})
	require.Equal(t, "3 requests of 2 clients failed: backend_timeout, the first now, the last now at GET /order", texts()[0])
	require.Equal(t, "GET /order took up to 3.08 s (p95), the backend only 33 % of it", texts()[2])
	note(90, gateway.Answer{Key: "planner", Endpoint: "/authenticate", Status: 200, Took: 4 * time.Second, Backend: 4 * time.Second})
	require.Equal(t, "GET /authenticate took up to 4 s (p95), the backend nearly all of it; so did 1 more", texts()[2])
	for i := range 10 {
		note(3, gateway.Answer{Status: 500, Endpoint: "/order", Reason: fmt.Sprint("reason", i)})
	}
	require.Len(t, texts(), noticesMost+2)
}
