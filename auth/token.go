package auth

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/google/uuid"
)

// uuidLength is the length of a UUID's canonical text. uuid.Parse takes urn:,
// braces and undashed forms besides, so the length is always judged first.
const uuidLength = 36

// TokenHash is the SHA-256 of a session token's text, the only form in which tokens are
// stored.
type TokenHash [32]byte

// HashToken returns the hash of a token as a client sent it, in capitals or not, and false
// for text that is no UUID.
func HashToken[T string | []byte](token T) (TokenHash, bool) { return hashUUID(token) }

// HashKey returns the SHA-256 of an api_key in small letters, and false for text that is
// no UUID.
func HashKey(apiKey string) ([32]byte, bool) { return hashUUID(apiKey) }

// newToken returns a fresh token, 122 random bits as a UUID of version 4.
func newToken(random io.Reader) (string, TokenHash, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return "", TokenHash{}, fmt.Errorf("auth: make token: %w", err)
	}
	token := id.String()
	hash, _ := hashUUID(token)
	return token, hash, nil
}

// hashUUID returns the SHA-256 of a UUID's 36 characters in small letters, and false for
// any other text. It works on the stack: this runs on every request.
func hashUUID[T string | []byte](s T) (sum [32]byte, ok bool) {
	var text [uuidLength]byte
	if len(s) != uuidLength {
		return sum, false
	}
	for i := range text {
		c := s[i]
		if c >= 'A' && c <= 'F' {
			c += 'a' - 'A'
		}
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return sum, false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		default:
			return sum, false
		}
		text[i] = c
	}
	return sha256.Sum256(text[:]), true
}
