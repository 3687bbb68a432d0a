package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// timedDriver notes how long it took, of all that it was asked since it was last looked at.
type timedDriver struct {
	*reference.Store
	took *time.Duration
}

func (d timedDriver) note(began time.Time) { *d.took += time.Since(began) }

func (d timedDriver) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	defer d.note(time.Now())
	return d.Store.Get(ctx, r, q)
}

func (d timedDriver) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	defer d.note(time.Now())
	return d.Store.List(ctx, r, q)
}

func (d timedDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	defer d.note(time.Now())
	return d.Store.Write(ctx, f)
}

// accessed returns the access line of a request, which comes after its answer.
func accessed(t *testing.T, d *rig.Desk, id string) (found accesslog.Line) {
	t.Helper()
	await.True(t, func() bool {
		for text := range strings.Lines(d.Log.String()) {
			if l := (accesslog.Line{}); l.Read([]byte(text)) && l.RequestID == id {
				found = l
				return true
			}
		}
		return false
	})
	return found
}

// TestAccessLineHasTheBackendsTime: of what a request took, the administration's part is
// told, of all calls together, and none of another request's.
func TestAccessLineHasTheBackendsTime(t *testing.T) {
	var took time.Duration // of one request at a time
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Wrap: func(of backend.Driver) backend.Driver { return timedDriver{of.(*reference.Store), &took} }})
	token := d.Login(rig.FullKey, "demo")
	made := 0
	for i, c := range []struct {
		method, path, body string
		asks               bool
	}{
		{"GET", "/order/1", "", true},
		{"GET", "/authenticate/acces", "", false},
		{"POST", "/contact", `{"name":"Smit","kind":"company"}`, true},
		{"GET", "/nowhere", "", false},
		{"GET", "/country", "", true},
		{"GET", "/country?page=0", "", false},
	} {
		took = 0
		id := "asked-" + string(rune('a'+i))
		d.Call(c.method, c.path, token, c.body, "X-Request-Id", id)
		line := accessed(t, d, id)
		if !c.asks {
			require.Zero(t, took)
			require.Zero(t, line.Backend, c.path)
			continue
		}
		made++
		require.Positive(t, took, c.path)
		require.GreaterOrEqual(t, line.Backend, took.Seconds()-1e-9, c.path)
		require.LessOrEqual(t, line.Backend, line.Duration+1e-9, c.path)
	}
	require.Equal(t, 3, made)

	d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "wrong"), "", "", "X-Request-Id", "wrong")
	require.Positive(t, accessed(t, d, "wrong").Backend, "who logs in is asked of the administration")
	require.Contains(t, d.OpsText("/metrics"), `frontdesk_backend_calls_total{operation="account",outcome="answered",resource=""} 2`+"\n")
}
