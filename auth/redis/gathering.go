package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// Gathering is where gateways tell each other figures of themselves. Losing it loses nothing
// else. It is safe for concurrent use.
type Gathering struct{ client *Client }

// NewGathering returns the gathering in the server of a client, which the caller closes.
func NewGathering(client *Client) *Gathering { return &Gathering{client} }

// Part is something that a gateway tells of itself.
type Part struct {
	Name  string
	At    int // where Bytes begin in it; negative if they are all of it
	Bytes []byte
	Life  time.Duration // from now on, of all of it
}

const (
	gathered       = "frontdesk:past:gateways"
	gatheredLife   = 25 * time.Hour
	mostGathered   = 64      // gateways that are asked about
	mostOfGathered = 1 << 20 // bytes of one part
)

func gatheredName(who, name string) string { return "frontdesk:past:{" + who + "}:" + name }

// Tell notes that a gateway is there, and what it tells, in one round trip.
func (g *Gathering) Tell(ctx context.Context, who string, now time.Time, parts ...Part) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	b := g.client.B()
	all := rueidis.Commands{
		b.Zadd().Key(gathered).ScoreMember().ScoreMember(float64(now.Unix()), who).Build(),
		b.Zremrangebyscore().Key(gathered).Min("-inf").Max(whole(now.Add(-gatheredLife).Unix())).Build(),
		b.Pexpire().Key(gathered).Milliseconds(gatheredLife.Milliseconds()).Build(),
	}
	for _, p := range parts {
		key := gatheredName(who, p.Name)
		if p.At < 0 {
			all = append(all, b.Set().Key(key).Value(rueidis.BinaryString(p.Bytes)).PxMilliseconds(p.Life.Milliseconds()).Build())
			continue
		}
		all = append(all, b.Setrange().Key(key).Offset(int64(p.At)).Value(rueidis.BinaryString(p.Bytes)).Build(),
			b.Pexpire().Key(key).Milliseconds(p.Life.Milliseconds()).Build())
	}
	var errs []error
	for _, answer := range g.client.DoMulti(ctx, all...) {
		errs = append(errs, answer.Error())
	}
	return failed(errors.Join(errs...))
}

// Gateways returns those that have told something since a moment.
func (g *Gathering) Gateways(ctx context.Context, since time.Time) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	names, err := g.client.Do(ctx, g.client.B().Zrevrangebyscore().Key(gathered).Max("+inf").Min(strconv.FormatInt(since.Unix(), 10)).Limit(0, mostGathered).Build()).AsStrSlice()
	slices.Sort(names)
	return names, failed(err)
}

// Told returns one part of each of these gateways; nil of those that have not told it.
func (g *Gathering) Told(ctx context.Context, name string, whom ...string) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	var all rueidis.Commands
	for _, who := range whom {
		all = append(all, g.client.B().Getrange().Key(gatheredName(who, name)).Start(0).End(mostOfGathered-1).Build())
	}
	parts := make([][]byte, len(whom))
	for i, answer := range g.client.DoMulti(ctx, all...) {
		text, err := answer.ToString()
		if err != nil && !rueidis.IsRedisNil(err) {
			return nil, failed(err)
		}
		parts[i] = []byte(text)
	}
	return parts, nil
}
