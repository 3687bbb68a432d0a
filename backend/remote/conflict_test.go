package remote

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// Somebody changes the record in the service itself between the judgement and the
// write: what was judged is no longer there, and is judged anew.
func TestVersionsGuardAgainstOthers(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contact := create(t, g.client, noord, "contact", `{"kind":"person","name":"Wit"}`)
	stale, err := g.store.Get(bg(), contact.Resource, backend.Query{Client: noord, ID: contact.ID()})
	require.NoError(t, err)
	_, err = g.client.Update(bg(), noord, contact.ID(), patch(t, contact.Resource, `{"name":"Zwart"}`), backend.Write{})
	require.NoError(t, err)
	change := mapping.NewRecord(contact.Resource)
	change.Set("name", mapping.TextValue("Rood"))
	_, err = drivertest.Single{Driver: g.store}.Update(bg(), noord, stale, change)
	require.ErrorIs(t, err, backend.ErrStale)
	require.ErrorIs(t, drivertest.Single{Driver: g.store}.Delete(bg(), noord, stale), backend.ErrStale)
}

// Two writes of one record through this gateway are judged one after the other,
// also by a service that has no versions.
func TestWritesOfOneRecordTakeTurns(t *testing.T) {
	a := newAutolijn(t, remotetest.Options{})
	require.Equal(t, []int{1, 7}, updatedAtOnce(t, 8, a.client))
	require.Empty(t, a.store.holds.held)
}

// updatedAtOnce has so many writes of one record, all with the same If-Match, through
// gateways in turn. It returns how many were done, and how many told that the record had
// been changed.
func updatedAtOnce(t *testing.T, n int, gateways ...*backend.Client) []int {
	t.Helper()
	contact := create(t, gateways[0], lijnNoord, "contact", `{"kind":"person","name":"Wit"}`)
	var done, changed atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := gateways[i%len(gateways)].Update(bg(), lijnNoord, contact.ID(), patch(t, contact.Resource, fmt.Sprintf(`{"name":"%d"}`, i)), backend.Write{
				Precondition: func(r mapping.Record) bool { return r.Version == contact.Version },
			})
			switch {
			case err == nil:
				done.Add(1)
			case mapping.Is(err, mapping.PreconditionChanged):
				changed.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return []int{int(done.Load()), int(changed.Load())}
}
