package gateway

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/mapping"
)

// A ticket is the request that was rehearsed, signed by the key that signs addresses of results, and
// sealed under one that is made of the session's token: any gateway can open it, for this session
// alone, and none keeps it. Its idempotency key has the write happen once.

const (
	// ticketLife is how long a ticket is valid.
	ticketLife = 10 * time.Minute
	// mostRehearsed is the largest record of a rehearsal, in bytes. An agent sends its ticket back.
	mostRehearsed = 64 << 10
)

// ticket is what is sealed.
type ticket struct {
	Method  string          `json:"m"`
	Path    string          `json:"p"`
	Body    json.RawMessage `json:"b,omitempty"`
	Match   string          `json:"e,omitempty"` // the entity tag that the record had
	Once    string          `json:"o"`           // the idempotency key
	Expires time.Time       `json:"x"`
	Signed  string          `json:"s"` // its sum, by the gateways
}

// sealed returns the ticket for a request.
func (g *Gateway) sealed(ctx context.Context, x *Exchange, a toolRequest, etag string) (text string, expires time.Time, err error) {
	expires = g.o.Clock().Add(ticketLife)
	t := ticket{Method: a.method, Path: a.path, Body: a.body, Match: etag, Once: "agent-" + uuid.NewString(), Expires: expires}
	if t.Signed, err = g.o.Callbacks.Links.Sign(ctx, t.sum()); err != nil {
		return "", expires, fmt.Errorf("sign a ticket: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(ticketSeal(x).Seal(nil, nil, appendJSON(nil, t), nil)), expires, nil
}

// sum returns the text of a ticket that is signed. It is no job's id, which has no blank.
func (t ticket) sum() string {
	t.Signed = ""
	return fmt.Sprintf("ticket %x", sha256.Sum256(appendJSON(nil, t)))
}

// opened returns the request of a ticket.
func (g *Gateway) opened(ctx context.Context, x *Exchange, text string) toolRequest {
	var t ticket
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err == nil {
		sealed, err = ticketSeal(x).Open(nil, nil, sealed, nil)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &t)
	}
	if err == nil && g.o.Clock().Before(t.Expires) {
		signed, ok, err := g.o.Callbacks.Links.Check(ctx, t.Signed)
		switch {
		case err != nil:
			return toolRequest{err: fmt.Errorf("check a ticket: %w", err)}
		case ok && signed == t.sum():
			return toolRequest{method: t.Method, path: t.Path, body: t.Body, headers: map[string]string{"If-Match": t.Match, "Idempotency-Key": t.Once}}
		}
	}
	bad := mapping.Fail(mapping.ValidationFailed, mapping.Literal("ticket"), text, mapping.Literal("ticket of this session, not older than 10 minutes"))
	bad.Cure = "Rehearse the change again, and commit the ticket that it answers as it is."
	return toolRequest{err: bad}
}

// ticketSeal seals the tickets of the session of a request.
func ticketSeal(x *Exchange) cipher.AEAD {
	token, _ := x.headerSent("Token")
	key := made(hkdf.Key(sha256.New, bytes.ToLower(token), nil, "frontdesk ticket", 32))
	return made(cipher.NewGCMWithRandomNonce(made(aes.NewCipher(key))))
}

// made returns the result of a call that fails only if a constant is wrong.
func made[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}
