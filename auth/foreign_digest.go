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

// digestKind reads digests of salt and password. Two of them differ in form only
// by algorithm and encoding.
func digestKind(of ForeignHash, digest func() hash.Hash) foreignKind {
	decode, encoding := hex.DecodeString, "hex"
	if of.Base64 {
		decode, encoding = decodeBase64, "base64"
	}
	size := digest().Size()
	return foreignKind{
		name: of.Algorithm + " in " + encoding,
		is: func(stored string) bool {
			sum, err := decode(stored)
			return err == nil && len(sum) == size
		},
		read: func(stored string, salts map[string]string) (foreignSum, error) {
			want, err := decode(stored)
			if err != nil {
				return foreignSum{}, fmt.Errorf("auth: stored password hash is not %s", encoding)
			}
			salt, ok := salts[of.Salt]
			if !ok && of.Salt != "" {
				return foreignSum{}, fmt.Errorf("auth: no column %s with the salt of the password hash", of.Salt)
			}
			return foreignSum{
				work:    time.Microsecond,
				longest: maxForeignPassword,
				matches: func(password []byte) (bool, error) {
					d := digest()
					if !of.PasswordSalt {
						d.Write([]byte(salt))
					}
					d.Write(password)
					if of.PasswordSalt {
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
