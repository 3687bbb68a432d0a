package redis

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

// An ended session has a Redis key of its own, so that it cannot be taken for a session. The
// cause of its end is for operators only: a request waits for it only shortly, and does not fail
// without it.

// endedSession is what is stored of a session that was ended.
type endedSession struct {
	Key    string     `json:"key"` // the name of its api_key
	Client string     `json:"client"`
	Why    auth.Cause `json:"why"`
	Until  time.Time  `json:"until"`
}

// rememberTimeout bounds the wait for an ended session.
const rememberTimeout = 250 * time.Millisecond

// remember stores the cause of sessions that end now.
func (s *Sessions) remember(ctx context.Context, why auth.Cause, ended ...*auth.Session) {
	now := s.clock()
	commands := make([]rueidis.Completed, 0, len(ended))
	for _, one := range ended {
		value, err := json.Marshal(endedSession{Key: one.KeyName, Client: one.User.Client.Name, Why: why, Until: now.Add(auth.Remembered)})
		if err != nil {
			continue
		}
		commands = append(commands, s.client.B().Set().Key(endedSessionName(one.Token)).Value(rueidis.BinaryString(value)).PxMilliseconds(auth.Remembered.Milliseconds()).Build())
	}
	s.soon(ctx, commands)
}

// soon returns what the server answers within s.remembering. It repeats the commands if their
// connection was lost: after a failover that shows only when the connection is used.
func (s *Sessions) soon(ctx context.Context, commands []rueidis.Completed) (answers []rueidis.RedisResult) {
	if len(commands) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.remembering)
	defer cancel()
	for i := range commands {
		commands[i] = commands[i].Pin()
	}
	lost := func(answer rueidis.RedisResult) bool { return answer.NonRedisError() != nil }
	for range mostAttempts {
		if answers = s.client.DoMulti(ctx, commands...); ctx.Err() != nil || !slices.ContainsFunc(answers, lost) {
			break
		}
	}
	return answers
}

// peek returns the sessions of tokens; nil for those that Redis does not return within
// rememberTimeout.
func (s *Sessions) peek(ctx context.Context, tokens []string) []*auth.Session {
	commands := make([]rueidis.Completed, len(tokens))
	for i, token := range tokens {
		commands[i] = s.client.B().Get().Key(sessionPrefix + token).Build()
	}
	found := make([]*auth.Session, len(tokens))
	for i, answer := range s.soon(ctx, commands) {
		value, err := answer.ToString()
		hash, malformed := hex.DecodeString(tokens[i])
		if err != nil || malformed != nil || len(hash) != len(auth.TokenHash{}) {
			continue
		}
		if one, err := decode(auth.TokenHash(hash), value); err == nil {
			found[i] = one
		}
	}
	return found
}

// noSession returns the error for a token without a session.
func (s *Sessions) noSession(ctx context.Context, token auth.TokenHash) error {
	for _, answer := range s.soon(ctx, []rueidis.Completed{s.client.B().Get().Key(endedSessionName(token)).Build()}) {
		var w endedSession
		value, err := answer.AsBytes()
		if err == nil && json.Unmarshal(value, &w) == nil && s.clock().Before(w.Until) {
			return &auth.Ended{KeyName: w.Key, Client: w.Client, Why: w.Why}
		}
	}
	return auth.ErrNoSession
}
