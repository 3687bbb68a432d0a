package auth

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"time"

	crypt64 "github.com/go-crypt/x/base64"
	"github.com/go-crypt/x/crypt"
	"golang.org/x/crypto/bcrypt"
)

// scheme is an algorithm whose hashes name it, with their salt and cost.
type scheme struct {
	prefixes []string

	// The costs in use. A stored hash names its own, and one damaged or hostile row
	// must not take a processor for minutes: the most takes a second or two.
	usual, least, most int

	// work estimates the time that a cost takes, to order the algorithms by.
	work func(cost int) time.Duration
	// read parses a stored hash; the caller judges its cost.
	read func(stored string) (cost int, matches func(password []byte) (bool, error), err error)
	// nobody makes a hash that no known password matches.
	nobody func(cost int) string
}

var errForm = errors.New("cannot be read")

func schemeOf(algorithm string) (scheme, bool) {
	switch algorithm {
	case Argon2id:
		return argon2idScheme(), true
	case Bcrypt:
		return bcryptScheme(), true
	case SHA512Crypt:
		return shaCryptScheme("$6$", 86, sha512.New), true
	case SHA256Crypt:
		return shaCryptScheme("$5$", 43, sha256.New), true
	case MD5Crypt:
		return md5CryptScheme(), true
	case PHPass:
		return phpassScheme(), true
	}
	return scheme{}, false
}

func (s scheme) kind(algorithm string, usual int) foreignKind {
	longest := maxForeignPassword
	if algorithm == Argon2id {
		longest = MaxPassword
	}
	return foreignKind{
		name: algorithm,
		is: func(stored string) bool {
			return slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(stored, p) })
		},
		read: func(stored string, _ map[string]string) (parsedHash, error) {
			cost, matches, err := s.read(stored)
			if err != nil {
				return parsedHash{}, fmt.Errorf("auth: stored password hash of the form of %s: %w", algorithm, err)
			}
			if cost < s.least || cost > s.most {
				return parsedHash{}, fmt.Errorf("auth: stored password hash of %s has cost %d: must be from %d to %d", algorithm, cost, s.least, s.most)
			}
			return parsedHash{work: s.work(cost), longest: longest, matches: matches}, nil
		},
		nobody: s.nobody(usual),
	}
}

// argon2idScheme has the bounds of our own hashes. Its cost cannot be set.
func argon2idScheme() scheme {
	return scheme{
		prefixes: []string{"$argon2id$"},
		work:     func(int) time.Duration { return 23 * time.Millisecond },
		read: func(stored string) (int, func([]byte) (bool, error), error) {
			return 0, func(password []byte) (bool, error) {
				return matchesArgon2id(string(password), stored)
			}, judgeCost(stored)
		},
		nobody: func(int) string { return noUserHash },
	}
}

// bcryptScheme does not read $2x$, which marks hashes made with a bug in passwords
// beyond ASCII.
func bcryptScheme() scheme {
	return scheme{
		prefixes: []string{"$2a$", "$2b$", "$2y$"},
		usual:    10, least: bcrypt.MinCost, most: 14,
		work: func(cost int) time.Duration { return 50 * time.Microsecond << cost },
		read: func(stored string) (int, func([]byte) (bool, error), error) {
			cost, err := bcrypt.Cost([]byte(stored))
			if err != nil || len(stored) != 60 {
				return 0, nil, errForm
			}
			return cost, func(password []byte) (bool, error) {
				err := bcrypt.CompareHashAndPassword([]byte(stored), password)
				if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
					return false, nil
				}
				if err != nil {
					return false, fmt.Errorf("auth: bcrypt: %w", errForm)
				}
				return true, nil
			}, nil
		},
		nobody: func(cost int) string { return fmt.Sprintf("$2a$%02d$%s", cost, strings.Repeat(".", 53)) },
	}
}

// shaCryptScheme is Ulrich Drepper's: $6$rounds=N$salt$hash, of which rounds may
// be left out.
func shaCryptScheme(prefix string, length int, digest func() hash.Hash) scheme {
	const implied = 5000
	return scheme{
		prefixes: []string{prefix},
		usual:    implied, least: 1000, most: 1_000_000,
		work: func(rounds int) time.Duration { return time.Duration(rounds) * 600 * time.Nanosecond },
		read: func(stored string) (int, func([]byte) (bool, error), error) {
			rest, rounds := strings.TrimPrefix(stored, prefix), implied
			if given, ok := strings.CutPrefix(rest, "rounds="); ok {
				var number string
				var err error
				number, rest, _ = strings.Cut(given, "$")
				if rounds, err = strconv.Atoi(number); err != nil {
					return 0, nil, errForm
				}
			}
			salt, sum, ok := strings.Cut(rest, "$")
			if !ok || len(salt) > 16 || len(sum) != length {
				return 0, nil, errForm
			}
			return rounds, equals(sum, func(password []byte) []byte {
				return crypt.KeySHACrypt(digest, password, []byte(salt), rounds)
			}), nil
		},
		nobody: func(rounds int) string {
			return prefix + "rounds=" + strconv.Itoa(rounds) + "$nobody$" + strings.Repeat(".", length)
		},
	}
}

// md5CryptScheme returns the scheme of FreeBSD: $1$salt$hash.
func md5CryptScheme() scheme {
	return scheme{
		prefixes: []string{"$1$"},
		work:     func(int) time.Duration { return 200 * time.Microsecond },
		read: func(stored string) (int, func([]byte) (bool, error), error) {
			salt, sum, ok := strings.Cut(strings.TrimPrefix(stored, "$1$"), "$")
			if !ok || len(salt) > 8 || len(sum) != 22 {
				return 0, nil, errForm
			}
			return 0, equals(sum, func(password []byte) []byte { return crypt.KeyMD5Crypt(password, []byte(salt)) }), nil
		},
		nobody: func(int) string { return "$1$nobody$" + strings.Repeat(".", 22) },
	}
}

// phpassScheme is the portable one of phpass: $P$, a letter for the rounds, 8 letters
// of salt, 22 of hash. phpBB writes $H$.
func phpassScheme() scheme {
	const letters = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return scheme{
		prefixes: []string{"$P$", "$H$"},
		usual:    13, least: 7, most: 20,
		work: func(cost int) time.Duration { return 150 * time.Nanosecond << cost },
		read: func(stored string) (int, func([]byte) (bool, error), error) {
			if len(stored) != 34 {
				return 0, nil, errForm
			}
			cost, salt := strings.IndexByte(letters, stored[3]), []byte(stored[4:12])
			return cost, equals(stored[12:], func(password []byte) []byte {
				sum := md5.Sum(slices.Concat(salt, password))
				round := slices.Concat(sum[:], password)
				for range 1 << cost {
					sum = md5.Sum(round)
					copy(round, sum[:])
				}
				return crypt64.EncodeCrypt(sum[:])
			}), nil
		},
		nobody: func(cost int) string { return "$P$" + letters[cost:cost+1] + "nobodys." + strings.Repeat(".", 22) },
	}
}

// equals compares, in constant time, what key makes of a password with the stored sum.
func equals(sum string, key func(password []byte) []byte) func([]byte) (bool, error) {
	want := []byte(sum)
	return func(password []byte) (bool, error) { return subtle.ConstantTimeCompare(key(password), want) == 1, nil }
}
