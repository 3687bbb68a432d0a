package history

import (
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

// mostRefusals is how many are kept one by one.
const mostRefusals = 1000

type refusals struct {
	ring [mostRefusals]Refusal
	n    uint64 // that there were in all
}

func (l *refusals) add(r *gateway.Answer) {
	l.ring[l.n%mostRefusals] = Refusal{
		At: r.At, ID: r.RequestID, Key: r.Key, Client: r.Client, Method: r.Method, Endpoint: r.Endpoint, Status: r.Status, Reason: r.Reason, Cause: r.Cause,
		Address: r.Address, Took: r.Took,
	}
	l.n++
}

// Refusals returns the last ones that want lets through, newest first.
func (h *History) Refusals(want func(*Refusal) bool) (found []Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := &h.refusals
	for i := uint64(0); i < min(l.n, mostRefusals); i++ {
		if r := &l.ring[(l.n-1-i)%mostRefusals]; want(r) {
			found = append(found, *r)
		}
	}
	return found
}

// Mark is a moment at which something changed that requests may have felt.
type Mark struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // one of MarkKinds
	Text string    `json:"text"`
	Page string    `json:"page,omitempty"` // that tells more
}

// MarkKinds are what marks are of.
var MarkKinds = []string{"start", "configuration", "circuit", "key", "certificate"}

// mostMarks is how many are kept.
const mostMarks = 200

// Mark notes that something changed now.
func (h *History) Mark(kind, text string) { h.MarkOf(kind, text, "") }

// MarkOf is Mark with the address of the page that tells more.
func (h *History) MarkOf(kind, text, page string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.marks) == mostMarks {
		h.marks = slices.Delete(h.marks, 0, 1)
	}
	h.marks = append(h.marks, Mark{h.clock(), kind, text, page})
}

// Marks returns those since a moment, oldest first.
func (h *History) Marks(since time.Time) []Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.marks), func(m Mark) bool { return m.At.Before(since) })
}
