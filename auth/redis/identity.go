package redis

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/rueidis"
)

// identityName is the key of Identity, and identityLife how long it lives after it was last asked for.
const (
	identityName = namePrefix + "identity"
	identityLife = 24 * time.Hour
)

// Identity returns a random name in the database. All gateways that use the same database of
// the same server read the same name, whatever address they use, also after a fail-over;
// others read another name. The first gateway that asks draws it.
func (c *Client) Identity(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	read := func() (string, error) {
		return c.read(ctx, func() rueidis.Completed { return c.B().Get().Key(identityName).Build() }).ToString()
	}
	name, err := read()
	if !rueidis.IsRedisNil(err) {
		if err == nil { // if this fails, the name still lives for long enough
			c.Do(ctx, c.B().Pexpire().Key(identityName).Milliseconds(identityLife.Milliseconds()).Build())
		}
		return name, failed(err)
	}
	err = c.write(ctx, func() rueidis.Completed {
		return c.B().Set().Key(identityName).Value(rand.Text()).Nx().PxMilliseconds(identityLife.Milliseconds()).Build()
	}).Error()
	if err == nil || rueidis.IsRedisNil(err) { // nil reply: another gateway was first
		name, err = read()
	}
	return name, failed(err)
}
