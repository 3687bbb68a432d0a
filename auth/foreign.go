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

// The algorithms of a ForeignHash. MD5Crypt and those below it are unsafe, and serve existing
// hashes only.
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

// maxForeignPassword is the longest password, in bytes, that can match a hash other than
// argon2id: the work of some hashes grows with it. Of a password for bcrypt only the first 72
// bytes count, as in every bcrypt.
const maxForeignPassword = 256

// ForeignHash is how an existing administration hashes passwords.
type ForeignHash struct {
	Algorithm string // one of the constants

	// For SHA256, SHA1 and MD5 only: hashes of the others contain their salt, and have one encoding.
	Salt         string // column of the salt; "" for none
	PasswordSalt bool   // the hash is of password+salt, instead of salt+password
	Base64       bool   // with or without padding, instead of hex

	// Cost is the cost that most of the hashes have; unknown users take as long as that: the
	// cost of bcrypt, the rounds of SHA512Crypt and SHA256Crypt, the binary logarithm of the
	// rounds of PHPass. 0 is the usual cost of the algorithm.
	Cost int
}

// ForeignHashes verifies passwords against the hashes of an existing administration. It
// shares the concurrency limit of a Hasher, so that logins leave the processors to those
// already logged in. It is safe for concurrent use.
type ForeignHashes struct {
	hasher *Hasher
	kinds  []foreignKind
	// nobody is what passwords of unknown users are compared with, so that they take as long as
	// others: a hash of the most expensive kind, or a more expensive stored one. The result is
	// ignored.
	nobody atomic.Pointer[parsedHash]
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
	read func(stored string, salts map[string]string) (parsedHash, error)
	// nobody is a hash that no known password matches.
	nobody string
}

// parsedHash is a parsed stored hash whose cost is acceptable.
type parsedHash struct {
	work    time.Duration // estimated time that matches takes
	longest int           // the longest password that can match, in bytes
	matches func(password []byte) (bool, error)
}

// NewForeignHashes returns a verifier of these hashes; of argon2id if the list is empty. It fails
// if stored hashes of two of them have the same form, or if a setting is not one of its
// algorithm.
func NewForeignHashes(h *Hasher, list []ForeignHash) (*ForeignHashes, error) {
	if len(list) == 0 {
		list = []ForeignHash{{Algorithm: Argon2id}}
	}
	f := &ForeignHashes{hasher: h}
	for _, settings := range list {
		kind, err := newForeignKind(settings)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(f.kinds, func(k foreignKind) bool { return k.name == kind.name }) {
			return nil, fmt.Errorf("auth: password hash %s is given twice: stored hashes would not tell which", kind.name)
		}
		f.kinds = append(f.kinds, kind)
		nobody, err := kind.read(kind.nobody, map[string]string{settings.Salt: ""})
		if err != nil {
			return nil, err
		}
		f.raise(nobody)
	}
	return f, nil
}

// raise makes unknown users take at least as much work as parsed. Only the stored hashes of a
// system show its real costs.
func (f *ForeignHashes) raise(parsed parsedHash) {
	for {
		now := f.nobody.Load()
		if now != nil && parsed.work <= now.work || f.nobody.CompareAndSwap(now, &parsed) {
			return
		}
	}
}

func newForeignKind(settings ForeignHash) (foreignKind, error) {
	if digest, ok := digestOf(settings.Algorithm); ok {
		if settings.Cost != 0 {
			return foreignKind{}, fmt.Errorf("auth: password hash %s has no cost", settings.Algorithm)
		}
		return digestKind(settings, digest), nil
	}
	s, ok := schemeOf(settings.Algorithm)
	if !ok {
		return foreignKind{}, fmt.Errorf("auth: password hash %q is not known", settings.Algorithm)
	}
	if settings.Salt != "" || settings.PasswordSalt || settings.Base64 {
		return foreignKind{}, fmt.Errorf("auth: password hash %s has its salt and encoding in itself", settings.Algorithm)
	}
	if settings.Cost == 0 {
		settings.Cost = s.usual
	}
	if settings.Cost < s.least || settings.Cost > s.most {
		return foreignKind{}, fmt.Errorf("auth: cost %d of password hash %s: must be from %d to %d", settings.Cost, settings.Algorithm, s.least, s.most)
	}
	return s.kind(settings.Algorithm, settings.Cost), nil
}

// Verify reports whether stored is a hash of password; the form of stored shows its kind.
// salts has the values of the columns in ForeignHash.Salt.
//
// An empty stored means that there is no such user. Verify then does the work of the most
// expensive hash, by its Cost or as stored for anyone so far, and returns false. For a cheaper
// hash it does that work as well. It also returns false for an account that is locked as in
// crypt(3) ("!", "*"), and for a password that is empty or too long. For a hash that cannot be
// read, or asks for more work than a login may take, it returns ErrStoredHash after the same
// work: a quicker answer would reveal that the user exists. If the context ends before the Hasher
// has room, it returns that error.
func (f *ForeignHashes) Verify(ctx context.Context, password, stored string, salts map[string]string) (bool, error) {
	stored = strings.TrimRight(stored, " ") // the padding of a column of fixed length
	nobody := *f.nobody.Load()
	compared, possible := nobody, stored != "" && !isLocked(stored)
	var unreadable error
	if possible {
		if read, err := f.read(stored, salts); err != nil {
			unreadable, possible = fmt.Errorf("%w: %w", ErrStoredHash, err), false
		} else {
			compared = read
			f.raise(read)
		}
	}
	possible = possible && len(password) > 0 && len(password) <= compared.longest
	if err := f.hasher.enter(ctx); err != nil {
		return false, err
	}
	defer f.hasher.leave()
	tried := []byte(password[:min(len(password), compared.longest)])
	match, err := compared.matches(tried)
	if err != nil {
		return false, err
	}
	// Not for a hash of about the same work: twice the work would reveal the user, too.
	if compared.work < nobody.work/2 {
		if _, err := nobody.matches(tried); err != nil {
			return false, err
		}
	}
	return match && possible, unreadable
}

// Knows reports whether a stored hash can be read, so that its user can log in.
func (f *ForeignHashes) Knows(stored string, salts map[string]string) bool {
	stored = strings.TrimRight(stored, " ")
	if stored == "" || isLocked(stored) {
		return false
	}
	_, err := f.read(stored, salts)
	return err == nil
}

// read parses a stored hash, whose form shows its kind. No error contains any of it.
func (f *ForeignHashes) read(stored string, salts map[string]string) (parsedHash, error) {
	for _, kind := range f.kinds {
		if kind.is(stored) {
			return kind.read(stored, salts)
		}
	}
	return parsedHash{}, errors.New("auth: stored password hash has the form of none that are configured")
}

// isLocked reports whether an account is locked: crypt(3), its tools and phpass then put a mark
// before the hash, or instead of it.
func isLocked(stored string) bool {
	return stored[0] == '!' || stored[0] == '*' && len(stored) <= len("*LK*")
}
