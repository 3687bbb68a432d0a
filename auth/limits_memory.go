package auth

import (
	"context"
	"sync"
	"time"
)

var _ Limits = (*MemoryLimits)(nil)

// MemoryLimits counts in this process: counts are lost when it ends, and a second process
// counts for itself.
//
// Counts that equal no count at all (a bucket that is full again, a day that is over) are
// deleted: with each new count, a few others are checked. So memory holds little more
// than what is in use, even if keys are removed from the configuration.
type MemoryLimits struct {
	zone *time.Location

	mu      sync.Mutex // held for some 100 ns
	used    map[clientOfKey]*use
	day     int // of all moments from since to before nextDay
	since   time.Time
	nextDay time.Time
}

type clientOfKey struct {
	key    string
	client int64
}

// use is what was counted of one client with a key.
type use struct {
	rate    bucket
	running int
	day     int   // number of the day that today counts
	today   int64 // requests of that day
}

// NewMemoryLimits returns Limits that have counted nothing. A day begins at
// midnight in zone.
func NewMemoryLimits(zone *time.Location) *MemoryLimits {
	return &MemoryLimits{zone: zone, used: map[clientOfKey]*use{}}
}

// oneSlot stands for any of a client's slots: they are only counted.
const oneSlot = 1

// Take implements Limits. It never fails, and allocates nothing where the client of the key
// is known already.
func (m *MemoryLimits) Take(_ context.Context, key *Key, client int64, now time.Time) (Standing, error) {
	b := &key.Bounds
	var s Standing
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.of(clientOfKey{key.Name, client}, now)
	if b.Rate != (Rate{}) {
		u.rate.advance(b.Rate, now)
		s.judge(RateBound, u.rate.room(b.Rate))
	}
	if b.Concurrent > 0 {
		s.judge(ConcurrentBound, Room{Left: int64(b.Concurrent - u.running)})
	}
	if b.PerDay > 0 {
		s.judge(DayBound, m.dayRoom(u, b.PerDay, now))
	}
	if s.Refused != NoBound {
		return s, nil
	}
	if b.Rate != (Rate{}) {
		u.rate.taken++
		s.Rooms[RateBound] = u.rate.room(b.Rate)
	}
	if b.Concurrent > 0 {
		u.running++
		s.Slot = oneSlot
		s.Rooms[ConcurrentBound].Left--
	}
	if b.PerDay > 0 {
		u.today++
		s.Rooms[DayBound].Left--
	}
	return s, nil
}

// Charge implements Limits. It never fails.
func (m *MemoryLimits) Charge(_ context.Context, key *Key, client int64, further int, now time.Time, s *Standing) error {
	b := &key.Bounds
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.of(clientOfKey{key.Name, client}, now)
	if b.Rate != (Rate{}) {
		u.rate.advance(b.Rate, now)
		u.rate.taken += float64(further)
		s.Rooms[RateBound] = u.rate.room(b.Rate)
	}
	if b.PerDay > 0 {
		r := m.dayRoom(u, b.PerDay, now)
		u.today += int64(further)
		r.Left = max(r.Left-int64(further), 0)
		s.Rooms[DayBound] = r
	}
	return nil
}

// slotWait is the wait for a request that found too many others under way: when one of
// them ends is not known.
const slotWait = time.Second

// judge records the room of a bound before a request, and refuses the request if there is none.
func (s *Standing) judge(b Bound, r Room) {
	r.Left = max(r.Left, 0)
	s.Rooms[b] = r
	if r.Left > 0 {
		return
	}
	wait := r.More
	if b == ConcurrentBound {
		wait = slotWait
	}
	if wait > s.Wait {
		s.Refused, s.Wait = b, wait
	}
}

// Done implements Limits.
func (m *MemoryLimits) Done(_ context.Context, key string, client int64, _ uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[clientOfKey{key, client}].running-- // prune keeps the entry while a request is under way
}

// of returns what was counted of a client with a key.
func (m *MemoryLimits) of(who clientOfKey, now time.Time) *use {
	u := m.used[who]
	if u == nil {
		m.prune(now)
		u = new(use)
		m.used[who] = u
	}
	return u
}

// pruneChecks is how many counts are checked for each new one. If a quarter of them is
// unused, one is deleted for each new one.
const pruneChecks = 4

// prune checks a few counts, others each time, and deletes those that are unused.
func (m *MemoryLimits) prune(now time.Time) {
	n, today := 0, m.dayNumber(now)
	for who, u := range m.used {
		if u.running == 0 && u.rate.full(now) && (u.today == 0 || today > u.day) {
			delete(m.used, who)
		}
		if n++; n == pruneChecks {
			return
		}
	}
}

// dayRoom returns what a client with a key has left today.
func (m *MemoryLimits) dayRoom(u *use, perDay int64, now time.Time) Room {
	today := m.dayNumber(now)
	// A request that began before midnight can come after one that began later. It counts
	// for the new day; otherwise the count would start again twice. A larger step back
	// means that the clock was corrected.
	if today > u.day || today < u.day-1 {
		u.day, u.today = today, 0
	}
	return Room{Left: perDay - u.today, More: m.nextDay.Sub(now)}
}

// dayNumber numbers the days of the zone.
func (m *MemoryLimits) dayNumber(now time.Time) int {
	if now.Before(m.since) || !now.Before(m.nextDay) {
		m.day, m.nextDay = Day(now, m.zone)
		m.since = now
	}
	return m.day
}

// Day returns the number of the day of now in a zone, 1 more than that of the day
// before, and when that day ends.
func Day(now time.Time, zone *time.Location) (number int, ends time.Time) {
	year, month, day := now.In(zone).Date()
	number = int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
	return number, midnightAfter(year, month, day, zone)
}

// midnightAfter returns when the next day begins, which can be at one o'clock where
// the clock is put forward at midnight.
func midnightAfter(year int, month time.Month, day int, zone *time.Location) time.Time {
	next := time.Date(year, month, day+1, 0, 0, 0, 0, zone)
	if next.Day() == day {
		_, next = next.ZoneBounds()
	}
	return next
}
