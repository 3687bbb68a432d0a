package auth

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"time"
)

// digestOf returns the plain digest of that name.
func digestOf(algorithm string) (func() hash.Hash, bool) {
	switch algorithm {
	case MD5:
		return md5.New, true
	case SHA1:
		return sha1.New, true
	case SHA256:
		return sha256.New, true
	}
	return nil, false
}

// digestKind reads digests of salt and password. The form of a digest shows only its algorithm
// and encoding.
func digestKind(settings ForeignHash, digest func() hash.Hash) foreignKind {
	decode, encoding := hex.DecodeString, "hex"
	if settings.Base64 {
		decode, encoding = decodeBase64, "base64"
	}
	size := digest().Size()
	return foreignKind{
		name: settings.Algorithm + " in " + encoding,
		is: func(stored string) bool {
			sum, err := decode(stored)
			return err == nil && len(sum) == size
		},
		read: func(stored string, salts map[string]string) (parsedHash, error) {
			want, err := decode(stored)
			if err != nil {
				return parsedHash{}, fmt.Errorf("auth: stored password hash is not %s", encoding)
			}
			salt, ok := salts[settings.Salt]
			if !ok && settings.Salt != "" {
				return parsedHash{}, fmt.Errorf("auth: no column %s with the salt of the password hash", settings.Salt)
			}
			return parsedHash{
				work:    time.Microsecond,
				longest: maxForeignPassword,
				matches: func(password []byte) (bool, error) {
					d := digest()
					if !settings.PasswordSalt {
						d.Write([]byte(salt))
					}
					d.Write(password)
					if settings.PasswordSalt {
						d.Write([]byte(salt))
					}
					return subtle.ConstantTimeCompare(d.Sum(nil), want) == 1, nil
				},
			}, nil
		},
		nobody: "",
	}
}

func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
}
