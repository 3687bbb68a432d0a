package desk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/auth/redis"
	"frontdesk/config"
)

// common is the state that all gateways of one service share: sessions, wrong passwords, and how much
// each client has used of the limits of its api_key. sessions.store names the store of this state.
type common struct {
	sessions *endedSessions
	guesses  auth.GuessCounter
	limits   auth.Limits
	// count returns how many sessions there are; nil for Redis, which does not count them.
	count func() int
	// ready returns an error if the store does not answer or takes no writes; nil for memory.
	ready func(context.Context) error
	// identity names the store; nil for memory.
	identity func(context.Context) (string, error)
	// emptied is when the store was found to have lost everything; nil if it was not.
	emptied atomic.Pointer[time.Time]
	// gathering is where gateways exchange figures; nil for memory, which has one gateway.
	gathering *redis.Gathering
	close     func() error
}

func openCommon(c *config.Config) (*common, error) {
	zone := c.Server.TimeZone.Location
	if c.Sessions.Store == config.MemoryStore {
		sessions := auth.NewMemory(time.Now)
		return &common{
			sessions: newEndedSessions(sessions), guesses: auth.NewMemoryGuessCounter(), limits: auth.NewMemoryLimits(zone),
			count: sessions.Count, close: sessions.Close,
		}, nil
	}
	client, err := redis.Open(redis.Options{URL: string(c.Sessions.Store), CAFile: c.Sessions.CAFile})
	if err != nil {
		return nil, away{fmt.Errorf("sessions.store: %w", err)} // its settings were judged before
	}
	return &common{
		sessions: newEndedSessions(redis.NewSessions(client, time.Now)), guesses: redis.NewGuessCounter(client), limits: redis.NewLimits(client, zone, slotLease(c)),
		ready: client.Ready, identity: client.Identity, gathering: redis.NewGathering(client),
		close: func() error {
			client.Close()
			return nil
		},
	}, nil
}

// StoreEvery is how often a gateway checks whether the store of sessions has lost its contents, and
// emptiedReported how long that is reported.
const (
	StoreEvery      = 15 * time.Second
	emptiedReported = time.Hour
)

// watchStore checks until ctx ends whether the store of sessions was replaced or emptied: it then has another
// identity.
func (h *Desk) watchStore(ctx context.Context) {
	if h.common.identity == nil {
		return
	}
	var before string
	every(ctx, h.after, StoreEvery, func() {
		name, err := h.common.identity(ctx)
		if err != nil {
			return // /readyz reports it
		}
		if before != "" && name != before {
			now := h.now()
			h.common.emptied.Store(&now)
			h.past.Mark("sessions", "the store of sessions came back empty")
			h.log.Warn("the store of sessions came back empty: everybody has to log in again, and limits count from zero")
		}
		before = name
	})
}

// judgeStore reports in /readyz that the store of sessions came back empty.
func (h *Desk) judgeStore(now *Health) {
	if at := h.common.emptied.Load(); at != nil && h.now().Sub(*at) < emptiedReported {
		now.LookAt = append(now.LookAt, fmt.Sprintf("the store of sessions came back empty, found at %s: everybody has to log in again, and limits count from zero", at.UTC().Format(time.RFC3339)))
	}
}

// slotLease is how long a gateway that died keeps its slots of the concurrent requests of an api_key. It
// is longer than any request takes: the body may wait for memory and then arrive slowly, and a request
// calls the backend a few times at most.
func slotLease(c *config.Config) time.Duration {
	return max(time.Minute, 2*c.Server.ReadTimeout+4*c.Backend.Timeout)
}

// whyNoWrites returns why a store of sessions that answers takes no writes; "" for any other
// error.
func whyNoWrites(err error) string {
	if refusal, ok := errors.AsType[*redis.WriteRefusal](err); ok {
		return refusal.Why
	}
	return ""
}
