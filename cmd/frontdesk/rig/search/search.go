// Package search finds every world that a protocol can come to, and the shortest way to one
// that must not be. Tests of any package may import it; it imports nothing of ours. It knows
// no time and no chance: a protocol bounds by counters in its worlds how much may happen.
package search

import (
	"fmt"
	"strings"
	"testing"
)

// Protocol says what may happen. A world W is all that is stored, all messages under way, and
// what each actor remembers; worlds with the same key K are one.
type Protocol[W any, K comparable] struct {
	Start W
	Key   func(W) K
	// Next calls step with each event that may happen next and the world after it. wrong is
	// what must not be about that world, or about how it came about; "" for nothing.
	Next func(w W, step func(event string, after W, wrong string))
	// Ended reports whether a world is settled. From every world one must be within reach.
	Ended func(W) bool
}

// Search returns how many worlds there are, and the shortest way to what must not be; "" if
// there is none.
func (p Protocol[W, K]) Search() (worlds int, wrong string) {
	all, numbers := []W{p.Start}, map[K]int32{p.Key(p.Start): 0}
	from, events := []int32{-1}, []string{"the start"}
	var steps [][2]int32
	way := func(to int32) (told string) {
		var back []string
		for ; to >= 0; to = from[to] {
			back = append([]string{events[to]}, back...)
		}
		return strings.Join(back, "; ")
	}
	for at := int32(0); int(at) < len(all) && wrong == ""; at++ {
		p.Next(all[at], func(event string, after W, why string) {
			if why != "" && wrong == "" {
				wrong = fmt.Sprintf("%s: %s; %s", why, way(at), event)
			}
			key := p.Key(after)
			to, known := numbers[key]
			if !known {
				to = int32(len(all))
				numbers[key] = to
				all, from, events = append(all, after), append(from, at), append(events, event)
			}
			steps = append(steps, [2]int32{at, to})
		})
	}
	if wrong == "" {
		if stuck := p.stuck(all, steps); stuck >= 0 {
			wrong = "there is no way to an end: " + way(stuck)
		}
	}
	return len(all), wrong
}

// stuck is the first world from which none that has ended can be reached; -1 if there is none.
func (p Protocol[W, K]) stuck(all []W, steps [][2]int32) int32 {
	ends := make([]bool, len(all))
	for i, w := range all {
		ends[i] = p.Ended(w)
	}
	for more := true; more; {
		more = false
		for i := len(steps) - 1; i >= 0; i-- { // most steps lead to a later world
			if from, to := steps[i][0], steps[i][1]; ends[to] && !ends[from] {
				ends[from], more = true, true
			}
		}
	}
	for i := range ends {
		if !ends[i] {
			return int32(i)
		}
	}
	return -1
}

// Holds searches a protocol as it is, in which nothing may be wrong, and with each of some
// faults planted in it, which has to be found. M is what is searched: its transitions.
func Holds[M, W any, K comparable](t *testing.T, as M, faults map[string]M, of func(M) Protocol[W, K]) {
	t.Helper()
	worlds, wrong := of(as).Search()
	t.Logf("%d worlds", worlds)
	if wrong != "" {
		t.Fatalf("in one of %d worlds %s", worlds, wrong)
	}
	for name, faulty := range faults {
		worlds, wrong := of(faulty).Search()
		if wrong == "" {
			t.Errorf("a fault was not found in %d worlds: %s", worlds, name)
		}
		t.Logf("%s: %s", name, wrong)
	}
}
