package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"
)

// Gathering stores in Redis what each gateway reports of itself, for the others to read. Nothing
// else depends on it. It is safe for concurrent use.
type Gathering struct{ client *Client }

// NewGathering returns the gathering in the server of a client. The caller closes the client.
func NewGathering(client *Client) *Gathering { return &Gathering{client} }

// Report is what a gateway reports of itself.
type Report struct {
	About    []byte
	Parts    map[string]map[string][]byte // by series and part; each replaces what the part was before
	Refusals map[string][][]byte          // by list, oldest first: added to the list that all gateways share
}

// Gateway is a gateway that has reported.
type Gateway struct {
	Name     string
	Reported time.Time // the last time
	About    []byte    // nil if Redis has lost it
}

const (
	gatewaysName = namePrefix + "past:gateways"
	reportLife   = 25 * time.Hour
	mostGateways = 64   // that Gateways returns
	mostRefusals = 1000 // in each list
)

func reportName(who, name string) string { return namePrefix + "past:{" + who + "}:" + name }

func refusalsName(list string) string { return namePrefix + "past:refusals:" + list }

// Report stores the report of a gateway, and the time of it, in one round trip.
func (g *Gathering) Report(ctx context.Context, who string, now time.Time, report Report) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b, life := g.client.B(), reportLife.Milliseconds()
	commands := rueidis.Commands{
		b.Zadd().Key(gatewaysName).ScoreMember().ScoreMember(float64(now.UnixMilli()), who).Build(),
		b.Zremrangebyscore().Key(gatewaysName).Min("-inf").Max(whole(now.Add(-reportLife).UnixMilli())).Build(),
		b.Pexpire().Key(gatewaysName).Milliseconds(life).Build(),
		b.Set().Key(reportName(who, "about")).Value(rueidis.BinaryString(report.About)).PxMilliseconds(life).Build(),
	}
	for name, parts := range report.Parts {
		if len(parts) == 0 {
			continue
		}
		fields := b.Hset().Key(reportName(who, name)).FieldValue()
		for part, text := range parts {
			fields = fields.FieldValue(part, rueidis.BinaryString(text))
		}
		commands = append(commands, fields.Build(), b.Pexpire().Key(reportName(who, name)).Milliseconds(life).Build())
	}
	for list, refusals := range report.Refusals {
		if len(refusals) == 0 {
			continue
		}
		push := b.Lpush().Key(refusalsName(list)).Element()
		for _, one := range refusals {
			push = push.Element(rueidis.BinaryString(one))
		}
		commands = append(commands, push.Build(), b.Ltrim().Key(refusalsName(list)).Start(0).Stop(mostRefusals-1).Build(), b.Pexpire().Key(refusalsName(list)).Milliseconds(life).Build())
	}
	var errs []error
	for _, answer := range g.client.DoMulti(ctx, commands...) {
		errs = append(errs, answer.Error())
	}
	return failed(errors.Join(errs...))
}

// Gateways returns the gateways that have reported since then.
func (g *Gathering) Gateways(ctx context.Context, since time.Time) ([]Gateway, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	scores, err := g.client.Do(ctx, g.client.B().Zrangebyscore().Key(gatewaysName).Min(whole(since.UnixMilli())).Max("+inf").Withscores().Limit(0, mostGateways).Build()).AsZScores()
	if err != nil {
		return nil, failed(err)
	}
	all, gets := make([]Gateway, len(scores)), make(rueidis.Commands, len(scores))
	for i, score := range scores {
		all[i] = Gateway{Name: score.Member, Reported: time.UnixMilli(int64(score.Score))}
		gets[i] = g.client.B().Get().Key(reportName(score.Member, "about")).Build()
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
	return bytesOf(g.client.Do(ctx, g.client.B().Hvals().Key(reportName(who, name)).Build()))
}

// Refusals returns a list that gateways share, newest first.
func (g *Gathering) Refusals(ctx context.Context, list string) (all [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return bytesOf(g.client.Do(ctx, g.client.B().Lrange().Key(refusalsName(list)).Start(0).Stop(mostRefusals-1).Build()))
}

func bytesOf(answer rueidis.RedisResult) (all [][]byte, err error) {
	texts, err := answer.AsStrSlice()
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all, failed(err)
}
