package redis

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

var (
	_ auth.Sessions      = (*Sessions)(nil)
	_ auth.SessionLister = (*Sessions)(nil)
	_ auth.KeyEnder      = (*Sessions)(nil)
)

// Sessions keeps sessions in Redis, each under the hash of its token until it
// expires, and for as long as auth.Remembered after that. It also keeps which tokens
// a user has, by when they expire, and when a user's sessions were last ended, both no
// longer than a session can live; and the causes of sessions that were ended.
//
// Instances judge expiry, and whether a login was overtaken by a new password, by
// their own clocks, which therefore have to agree as NTP keeps them.
type Sessions struct {
	client *Client
	clock  func() time.Time
	// remembering is how long a call waits for the causes of ended sessions: rememberTimeout;
	// longer in tests.
	remembering time.Duration
	// decoded caches sessions as they were last read, by the first bits of their hash. Every
	// use still reads the session from Redis; only an answer that has changed is decoded.
	decoded [1 << decodedBits]atomic.Pointer[decoded]
}

// decodedBits allows for 8,192 sessions, some 5 MB.
const decodedBits = 13

// decoded is a session and the text that the server stores for it.
type decoded struct {
	value   string
	session *auth.Session
}

// NewSessions returns the sessions in the server of a client. The caller closes the
// client.
func NewSessions(client *Client, clock func() time.Time) *Sessions {
	return &Sessions{client: client, clock: clock, remembering: rememberTimeout}
}

// kept is a session as Redis stores it, under the hash of its token.
type kept struct {
	Key     string    `json:"key"` // SHA-256 of the api_key, in hexadecimal
	KeyName string    `json:"key_name"`
	User    auth.User `json:"user"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
}

const sessionPrefix = namePrefix + "session:"

// The keys of what is stored.
func sessionName(token auth.TokenHash) string {
	return sessionPrefix + hex.EncodeToString(token[:])
}
func endedSessionName(token auth.TokenHash) string {
	return namePrefix + "was:" + hex.EncodeToString(token[:])
}
func tokensName(username string) string { return namePrefix + "tokens:" + username }
func endedName(username string) string  { return namePrefix + "ended:" + username }

// Put implements auth.Sessions. The order of its steps, and of EndUser's and EndKey's, leaves
// no gap: either they find the token, or Put finds the mark.
func (s *Sessions) Put(ctx context.Context, put *auth.Session) error {
	now := s.clock()
	left := put.Expires.Sub(now)
	if left <= 0 {
		return nil
	}
	value, err := json.Marshal(kept{Key: hex.EncodeToString(put.Key[:]), KeyName: put.KeyName, User: put.User, Issued: put.Issued, Expires: put.Expires})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	name, tokens, b := sessionName(put.Token), tokensName(put.User.Username), s.client.B
	for _, step := range []func() rueidis.Completed{
		// Otherwise the tokens of a user who logs in often would pile up.
		func() rueidis.Completed {
			return b().Zremrangebyscore().Key(tokens).Min("-inf").Max(strconv.FormatInt(now.UnixMilli(), 10)).Build()
		},
		func() rueidis.Completed {
			return b().Zadd().Key(tokens).ScoreMember().ScoreMember(float64(put.Expires.UnixMilli()), hex.EncodeToString(put.Token[:])).Build()
		},
		func() rueidis.Completed {
			return b().Pexpire().Key(tokens).Milliseconds(auth.MaxTTL.Milliseconds()).Build()
		},
		func() rueidis.Completed {
			return b().Set().Key(name).Value(rueidis.BinaryString(value)).PxMilliseconds((left + auth.Remembered).Milliseconds()).Build()
		},
	} {
		if err := s.client.write(ctx, step).Error(); err != nil {
			return failed(err)
		}
	}
	overtaken, err := s.overtaken(ctx, put)
	if err == nil && overtaken != nil {
		err = cmp.Or(s.delete(ctx, name), overtaken)
	}
	return err
}

// overtaken returns why a session that was put must not stay: its user's sessions, or its api_key,
// were ended meanwhile. It is nil for one that may stay.
func (s *Sessions) overtaken(ctx context.Context, put *auth.Session) (why, err error) {
	mark, err := s.client.read(ctx, func() rueidis.Completed { return s.client.B().Get().Key(endedName(put.User.Username)).Build() }).AsInt64()
	switch {
	case err != nil && !rueidis.IsRedisNil(err):
		return nil, failed(err)
	case err == nil && put.Issued.UnixMicro() < mark:
		return auth.ErrNoSession, nil
	}
	ended, err := s.KeyEnded(ctx, put.Key)
	if ended {
		why = put.Ended(auth.CauseKeyRevoked)
	}
	return why, err
}

// Get implements auth.Sessions.
func (s *Sessions) Get(ctx context.Context, token auth.TokenHash) (*auth.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	value, err := s.client.read(ctx, func() rueidis.Completed { return s.client.B().Get().Key(sessionName(token)).Build() }).ToString()
	if rueidis.IsRedisNil(err) {
		return nil, s.noSession(ctx, token)
	}
	if err != nil {
		return nil, failed(err)
	}
	found, err := s.read(token, value)
	if err != nil {
		return nil, err
	}
	if now := s.clock(); !found.Live(now) {
		return nil, found.Expired(now)
	}
	return found, nil
}

// End implements auth.Sessions. It stores the cause first: a reader finds the session, the cause,
// or both.
func (s *Sessions) End(ctx context.Context, ended *auth.Session, why auth.Cause) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	s.remember(ctx, why, ended)
	return s.delete(ctx, sessionName(ended.Token))
}

func (s *Sessions) delete(ctx context.Context, name string) error {
	return failed(s.client.write(ctx, func() rueidis.Completed { return s.client.B().Del().Key(name).Build() }).Error())
}

// EndUser implements auth.Sessions. A full server stores no mark: sessions that exist end
// all the same, and the error says that the call must be repeated.
func (s *Sessions) EndUser(ctx context.Context, username string, why auth.Cause) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b := s.client.B
	now := s.clock()
	unmarked := s.client.write(ctx, func() rueidis.Completed {
		return b().Set().Key(endedName(username)).Value(strconv.FormatInt(now.UnixMicro(), 10)).PxMilliseconds(auth.MaxTTL.Milliseconds()).Build()
	}).Error()
	tokens, err := s.client.read(ctx, func() rueidis.Completed { return b().Zrange().Key(tokensName(username)).Min("0").Max("-1").Build() }).AsStrSlice()
	if err != nil {
		return failed(cmp.Or(unmarked, err))
	}
	found := s.peek(ctx, tokens)
	s.remember(ctx, why, slices.DeleteFunc(slices.Clone(found), func(one *auth.Session) bool { return one == nil || !one.Live(now) })...)
	for i, one := range found {
		if one != nil && !one.Live(now) {
			continue // Get returns that it has expired
		}
		if err := s.delete(ctx, sessionPrefix+tokens[i]); err != nil {
			return cmp.Or(failed(unmarked), err)
		}
	}
	return failed(unmarked)
}

// read is decode, or returns the session of the same value that was decoded last.
func (s *Sessions) read(token auth.TokenHash, value string) (*auth.Session, error) {
	slot := &s.decoded[binary.BigEndian.Uint16(token[:])>>(16-decodedBits)]
	if d := slot.Load(); d != nil && d.session.Token == token && d.value == value {
		return d.session, nil
	}
	session, err := decode(token, value)
	if err == nil {
		slot.Store(&decoded{value, session})
	}
	return session, err
}

func decode(token auth.TokenHash, value string) (*auth.Session, error) {
	var k kept
	if err := json.Unmarshal([]byte(value), &k); err != nil {
		return nil, fmt.Errorf("redis: a session that cannot be read: %w", err)
	}
	s := &auth.Session{Token: token, KeyName: k.KeyName, User: k.User, Issued: k.Issued, Expires: k.Expires}
	if n, err := hex.Decode(s.Key[:], []byte(k.Key)); err != nil || n != len(s.Key) {
		return nil, errors.New("redis: a session without the hash of its api_key")
	}
	return s, nil
}
