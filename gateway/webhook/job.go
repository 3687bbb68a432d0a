package webhook

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// State is how far a job is.
type State string

// The states, in the order of a job's life. Work that failed is called back
// about too: the client learns of it when it asks for the result.
const (
	Accepted   State = "accepted"    // on disk; the client has its 202
	Running    State = "running"     // somebody works on it, until Job.Lease
	Done       State = "done"        // the result is there, the callback is due
	Failed     State = "failed"      // there will be no result, the callback is due
	CalledBack State = "called_back" // the receiver took the callback, or wants no more
	Collected  State = "collected"   // the client fetched the result
	Exhausted  State = "exhausted"   // no try was left; the result is still there
)

// maxClaims is how often work is begun before it is given up: work that ends
// the process it runs in must not do so for ever.
const maxClaims = 3

// Owner is who asked for a job.
type Owner struct {
	User   auth.User
	Key    string         // name of the api_key
	Rights mapping.Rights `json:",omitempty"` // to fields, that the api_key had
}

// Work is what is to be done.
type Work struct {
	Kind string // names a Runner
	Data []byte // what that one needs to know, JSON; nil once it is done

	Most int `json:"-"` // how many unfinished jobs of the kind a client of an api_key may have; 0 for no bound
}

// smallData is how much of a work's data is kept within the job, in bytes. Whatever looks at
// the job reads that as well.
const smallData = 4 << 10

// Result is what came of it, by its name among the Results.
type Result struct {
	File   string // its name there
	Name   string // what the client saves it as
	Type   string // media type
	Size   int64  // bytes
	SHA256 string // hexadecimal
}

// Format is the version of the work that this program creates, and the newest that it can
// do. It increases with anything that an older version could not do, or would do
// differently: a new kind of work, or a change in the data of one. 2 is work for an api_key with rights
// to fields, all other is 1.
const Format = 2

// Needs are what a process must know to do the work of a job. During a rolling upgrade
// some processes do not know it yet, or no longer: they leave the job to the others.
type Needs struct {
	Format int // of the work
	Model  int // steps of the model that the promise was made under (mapping.Model.Steps)
}

// Any reports whether every process of every version can do it.
func (n Needs) Any() bool { return n.Format <= 1 && n.Model <= 1 }

// beyond reports whether a process cannot do it.
func (n Needs) beyond(able Needs) bool { return n.Format > able.Format || n.Model > able.Model }

// Left is how long a job is left to processes that can do it. If none has come by then,
// for example because a step of the model was taken back, any process fails the job, so
// that the client is told.
const Left = 24 * time.Hour

// Job is one promise to a client. If a field is left out of the JSON, the store's
// document keeps its old value, as if a newer version had written it: so a field with
// omitempty or omitzero must never become empty again.
type Job struct {
	ID       string
	Owner    Owner
	Callback string // address of the receiver
	Work     Work
	Needs    Needs             `json:",omitzero"`
	Trace    map[string]string `json:",omitempty"` // headers of the trace that the request belonged to

	State   State
	Failure string // why there is no result; for operators, never for the client
	NoRoom  bool   `json:",omitempty"` // it failed because its result found no room
	Result  Result
	Room    int64 // bytes that are set aside for the result, while there is none
	// SeparateData is how many bytes of the work's data are stored beside the job, where only
	// NextWork reads them; 0 once the work is done.
	SeparateData int64     `json:"Apart"`
	Linked       time.Time `json:",omitzero"` // when an address of the result was given out last
	Created      time.Time
	Started      time.Time // of the work, the last time it was begun
	Finished     time.Time // of the work
	Claims       int       // how often the work was begun, but for what was postponed or handed back
	Term         int       // which claim, call or replay it is, of all there were
	Lease        time.Time // whoever works on it, or calls, has it until then; while it is accepted, when it wakes
	Tries        int       // calls made
	NextTry      time.Time // when the callback is due; zero where it is not
	Failing      time.Time // since when it was tried in vain; zero where it was not, or is not to be tried again
	Pauses       []Pause   `json:",omitempty"` // what the work was postponed for, each cause once
}

// Pause says why and since when the work of a job was postponed, for its journal.
type Pause struct {
	Since time.Time
	For   string
}

// Host is the receiver's, with its port if it is written: what may be shown of an address that
// may hold secrets. It is "" for none.
func (j Job) Host() string {
	u, err := url.Parse(j.Callback)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Cause is in a word why a job has no result, or why its work was postponed; "" for neither.
// What follows the word in Failure may hold values.
func (j Job) Cause() string {
	if j.Failure == "" && len(j.Pauses) > 0 && j.State == Running {
		return j.Pauses[len(j.Pauses)-1].For
	}
	cause, _, _ := strings.Cut(j.Failure, ": ")
	return cause
}

// pause returns the pause for a cause, if there was one.
func (j Job) pause(cause string) (Pause, bool) {
	i := slices.IndexFunc(j.Pauses, func(p Pause) bool { return p.For == cause })
	if i < 0 {
		return Pause{}, false
	}
	return j.Pauses[i], true
}

// Taken is how many bytes of the space of results the job takes: first what is reserved
// for the result, and the data of its work; then the result.
func (j Job) Taken() int64 {
	switch {
	case j.State == Accepted || j.State == Running:
		return j.Room + j.SeparateData
	case j.gone():
		return 0
	default:
		return j.Result.Size
	}
}

// asleep reports whether the job waits for something to come, until Lease at most.
func (j Job) asleep() bool { return j.State == Accepted && !j.Lease.IsZero() }

// gone reports whether the result of a finished job was deleted to make space.
func (j Job) gone() bool { return j.Failure == "" && j.Result.File == "" }

// SpentAfter is the time from the noted handing-out of an address until the result may be
// deleted: an hour after the last address ended. Handing out is noted once in
// linkedEvery, so that repeated requests write nothing.
const (
	SpentAfter  = LinkValidity + time.Hour + linkedEvery
	linkedEvery = time.Minute
)

// spent reports whether the result may be deleted: it was fetched, and no address of it is
// valid any more.
func (j Job) spent(now time.Time) bool {
	return j.State == Collected && !j.gone() && !j.Linked.IsZero() && !now.Before(j.Linked.Add(SpentAfter))
}

// Try is one call of a receiver, as the journal stores it.
type Try struct {
	Job      string
	Number   int
	At       time.Time
	Status   int    // 0 where there was no answer
	Error    string // a class of failure, without secrets; "" for an answer
	Duration time.Duration
}

// Problem is in short why the receiver did not take the call, such as "status 500" or
// "timeout"; "" if it did.
func (t Try) Problem() string {
	if t.Error == "" || t.Status == 0 {
		return t.Error
	}
	return t.Error + " " + strconv.Itoa(t.Status)
}
