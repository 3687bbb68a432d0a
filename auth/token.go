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

// HashToken returns the hash of a token as a client sent it, and false for text
// that was never issued as one: tokens match exactly as issued, in lower case.
func HashToken[T string | []byte](token T) (TokenHash, bool) {
	if !isUUID(token, false) {
		return TokenHash{}, false
	}
	return sumText(token), true
}

// HashKey returns the SHA-256 of an api_key exactly as given, and false for text
// that does not have the form of a UUID (in either case).
func HashKey(apiKey string) ([32]byte, bool) {
	if !isUUID(apiKey, true) {
		return [32]byte{}, false
	}
	return sumText(apiKey), true
}

// newToken returns a fresh token, 122 random bits as a UUID of version 4.
func newToken(random io.Reader) (string, TokenHash, error) {
	id, err := uuid.NewRandomFromReader(random)
	if err != nil {
		return "", TokenHash{}, fmt.Errorf("auth: make token: %w", err)
	}
	token := id.String()
	return token, sumText(token), nil
}

// sumText hashes a text of uuidLength by way of the stack: this runs on every
// request.
func sumText[T string | []byte](s T) [32]byte {
	var text [uuidLength]byte
	copy(text[:], s)
	return sha256.Sum256(text[:])
}

func isUUID[T string | []byte](s T, upper bool) bool {
	if len(s) != uuidLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', upper && c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
