package redis

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

func endedKeyName(hash [32]byte) string {
	return namePrefix + "ended-key:" + hex.EncodeToString(hash[:])
}

// EndKey implements auth.KeyEnder. It walks all sessions; a revoked key is rare. A full server
// stores no mark, and still ends the sessions that there are.
func (s *Sessions) EndKey(ctx context.Context, hash [32]byte) error {
	unmarked := failed(s.client.write(ctx, func() rueidis.Completed {
		return s.client.B().Set().Key(endedKeyName(hash)).Value("").PxMilliseconds(auth.MaxTTL.Milliseconds()).Build()
	}).Error())
	var of []*auth.Session
	err := s.EachSession(ctx, func(one *auth.Session, _ time.Time) error {
		if one.Key == hash {
			of = append(of, one)
		}
		return nil
	})
	s.remember(ctx, auth.CauseKeyRevoked, of...)
	for _, one := range of {
		err = errors.Join(err, s.delete(ctx, sessionName(one.Token)))
	}
	return errors.Join(unmarked, err)
}

// ReviveKey implements auth.KeyEnder.
func (s *Sessions) ReviveKey(ctx context.Context, hash [32]byte) error {
	return s.delete(ctx, endedKeyName(hash))
}

// KeyEnded implements auth.KeyEnder.
func (s *Sessions) KeyEnded(ctx context.Context, hash [32]byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	marks, err := s.client.read(ctx, func() rueidis.Completed { return s.client.B().Exists().Key(endedKeyName(hash)).Build() }).AsInt64()
	return marks > 0, failed(err)
}
