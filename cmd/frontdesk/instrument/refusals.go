package instrument

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/gateway"
)

// Refusal is a request that was refused or failed.
type Refusal struct {
	At       time.Time     `json:"at"`
	ID       string        `json:"request_id"`
	Key      string        `json:"key"`
	Client   string        `json:"client"`
	User     string        `json:"user,omitempty"`
	Method   string        `json:"method"`
	Endpoint string        `json:"endpoint"`
	Record   int32         `json:"record,omitempty"` // the ID in its path
	Status   int           `json:"status"`
	Reason   string        `json:"reason"`
	Cause    string        `json:"cause,omitempty"`
	Address  string        `json:"address"`
	Took     time.Duration `json:"took_ns"`
	Gateway  string        `json:"gateway,omitempty"` // which of several it was
	Number   uint64        `json:"number"`            // at this gateway
}

// Path is the endpoint with the ID of its record.
func (r *Refusal) Path() string {
	if at := strings.LastIndex(r.Endpoint, "/{"); at >= 0 && r.Record != 0 {
		return r.Endpoint[:at+1] + strconv.Itoa(int(r.Record))
	}
	return r.Endpoint
}

// IsByLimit reports whether a limit refused it. One client can cause any number of these.
func (r *Refusal) IsByLimit() bool { return r.Status == http.StatusTooManyRequests }

// MostRefusals is how many refusals are kept one by one.
const MostRefusals = 1000

// refusals holds the last refusals by a limit, and separately the last others, so that the former do
// not push them out. The oldest come first.
type refusals struct{ byLimit, others []Refusal }

func (l *refusals) add(a *gateway.Answer, number uint64) {
	l.keep(Refusal{
		At: a.At, ID: a.RequestID, Key: a.Key, Client: a.Client, User: a.User, Method: a.Method, Endpoint: a.Endpoint, Record: a.Record, Status: a.Status, Reason: a.Reason, Cause: a.Cause,
		Address: a.Address, Took: a.Took, Number: number,
	})
}

func (l *refusals) keep(r Refusal) {
	of := &l.others
	if r.IsByLimit() {
		of = &l.byLimit
	}
	if len(*of) == MostRefusals+MostRefusals/4 {
		*of = append((*of)[:0], newest(*of)...)
	}
	*of = append(*of, r)
}

func newest(all []Refusal) []Refusal { return all[max(0, len(all)-MostRefusals):] }

// Refusals returns the last MostRefusals by a limit, and the last MostRefusals others, newest
// first.
func (i *Instrument) Refusals() []Refusal {
	i.mu.Lock()
	defer i.mu.Unlock()
	return NewestFirst(newest(i.refused.byLimit), newest(i.refused.others))
}

// NewestFirst merges and sorts refusals.
func NewestFirst(lists ...[]Refusal) []Refusal {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Refusal) int {
		if a.Gateway == b.Gateway && a.Number != b.Number && a.At.Equal(b.At) {
			return int(int64(b.Number) - int64(a.Number)) // #nosec G115 -- both are small
		}
		return b.At.Compare(a.At)
	})
	return all
}

// Mark is a moment at which something changed that may have affected requests.
type Mark struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // start, stop, configuration, circuit, key or sessions
	Text string    `json:"text"`

	Gateway string `json:"gateway,omitempty"` // which of several it was
}

// mostMarks is how many marks are kept.
const mostMarks = 200

// Mark records that something changed now.
func (i *Instrument) Mark(kind, text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.marks = append(i.marks[max(0, len(i.marks)-mostMarks+1):], Mark{At: i.clock(), Kind: kind, Text: text})
}

// Marks returns the marks since a moment, oldest first.
func (i *Instrument) Marks(since time.Time) []Mark {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(i.marks), func(m Mark) bool { return m.At.Before(since) })
}
