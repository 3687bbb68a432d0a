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

// Account is a digest of a username, so that long names take no more memory. Usernames that
// differ only in case share one, because a backend may not distinguish them.
type Account [16]byte

func accountOf(username string) Account {
	sum := sha256.Sum256([]byte(strings.ToLower(username)))
	return Account(sum[:16])
}

// Origin is what counts as one address: an IPv4 address, or the /64 of an IPv6 address,
// because one subscriber commonly has a whole /64.
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

// blockOf returns the block of an address: a /24 of IPv4, or a /48 of IPv6. One attacker may well
// control all of a block. A text that is not an address is a block by itself.
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

// originGuesses is the recent guesses from one Origin.
type originGuesses struct {
	failures []failure     // oldest first
	underWay []Account     // an item per guess
	settled  chan struct{} // closed when a guess ends; nil if nobody waits for that
}

type failure struct {
	who Account
	at  int64 // Unix nanoseconds, in a third of the memory of a time.Time
}

// failuresOf returns the failures of a username, oldest first.
func (o *originGuesses) failuresOf(who Account) (own []failure) {
	for _, f := range o.failures {
		if f.who == who {
			own = append(own, f)
		}
	}
	return own
}

func (o *originGuesses) underWayOf(who Account) int {
	n := 0
	for _, g := range o.underWay {
		if g == who {
			n++
		}
	}
	return n
}

// refusedFor returns how long until who may try again from this origin; 0 if now.
func (o *originGuesses) refusedFor(who Account, now time.Time) time.Duration {
	return max(refusal(o.failures, GuessesPerAddress, now), refusal(o.failuresOf(who), GuessesPerUser, now))
}

// refusal returns how long until the last GuessWindow has fewer failures than bound.
func refusal(failures []failure, bound int, now time.Time) time.Duration {
	if len(failures) < bound {
		return 0
	}
	free := time.Unix(0, failures[len(failures)-bound].at).Add(GuessWindow)
	return max(free.Sub(now), time.Nanosecond)
}

func (o *originGuesses) fail(who Account, now time.Time) {
	o.failures = append(o.failures, failure{who: who, at: now.UnixNano()})
}

func (o *originGuesses) pardon(who Account) {
	o.failures = slices.DeleteFunc(o.failures, func(f failure) bool { return f.who == who })
}

func (o *originGuesses) forget(until time.Time) {
	oldest := until.UnixNano()
	o.failures = slices.DeleteFunc(o.failures, func(f failure) bool { return f.at <= oldest })
}

// endGuess ends a guess under way, and wakes those who wait on whenSettled.
func (o *originGuesses) endGuess(who Account) {
	if i := slices.Index(o.underWay, who); i >= 0 {
		o.underWay = slices.Delete(o.underWay, i, i+1)
	}
	if o.settled != nil {
		close(o.settled)
		o.settled = nil
	}
}

// whenSettled returns a channel that is closed when the next guess ends.
func (o *originGuesses) whenSettled() <-chan struct{} {
	if o.settled == nil {
		o.settled = make(chan struct{})
	}
	return o.settled
}

// originTable has the origins with failures or a guess under way, that of the latest failure in
// front.
type originTable struct {
	most   int
	recent *simplelru.LRU[Origin, *originGuesses]
}

func newOriginTable(most int) originTable {
	recent, _ := simplelru.NewLRU[Origin, *originGuesses](math.MaxInt, nil) // unbounded, because makeRoom keeps those with a guess under way
	return originTable{most, recent}
}

// find returns the guesses from an origin, without the failures up to until. It adds an origin
// that the table does not have.
func (t *originTable) find(name Origin, until time.Time) *originGuesses {
	if o, ok := t.recent.Peek(name); ok {
		o.forget(until)
		return o
	}
	t.makeRoom()
	o := &originGuesses{}
	t.recent.Add(name, o)
	return o
}

// settle moves an origin with failures to the front, and deletes one without failures and guesses.
func (t *originTable) settle(name Origin, o *originGuesses) {
	if len(o.failures) > 0 {
		t.recent.Get(name) // moves it to the front
	} else if len(o.underWay) == 0 {
		t.recent.Remove(name)
	}
}

// makeRoom deletes the origin that failed longest ago. One with a guess under way goes to the
// front instead, because its failure would be lost; the server's connections bound their number.
func (t *originTable) makeRoom() {
	for range t.recent.Len() - t.most + 1 {
		if name, o, _ := t.recent.GetOldest(); len(o.underWay) == 0 {
			t.recent.Remove(name)
		} else {
			t.recent.Get(name)
		}
	}
}
