package history

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"frontdesk/gateway"
)

// With is what an api_key, a client or an endpoint is seen with.
type With uint8

// Of a key all grants are counted, so that it can be told which entries of its allowlist
// nobody used; of all else the last MostSeen.
const (
	Grants With = iota // of allowlists: GET /order
	Keys
	Clients
	Users
	Addresses
	withs
)

// MostSeen is how many of all that is no grant are kept, of each kind.
const MostSeen = 8

// Bounds of what is kept. What exceeds those of keys is not counted, and Tied says so.
const (
	mostTied     = 2000                 // keys
	mostTies     = 12_000               // of all keys together
	mostOfSeries = 128                  // of a client or an endpoint
	tiesKept     = 400 * 24 * time.Hour // after the last use: what is done once a year is in it
)

// tie is how often something was seen with another name, and when last.
type tie struct {
	name     string
	requests uint32
	last     uint32 // seconds since 1970
	with     With
}

// ties are what one name was seen with, those of late about first.
type ties struct {
	since int64 // seconds since 1970
	all   []tie
}

// note counts what an answer's name was seen with; room is how many ties may be added.
func (t *ties) note(at int64, with With, name string, room int) (added int, full bool) {
	if name == "" {
		return 0, false
	}
	seconds, same, oldest := uint32(max(at, 0)), 0, -1 // #nosec G115 -- until 2106
	for i := range t.all {
		one := &t.all[i]
		if one.with != with {
			continue
		}
		if one.name == name {
			if one.requests < math.MaxUint32 {
				one.requests++
			}
			one.last = max(one.last, seconds)
			if i > 0 {
				t.all[i], t.all[i-1] = t.all[i-1], t.all[i]
			}
			return 0, false
		}
		if same++; oldest < 0 || one.last < t.all[oldest].last {
			oldest = i
		}
	}
	fresh := tie{name, 1, seconds, with}
	switch {
	case with != Grants && same >= MostSeen:
		t.all[oldest] = fresh
		return 0, false
	case room <= 0:
		return 0, true
	case len(t.all) == cap(t.all):
		t.all = slices.Grow(t.all, 4)
	}
	t.all = append(t.all, fresh)
	return 1, false
}

// tied are the ties of all keys.
type tied struct {
	keys  map[string]*ties
	n     int   // ties
	since int64 // seconds since 1970
	full  int64 // when something was last not counted, likewise; 0 for never
}

// noteTies counts what the names of an answer were seen with.
func (h *History) noteTies(r *gateway.Answer, client, endpoint *series) {
	at := r.At.Unix()
	if r.Key != "" {
		of := h.tied.keys[r.Key]
		switch {
		case of == nil && len(h.tied.keys) >= mostTied:
			h.tied.full = at
		case of == nil:
			of = &ties{since: at}
			h.tied.keys[r.Key] = of
		}
		if of != nil {
			h.tied.note(of, at, Grants, r.Grant)
			for _, need := range r.Needs {
				h.tied.note(of, at, Grants, need)
			}
			h.tied.note(of, at, Clients, r.Client)
			h.tied.note(of, at, Users, r.User)
			h.tied.note(of, at, Addresses, r.Address)
		}
	}
	if client != nil && client != h.rest[Client] {
		client.tie(at, Grants, r.Grant)
		client.tie(at, Keys, r.Key)
		client.tie(at, Users, r.User)
		client.tie(at, Addresses, r.Address)
	}
	if endpoint != nil && endpoint != h.rest[Endpoint] {
		endpoint.tie(at, Clients, r.Client)
	}
}

func (k *tied) note(of *ties, at int64, with With, name string) {
	added, full := of.note(at, with, name, mostTies-k.n)
	k.n += added
	if full {
		k.full = at
	}
}

// tie counts what the name of a series was seen with.
func (s *series) tie(at int64, with With, name string) {
	s.ties.note(at, with, name, mostOfSeries-len(s.ties.all))
}

// Tied is what a name was seen with.
type Tied struct {
	Since time.Time // that it is counted
	Whole bool      // whether all grants have been counted since then
	With  [withs][]Seen
}

// Seen is how often something was seen, and when last.
type Seen struct {
	Name     string    `json:"name"`
	Requests uint32    `json:"requests"`
	Last     time.Time `json:"last"`
}

// Tied returns what a key was seen with, and since when that is counted; for a client or an
// endpoint, where it has a series.
func (h *History) Tied(k Kind, n Name) Tied {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := Tied{Since: time.Unix(max(h.tied.since, h.clock().Add(-tiesKept).Unix()), 0), Whole: true}
	var of *ties
	if k == Key {
		of = h.tied.keys[n.Word]
		t.Whole = h.tied.full < t.Since.Unix()
	} else if s := h.known[k][n]; s != nil {
		of = &s.ties
		t.Since = time.Unix(of.since, 0)
	}
	if of == nil {
		return t
	}
	for _, one := range of.all {
		t.With[one.with] = append(t.With[one.with], one.seen(one.name))
	}
	for _, list := range t.With {
		slices.SortFunc(list, func(a, b Seen) int {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
		})
	}
	return t
}

func (t tie) seen(name string) Seen { return Seen{name, t.requests, time.Unix(int64(t.last), 0)} }

// UsersOf returns the keys that used a grant, by their names.
func (h *History) UsersOf(grant string) map[string]Seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	users := map[string]Seen{}
	for key, of := range h.tied.keys {
		for _, one := range of.all {
			if one.with == Grants && one.name == grant {
				users[key] = one.seen(key)
			}
		}
	}
	return users
}

// keptTies are the ties of one name, as a file has them.
type keptTies struct {
	Kind  Kind
	Name  Name
	Since int64
	All   []keptTie
}

type keptTie struct {
	With           With
	Name           string
	Requests, Last uint32
}

// keepTies is what a file has of them: not those that are too old, and no users: who uses a key
// is asked while they do, and a file would have their names for a year.
func (h *History) keepTies() (all []keptTies) {
	oldest := h.clock().Add(-tiesKept).Unix()
	keep := func(k Kind, n Name, of *ties) {
		kept := keptTies{Kind: k, Name: n, Since: of.since}
		for _, one := range of.all {
			if one.with != Users && int64(one.last) >= oldest {
				kept.All = append(kept.All, keptTie{one.with, one.name, one.requests, one.last})
			}
		}
		if len(kept.All) > 0 {
			all = append(all, kept)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.tied.keys)) {
		keep(Key, Name{Word: key}, h.tied.keys[key])
	}
	for _, k := range []Kind{Client, Endpoint} {
		for n, s := range h.known[k] {
			keep(k, n, &s.ties)
		}
	}
	return all
}

// putTies goes on from what a file has; the series are there.
func (h *History) putTies(k *kept) {
	h.tied.since, h.tied.full = k.Tied, k.TiedFull
	for _, kept := range k.Ties {
		of, most := &ties{since: kept.Since}, min(mostOfSeries, len(kept.All))
		switch s := h.known[Client][kept.Name]; {
		case kept.Kind == Key && len(h.tied.keys) < mostTied:
			h.tied.keys[kept.Name.Word] = of
			most = min(mostTies-h.tied.n, len(kept.All))
			h.tied.n += most
		case kept.Kind == Client && s != nil:
			of = &s.ties
		case kept.Kind == Endpoint && h.known[Endpoint][kept.Name] != nil:
			of = &h.known[Endpoint][kept.Name].ties
		}
		of.since = kept.Since
		for _, one := range kept.All[:most] {
			if one.With < withs {
				of.all = append(of.all, tie{one.Name, one.Requests, one.Last, one.With})
			}
		}
	}
}
