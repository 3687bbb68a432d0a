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

// The algorithms of a ForeignHash. Those from MD5Crypt on are unsafe, and only
// there for what exists.
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

	// Cost is what most of the hashes are made with, for the time spent on unknown
	// users: the cost of bcrypt, the rounds of SHA512Crypt and SHA256Crypt, the
	// binary logarithm of those of PHPass. 0 is what these usually have.
	Cost int
}

// ForeignHashes verifies passwords against the hashes of an existing
// administration. It shares the places of a Hasher, so that logins leave the
// processors to those already logged in. It is safe for concurrent use.
type ForeignHashes struct {
	hasher *Hasher
	kinds  []foreignKind
	// nobody is what unknown users cost: a hash of the dearest kind, or a stored
	// one that was dearer. What it matches is never looked at.
	nobody atomic.Pointer[foreignSum]
}

// ErrStoredHash says that a stored password hash cannot be read, or asks for more
// work than a login may take: whose it is cannot log in.
var ErrStoredHash = errors.New("auth: stored password hash")

// foreignKind is a way of hashing that reads the hashes it made.
type foreignKind struct {
	name string
	// is tells by its form whether a stored hash is of this kind.
	is func(stored string) bool
	// read takes a stored hash apart, without any work yet.
	read func(stored string, salts map[string]string) (foreignSum, error)
	// nobody is a hash of no known password.
	nobody string
}

// foreignSum is a stored hash that was read and can be afforded.
type foreignSum struct {
	work    time.Duration // about what it takes
	longest int           // password that can match, in bytes
	matches func(password []byte) (bool, error)
}

// NewForeignHashes returns a verifier of these hashes, of argon2id where there
// are none. It fails where the form of a stored hash could not tell two of them
// apart, and for settings that an algorithm does not have.
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

// raise makes unknown users cost as much as sum. The costs of a system are seen
// only in what it has stored.
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

// Verify tells whether password is the one that stored was made of; its form
// tells by which of the hashes. salts are the columns that hashes name. An empty
// stored means that there is no such user: false, after the work of the dearest
// hash at its Cost, or of the dearest that was stored for anyone so far, which
// cheaper hashes are brought up to as well. So is an account that is locked in
// the way of crypt(3) ("!", "*") and a password that is empty or too long. A hash
// that cannot be read or that asks for more work than a login may take is
// ErrStoredHash, after as much work: to answer at once, or otherwise than to
// unknown users, would tell that there is such a user. A context that ends before
// there is room is an error, too.
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
	// Not for those of about the same work: twice of it would tell as much.
	if sum.work < nobody.work/2 {
		if _, err := nobody.matches(tried); err != nil {
			return false, err
		}
	}
	return match && possible, unreadable
}

// read finds out what kind of hash this is. No error repeats any of it.
func (f *ForeignHashes) read(stored string, salts map[string]string) (foreignSum, error) {
	for _, kind := range f.kinds {
		if kind.is(stored) {
			return kind.read(stored, salts)
		}
	}
	return foreignSum{}, errors.New("auth: stored password hash has the form of none that are configured")
}

// isLocked knows the marks that crypt(3), its tools and phpass leave in place of
// a hash, or before it.
func isLocked(stored string) bool {
	return stored[0] == '!' || stored[0] == '*' && len(stored) <= len("*LK*")
}
