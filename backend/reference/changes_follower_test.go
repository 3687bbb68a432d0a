package reference

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// follower applies changes to a copy.
type follower struct {
	client auth.Client
	cursor string
	copied map[string]int64 // versions, by resource and ID
	seen   int
}

// catchUp reads changes until there are no more.
func (f *follower) catchUp(t testing.TB, front *backend.Client) {
	q := backend.ChangesQuery{Client: f.client, Limit: 7, Records: true, Resources: front.Model().Resources}
	for more := true; more; {
		q.After = f.cursor
		page, err := front.Changes(bg(), q)
		require.NoError(t, err)
		told := map[string]bool{}
		for _, c := range page.Changes {
			key := fmt.Sprint(c.Resource.Name, " ", c.ID)
			require.False(t, told[key], "%s twice on a page", key)
			told[key] = true
			if c.Kind == backend.RecordDeleted {
				delete(f.copied, key)
				continue
			}
			f.copied[key] = c.Record.Version
		}
		f.seen += len(page.Changes)
		f.cursor, more = page.Cursor, page.More
	}
}

// source is what a copy should be.
func (x *fixture) source(client auth.Client) map[string]int64 {
	all := map[string]int64{}
	for _, name := range []string{"turnovergroup", "order", "orderline", "contact"} {
		for _, rec := range x.all(client, name) {
			all[fmt.Sprint(name, " ", rec.ID())] = rec.Version
		}
	}
	return all
}

// TestConcurrentFollower has 16 writers of several gateways create, change and delete, and a
// follower beside them whose copy equals the source in the end. Its short form is one round.
func TestConcurrentFollower(t *testing.T) {
	rounds, each := 1, 12
	if sqltest.Soak() {
		rounds, each = 50, 40
	}
	onEngines(t, func(t *testing.T, x *fixture) {
		fronts := gateways(t, x)
		n := len(fronts)
		s := newShop(x, "A")
		order := s.order(s.line("high", "1", "10"), s.line("high", "1", "10"))
		for round := range rounds {
			f := &follower{client: s.mine, cursor: cursorOfNow(t, fronts[0], s.mine), copied: x.source(s.mine)}
			var writing, following sync.WaitGroup
			ended := make(chan struct{})
			for w := range 16 {
				writing.Go(func() { s.write(t, fronts[w%n], fmt.Sprint(round, " ", w), order.ID(), each) })
			}
			following.Go(func() {
				for k := 0; ; k++ {
					f.catchUp(t, fronts[k%n])
					select {
					case <-ended:
						return
					default:
					}
				}
			})
			writing.Wait()
			close(ended)
			following.Wait()
			want := x.source(s.mine)
			await.True(t, func() bool {
				f.catchUp(t, fronts[0])
				return maps.Equal(want, f.copied)
			}, "round %d", round)
			require.Positive(t, f.seen)
		}
	})
}

// write creates, changes and deletes records of its own, and lines of an order of all.
func (s *shop) write(t *testing.T, front *backend.Client, name string, order int32, each int) {
	made := map[string][]int32{}
	for k := range each {
		rec := s.group(fmt.Sprint(name, " ", k))
		if rand.N(2) == 0 {
			rec = s.line("high", fmt.Sprint(k+1), "10", "order_id", fmt.Sprint(order))
		}
		r, of := rec.Resource, made[rec.Resource.Name]
		switch what := rand.N(4); {
		case what == 0 && len(of) > 0:
			require.NoError(t, front.Delete(bg(), s.mine, r, of[0], backend.Write{}))
			made[r.Name] = of[1:]
		case what == 1 && len(of) > 0:
			patch := rec.Clone()
			if r.Name == "orderline" {
				patch.Set("order_id", mapping.Value{})
			}
			_, err := front.Update(bg(), s.mine, of[0], mapping.BodyOf(patch), backend.Write{})
			require.NoError(t, err)
		default:
			stored, err := front.Create(bg(), s.mine, mapping.BodyOf(rec), backend.Write{})
			require.NoError(t, err)
			made[r.Name] = append(of, stored.ID())
		}
	}
}
