package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const secretPrefix = "whsec_"

// ParseSecret returns the key that a webhook_secret stands for. After "whsec_"
// comes the key in base64 (standard alphabet, padded), as Standard Webhooks
// writes it. Any other text is the key itself, byte for byte, even where it
// happens to be base64. The error does not repeat the secret.
func ParseSecret(secret string) ([]byte, error) {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, secretPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, errors.New("webhook secret: what follows whsec_ is not base64")
		}
	}
	if len(key) == 0 {
		return nil, errors.New("webhook secret: empty")
	}
	return key, nil
}

// sign adds the headers of Standard Webhooks to a request without a body, with
// one signature for each secret, so that a receiver may hold any of them while
// they are rotated. Without secrets there is no signature.
func sign(header http.Header, id string, at time.Time, secrets []string) error {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := ParseSecret(secret)
		if err != nil {
			return err
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, timestamp)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	header.Set(headerID, id)
	header.Set(headerTimestamp, timestamp)
	if len(signatures) > 0 {
		header.Set(headerSignature, strings.Join(signatures, " "))
	}
	return nil
}
