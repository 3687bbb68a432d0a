package auth

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"

	"github.com/alexedwards/argon2id"
)

// ErrPasswordLength says that a password to be hashed is empty or longer than
// MaxPassword.
var ErrPasswordLength = errors.New("auth: password must be 1 to 1024 bytes")

// MaxPassword is the longest password, in bytes, that can match.
const MaxPassword = 1024

// The cost of one hash: 19 MiB, two passes, one lane (OWASP's second
// recommendation), about 23 ms on the hardware measured.
const (
	hashMemory      = 19456 // KiB
	hashIterations  = 2
	hashParallelism = 1
	saltLength      = 16
	keyLength       = 32
)

// hashesAtOnce bounds memory (two times 19 MiB) and keeps the processors free
// for those already logged in.
const hashesAtOnce = 2

// smallHeap is the live heap, in bytes, up to which memory is collected after each argon2id.
const smallHeap = 3 * hashMemory << 10

// The most expensive stored hash that is still computed. A stored hash names its own
// cost, and one damaged row must not take all memory or panic the library.
const (
	maxHashMemory      = 256 * 1024 // KiB
	maxHashIterations  = 16
	maxHashParallelism = 16
)

// noUserHash is verified if there is no user: it has the same cost, and no known password
// matches it.
const noUserHash = "$argon2id$v=19$m=19456,t=2,p=1$bm8gdXNlciwgbm8gc2FsdA$bm8gdXNlciwgbm8gcGFzc3dvcmQgaGFzIHRoaXMga2U"

// Hasher hashes and verifies passwords with argon2id, at most two at once, and no more than there
// are processors. Further callers wait until their context ends; a LoginQueue keeps the number of
// waiting logins small.
type Hasher struct {
	params argon2id.Params
	slots  chan struct{}
	spent  chan struct{}
}

// NewHasher returns a Hasher with the cost of our own hashes.
func NewHasher() *Hasher {
	return &Hasher{
		params: argon2id.Params{
			Memory:      hashMemory,
			Iterations:  hashIterations,
			Parallelism: hashParallelism,
			SaltLength:  saltLength,
			KeyLength:   keyLength,
		},
		slots: make(chan struct{}, min(hashesAtOnce, runtime.GOMAXPROCS(0))),
		spent: make(chan struct{}, 1),
	}
}

// Spent has a value if a hash was computed since the last value was received: its memory can
// be given back to the system.
func (h *Hasher) Spent() <-chan struct{} { return h.spent }

// Hash returns the password's hash as a PHC string. It fails with
// ErrPasswordLength for a password that could never match, and with the
// context's error when that ends before there is room.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if len(password) == 0 || len(password) > MaxPassword {
		return "", ErrPasswordLength
	}
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer h.leave()
	defer collect()
	encoded, err := argon2id.CreateHash(password, &h.params)
	if err != nil {
		return "", fmt.Errorf("auth: hash password: %w", err)
	}
	return encoded, nil
}

// Verify reports whether encoded is a hash of password. An empty encoded means that there
// is no such user: the result is false, after the same work. It is also false for a
// password that is empty or too long. A hash that cannot be read is an error, as is a
// context that ends before there is room.
func (h *Hasher) Verify(ctx context.Context, password, encoded string) (bool, error) {
	possible := encoded != "" && len(password) > 0 && len(password) <= MaxPassword
	if encoded == "" {
		encoded = noUserHash
	}
	if err := judgeCost(encoded); err != nil {
		return false, err
	}
	if err := h.enter(ctx); err != nil {
		return false, err
	}
	defer h.leave()
	match, err := matchesArgon2id(password[:min(len(password), MaxPassword)], encoded)
	return match && possible, err
}

// matchesArgon2id reports whether encoded, whose cost was judged, is a hash of password. The caller
// has a slot.
func matchesArgon2id(password, encoded string) (bool, error) {
	defer collect()
	match, err := argon2id.ComparePasswordAndHash(password, encoded)
	if err != nil {
		return false, fmt.Errorf("auth: verify password: %w", err)
	}
	return match, nil
}

// collect makes the memory of a hash free for the next one. Otherwise the collector would let
// several such blocks pile up on a small heap; a large heap hardly grows by them, and costs more
// to collect than a hash.
func collect() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Uint64() <= smallHeap {
		runtime.GC()
	}
}

func judgeCost(encoded string) error {
	p, _, _, err := argon2id.DecodeHash(encoded)
	if err != nil {
		// The library's error is dropped: it may repeat a part of the hash.
		return errors.New("auth: stored password hash is not argon2id in PHC form")
	}
	if p.Memory > maxHashMemory || p.Iterations < 1 || p.Iterations > maxHashIterations ||
		p.Parallelism < 1 || p.Parallelism > maxHashParallelism || p.KeyLength < saltLength {
		return errors.New("auth: stored password hash has a cost out of bounds")
	}
	return nil
}

func (h *Hasher) enter(ctx context.Context) error {
	// A request that has ended must not win the race for a free slot below.
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hasher) leave() {
	<-h.slots
	select {
	case h.spent <- struct{}{}:
	default:
	}
}

// Running returns how many hashes are being computed.
func (h *Hasher) Running() int { return len(h.slots) }
