package redis

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// Gathering is where gateways share the figures of what they did. Losing it loses nothing else. It
// is safe for concurrent use.
type Gathering struct{ client *Client }

// NewGathering returns the gathering in the server of a client, which the caller closes.
func NewGathering(client *Client) *Gathering { return &Gathering{client} }

// Report is what a gateway shares of itself.
type Report struct {
	About    []byte
	Parts    map[string]map[string][]byte // by the names of a series and of its part: each replaces its last value
	Refusals map[string][][]byte          // lists that all gateways share, oldest first
}

// Gateway is one that has reported something.
type Gateway struct {
	Name     string
	Reported time.Time // when it did last
	About    []byte    // nil where the server has forgotten it
}

const (
	gathered       = "frontdesk:past:gateways"
	gatheredLife   = 25 * time.Hour
	mostGathered   = 64   // gateways that Gateways returns
	mostOfRefusals = 1000 // of each list
)

func gatheredName(who, name string) string { return "frontdesk:past:{" + who + "}:" + name }

func refusalsName(list string) string { return "frontdesk:past:refusals:" + list }

// Report stores that a gateway is there, and its report, in one round trip.
func (g *Gathering) Report(ctx context.Context, who string, now time.Time, report Report) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b, life := g.client.B(), gatheredLife.Milliseconds()
	all := rueidis.Commands{
		b.Zadd().Key(gathered).ScoreMember().ScoreMember(float64(now.UnixMilli()), who).Build(),
		b.Zremrangebyscore().Key(gathered).Min("-inf").Max(whole(now.Add(-gatheredLife).UnixMilli())).Build(),
		b.Pexpire().Key(gathered).Milliseconds(life).Build(),
		b.Set().Key(gatheredName(who, "about")).Value(rueidis.BinaryString(report.About)).PxMilliseconds(life).Build(),
	}
	for name, parts := range report.Parts {
		if len(parts) == 0 {
			continue
		}
		fields := b.Hset().Key(gatheredName(who, name)).FieldValue()
		for part, text := range parts {
			fields = fields.FieldValue(part, rueidis.BinaryString(text))
		}
		all = append(all, fields.Build(), b.Pexpire().Key(gatheredName(who, name)).Milliseconds(life).Build())
	}
	for list, refusals := range report.Refusals {
		if len(refusals) == 0 {
			continue
		}
		push := b.Lpush().Key(refusalsName(list)).Element()
		for _, one := range refusals {
			push = push.Element(rueidis.BinaryString(one))
		}
		all = append(all, push.Build(), b.Ltrim().Key(refusalsName(list)).Start(0).Stop(mostOfRefusals-1).Build(), b.Pexpire().Key(refusalsName(list)).Milliseconds(life).Build())
	}
	var errs []error
	for _, answer := range g.client.DoMulti(ctx, all...) {
		errs = append(errs, answer.Error())
	}
	return failed(errors.Join(errs...))
}

// Gateways returns those that have reported since then.
func (g *Gathering) Gateways(ctx context.Context, since time.Time) ([]Gateway, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	scores, err := g.client.Do(ctx, g.client.B().Zrangebyscore().Key(gathered).Min(strconv.FormatInt(since.UnixMilli(), 10)).Max("+inf").Withscores().Limit(0, mostGathered).Build()).AsZScores()
	if err != nil {
		return nil, failed(err)
	}
	all, gets := make([]Gateway, len(scores)), make(rueidis.Commands, len(scores))
	for i, score := range scores {
		all[i] = Gateway{Name: score.Member, Reported: time.UnixMilli(int64(score.Score))}
		gets[i] = g.client.B().Get().Key(gatheredName(score.Member, "about")).Build()
	}
	for i, answer := range g.client.DoMulti(ctx, gets...) {
		if all[i].About, err = answer.AsBytes(); err != nil && !rueidis.IsRedisNil(err) {
			return nil, failed(err)
		}
	}
	return all, nil
}

// Parts returns all parts of one series that a gateway has reported.
func (g *Gathering) Parts(ctx context.Context, who, name string) (all [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return bytesOf(g.client.Do(ctx, g.client.B().Hvals().Key(gatheredName(who, name)).Build()))
}

// Refusals returns a list that gateways share, newest first.
func (g *Gathering) Refusals(ctx context.Context, list string) (all [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return bytesOf(g.client.Do(ctx, g.client.B().Lrange().Key(refusalsName(list)).Start(0).Stop(mostOfRefusals-1).Build()))
}

func bytesOf(answer rueidis.RedisResult) (all [][]byte, err error) {
	texts, err := answer.AsStrSlice()
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all, failed(err)
}
