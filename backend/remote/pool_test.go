package remote

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// TestLoginsAndCallsLeaveConnections: where as many logins and calls hang as there may be,
// the service answers when it is asked whether it does.
func TestLoginsAndCallsLeaveConnections(t *testing.T) {
	f := newFaulty(t, backend.Options{Timeout: ample})
	gate := make(chan struct{})
	pool, logins := f.store.Pool(), f.store.LoginsAtOnce()
	require.Equal(t, backend.Pool{Most: 8, Calls: 5}, pool)
	require.Equal(t, 2, logins)
	ended := make(chan error)
	hang := func(n int, f func() error) {
		for range n {
			go func() { ended <- f() }()
		}
	}
	before := f.Stats().Requests
	for range pool.Calls + logins {
		f.Next(remotetest.Fault{Gate: gate})
	}
	hang(pool.Calls, func() error {
		_, err := f.store.Get(bg(), f.orders, backend.Query{Client: anna, ID: 12345})
		return err
	})
	hang(logins, func() error {
		_, err := f.store.Verify(bg(), auth.Credentials{Username: "anna", Password: "secret"})
		return err
	})
	require.NoError(t, f.Wait(bg(), func(s remotetest.FaultStats) bool { return s.Requests == before+pool.Calls+logins }))
	patient, cancel := context.WithTimeout(bg(), ample)
	defer cancel()
	require.NotErrorIs(t, f.store.Ping(patient), backend.ErrBusy)
	close(gate)
	for range pool.Calls + logins {
		<-ended
	}
}

// TestNoWaitForAConnectionIsAFailure: calls that find no connection within the time that
// the sheet gives them open no circuit. Before, to try again was given up for want of time, and
// that was counted.
func TestNoWaitForAConnectionIsAFailure(t *testing.T) {
	const brief = 20 * time.Millisecond
	var outcomes []backend.Outcome
	f := newFaulty(t, backend.Options{Timeout: ample, CircuitFailures: 1, Observe: func(_ context.Context, c backend.Call) { outcomes = append(outcomes, c.Outcome) }})
	slots := f.store.conn.wire.pool.slots
	for range cap(slots) { // as by calls that hang
		slots <- struct{}{}
	}
	f.store.conn.source.Timeout = brief
	requireUnavailable(t, f.get(bg()), mapping.BackendTimeout)
	require.Equal(t, []backend.Outcome{backend.Busy}, outcomes)
	require.Equal(t, "closed", f.client.State())
	for range cap(slots) {
		<-slots
	}
}
