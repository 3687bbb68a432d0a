package instrument

import (
	"cmp"
	"slices"
	"time"

	"frontdesk/gateway"
)

// With is a kind of things that an api_key is seen with.
type With uint8

// The kinds. All grants are kept, to find the entries of an allowlist that nobody used; of the other kinds
// the last MostSeen.
const (
	Grants With = iota // grants of allowlists: GET /order
	Clients
	Users
	Addresses
	withs
)

// MostSeen is how many of each kind except Grants are kept.
const MostSeen = 8

// Bounds of what is kept. What exceeds them is not counted, and Tied.Whole is false.
const (
	mostKeys = 2000
	mostTies = 12_000
	seenKept = 400 * 24 * time.Hour // after the last use; more than a year, for what is done once a year
)

// Tie is something that a key is seen with.
type Tie struct {
	With With
	Name string
}

// Uses is how often something was seen, and when last, in Unix seconds.
type Uses struct{ Requests, Last uint32 }

// seen counts what keys were seen with.
type seen struct {
	since int64 // when counting began, in Unix seconds
	full  int64 // when something was last not counted, in Unix seconds; 0 for never
	ties  int
	of    map[string]map[Tie]*Uses
}

func newSeen(since time.Time) seen {
	return seen{since: since.Unix(), of: map[string]map[Tie]*Uses{}}
}

// note counts what the key of an answer was seen with.
func (s *seen) note(a *gateway.Answer) {
	if a.Key == "" {
		return
	}
	at := uint32(a.At.Unix()) // #nosec G115 -- until 2106
	s.tie(a.Key, Tie{Grants, a.Grant}, at)
	for _, need := range a.Needs {
		s.tie(a.Key, Tie{Grants, need}, at)
	}
	s.tie(a.Key, Tie{Clients, a.Client}, at)
	s.tie(a.Key, Tie{Users, a.User}, at)
	s.tie(a.Key, Tie{Addresses, a.Address}, at)
}

func (s *seen) tie(key string, t Tie, at uint32) {
	of := s.of[key]
	switch known := of[t]; {
	case t.Name == "":
		return
	case known != nil:
		known.Requests, known.Last = known.Requests+1, max(known.Last, at)
		return
	case of == nil && len(s.of) >= mostKeys:
		s.full = int64(at)
		return
	case of == nil:
		of = map[Tie]*Uses{}
		s.of[key] = of
	}
	if t.With != Grants && makeRoom(of, t.With) {
		s.ties--
	}
	if s.ties >= mostTies {
		s.full = int64(at)
		return
	}
	of[t] = &Uses{1, at}
	s.ties++
}

// makeRoom deletes the oldest of a kind if there are MostSeen.
func makeRoom(of map[Tie]*Uses, with With) (forgot bool) {
	n, oldest := 0, Tie{}
	for t, is := range of {
		if t.With != with {
			continue
		}
		if n++; oldest.Name == "" || is.Last < of[oldest].Last {
			oldest = t
		}
	}
	if n < MostSeen {
		return false
	}
	delete(of, oldest)
	return true
}

// Tied is what a key was seen with.
type Tied struct {
	Since time.Time // since when it is counted
	Whole bool      // whether everything has been counted since then
	With  [withs][]Seen
}

// Seen is how often something was seen, and when last.
type Seen struct {
	Name     string    `json:"name"`
	Requests uint32    `json:"requests"`
	Last     time.Time `json:"last"`
}

func (u *Uses) seen(name string) Seen { return Seen{name, u.Requests, time.Unix(int64(u.Last), 0)} }

// Tied returns what a key was seen with, and since when that is counted.
func (i *Instrument) Tied(key string) Tied {
	i.mu.Lock()
	defer i.mu.Unlock()
	t := Tied{Since: time.Unix(max(i.seen.since, i.clock().Add(-seenKept).Unix()), 0)}
	t.Whole = i.seen.full < t.Since.Unix()
	for one, is := range i.seen.of[key] {
		t.With[one.With] = append(t.With[one.With], is.seen(one.Name))
	}
	for _, list := range t.With {
		slices.SortFunc(list, func(a, b Seen) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
		})
	}
	return t
}

// KeysWith returns the keys that were seen with something, by their names.
func (i *Instrument) KeysWith(with With, name string) map[string]Seen {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := map[string]Seen{}
	for key, of := range i.seen.of {
		if is := of[Tie{with, name}]; is != nil {
			keys[key] = is.seen(key)
		}
	}
	return keys
}

// keep returns what goes into a file: nothing that is too old, and no users, whose names would stay in
// the file for a year.
func (s *seen) keep(now time.Time) map[string]map[Tie]*Uses {
	oldest, all := now.Add(-seenKept).Unix(), map[string]map[Tie]*Uses{}
	for key, of := range s.of {
		all[key] = map[Tie]*Uses{}
		for t, is := range of {
			if t.With != Users && int64(is.Last) >= oldest {
				all[key][t] = &Uses{is.Requests, is.Last}
			}
		}
	}
	return all
}

// put takes what a file has.
func (s *seen) put(all map[string]map[Tie]*Uses) {
	for key, of := range all {
		if len(of) > 0 {
			s.of[key] = of
			s.ties += len(of)
		}
	}
}
