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
	keys    map[string]*keyUse
	clients map[clientOfKey]*bucket
	day     int       // the day of midnight, as dayNumber
	nextDay time.Time // when it ends
}

type clientOfKey struct {
	key    string
	client int64
}

// keyUse is what was counted of one key.
type keyUse struct {
	rate    bucket
	running int
	day     int // that today counts of
	today   int64
}

// NewMemoryLimits returns Limits that have counted nothing. A day begins at
// midnight in zone.
func NewMemoryLimits(zone *time.Location) *MemoryLimits {
	return &MemoryLimits{zone: zone, keys: map[string]*keyUse{}, clients: map[clientOfKey]*bucket{}}
}

// oneSlot stands for any of a key's slots: they are only counted.
const oneSlot = 1

// Take implements Limits. It never fails, and allocates nothing where the key and
// the client are known already.
func (m *MemoryLimits) Take(_ context.Context, key *Key, client int64, now time.Time) (Standing, error) {
	b := &key.Bounds
	var s Standing
	m.mu.Lock()
	defer m.mu.Unlock()
	use := m.keyUse(key.Name, now)
	var ofClient *bucket
	if b.Rate != (Rate{}) {
		use.rate.under(b.Rate, now)
		s.find(RateBound, use.rate.room(b.Rate))
	}
	if b.ClientRate != (Rate{}) {
		ofClient = m.clientUse(clientOfKey{key.Name, client}, now)
		ofClient.under(b.ClientRate, now)
		s.find(ClientRateBound, ofClient.room(b.ClientRate))
	}
	if b.Concurrent > 0 {
		s.find(ConcurrentBound, Room{Left: int64(b.Concurrent - use.running)})
	}
	if b.PerDay > 0 {
		s.find(DayBound, m.dayRoom(use, b.PerDay, now))
	}
	if s.Refused != NoBound {
		return s, nil
	}
	if b.Rate != (Rate{}) {
		use.rate.used++
		s.Rooms[RateBound] = use.rate.room(b.Rate)
	}
	if ofClient != nil {
		ofClient.used++
		s.Rooms[ClientRateBound] = ofClient.room(b.ClientRate)
	}
	if b.Concurrent > 0 {
		use.running++
		s.Slot = oneSlot
		s.Rooms[ConcurrentBound].Left--
	}
	if b.PerDay > 0 {
		use.today++
		s.Rooms[DayBound].Left--
	}
	return s, nil
}

// Charge implements Limits. It never fails.
func (m *MemoryLimits) Charge(_ context.Context, key *Key, client int64, further int, now time.Time, s *Standing) error {
	b := &key.Bounds
	m.mu.Lock()
	defer m.mu.Unlock()
	use := m.keyUse(key.Name, now)
	owe := func(bound Bound, rate Rate, of *bucket) {
		of.under(rate, now)
		of.used += float64(further)
		s.Rooms[bound] = of.room(rate)
	}
	if b.Rate != (Rate{}) {
		owe(RateBound, b.Rate, &use.rate)
	}
	if b.ClientRate != (Rate{}) {
		owe(ClientRateBound, b.ClientRate, m.clientUse(clientOfKey{key.Name, client}, now))
	}
	if b.PerDay > 0 {
		r := m.dayRoom(use, b.PerDay, now)
		use.today += int64(further)
		r.Left = max(r.Left-int64(further), 0)
		s.Rooms[DayBound] = r
	}
	return nil
}

// Look implements Limits. It never fails.
func (m *MemoryLimits) Look(_ context.Context, key *Key, now time.Time) (s Standing, _ error) {
	b := &key.Bounds
	m.mu.Lock()
	defer m.mu.Unlock()
	var use keyUse // as of now, where there is none
	if counted := m.keys[key.Name]; counted != nil {
		use = *counted
	}
	if b.Rate != (Rate{}) {
		use.rate.under(b.Rate, now)
		s.Rooms[RateBound] = use.rate.room(b.Rate)
	}
	if b.Concurrent > 0 {
		s.Rooms[ConcurrentBound] = Room{Left: max(int64(b.Concurrent-use.running), 0)}
	}
	if b.PerDay > 0 {
		s.Rooms[DayBound] = m.dayRoom(&use, b.PerDay, now)
		s.Rooms[DayBound].Left = max(s.Rooms[DayBound].Left, 0)
	}
	return s, nil
}

// slotWait is the wait for a request that found too many others under way: when one of
// them ends is not known.
const slotWait = time.Second

// find notes the room before a request, and whether it is too little.
func (s *Standing) find(b Bound, r Room) {
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
func (m *MemoryLimits) Done(_ context.Context, key string, _ uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[key].running-- // it is kept for as long as anything is under way
}

func (m *MemoryLimits) keyUse(name string, now time.Time) *keyUse {
	use := m.keys[name]
	if use == nil {
		today := m.dayNumber(now)
		letGo(m.keys, func(u *keyUse) bool {
			return u.running == 0 && u.rate.full(now) && (u.today == 0 || today > u.day)
		})
		use = new(keyUse)
		m.keys[name] = use
	}
	return use
}

func (m *MemoryLimits) clientUse(who clientOfKey, now time.Time) *bucket {
	b := m.clients[who]
	if b == nil {
		letGo(m.clients, func(b *bucket) bool { return b.full(now) })
		b = new(bucket)
		m.clients[who] = b
	}
	return b
}

// lookedAt is how many counts are checked for each new one. If a quarter of them is
// unused, one is deleted for each new one.
const lookedAt = 4

// letGo deletes unused counts among a few entries of a map, starting somewhere else each
// time.
func letGo[K comparable, V any](all map[K]V, unused func(V) bool) {
	n := 0
	for k, v := range all {
		if unused(v) {
			delete(all, k)
		}
		if n++; n == lookedAt {
			return
		}
	}
}

// dayRoom is what a key has left today.
func (m *MemoryLimits) dayRoom(use *keyUse, perDay int64, now time.Time) Room {
	today := m.dayNumber(now)
	// A request that began before midnight can come after one that began later. It counts
	// for the new day; otherwise the count would start again twice. A larger step back
	// means that the clock was corrected.
	if today > use.day || today < use.day-1 {
		use.day, use.today = today, 0
	}
	return Room{Left: perDay - use.today, More: m.nextDay.Sub(now)}
}

// dayNumber numbers the days of the zone.
func (m *MemoryLimits) dayNumber(now time.Time) int {
	if number := dayNumber(now.In(m.zone).Date()); number != m.day || m.nextDay.IsZero() {
		m.day, m.nextDay = Day(now, m.zone)
	}
	return m.day
}

// Day numbers the days of a zone, one after the other, and tells when the one of
// now ends.
func Day(now time.Time, zone *time.Location) (number int, ends time.Time) {
	year, month, day := now.In(zone).Date()
	return dayNumber(year, month, day), midnightAfter(year, month, day, zone)
}

func dayNumber(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// midnightAfter is when the next day begins, which can be at one o'clock where
// the clock is put forward at midnight.
func midnightAfter(year int, month time.Month, day int, zone *time.Location) time.Time {
	next := time.Date(year, month, day+1, 0, 0, 0, 0, zone)
	if next.Day() == day {
		_, next = next.ZoneBounds()
	}
	return next
}
