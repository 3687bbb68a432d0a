package desk

import (
	"slices"
	"sync"
	"time"
)

// reloads is the outcome of the reloads so far. In its zero value there were none.
type reloads struct {
	mu  sync.Mutex
	now reloadState
}

// reloadState is what /readyz, metrics and the status page tell of reloads.
type reloadState struct {
	count       uint64    // of all
	failures    uint64    // of those that kept the configuration before
	last        time.Time // zero: there was none
	fault       error     // of the last; nil where it was done
	waiting     []string  // what of the configuration needs a restart
	parts       []string  // files beside it that have changed, which needs one as well
	restart     error     // why a start would fail by these; nil where it would not
	certificate error     // why the certificate's files cannot be used as they are
	began       time.Time // since when the files are read or looked at; zero where they are not
}

// needsRestart returns all changes that are not used before a restart.
func (s reloadState) needsRestart() []string { return slices.Concat(s.waiting, s.parts) }

// asWritten reports whether everything in the files is in force, or would be after a restart.
func (s reloadState) asWritten() bool { return s.fault == nil && s.restart == nil }

// FilesPatience is how long the files of the configuration may take to answer.
const FilesPatience = 12 * time.Second

// hangs returns since when the files have not answered, if that is longer than FilesPatience; else
// zero.
func (s reloadState) hangs(now time.Time) time.Time {
	if s.began.IsZero() || now.Sub(s.began) < FilesPatience {
		return time.Time{}
	}
	return s.began
}

// begin records since when the files are being read or looked at, and returns the time recorded
// before.
func (r *reloads) begin(at time.Time) (before time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, r.now.began = r.now.began, at
	return before
}

func (r *reloads) state() reloadState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *reloads) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.count++
	r.now.failures++
	r.now.last, r.now.fault = time.Now(), err
}

func (r *reloads) done(waiting []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.count++
	r.now.last, r.now.fault, r.now.waiting = time.Now(), nil, waiting
}

func (r *reloads) certificate(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.certificate = err
}

func (r *reloads) beside(changed []string, restart error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.parts, r.now.restart = changed, restart
}
