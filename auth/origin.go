package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Account is a digest of a username, of one size whatever was sent. Usernames
// that differ in case only share one, as a backend may not distinguish them.
type Account [16]byte

func accountOf(username string) Account {
	sum := sha256.Sum256([]byte(strings.ToLower(username)))
	return Account(sum[:16])
}

// Origin is what counts as one address: an IPv4 address, or the /64 of an IPv6
// address, as one connection commonly has all of that.
type Origin string

// OriginOf returns the origin of an address; a text that is not an address is an origin by
// itself.
func OriginOf(address string) Origin {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		digest := accountOf(address)
		return Origin(hex.EncodeToString(digest[:]))
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return Origin(ip.String())
	}
	return Origin(netip.PrefixFrom(ip, 64).Masked().String())
}

// blockOf returns the block that an address belongs to, all of which one attacker may well
// control: a /24 of IPv4, or a /48 of IPv6. A text that is not an address is a block by
// itself.
func blockOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return string(OriginOf(address))
	}
	ip = ip.Unmap().WithZone("")
	bits := 48
	if ip.Is4() {
		bits = 24
	}
	return netip.PrefixFrom(ip, bits).Masked().String()
}

// origin is what is known of one address.
type origin struct {
	failures []failure // oldest first
	guesses  []Account // under way
	settled  chan struct{}
}

type failure struct {
	who Account
	at  int64 // Unix nanoseconds: half the size of a time.Time and more
}

// failed returns the failures of a username, oldest first.
func (o *origin) failed(who Account) (own []failure) {
	for _, f := range o.failures {
		if f.who == who {
			own = append(own, f)
		}
	}
	return own
}

func (o *origin) underWay(who Account) int {
	n := 0
	for _, g := range o.guesses {
		if g == who {
			n++
		}
	}
	return n
}

// refusedFor returns how long until who may try again from this origin; 0 = now.
func (o *origin) refusedFor(who Account, now time.Time) time.Duration {
	return max(refusal(o.failures, GuessesPerAddress, now), refusal(o.failed(who), GuessesPerUser, now))
}

// refusal returns how long until so many failures have become old that their number is below
// the bound again.
func refusal(failures []failure, bound int, now time.Time) time.Duration {
	if len(failures) < bound {
		return 0
	}
	freed := time.Unix(0, failures[len(failures)-bound].at).Add(GuessWindow)
	return max(freed.Sub(now), time.Nanosecond)
}

func (o *origin) fail(who Account, now time.Time) {
	o.failures = append(o.failures, failure{who: who, at: now.UnixNano()})
}

func (o *origin) pardon(who Account) {
	o.failures = slices.DeleteFunc(o.failures, func(f failure) bool { return f.who == who })
}

func (o *origin) forget(until time.Time) {
	oldest := until.UnixNano()
	o.failures = slices.DeleteFunc(o.failures, func(f failure) bool { return f.at <= oldest })
}

// endGuess ends a guess under way, and wakes a guess that waits for it.
func (o *origin) endGuess(who Account) {
	if i := slices.Index(o.guesses, who); i >= 0 {
		o.guesses = slices.Delete(o.guesses, i, i+1)
	}
	if o.settled != nil {
		close(o.settled)
		o.settled = nil
	}
}

func (o *origin) whenSettled() <-chan struct{} {
	if o.settled == nil {
		o.settled = make(chan struct{})
	}
	return o.settled
}

// originTable has the addresses that failed or have a guess under way, those that failed
// last in front.
type originTable struct {
	most   int
	recent *simplelru.LRU[Origin, *origin]
}

func newOriginTable(most int) originTable {
	recent, _ := simplelru.NewLRU[Origin, *origin](math.MaxInt, nil) // unbounded, because makeRoom keeps those with a guess under way
	return originTable{most, recent}
}

// find returns the origin of that name without the failures up to then; a new
// one where there is none.
func (t *originTable) find(name Origin, until time.Time) *origin {
	if o, ok := t.recent.Peek(name); ok {
		o.forget(until)
		return o
	}
	t.makeRoom()
	o := &origin{}
	t.recent.Add(name, o)
	return o
}

// settle moves an origin with failures to the front, and deletes one without failures and guesses.
func (t *originTable) settle(name Origin, o *origin) {
	if len(o.failures) > 0 {
		t.recent.Get(name)
	} else if len(o.guesses) == 0 {
		t.recent.Remove(name)
	}
}

// makeRoom forgets the address that failed longest ago, but never one with a guess under
// way, whose failure would be lost; the server's connections bound the number of those.
func (t *originTable) makeRoom() {
	for range t.recent.Len() - t.most + 1 {
		if name, o, _ := t.recent.GetOldest(); len(o.guesses) == 0 {
			t.recent.Remove(name)
		} else {
			t.recent.Get(name)
		}
	}
}
