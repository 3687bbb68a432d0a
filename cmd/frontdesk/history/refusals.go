package history

import (
	"net/http"
	"slices"
	"time"

	"frontdesk/gateway"
)

// Refusal is a request that was refused or failed.
type Refusal struct {
	At       time.Time     `json:"at"`
	ID       string        `json:"request_id"`
	Key      string        `json:"key"`
	Client   string        `json:"client"`
	Method   string        `json:"method"`
	Endpoint string        `json:"endpoint"`
	Status   int           `json:"status"`
	Reason   string        `json:"reason"`
	Cause    string        `json:"cause,omitempty"`
	Address  string        `json:"address"`
	Took     time.Duration `json:"took_ns"`
}

// MostRefusals is how many are kept one by one.
const MostRefusals = 1000

// refusals are the last ones by a limit, of which one client can cause any number, and apart
// from them the last others, which they would push out.
type refusals struct{ byLimit, others refusalRing }

type refusalRing struct {
	ring [MostRefusals]Refusal
	n    uint64 // that there were in all
}

// next is the place of the next one with that status.
func (l *refusals) next(status int) *Refusal {
	of := &l.others
	if status == http.StatusTooManyRequests {
		of = &l.byLimit
	}
	of.n++
	return &of.ring[(of.n-1)%MostRefusals]
}

func (l *refusals) add(r *gateway.Answer) {
	*l.next(r.Status) = Refusal{
		At: r.At, ID: r.RequestID, Key: r.Key, Client: r.Client, Method: r.Method, Endpoint: r.Endpoint, Status: r.Status, Reason: r.Reason, Cause: r.Cause,
		Address: r.Address, Took: r.Took,
	}
}

// Refusals returns the last MostRefusals that want lets through, newest first.
func (h *History) Refusals(want func(*Refusal) bool) []Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refusals.newest(MostRefusals, want)
}

func (l *refusals) newest(most int, want func(*Refusal) bool) (found []Refusal) {
	for i, j := uint64(0), uint64(0); len(found) < most; {
		r, other := l.byLimit.last(i), l.others.last(j)
		switch {
		case r == nil && other == nil:
			return found
		case r == nil || other != nil && !other.At.Before(r.At):
			r, j = other, j+1
		default:
			i++
		}
		if want(r) {
			found = append(found, *r)
		}
	}
	return found
}

// last is the one before so many newer ones; nil where there is none.
func (l *refusalRing) last(newer uint64) *Refusal {
	if newer >= min(l.n, MostRefusals) {
		return nil
	}
	return &l.ring[(l.n-1-newer)%MostRefusals]
}

// Mark is a moment at which something changed that requests may have felt.
type Mark struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // start, stop, configuration, circuit or key
	Text string    `json:"text"`
}

// mostMarks is how many are kept.
const mostMarks = 200

// Mark notes that something changed now.
func (h *History) Mark(kind, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.marks) == mostMarks {
		h.marks = slices.Delete(h.marks, 0, 1)
	}
	h.marks = append(h.marks, Mark{h.clock(), kind, text})
}

// Marks returns those since a moment, oldest first.
func (h *History) Marks(since time.Time) []Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.marks), func(m Mark) bool { return m.At.Before(since) })
}
