package remote

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"frontdesk/mapping"
)

// keptRecent is of how many records it is remembered what the copy has of them.
const keptRecent = 16 << 10

// recent remembers what the copy has of the records that were read last, so that a read of a record
// that is as it was asks no database. What another gateway has put into a shared copy meanwhile it
// does not know: a record is brought into the copy only where the copy has what is remembered.
type recent struct {
	mu      sync.Mutex
	changes int // of the copy, in this gateway
	of      *simplelru.LRU[recentKey, held]
}

type recentKey struct {
	r  *mapping.Resource
	id int32
}

func newRecent() *recent {
	of, _ := simplelru.NewLRU[recentKey, held](keptRecent, nil) // which fails for no size
	return &recent{of: of}
}

// get returns what is remembered of a record, and else what put wants to know.
func (x *recent) get(of recentKey) (h held, is bool, changes int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h, is = x.of.Get(of)
	return h, is, x.changes
}

// put remembers what was read of the copy, unless the copy has changed since.
func (x *recent) put(of recentKey, h held, changes int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if changes == x.changes {
		x.of.Add(of, h)
	}
}

// forget drops records whose copy has changed.
func (x *recent) forget(all ...recentKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changes++
	for _, of := range all {
		x.of.Remove(of)
	}
}

// records are all that is written.
func (s *sorted) records() (all []recentKey) {
	for of, records := range s.put {
		for _, rec := range records {
			all = append(all, recentKey{of.r, rec.ID()})
		}
	}
	for _, gone := range []map[*mapping.Resource][]int32{s.removed, s.quietly} {
		for r, ids := range gone {
			for _, id := range ids {
				all = append(all, recentKey{r, id})
			}
		}
	}
	return all
}
