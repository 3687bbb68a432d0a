package remote

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cursors remembers marks, at which pages of lists begin, for services that page by cursor or
// link: a page number is reached from the nearest mark before it. The number of marks is
// bounded over all lists; the list used longest ago is forgotten first.
type cursors struct {
	most int

	mu    sync.Mutex
	count int
	lists *simplelru.LRU[string, *trail]
}

// trail is what is known of one list of one client.
type trail struct {
	marks []mark         // by seen
	after map[int32]mark // by the ID of the record that stood last on a page
}

// mark is a place in a list: where a chunk of the service begins.
type mark struct {
	position int       // of it, in what the service lists
	seen     int       // records that come before it
	cursor   string    // or the target of a link
	before   []int32   // of a mark after a record: those that were listed before it, the last ones
	since    time.Time // when it was counted what comes before it
}

// placesLast is how long the number of records before a place is trusted, since others also
// change the system. A write of this gateway ends that at once, see listed.
const placesLast = time.Minute

// longestCursor is the longest cursor, in bytes, that is remembered. Lists with longer ones
// are read from the beginning.
const longestCursor = 4 << 10

func newCursors(most int) *cursors {
	c := &cursors{most: max(most, 100)}
	c.lists, _ = simplelru.NewLRU(math.MaxInt, func(_ string, t *trail) { c.count -= len(t.marks) + len(t.after) })
	return c
}

// trail returns what is known of a list, and makes it if there is nothing. The caller holds
// the mutex.
func (c *cursors) trail(key string) *trail {
	t, ok := c.lists.Get(key)
	if !ok {
		t = &trail{after: map[int32]mark{}}
		c.lists.Add(key, t)
	}
	return t
}

// nearest returns the last known place with at most that many records before it, counted since
// then. It adds nothing: most lists have one page, and clients could fill the memory with filters.
func (c *cursors) nearest(key string, seen int, since time.Time) (mark, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.lists.Get(key)
	if !ok {
		return mark{}, false
	}
	marks := t.marks
	i, exact := slices.BinarySearchFunc(marks, seen, func(m mark, n int) int { return m.seen - n })
	if !exact {
		i--
	}
	for ; i >= 0; i-- {
		if !marks[i].since.Before(since) {
			return marks[i], true
		}
	}
	return mark{}, false
}

// after returns the place of the chunk that holds a record.
func (c *cursors) after(key string, id int32) (mark, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.lists.Get(key)
	if !ok {
		return mark{}, false
	}
	m, ok := t.after[id]
	return m, ok
}

// learn remembers where a chunk begins.
func (c *cursors) learn(key string, m mark) {
	if len(m.cursor) > longestCursor {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trail(key)
	i, known := slices.BinarySearchFunc(t.marks, m.seen, func(m mark, n int) int { return m.seen - n })
	if known {
		t.marks[i] = m
		return
	}
	t.marks = slices.Insert(t.marks, i, m)
	c.count++
	c.shrink(t)
}

// learnAfter remembers the chunk of the record that a page ended with.
func (c *cursors) learnAfter(key string, id int32, m mark) {
	if len(m.cursor) > longestCursor {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trail(key)
	if _, known := t.after[id]; !known {
		c.count++
		c.shrink(t)
	}
	t.after[id] = m // after the others were dropped: whoever is told of the record comes back with it
}

// shrink keeps to the bound: other lists are forgotten first, then every second place of the
// current one.
func (c *cursors) shrink(used *trail) {
	for c.count > c.most {
		if _, last, _ := c.lists.GetOldest(); last != used {
			c.lists.RemoveOldest()
			continue
		}
		var rest []mark
		for i := 0; i < len(used.marks); i += 2 {
			rest = append(rest, used.marks[i])
		}
		c.count -= len(used.marks) - len(rest) + len(used.after)
		used.marks, used.after = rest, map[int32]mark{}
	}
}

// forget drops what is known of a list.
func (c *cursors) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists.Remove(key)
}
