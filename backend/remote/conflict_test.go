package remote

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// Somebody changes the record in the service itself between the judgement and the
// write: what was judged is no longer there, and is judged anew.
func TestVersionsGuardAgainstOthers(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contact := create(t, g.client, noord, "contact", `{"kind":"person","name":"Wit"}`)
	other := front(t, open(t, Options{Sheet: g.store.Sheet, IDStore: apart{g.store.IDStore}, Now: time.Now}))
	change := mapping.NewRecord(contact.Resource)
	change.Set("name", mapping.TextValue("Rood"))
	for n, write := range []func(tx backend.Tx, stale mapping.Record) error{
		func(tx backend.Tx, stale mapping.Record) error {
			_, err := tx.Update(bg(), noord, stale, change)
			return err
		},
		func(tx backend.Tx, stale mapping.Record) error { return tx.Delete(bg(), noord, stale) },
	} {
		require.ErrorIs(t, g.store.Write(bg(), func(tx backend.Tx) error {
			stale := must.Have(tx.Get(bg(), contact.Resource, backend.Query{Client: noord, ID: contact.ID(), ForUpdate: true}))(t)
			must.Have(other.Update(bg(), noord, contact.ID(), patch(t, contact.Resource, fmt.Sprintf(`{"name":"Zwart %d"}`, n)), backend.Write{}))(t)
			return write(tx, stale)
		}), backend.ErrStale)
	}
}

// apart is the id store of somebody who waits for no other gateway.
type apart struct{ IDStore }

func (apart) Take(context.Context, string, int64, int32) (func(context.Context), error) {
	return func(context.Context) {}, nil
}

// Two writes of one record through this gateway are judged one after the other,
// also by a service that has no versions.
func TestWritesOfOneRecordTakeTurns(t *testing.T) {
	d := copiedFrom(t, remotetest.NewRack(), remotetest.WithSince)
	require.Equal(t, []int{1, 7}, updatedAtOnce(t, 8, front(t, d)))
	require.Zero(t, d.holds.count())
}

// updatedAtOnce has so many writes of one record, all with the same If-Match, through
// gateways in turn. It returns how many were done, and how many told that the record had
// been changed.
func updatedAtOnce(t *testing.T, n int, gateways ...*backend.Client) []int {
	t.Helper()
	contact := create(t, gateways[0], north, "contact", `{"kind":"person","name":"Wit"}`)
	var done, changed atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := gateways[i%len(gateways)].Update(bg(), north, contact.ID(), patch(t, contact.Resource, fmt.Sprintf(`{"name":"%d"}`, i)), backend.Write{
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

// count is how many records are held.
func (h *holds) count() (n int) {
	for range h.held.Range {
		n++
	}
	return n
}
