package webhook

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// book caches how much space jobs take. With many jobs the database needs a while for the
// sum, so a sum is used for ten times as long as it took, and the changes that this
// process makes meanwhile are added. A change made while the sum is computed may or may
// not be in it: it is added, too. So until the next sum the book may count too much, but
// never too little.
type book struct {
	mu         sync.Mutex
	all        []Taken
	validUntil time.Time       // until when all is used; zero where there was no sum yet
	pending    map[*write]bool // writes under way
	unsummed   map[*write]bool // writes that the sum being made may miss: under way when it began, or begun later; nil while none is made
}

// write is a write that changes what a job takes of the space.
type write struct{ from, to Taken }

// known returns what the jobs take, as far as this process knows.
func (b *book) known() []Taken {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

func (b *book) expiry() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.validUntil
}

// begin counts what a job will take after a write, in addition to what it took before.
// The caller holds mu.
func (b *book) begin(from, to Taken) *write {
	w := &write{from, to}
	if b.pending == nil {
		b.pending = map[*write]bool{}
	}
	b.pending[w] = true
	if b.unsummed != nil {
		b.unsummed[w] = true
	}
	b.add(to, 1)
	return w
}

// change begins the write of a changed job. It returns nil if the job takes as much as
// before, and the same write if it was begun already and undone.
func (b *book) change(before *write, from, to Taken) *write {
	b.end(before, false)
	if from == to {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begin(from, to)
}

// end removes from the count what the job took before the write if it was done, and what it
// would have taken after it if not. w may be nil.
func (b *book) end(w *write, done bool) {
	if w == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pending, w)
	if done {
		b.add(w.from, -1)
		return
	}
	delete(b.unsummed, w)
	b.add(w.to, -1)
}

// beginSum notes that the store is about to sum up what is taken.
func (b *book) beginSum() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsummed = map[*write]bool{}
	maps.Copy(b.unsummed, b.pending)
}

// endSum keeps the sum, which is used until validUntil.
func (b *book) endSum(all []Taken, validUntil time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.all, b.validUntil = slices.Clone(all), validUntil
		for w := range b.unsummed {
			b.add(w.to, 1)
			w.from = Taken{} // the sum may have the new state instead
		}
	}
	b.unsummed = nil
}

// add adds what a job takes, so many times.
func (b *book) add(t Taken, times int) {
	if t.Bytes == 0 {
		return
	}
	t.Jobs, t.Bytes = t.Jobs*times, t.Bytes*int64(times)
	for i := range b.all {
		if has := &b.all[i]; has.Client == t.Client && has.Kind == t.Kind && has.Stage == t.Stage {
			has.Jobs, has.Bytes = has.Jobs+t.Jobs, has.Bytes+t.Bytes
			return
		}
	}
	b.all = append(b.all, t)
}
