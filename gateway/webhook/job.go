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

// The states, in the order of a job's life. Work that failed has its callback too:
// the client learns of the failure when it asks for the result.
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
	Data []byte // the Runner's input, JSON; nil once the work is done

	Most int `json:"-"` // how many unfinished jobs of the kind a client of an api_key may have; 0 for no bound
}

// smallData is how much of a work's data is kept within the job, in bytes. Every reader of the
// job reads that as well.
const smallData = 4 << 10

// Result is what the work of a job produced.
type Result struct {
	File   string // its name in Results
	Name   string // the file name that the client is offered
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

// Any reports whether every process of every version can do the work.
func (n Needs) Any() bool { return n.Format <= 1 && n.Model <= 1 }

// exceeds reports whether a process that is able to do so much cannot do the work.
func (n Needs) exceeds(able Needs) bool { return n.Format > able.Format || n.Model > able.Model }

// Left is how long a job is left to processes that can do it. If none has come by then,
// for example because a step of the model was taken back, any process fails the job, so
// that the client is notified.
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
	NoRoom  bool   `json:",omitempty"` // the work failed because there was no room for its result
	Result  Result
	Room    int64 // bytes that are reserved for the result, while there is none
	// SeparateData is how many bytes of the work's data are stored beside the job, where only
	// NextWork reads them; 0 once the work is done.
	SeparateData int64     `json:"Apart"`
	Linked       time.Time `json:",omitzero"` // when an address of the result was given out last
	Created      time.Time
	Started      time.Time // of the work, the last time it was begun
	Finished     time.Time // of the work
	Claims       int       // how often the work was begun, without claims that were postponed or handed back
	Term         int       // number of the last claim, call or replay
	Lease        time.Time // until when a worker, or a call, has the job; of an accepted one, when it wakes
	Tries        int       // calls made
	NextTry      time.Time // when the callback is due; zero where it is not
	Failing      time.Time // when the first of the failed calls was made; zero where none failed, or no further one is due
	Pauses       []Pause   `json:",omitempty"` // why the work was postponed, each cause once
}

// Pause says why and since when the work of a job was postponed, for its journal.
type Pause struct {
	Since time.Time
	For   string
}

// Host returns the receiver's host, with its port if it is written: the rest of the address may
// hold secrets. It is "" for none.
func (j Job) Host() string {
	u, err := url.Parse(j.Callback)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// Cause returns in a word why a job has no result, or why its work was postponed; "" for neither.
// The rest of Failure may hold values.
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

// Taken returns how many bytes of the space of results the job takes: first what is reserved
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

// asleep reports whether the job waits for an event, until Lease at most.
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

// Problem returns in short why the call was not delivered, such as "status 500" or "timeout";
// "" if it was.
func (t Try) Problem() string {
	if t.Error == "" || t.Status == 0 {
		return t.Error
	}
	return t.Error + " " + strconv.Itoa(t.Status)
}
