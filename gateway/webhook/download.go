package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
)

// How long the address of a download is valid, and how often the key that signs it is
// replaced, if possible. A replaced key is kept until nothing that it signed is valid any
// more.
const (
	LinkValidity = time.Hour
	keyLife      = 24 * time.Hour
)

// Links signs and checks the addresses of downloads. The keys are in the store,
// so that addresses survive a restart and hold on every instance.
type Links struct {
	store Store
	clock func() time.Time

	log  *zap.Logger
	turn chan struct{} // held while the keys are read

	mu        sync.Mutex
	keys      []SigningKey // newest first
	read      time.Time    // when reading them was last tried
	requested time.Time    // when it was last tried because of an unknown key
}

// NewLinks returns Links with their keys in a store.
func NewLinks(store Store, clock func() time.Time, log *zap.Logger) *Links {
	return &Links{store: store, clock: clock, log: log, turn: make(chan struct{}, 1)}
}

// Sign returns the query of an address that downloads the result of a job for
// an hour.
func (l *Links) Sign(ctx context.Context, id string) (string, error) {
	keys, err := l.current(ctx, false)
	if err != nil {
		return "", err
	}
	return query(keys[0], id, l.clock().Add(LinkValidity)), nil
}

// Check returns the job whose result a query may download. Every character of
// the query counts: it must be one that Sign returned, and still be valid.
func (l *Links) Check(ctx context.Context, raw string) (id string, ok bool, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return "", false, nil
	}
	id = values.Get("id")
	seconds, err := strconv.ParseInt(values.Get("expires"), 10, 64)
	if err != nil {
		return "", false, nil
	}
	expires := time.Unix(seconds, 0)
	for _, again := range []bool{false, true} { // another instance may have made the key since
		keys, err := l.current(ctx, again)
		if err != nil {
			return "", false, err
		}
		for _, k := range keys {
			if k.ID == values.Get("key") {
				same := subtle.ConstantTimeCompare([]byte(query(k, id, expires)), []byte(raw)) == 1
				return id, same && l.clock().Before(expires), nil
			}
		}
	}
	return "", false, nil
}

// query is what Sign returns, character by character.
func query(k SigningKey, id string, expires time.Time) string {
	plain := "id=" + url.QueryEscape(id) + "&expires=" + strconv.FormatInt(expires.Unix(), 10) + "&key=" + url.QueryEscape(k.ID)
	mac := hmac.New(sha256.New, k.Secret)
	mac.Write([]byte(plain))
	return plain + "&signature=" + hex.EncodeToString(mac.Sum(nil))
}

// current returns the keys, newest first, at least one. They are read again every minute,
// or on request, at most once a second, because anybody can cause that. While reading
// takes long or fails, the known keys are used, unless the request was for another one.
func (l *Links) current(ctx context.Context, again bool) ([]SigningKey, error) {
	known, due := l.known(again)
	if !due {
		return known, nil
	}
	if len(known) > 0 && !again {
		select {
		case l.turn <- struct{}{}:
		default:
			return known, nil
		}
	} else {
		select {
		case l.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-l.turn }()
	if known, due = l.known(again); !due { // another request has read them meanwhile
		return known, nil
	}
	now := l.clock()
	keys, err := l.renew(ctx, now)
	if err != nil && len(keys) == 0 {
		if again || len(known) == 0 {
			return nil, fmt.Errorf("webhook: signing keys: %w", err)
		}
		keys = known
	}
	if err != nil {
		l.log.Warn("callbacks: the keys that sign addresses of results could not be renewed; those that are known go on", zap.Error(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys, l.read = keys, now
	if again {
		l.requested = now
	}
	return keys, nil
}

// known returns the keys as they were last read, and whether they must be read again.
func (l *Links) known(again bool) (keys []SigningKey, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	return l.keys, len(l.keys) == 0 || again && now.Sub(l.requested) >= time.Second || now.Sub(l.read) >= time.Minute
}

// renew reads the keys, and makes a new one if that is due. With an error it returns the
// existing keys, if it could read them.
func (l *Links) renew(ctx context.Context, now time.Time) ([]SigningKey, error) {
	fresh := SigningKey{Secret: make([]byte, 32), Made: now}
	var id [6]byte
	if _, err := rand.Read(fresh.Secret); err != nil {
		return nil, err
	}
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	fresh.ID = hex.EncodeToString(id[:])
	return l.store.SigningKeys(ctx, now.Add(-keyLife), now.Add(-LinkValidity), fresh)
}
