package auth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Fingerprint identifies what a caller sees: it is the same for the same key, user,
// client and model, and changes with each of them. It is 64 hex digits and contains no
// secret.
func Fingerprint(key *Key, user User, modelVersion string) string {
	var text []byte
	for _, part := range []string{key.Name, user.Username, modelVersion} {
		// With their lengths, so that no two lists of parts run into one text.
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	text = binary.BigEndian.AppendUint64(text, uint64(user.Client.ID))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
