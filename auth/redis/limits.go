package redis

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"frontdesk/auth"
)

var _ auth.Limits = (*Limits)(nil)

// Limits counts requests for all gateways that share the server, in one round trip per
// request. Each client with an api_key has a bucket, the slots of running requests and the
// count of the day; state that equals a new one expires. The clocks of the instances must
// agree as closely as NTP keeps them.
type Limits struct {
	client *Client
	zone   *time.Location
	lease  time.Duration
}

// NewLimits returns the limits in the server of a client. The caller closes the client.
// A day begins at midnight in zone. A slot that a gateway never gives back is taken
// for as long as lease, which must be longer than a request may take.
func NewLimits(client *Client, zone *time.Location, lease time.Duration) *Limits {
	return &Limits{client, zone, lease}
}

//go:embed take.lua
var takeText string

var take = rueidis.NewLuaScript(takeText)

// Take implements auth.Limits.
func (l *Limits) Take(ctx context.Context, key *auth.Key, client int64, now time.Time) (auth.Standing, error) {
	return l.count(ctx, key, client, 0, now)
}

// Charge implements auth.Limits.
func (l *Limits) Charge(ctx context.Context, key *auth.Key, client int64, further int, now time.Time, s *auth.Standing) error {
	charged, err := l.count(ctx, key, client, further, now)
	if err == nil {
		charged.Slot, charged.Rooms[auth.ConcurrentBound] = s.Slot, s.Rooms[auth.ConcurrentBound]
		*s = charged
	}
	return err
}

// count counts a request, or, where further is more than 0, its further cost.
func (l *Limits) count(ctx context.Context, key *auth.Key, client int64, further int, now time.Time) (auth.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b, slot := &key.Bounds, rand.Uint64()|1
	day, ends := auth.Day(now, l.zone)
	name := limitsName(key.Name, client)
	answer, err := l.client.run(ctx, take, []string{name + ":rate", name + ":slots", name + ":day"}, []string{
		whole(now.UnixMicro()), real(b.Rate.PerSecond), whole(int64(b.Rate.Burst)), whole(int64(b.Concurrent)), whole(b.PerDay), whole(int64(day)), whole(ends.Sub(now).Microseconds()),
		strconv.FormatUint(slot, 10), whole(l.lease.Microseconds()), whole(int64(further)),
	}).AsIntSlice()
	if err != nil {
		return auth.Standing{}, failed(err)
	}
	var s auth.Standing
	if len(answer) != 2+2*(len(s.Rooms)-1) {
		return s, fmt.Errorf("redis: the limits were answered by %d numbers", len(answer))
	}
	s.Refused, s.Wait = auth.Bound(answer[0]), micros(answer[1])
	if b.Concurrent > 0 && s.Refused == auth.NoBound {
		s.Slot = slot
	}
	for i := 1; i < len(s.Rooms); i++ {
		s.Rooms[i] = auth.Room{Left: answer[2*i], More: micros(answer[2*i+1])}
	}
	return s, nil
}

// Done implements auth.Limits. A slot that cannot be given back comes back by
// itself when its lease has ended.
func (l *Limits) Done(ctx context.Context, key string, client int64, slot uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Timeout)
	defer cancel()
	_ = l.client.Do(ctx, l.client.B().Zrem().Key(limitsName(key, client)+":slots").Member(strconv.FormatUint(slot, 10)).Build()).Error()
}

// limitsName begins the keys of the counts of a client with an api_key. The braces keep them
// together in a cluster.
func limitsName(key string, client int64) string {
	return namePrefix + "limits:{" + key + ":" + whole(client) + "}"
}

func whole(n int64) string  { return strconv.FormatInt(n, 10) }
func real(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
