package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// The algorithms of a ForeignHash. Those from MD5Crypt on are unsafe, and only there for
// existing hashes.
const (
	Argon2id    = "argon2id"
	Bcrypt      = "bcrypt"
	SHA512Crypt = "sha512crypt"
	SHA256Crypt = "sha256crypt"
	PHPass      = "phpass"
	MD5Crypt    = "md5crypt"
	SHA256      = "sha256"
	SHA1        = "sha1"
	MD5         = "md5"
)

// maxForeignPassword is the longest password, in bytes, that can match a hash
// other than argon2id: some of these take time in proportion to it. Of bcrypt
// only the first 72 bytes count, there as here.
const maxForeignPassword = 256

// ForeignHash is how an existing administration hashes passwords.
type ForeignHash struct {
	Algorithm string // one of the constants

	// Of SHA256, SHA1 and MD5 only; the others keep it all in the hash itself.
	Salt         string // column of the salt; "" where there is none
	PasswordSalt bool   // hashed is password+salt; otherwise salt+password
	Base64       bool   // with or without padding; otherwise hex

	// Cost is the cost of most of the hashes, so that unknown users take the same time:
	// the cost of bcrypt, the rounds of SHA512Crypt and SHA256Crypt, the binary logarithm
	// of the rounds of PHPass. 0 is the usual cost of the algorithm.
	Cost int
}

// ForeignHashes verifies passwords against the hashes of an existing administration. It
// shares the concurrency limit of a Hasher, so that logins leave the processors to those
// already logged in. It is safe for concurrent use.
type ForeignHashes struct {
	hasher *Hasher
	kinds  []foreignKind
	// nobody is hashed for unknown users, so that they take as long as others: a hash of
	// the most expensive kind, or a more expensive stored one. Whether it matches is
	// ignored.
	nobody atomic.Pointer[foreignSum]
}

// ErrStoredHash says that a stored password hash cannot be read, or asks for more work
// than a login may take: its user cannot log in.
var ErrStoredHash = errors.New("auth: stored password hash")

// foreignKind is a kind of hash that an existing administration stores.
type foreignKind struct {
	name string
	// is reports, by its form, whether a stored hash is of this kind.
	is func(stored string) bool
	// read parses a stored hash, without expensive work.
	read func(stored string, salts map[string]string) (foreignSum, error)
	// nobody is a hash that no known password matches.
	nobody string
}

// foreignSum is a parsed stored hash whose cost is acceptable.
type foreignSum struct {
	work    time.Duration // an estimate of what matches takes
	longest int           // length of a password that can match, in bytes
	matches func(password []byte) (bool, error)
}

// NewForeignHashes returns a verifier of these hashes, of argon2id where there
// are none. It fails where two of them have stored hashes of the same form, and
// for settings that an algorithm does not have.
func NewForeignHashes(h *Hasher, list []ForeignHash) (*ForeignHashes, error) {
	if len(list) == 0 {
		list = []ForeignHash{{Algorithm: Argon2id}}
	}
	f := &ForeignHashes{hasher: h}
	for _, of := range list {
		kind, err := newForeignKind(of)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(f.kinds, func(k foreignKind) bool { return k.name == kind.name }) {
			return nil, fmt.Errorf("auth: password hash %s is given twice: stored hashes would not tell which", kind.name)
		}
		f.kinds = append(f.kinds, kind)
		nobody, err := kind.read(kind.nobody, map[string]string{of.Salt: ""})
		if err != nil {
			return nil, err
		}
		f.raise(nobody)
	}
	return f, nil
}

// raise makes unknown users take as much work as sum. The real costs of a system are only
// known from its stored hashes.
func (f *ForeignHashes) raise(sum foreignSum) {
	for {
		now := f.nobody.Load()
		if now != nil && sum.work <= now.work || f.nobody.CompareAndSwap(now, &sum) {
			return
		}
	}
}

func newForeignKind(of ForeignHash) (foreignKind, error) {
	if digest, ok := digestOf(of.Algorithm); ok {
		if of.Cost != 0 {
			return foreignKind{}, fmt.Errorf("auth: password hash %s has no cost", of.Algorithm)
		}
		return digestKind(of, digest), nil
	}
	s, ok := schemeOf(of.Algorithm)
	if !ok {
		return foreignKind{}, fmt.Errorf("auth: password hash %q is not known", of.Algorithm)
	}
	if of.Salt != "" || of.PasswordSalt || of.Base64 {
		return foreignKind{}, fmt.Errorf("auth: password hash %s has its salt and encoding in itself", of.Algorithm)
	}
	if of.Cost == 0 {
		of.Cost = s.usual
	}
	if of.Cost < s.least || of.Cost > s.most {
		return foreignKind{}, fmt.Errorf("auth: cost %d of password hash %s: must be from %d to %d", of.Cost, of.Algorithm, s.least, s.most)
	}
	return s.kind(of.Algorithm, of.Cost), nil
}

// Verify reports whether stored is a hash of password; the form of stored shows its kind.
// salts are the columns that hashes name.
//
// An empty stored means that there is no such user: the result is false, after the work
// of the most expensive hash, by its Cost or as stored for anyone so far; cheaper hashes
// are brought up to that work as well. The result is also false for an account that is
// locked as in crypt(3) ("!", "*"), and for a password that is empty or too long. A hash
// that cannot be read or that asks for more work than a login may take is ErrStoredHash,
// after as much work: a quicker or different answer would reveal that the user exists. If
// the context ends before there is room, that is an error, too.
func (f *ForeignHashes) Verify(ctx context.Context, password, stored string, salts map[string]string) (bool, error) {
	stored = strings.TrimRight(stored, " ") // of a column of fixed length
	nobody := *f.nobody.Load()
	sum, possible := nobody, stored != "" && !isLocked(stored)
	var unreadable error
	if possible {
		if read, err := f.read(stored, salts); err != nil {
			unreadable, possible = fmt.Errorf("%w: %w", ErrStoredHash, err), false
		} else {
			sum = read
			f.raise(sum)
		}
	}
	possible = possible && len(password) > 0 && len(password) <= sum.longest
	if err := f.hasher.enter(ctx); err != nil {
		return false, err
	}
	defer f.hasher.leave()
	tried := []byte(password[:min(len(password), sum.longest)])
	match, err := sum.matches(tried)
	if err != nil {
		return false, err
	}
	// A hash of about the same work gets no second one: twice the work would reveal as much.
	if sum.work < nobody.work/2 {
		if _, err := nobody.matches(tried); err != nil {
			return false, err
		}
	}
	return match && possible, unreadable
}

// Knows reports whether a stored hash has one of the forms, so that its user may log in.
func (f *ForeignHashes) Knows(stored string, salts map[string]string) bool {
	stored = strings.TrimRight(stored, " ")
	if stored == "" || isLocked(stored) {
		return false
	}
	_, err := f.read(stored, salts)
	return err == nil
}

// read finds out the kind of a stored hash. No error repeats any of it.
func (f *ForeignHashes) read(stored string, salts map[string]string) (foreignSum, error) {
	for _, kind := range f.kinds {
		if kind.is(stored) {
			return kind.read(stored, salts)
		}
	}
	return foreignSum{}, errors.New("auth: stored password hash has the form of none that are configured")
}

// isLocked reports whether a stored hash has one of the marks that crypt(3), its tools and
// phpass put instead of a hash, or before it, to lock an account.
func isLocked(stored string) bool {
	return stored[0] == '!' || stored[0] == '*' && len(stored) <= len("*LK*")
}
